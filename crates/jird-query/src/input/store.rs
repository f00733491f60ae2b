//! Event stores as inputs. The events of a store within a time window are a text of lines, kept in blocks of whole
//! lines, in order of time. A scan reads the blocks that may have a match, and trusts that they are JSON.

use super::Progress;
use jird::Path;
use jird::lines::PieceSource;
use jird::record::Predicate;
use jird_store::{Condition, Damage, FieldKinds, Selected, Skipped, Snapshot, Store, Text, Window};
use std::fmt;
use std::io;
use std::ops::Range;
use std::path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

/// One state of a store, of which a query reads the events in a window.
#[derive(Debug)]
pub(crate) struct StoreText {
    snapshot: Snapshot,
    text: Text,
    progress: Arc<Progress>,
    /// The number of blocks that were read, and of those in which nothing matched.
    blocks_read: AtomicU64,
    blocks_without_match: AtomicU64,
    skipped: Mutex<Skipped>,
}

/// The blocks that a scan reads, in order.
#[derive(Debug)]
pub(crate) struct Chosen {
    condition: Option<Condition>,
    blocks: Vec<usize>,
}

/// What was read of a store.
#[derive(Clone, Debug, Default)]
pub(crate) struct StoreReads {
    pub(crate) blocks: u64,
    pub(crate) read: u64,
    pub(crate) without_match: u64,
    pub(crate) skipped: Skipped,
    pub(crate) damage: Vec<Damage>,
}

impl StoreText {
    pub(super) fn open(path: &path::Path, window: Window, progress: &Arc<Progress>) -> Result<Self, jird_store::Error> {
        let snapshot = Store::open(path)?.snapshot()?;
        let text = snapshot.text(window)?;
        Ok(Self {
            snapshot,
            text,
            progress: Arc::clone(progress),
            blocks_read: AtomicU64::new(0),
            blocks_without_match: AtomicU64::new(0),
            skipped: Mutex::default(),
        })
    }

    /// The length of the text, in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.text.bytes()
    }

    /// The blocks that may have a record for which the predicate holds, whose slots are these paths; of these, only
    /// those in the last `newest_bytes` bytes of the text.
    pub(crate) fn choose(&self, condition: Option<(&Predicate, &[Path])>, newest_bytes: u64) -> Chosen {
        let condition = condition.map(|(predicate, paths)| Condition::new(predicate, paths));
        let Selected { mut blocks, skipped } = self.text.select(condition.as_ref());
        let start = self.bytes().saturating_sub(newest_bytes);
        if start > 0 {
            blocks.retain(|block| self.end(*block) > start);
        }
        self.skipped.lock().unwrap_or_else(PoisonError::into_inner).merge(&skipped);
        Chosen { condition, blocks }
    }

    /// The chosen blocks that begin in `range`.
    pub(crate) fn pieces<'s>(&'s self, chosen: &'s Chosen, range: &Range<u64>) -> StorePieces<'s> {
        let start = chosen.blocks.partition_point(|block| self.text.block(*block).offset < range.start);
        let end = chosen.blocks.partition_point(|block| self.text.block(*block).offset < range.end);
        StorePieces { store: self, condition: chosen.condition.as_ref(), blocks: &chosen.blocks[start..end.max(start)] }
    }

    /// The number of events in the blocks that begin in `range`.
    pub(crate) fn events(&self, range: &Range<u64>) -> u64 {
        let blocks = (0..self.text.blocks()).map(|block| self.text.block(block));
        blocks.filter(|block| range.contains(&block.offset)).map(|block| block.events).sum()
    }

    /// Whether the order of the events is that of the texts at `path`.
    pub(crate) fn is_ordered_by(&self, path: &Path) -> bool {
        self.text.is_ordered_by(path)
    }

    /// What kinds of values all events have at `path`, if the index knows.
    pub(crate) fn kinds(&self, path: &Path) -> Option<FieldKinds> {
        self.text.kinds(path)
    }

    /// Notes whether a block had a match.
    pub(crate) fn note_block(&self, matched: u64) {
        self.blocks_read.fetch_add(1, Relaxed);
        self.blocks_without_match.fetch_add(u64::from(matched == 0), Relaxed);
    }

    /// What was read so far.
    pub(crate) fn reads(&self) -> StoreReads {
        StoreReads {
            blocks: self.text.blocks() as u64,
            read: self.blocks_read.load(Relaxed),
            without_match: self.blocks_without_match.load(Relaxed),
            skipped: *self.skipped.lock().unwrap_or_else(PoisonError::into_inner),
            damage: self.snapshot.damage(),
        }
    }

    /// The number of events before the byte at `offset`.
    pub(super) fn events_before(&self, offset: u64) -> io::Result<u64> {
        let mut events = 0;
        for number in 0..self.text.blocks() {
            let block = self.text.block(number);
            if block.offset + block.bytes > offset {
                let mut text = Vec::new();
                self.text.read(number, None, &mut text).map_err(io::Error::other)?;
                let within = usize::try_from(offset.saturating_sub(block.offset)).unwrap_or(usize::MAX);
                return Ok(events + jird::lines::newlines(&text[..within.min(text.len())]));
            }
            events += block.events;
        }
        Ok(events)
    }

    fn end(&self, block: usize) -> u64 {
        let block = self.text.block(block);
        block.offset + block.bytes
    }
}

/// Reads chosen blocks one after the other.
pub(crate) struct StorePieces<'s> {
    store: &'s StoreText,
    condition: Option<&'s Condition>,
    blocks: &'s [usize],
}

impl PieceSource for StorePieces<'_> {
    fn next_piece(&mut self, buffer: &mut Vec<u8>) -> io::Result<Option<u64>> {
        let Some((block, rest)) = self.blocks.split_first() else { return Ok(None) };
        self.blocks = rest;
        let text = &self.store.text;
        text.read(*block, self.condition, buffer).map_err(io::Error::other)?;
        let facts = text.block(*block);
        self.store.progress.add(facts.bytes);
        Ok(Some(facts.offset))
    }
}

impl fmt::Display for StoreReads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            blocks, read, without_match, skipped: Skipped { by_range, by_pairs, by_words, by_keys, .. }, ..
        } = self;
        write!(
            f,
            "{read} of {blocks} blocks read, {without_match} of them without a match; skipped by keys {by_keys}, by ranges of \
             numbers {by_range}, by values {by_pairs}, by words {by_words}"
        )
    }
}

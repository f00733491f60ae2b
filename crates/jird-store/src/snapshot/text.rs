//! The events of a window as NDJSON, in blocks.
//!
//! A block of a text is usually a block of a span. Where spans, or spans and logs, overlap in time, a block of a text is
//! the events of several of them between two *cuts*, merged when it is read. Cuts are where a block begins, and are so
//! chosen that little is read twice.

use super::{Snapshot, State};
use crate::error::Error;
use crate::event::{Key, TextOrder};
use crate::index::{Condition, FieldKinds};
use crate::settings::Window;
use crate::span::{BLOCK_BYTES, BlockRows};
use jird::Path;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::Range;

/// The events of a window of a snapshot: NDJSON in blocks of whole lines, in order of time, then arrival.
#[derive(Clone, Debug)]
pub struct Text {
    pub(super) snapshot: Snapshot,
    pub(super) blocks: Vec<TextBlock>,
}

/// What is known of a block before it is read.
///
/// If a damaged block is met when it is read, its lines are missing, and there are fewer bytes and events than said here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockFacts {
    /// Where the block begins in the text.
    pub offset: u64,
    /// How long it is.
    pub bytes: u64,
    /// How many events, and so lines, it has.
    pub events: u64,
    /// The times of its first and its last event, in nanoseconds since 1970.
    pub times: (i64, i64),
}

#[derive(Clone, Debug)]
pub(super) struct TextBlock {
    facts: BlockFacts,
    pub(super) pieces: Vec<Piece>,
}

/// Some events, one after the other, of a block on disk or in memory.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    pub(super) home: Home,
    pub(super) first: Key,
    pub(super) last: Key,
    pub(super) rows: Range<usize>,
    pub(super) bytes: Range<usize>,
    /// Whether these are all events of the block.
    pub(super) is_whole: bool,
}

/// A block on disk or in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Home {
    /// A span's place in the snapshot, and a block of it.
    Span(usize, usize),
    /// A block of the events in the logs.
    Recent(usize),
}

/// A block with events in the window.
#[derive(Clone, Copy, Debug)]
struct Whole {
    home: Home,
    first: Key,
    last: Key,
    events: u64,
    bytes: u64,
    /// The events from here on, and those before.
    from: Option<Key>,
    until: Option<Key>,
}

impl Text {
    pub(super) fn new(snapshot: Snapshot, window: Window) -> Self {
        let state = &*snapshot.0;
        let mut wholes = in_window(state, window);
        wholes.sort_unstable_by_key(|whole| whole.first);
        let cuts = cuts(&wholes);
        let mut blocks: Vec<Vec<Piece>> = vec![Vec::new(); cuts.len() + 1];
        let mut rows = HashMap::new();
        for whole in &wholes {
            split(state, whole, &cuts, &mut blocks, &mut rows);
        }
        let mut offset = 0;
        let blocks = blocks.into_iter().filter_map(|mut pieces| {
            pieces.sort_unstable_by_key(|piece| piece.first);
            let (first, last) = (pieces.first()?.first, pieces.iter().map(|piece| piece.last).max()?);
            let facts = BlockFacts {
                offset,
                bytes: pieces.iter().map(|piece| piece.bytes.len() as u64).sum(),
                events: pieces.iter().map(|piece| piece.rows.len() as u64).sum(),
                times: (first.time, last.time),
            };
            offset += facts.bytes;
            Some(TextBlock { facts, pieces })
        });
        let blocks = blocks.collect();
        Self { snapshot, blocks }
    }

    /// The number of blocks.
    pub fn blocks(&self) -> usize {
        self.blocks.len()
    }

    /// What is known of a block before it is read.
    ///
    /// # Panics
    /// If there is no such block.
    pub fn block(&self, number: usize) -> BlockFacts {
        self.blocks[number].facts
    }

    /// The length of the text.
    pub fn bytes(&self) -> u64 {
        self.blocks.last().map_or(0, |block| block.facts.offset + block.facts.bytes)
    }

    /// The number of events.
    pub fn events(&self) -> u64 {
        self.blocks.iter().map(|block| block.facts.events).sum()
    }

    /// Replaces `buffer` by the lines of a block. With a condition, lines that cannot match may be left out.
    ///
    /// The lines were checked when they came in, so [`Check::Trusted`](jird::lines::Check::Trusted) is enough to read
    /// them. They are not surely UTF-8, because the disk may lie; the engine checks that of the texts that it hands out.
    /// A block that is damaged on disk is left out, and [`Snapshot::damage`] says so.
    ///
    /// # Errors
    /// The operating system refused to read.
    ///
    /// # Panics
    /// If there is no such block.
    pub fn read(&self, number: usize, condition: Option<&Condition>, buffer: &mut Vec<u8>) -> Result<(), Error> {
        self.snapshot.0.read(&self.blocks[number].pieces, condition, buffer)
    }

    /// Whether all events of the store hold, at this path, a UTC text of one fixed width, so that the order of these
    /// texts is the order of the events.
    pub fn is_ordered_by(&self, path: &Path) -> bool {
        let state = &*self.snapshot.0;
        *path == state.settings.time_field && state.order() != TextOrder::Unknown
    }

    /// Which kinds of values the events of this text have at a path; `None` if no index knows. Of an event that has a
    /// key twice, the values of both count.
    pub fn kinds(&self, path: &Path) -> Option<FieldKinds> {
        let state = &*self.snapshot.0;
        let mut spans: HashMap<usize, Vec<Option<FieldKinds>>> = HashMap::new();
        let mut pieces: HashMap<Home, usize> = HashMap::new();
        for piece in self.blocks.iter().flat_map(|block| &block.pieces) {
            *pieces.entry(piece.home).or_default() += piece.rows.len();
        }
        // Of the blocks that are here whole, and of those of which some events are elsewhere.
        let (mut whole, mut cut) = (FieldKinds::NONE, FieldKinds::NONE);
        for (home, events) in pieces {
            let Home::Span(span, block) = home else { return None };
            if let Entry::Vacant(entry) = spans.entry(span) {
                entry.insert(state.spans[span].block_kinds(path)?);
            }
            let kinds = spans[&span].get(block).copied()??;
            let is_whole = events as u64 == state.spans[span].table().blocks[block].events;
            let all = if is_whole { &mut whole } else { &mut cut };
            *all = all.with(kinds);
        }
        // What only the events elsewhere may have is not known of those that are here.
        cut.is_within(whole).then_some(whole)
    }
}

/// The blocks that have events in the window.
fn in_window(state: &State, window: Window) -> Vec<Whole> {
    let key = |time| Key { time, arrival: 0 };
    let until = window.until.map(key);
    let mut wholes = Vec::new();
    let mut add = |whole: Whole| {
        let is_before = whole.from.is_some_and(|from| whole.last < from);
        if !is_before && whole.until.is_none_or(|until| whole.first < until) {
            wholes.push(whole);
        }
    };
    for (number, span) in state.spans.iter().enumerate() {
        let from = window.since.max(span.entry().keep_from).map(key);
        for (block, entry) in span.table().blocks.iter().enumerate() {
            let (home, events, bytes) = (Home::Span(number, block), entry.events, entry.text_bytes);
            add(Whole { home, first: entry.first, last: entry.last, events, bytes, from, until });
        }
    }
    for block in 0..state.recent.blocks() {
        let rows = state.recent.block(block);
        let bytes = rows.iter().map(|row| row.len() as u64).sum();
        let (first, last) = (state.recent.first(block), state.recent.last(block));
        let from = window.since.map(key);
        add(Whole { home: Home::Recent(block), first, last, events: rows.len() as u64, bytes, from, until });
    }
    wholes
}

/// Where the text is cut into blocks, apart from its ends. `wholes` are sorted by their first keys.
fn cuts(wholes: &[Whole]) -> Vec<Key> {
    let mut cuts = Vec::new();
    // The blocks that go on, and the bytes since the last cut.
    let (mut open, mut bytes): (Vec<Whole>, u64) = (Vec::new(), 0);
    for whole in wholes {
        open.retain(|before| before.last >= whole.first);
        // These are read on both sides of a cut. What lies in memory costs nothing.
        let is_read = |before: &&Whole| matches!(before.home, Home::Span(..));
        let twice: u64 = open.iter().filter(is_read).map(|before| before.bytes).sum();
        if bytes >= BLOCK_BYTES as u64 / 2 && bytes >= 2 * twice {
            cuts.push(whole.first);
            bytes = 0;
        }
        bytes += whole.bytes;
        open.push(*whole);
    }
    cuts
}

/// Puts a block's events into the blocks of the text.
fn split(
    state: &State,
    whole: &Whole,
    cuts: &[Key],
    blocks: &mut [Vec<Piece>],
    known: &mut HashMap<Home, Option<BlockRows>>,
) {
    let (from, to) = (cuts.partition_point(|cut| *cut <= whole.first), cuts.partition_point(|cut| *cut <= whole.last));
    let starts_early = whole.from.is_some_and(|from| whole.first < from);
    let ends_late = whole.until.is_some_and(|until| until <= whole.last);
    if from == to && !starts_early && !ends_late {
        blocks[from].push(Piece {
            home: whole.home,
            first: whole.first,
            last: whole.last,
            rows: 0..whole.events as usize,
            bytes: 0..whole.bytes as usize,
            is_whole: true,
        });
        return;
    }
    let Some(rows) = known.entry(whole.home).or_insert_with(|| state.rows(whole.home)) else { return };
    let mut start = whole.from.map_or(0, |from| rows.keys.partition_point(|key| *key < from));
    let end = whole.until.map_or(rows.keys.len(), |until| rows.keys.partition_point(|key| *key < until));
    #[expect(clippy::needless_range_loop, reason = "a number of a cut, too")]
    for block in from..=to {
        let cut = cuts.get(block).filter(|_| block < to);
        let next = cut.map_or(end, |cut| rows.keys.partition_point(|key| key < cut).clamp(start, end.max(start)));
        if start < next {
            blocks[block].push(Piece {
                home: whole.home,
                first: rows.keys[start],
                last: rows.keys[next - 1],
                rows: start..next,
                bytes: rows.offsets[start] as usize..rows.offsets[next] as usize,
                is_whole: next - start == rows.keys.len(),
            });
        }
        start = start.max(next);
    }
    // Only blocks that go on are asked again.
    known.remove(&whole.home);
}

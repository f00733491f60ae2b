//! Event stores as inputs. The events of a store within a time window are a text of lines, kept in blocks of whole
//! lines, in order of time. A scan reads the blocks that may have a match, and trusts that they are JSON.

use super::Progress;
use jird::Path;
use jird::hooks::lines::PieceSource;
use jird::record::Predicate;
use jird_store::{
    BlockFacts, BlockId, Cells, Condition, Damage, Extreme, FieldKinds, Fields, Numbers, Saved, Selected, Skipped,
    Snapshot, Store, Text, Window,
};
use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::io;
use std::ops::{ControlFlow, Range};
use std::path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::vec;

/// About this many chunks of a store are enough for all threads. They limit how much longer they may be than those of a
/// file: what matches in a few of them is in memory.
const CHUNKS: u64 = 256;
const CHUNK_FACTOR: u64 = 8;

/// One state of a store; a query reads its events in a window.
#[derive(Debug)]
pub(crate) struct StoreText {
    snapshot: Snapshot,
    text: Text,
    progress: Arc<Progress>,
    /// The fields at which the query looks, if columns may have them. They are the same for all scans of the query, so
    /// that the lines of a block are the same for all, and the places of its events.
    fields: Mutex<Option<Arc<Fields>>>,
    /// The blocks that were read, perhaps by several scans.
    read: Mutex<HashMap<BlockId, BlockRead>>,
    /// The number of blocks of each section that was looked at; 0 of the others.
    blocks: Vec<AtomicU64>,
    saved: Mutex<(Skipped, Vec<(u64, Saved)>)>,
    /// The fields of conditions without a column, and in how many bytes of the text they had to be looked for.
    asked: Mutex<HashMap<Path, u64>>,
    failure: Failure,
}

/// Why a store that is elsewhere cannot be read any more. What was not read is not damage: the query fails.
#[derive(Clone, Debug, Default)]
pub(super) struct Failure(Arc<Mutex<Option<(io::ErrorKind, String)>>>);

impl Failure {
    /// Keeps the first error.
    #[cfg_attr(not(feature = "remote"), expect(dead_code, reason = "files of this machine do not fail like this"))]
    pub(super) fn note(&self, name: &str, error: &io::Error) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert((error.kind(), format!("{name}: {error}")));
    }

    /// Fails if something has failed.
    pub(super) fn check(&self) -> io::Result<()> {
        match &*self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            Some((kind, words)) => Err(io::Error::new(*kind, words.clone())),
            None => Ok(()),
        }
    }
}

/// What scans found in a block.
#[derive(Clone, Copy, Debug, Default)]
struct BlockRead {
    matched: bool,
    by_columns: bool,
}

/// About how many bytes of a store are read: of its newest events, and of its oldest ones; and which of its other blocks.
#[derive(Debug)]
pub(crate) struct StorePart {
    newest: AtomicU64,
    oldest: AtomicU64,
    /// Where these blocks begin in the text.
    others: Mutex<Arc<BTreeSet<u64>>>,
}

impl StorePart {
    pub(crate) fn all() -> Self {
        Self { newest: AtomicU64::new(u64::MAX), oldest: AtomicU64::new(0), others: Mutex::default() }
    }

    /// From now on, this many bytes of the newest events are read, and of the oldest ones.
    pub(crate) fn set(&self, newest: u64, oldest: u64) {
        self.newest.store(newest, Relaxed);
        self.oldest.store(oldest, Relaxed);
    }

    /// Blocks that are read in any case, by where they begin in the text.
    pub(crate) fn add(&self, blocks: BTreeSet<u64>) {
        *self.others.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(blocks);
    }

    pub(crate) fn newest_bytes(&self) -> u64 {
        self.newest.load(Relaxed)
    }

    pub(crate) fn oldest_bytes(&self) -> u64 {
        self.oldest.load(Relaxed)
    }
}

/// The blocks that a scan reads. A section is asked for them when the scan comes to it.
#[derive(Debug)]
pub(crate) struct BlockSelection {
    condition: Option<Condition>,
    /// Whether a block that is read keeps the lines that cannot match, because lines are counted.
    keeps_lines: bool,
    /// Only blocks that end after this byte...
    newest_from: u64,
    /// ...or begin before this one...
    oldest_to: u64,
    /// ...or begin at one of these.
    others: Arc<BTreeSet<u64>>,
    sections: Vec<OnceLock<Selected>>,
}

/// What was read of a store.
#[derive(Clone, Debug, Default)]
pub(crate) struct StoreReads {
    sections: usize,
    /// Those that were looked at, and their blocks.
    asked: usize,
    blocks: u64,
    read: u64,
    without_match: u64,
    by_columns: u64,
    skipped: Skipped,
    pub(crate) damage: Vec<Damage>,
}

/// What a scan of a store would read.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ForeseenReads {
    /// Blocks that may have a match.
    read: u64,
    /// The sections that have them, and all sections in the window of time.
    sections: u64,
    window: u64,
    skipped: Skipped,
}

impl BlockSelection {
    /// Whether a block, or some blocks in a row, have events of the part that is read.
    fn has(&self, facts: &BlockFacts) -> bool {
        let has_other = || self.others.range(facts.offset..facts.end()).next().is_some();
        facts.end() > self.newest_from || facts.offset < self.oldest_to || has_other()
    }
}

impl StoreText {
    pub(super) fn open(path: &path::Path, window: Window, progress: &Arc<Progress>) -> Result<Self, jird_store::Error> {
        Self::of(&Store::open(path)?, window, progress, Failure::default())
    }

    /// The present state of a store; `failure` says why it can no longer be read.
    pub(super) fn of(
        store: &Store,
        window: Window,
        progress: &Arc<Progress>,
        failure: Failure,
    ) -> Result<Self, jird_store::Error> {
        let snapshot = store.snapshot()?;
        let text = snapshot.text(window)?;
        let blocks = (0..text.sections()).map(|_| AtomicU64::new(0)).collect();
        Ok(Self {
            snapshot,
            text,
            progress: Arc::clone(progress),
            fields: Mutex::default(),
            read: Mutex::default(),
            blocks,
            saved: Mutex::default(),
            asked: Mutex::default(),
            failure,
        })
    }

    /// Says at which fields the query looks, before any scan that looks at them.
    pub(crate) fn look_at(&self, paths: &[Path]) {
        let mut fields = self.fields.lock().unwrap_or_else(PoisonError::into_inner);
        if !fields.as_ref().is_some_and(|fields| fields.cover(paths)) {
            *fields = Fields::new(paths.iter().cloned()).map(Arc::new);
        }
    }

    fn fields(&self) -> Option<Arc<Fields>> {
        self.fields.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The length of the text, in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.text.bytes()
    }

    /// The blocks that may have a record for which the predicate holds, whose slots are these paths; of these, only
    /// those in this part of the text. If line numbers are reported, they are read with all their
    /// lines.
    pub(crate) fn choose(
        &self,
        condition: Option<(&Predicate, &[Path])>,
        part: &StorePart,
        tells_lines: bool,
    ) -> BlockSelection {
        BlockSelection {
            condition: condition.map(|(predicate, paths)| Condition::new(predicate, paths)),
            keeps_lines: tells_lines,
            newest_from: self.bytes().saturating_sub(part.newest_bytes()),
            oldest_to: part.oldest_bytes(),
            others: Arc::clone(&part.others.lock().unwrap_or_else(PoisonError::into_inner)),
            sections: vec![OnceLock::new(); self.text.sections()],
        }
    }

    /// How many blocks a scan with this choice would read, and what leaves out the others. Asks the indexes of all sections,
    /// and reads no event.
    pub(crate) fn foreseen(&self, chosen: &BlockSelection) -> ForeseenReads {
        let mut foreseen = ForeseenReads { window: self.text.sections() as u64, ..ForeseenReads::default() };
        for section in 0..self.text.sections() {
            let facts = self.text.section(section);
            if !chosen.has(&facts) {
                continue;
            }
            let Selected { blocks, skipped, .. } = self.text.select(section, chosen.condition.as_ref());
            let read = blocks.iter().filter(|id| chosen.has(&self.text.block(**id))).count() as u64;
            foreseen.read += read;
            foreseen.sections += u64::from(read > 0);
            foreseen.skipped.merge(&skipped);
        }
        foreseen
    }

    /// How many bytes of the text a thread takes at a time that takes this many of a file. Of what a condition may leave
    /// out, it takes more: in 5 GB, handing out chunks of 2 MB cost as much as asking the indexes of all spans.
    pub(crate) fn chunk_bytes(&self, chosen: &BlockSelection, of_file: u64) -> u64 {
        match chosen.condition {
            Some(_) => (self.bytes() / CHUNKS).clamp(of_file, of_file.saturating_mul(CHUNK_FACTOR)),
            None => of_file,
        }
    }

    /// The chosen blocks that begin in `range`, for a reader that looks at these paths; without a choice, all.
    pub(crate) fn pieces<'s>(
        &'s self,
        chosen: Option<&'s BlockSelection>,
        range: Range<u64>,
        paths: &[Path],
    ) -> StorePieces<'s> {
        let sections = self.sections_in(&range);
        let fields = self.fields().filter(|fields| fields.cover(paths));
        StorePieces { store: self, chosen, range, fields, cells: None, sections, blocks: Vec::new().into_iter() }
    }

    /// The number of events in the blocks that begin in `range`.
    pub(crate) fn events(&self, range: &Range<u64>) -> u64 {
        let events = |section: usize| {
            let facts = self.text.section(section);
            if range.start <= facts.offset && facts.end() <= range.end {
                return facts.events;
            }
            let blocks = self.text.blocks_of(section).map(|id| self.text.block(id));
            blocks.filter(|block| range.contains(&block.offset)).map(|block| block.events).sum()
        };
        self.sections_in(range).map(events).sum()
    }

    /// The sections with blocks that may begin in `range`.
    fn sections_in(&self, range: &Range<u64>) -> Range<usize> {
        // Binary search, because a scan may ask for many small ranges.
        let count = |holds: &dyn Fn(BlockFacts) -> bool| {
            let (mut low, mut high) = (0, self.text.sections());
            while low < high {
                let middle = usize::midpoint(low, high);
                if holds(self.text.section(middle)) { low = middle + 1 } else { high = middle }
            }
            low
        };
        count(&|facts| facts.end() <= range.start)..count(&|facts| facts.offset < range.end)
    }

    /// The blocks of a section that a scan reads, of those that begin in `range`.
    fn blocks_in(&self, section: usize, chosen: Option<&BlockSelection>, range: &Range<u64>) -> Vec<BlockId> {
        let all = OnceLock::new();
        let (condition, selected) =
            chosen.map_or((None, &all), |chosen| (chosen.condition.as_ref(), &chosen.sections[section]));
        let has = |facts: &BlockFacts| chosen.is_none_or(|chosen| chosen.has(facts));
        let facts = self.text.section(section);
        if !has(&facts) {
            return Vec::new();
        }
        let Selected { blocks, skipped, saved } = selected.get_or_init(|| self.text.select(section, condition));
        self.blocks[section].store(blocks.len() as u64 + skipped.blocks, Relaxed);
        // Each section begins in one range.
        if range.contains(&facts.offset) {
            let mut noted = self.saved.lock().unwrap_or_else(PoisonError::into_inner);
            noted.0.merge(skipped);
            noted.1.extend_from_slice(saved);
            drop(noted);
            let bytes: u64 = blocks.iter().map(|id| self.text.block(*id).bytes).sum();
            if let Some(condition) = condition.filter(|_| bytes > 0) {
                let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
                for path in self.text.without_column(section, condition) {
                    *asked.entry(path).or_default() += bytes;
                }
            }
        }
        let is_wanted = |facts: BlockFacts| range.contains(&facts.offset) && has(&facts);
        blocks.iter().copied().filter(|id| is_wanted(self.text.block(*id))).collect()
    }

    /// Whether the order of the events is that of the texts at `path`.
    pub(crate) fn is_ordered_by(&self, path: &Path) -> bool {
        self.text.is_ordered_by(path)
    }

    /// What kinds of values all events have at `path`, if the index knows.
    pub(crate) fn kinds(&self, path: &Path) -> Option<FieldKinds> {
        self.text.kinds(path)
    }

    /// What numbers all events have at `path`, if columns tell.
    pub(crate) fn numbers(&self, path: &Path) -> Option<Numbers> {
        self.text.numbers(path)
    }

    /// Whether there are few different texts or integers at `path`, judged by the columns of the newest spans.
    pub(crate) fn has_few_values(&self, path: &Path) -> bool {
        self.text.has_few_values(path)
    }

    /// Where blocks begin that have the least or the greatest number at a path; `None` if all must be read.
    pub(crate) fn extreme(&self, path: &Path, extreme: Extreme) -> Option<Vec<u64>> {
        let blocks = self.text.extreme(path, extreme)?;
        Some(blocks.into_iter().map(|id| self.text.block(id).offset).collect())
    }

    /// Notes whether a block had a match. Returns its length in the text, whatever was read of it.
    pub(crate) fn note_block(&self, offset: u64, matched: u64) -> u64 {
        let Some(id) = self.text.block_at(offset) else { return 0 };
        self.noted(id, |read| read.matched |= matched > 0);
        self.text.block(id).bytes
    }

    fn noted(&self, id: BlockId, note: impl FnOnce(&mut BlockRead)) {
        note(self.read.lock().unwrap_or_else(PoisonError::into_inner).entry(id).or_default());
    }

    /// Notes that columns answered, so that no document of a block was read.
    fn note_columns(&self, id: BlockId) {
        self.noted(id, |read| read.by_columns = true);
        if let Some(span) = self.text.span_of(id) {
            let mut noted = self.saved.lock().unwrap_or_else(PoisonError::into_inner);
            noted.1.push((span, Saved::of_columns()));
        }
    }

    /// What was read so far. What indexes saved is noted in the store, and which fields columns did not have for most of it.
    pub(crate) fn reads(&self) -> StoreReads {
        let (skipped, saved) = {
            let mut noted = self.saved.lock().unwrap_or_else(PoisonError::into_inner);
            (noted.0, std::mem::take(&mut noted.1))
        };
        self.snapshot.note_saved(&saved);
        let asked = std::mem::take(&mut *self.asked.lock().unwrap_or_else(PoisonError::into_inner));
        let of_most = asked.into_iter().filter(|(_, bytes)| *bytes >= self.bytes() / 2).map(|(path, _)| path);
        self.snapshot.note_asked(&of_most.collect::<Vec<_>>());
        let read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let count = |holds: fn(&BlockRead) -> bool| read.values().filter(|read| holds(read)).count() as u64;
        let asked = || self.blocks.iter().map(|blocks| blocks.load(Relaxed)).filter(|blocks| *blocks > 0);
        StoreReads {
            sections: self.text.sections(),
            asked: asked().count(),
            blocks: asked().sum(),
            read: read.len() as u64,
            without_match: count(|read| !read.matched),
            by_columns: count(|read| read.by_columns),
            skipped,
            damage: self.snapshot.damage(),
        }
    }

    /// The number of events in the blocks before the one that has the byte at `offset`.
    pub(crate) fn events_before_block(&self, offset: u64) -> u64 {
        let Some(block) = self.text.block_at(offset) else { return self.text.events() };
        let sections = 0..self.sections_in(&(offset..offset + 1)).start;
        let before: u64 = sections.clone().map(|section| self.text.section(section).events).sum();
        let within = self.text.blocks_of(sections.end).take_while(|id| *id < block);
        before + within.map(|id| self.text.block(id).events).sum::<u64>()
    }

    /// The number of events before the byte at `offset`, which is that of an event in the lines that scans read.
    pub(super) fn events_before(&self, offset: u64) -> io::Result<u64> {
        let events = self.events_before_block(offset);
        let Some(id) = self.text.block_at(offset) else { return Ok(events) };
        let mut text = Vec::new();
        let read = match self.fields() {
            Some(fields) => self.text.read_fields(id, &fields, None, &mut text).map(drop),
            None => self.text.read(id, None, &mut text),
        };
        self.failure.check()?;
        read.map_err(io::Error::other)?;
        let within = usize::try_from(offset.saturating_sub(self.text.block(id).offset)).unwrap_or(usize::MAX);
        Ok(events + jird::hooks::lines::newlines(&text[..within.min(text.len())]))
    }
}

/// Takes the cells of a block in place of its lines.
pub(crate) struct TakeCells<'t> {
    /// How many of the paths are looked at: these are the first.
    pub(crate) shown: usize,
    /// Returns `None` if it wants the lines.
    pub(crate) take: &'t mut dyn FnMut(&[Cells]) -> Option<ControlFlow<()>>,
}

/// Reads chosen blocks one after the other.
pub(crate) struct StorePieces<'s> {
    store: &'s StoreText,
    chosen: Option<&'s BlockSelection>,
    range: Range<u64>,
    /// The fields that are read, if columns may have them.
    fields: Option<Arc<Fields>>,
    /// The paths whose cells are wanted in place of lines, and what takes them.
    cells: Option<(&'s [Path], TakeCells<'s>)>,
    sections: Range<usize>,
    /// Of the section that is read.
    blocks: vec::IntoIter<BlockId>,
}

impl<'s> StorePieces<'s> {
    /// Hands out the cells at these paths, and no lines, where columns know them and which events match.
    pub(crate) fn with_cells(self, paths: &'s [Path], take: TakeCells<'s>) -> Self {
        Self { cells: Some((paths, take)), ..self }
    }

    fn next_block(&mut self) -> io::Result<Option<BlockId>> {
        loop {
            if let Some(id) = self.blocks.next() {
                return Ok(Some(id));
            }
            let Some(section) = self.sections.next() else { return self.store.failure.check().map(|()| None) };
            self.blocks = self.store.blocks_in(section, self.chosen, &self.range).into_iter();
        }
    }

    fn condition(&self) -> Option<&'s Condition> {
        self.chosen.filter(|chosen| !chosen.keeps_lines).and_then(|chosen| chosen.condition.as_ref())
    }

    /// Hands out the cells of a block, if columns know them.
    fn take_cells(&mut self, id: BlockId) -> io::Result<Option<ControlFlow<()>>> {
        let condition = self.condition();
        let Some((paths, take)) = &mut self.cells else { return Ok(None) };
        let Some(cells) = self.store.text.read_cells(id, paths, take.shown, condition) else { return Ok(None) };
        self.store.failure.check()?;
        let Some(flow) = (take.take)(&cells) else { return Ok(None) };
        self.store.note_columns(id);
        self.store.noted(id, |read| read.matched |= cells.iter().any(|cells| cells.rows() > 0));
        self.store.progress.add(self.store.text.block(id).bytes);
        Ok(Some(flow))
    }
}

impl PieceSource for StorePieces<'_> {
    fn next_piece(&mut self, buffer: &mut Vec<u8>) -> io::Result<Option<u64>> {
        let id = loop {
            let Some(id) = self.next_block()? else { return Ok(None) };
            match self.take_cells(id)? {
                Some(ControlFlow::Continue(())) => {}
                Some(ControlFlow::Break(())) => return Ok(None),
                None => break id,
            }
        };
        let text = &self.store.text;
        let condition = self.condition();
        let read = match &self.fields {
            Some(fields) => text.read_fields(id, fields, condition, buffer),
            None => text.read(id, condition, buffer).map(|()| false),
        };
        let by_columns = read.map_err(io::Error::other);
        self.store.failure.check()?;
        if by_columns? {
            self.store.note_columns(id);
        }
        let facts = text.block(id);
        self.store.progress.add(facts.bytes);
        Ok(Some(facts.offset))
    }
}

impl fmt::Display for ForeseenReads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { read, sections, window, skipped } = self;
        write!(f, "{read} to read, in {sections} of {window} sections")?;
        let reasons = [
            (skipped.by_time, "times"),
            (skipped.by_keys, "keys"),
            (skipped.by_range, "ranges of numbers"),
            (skipped.by_pairs, "values"),
            (skipped.by_words, "words"),
        ];
        let reasons = reasons.into_iter().filter(|(blocks, _)| *blocks > 0);
        reasons.enumerate().try_for_each(|(number, (blocks, reason))| {
            write!(f, "{} {blocks} by {reason}", if number == 0 { "; skipped:" } else { "," })
        })
    }
}

impl fmt::Display for StoreReads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            sections,
            asked,
            blocks,
            read,
            without_match,
            by_columns,
            skipped: Skipped { by_time, by_range, by_pairs, by_words, by_keys, .. },
            ..
        } = self;
        write!(
            f,
            "{read} of {blocks} blocks read, {without_match} of them without a match; {by_columns} answered by columns; \
             skipped by times {by_time}, by keys {by_keys}, by ranges of numbers {by_range}, by values {by_pairs}, by words {by_words}; {asked} of {sections} sections looked at"
        )
    }
}

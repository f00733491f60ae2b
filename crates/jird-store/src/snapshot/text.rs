//! The events of a window as NDJSON, in sections and blocks.
//!
//! A *section* is a span, or all spans and logs that overlap in time with each other. How long it is and how many
//! events it has is known from the manifest, so a section is opened only when something else is asked of it.
//!
//! A block of a text is usually a block of a span. Where a section is several spans or logs, a block of the text is the
//! events of several of them between two *cuts*, merged when it is read. Cuts are where a block begins, and are so
//! chosen that little is read twice.

use super::{Snapshot, State};
use crate::column::{Cells, Fields, Numbers};
use crate::error::Error;
use crate::event::Key;
use crate::index::{Condition, FieldKinds};
use crate::settings::Window;
use crate::span::{BLOCK_BYTES, BlockRows};
use jird::Path;
use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::sync::OnceLock;

/// This many spans are asked for few values.
const FEW_SPANS: usize = 4;

/// The events of a window of a snapshot: NDJSON in sections of blocks of whole lines, in order of time, then arrival.
///
/// A section is opened when its blocks are asked for, so a query of few sections reads little of a store.
#[derive(Clone, Debug)]
pub struct Text {
    pub(super) snapshot: Snapshot,
    pub(super) sections: Vec<Section>,
}

/// What is known of a block before it is read, or of a section before it is opened.
///
/// If something damaged is met when it is read, its lines are missing, and there are fewer bytes and events than said
/// here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockFacts {
    /// Where it begins in the text.
    pub offset: u64,
    /// How long it is.
    pub bytes: u64,
    /// How many events, and so lines, it has.
    pub events: u64,
    /// The times of its first and its last event, in nanoseconds since 1970.
    pub times: (i64, i64),
}

impl BlockFacts {
    /// Where it ends in the text.
    pub fn end(&self) -> u64 {
        self.offset.saturating_add(self.bytes)
    }
}

/// Where a block is in a text. They are in the order of the blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlockId {
    section: u32,
    block: u32,
}

#[derive(Clone, Debug)]
pub(super) struct Section {
    pub(super) facts: BlockFacts,
    pub(super) units: Vec<Unit>,
    /// Its blocks, if it was opened.
    pub(super) blocks: OnceLock<Vec<TextBlock>>,
}

/// Something that has events in the window: a span or a block of the logs, or, at another home, a block of either.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unit<H = UnitHome> {
    pub(super) home: H,
    first: Key,
    last: Key,
    events: u64,
    bytes: u64,
    /// The events from here on, and those before, belong to the text.
    from: Option<Key>,
    until: Option<Key>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UnitHome {
    /// A span's place in the snapshot.
    Span(usize),
    /// A block of the events in the logs.
    Recent(usize),
}

#[derive(Clone, Debug)]
pub(super) struct TextBlock {
    pub(super) facts: BlockFacts,
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

/// A block of a span. A text may have all of its events, or only some.
struct CutBlock {
    span: usize,
    block: usize,
    is_whole: bool,
}

/// A block on disk or in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Home {
    /// A span's place in the snapshot, and a block of it.
    Span(usize, usize),
    /// A block of the events in the logs.
    Recent(usize),
}

impl Text {
    pub(super) fn new(snapshot: Snapshot, window: Window, before: Option<Key>) -> Self {
        let state = &*snapshot.0;
        let mut units = units(state, window, before);
        units.sort_unstable_by_key(|unit| unit.first);
        let mut groups: Vec<Vec<Unit>> = Vec::new();
        let mut end: Option<Key> = None;
        for unit in units {
            match groups.last_mut() {
                Some(group) if end.is_some_and(|end| unit.first <= end) => group.push(unit),
                _ => groups.push(vec![unit]),
            }
            end = end.max(Some(unit.last));
        }
        let mut offset: u64 = 0;
        let section = |units| {
            let section = Section::new(state, units, offset)?;
            offset = section.facts.end();
            Some(section)
        };
        let sections = groups.into_iter().filter_map(section).collect();
        Self { snapshot, sections }
    }

    /// The number of sections.
    pub fn sections(&self) -> usize {
        self.sections.len()
    }

    /// What is known of a section before it is opened.
    ///
    /// # Panics
    /// If there is no such section.
    pub fn section(&self, number: usize) -> BlockFacts {
        self.sections[number].facts
    }

    /// The blocks, in order. A section is opened when its first block is reached.
    pub fn blocks(&self) -> impl Iterator<Item = BlockId> {
        (0..self.sections.len()).flat_map(|section| self.blocks_of(section))
    }

    /// The blocks of a section, which is opened.
    ///
    /// # Panics
    /// If there is no such section.
    pub fn blocks_of(&self, section: usize) -> impl Iterator<Item = BlockId> + use<> {
        let count = self.opened(section).len() as u32;
        (0..count).map(move |block| BlockId { section: section as u32, block })
    }

    /// The block that has the byte at an offset; `None` beyond the end. Its section is opened.
    pub fn block_at(&self, offset: u64) -> Option<BlockId> {
        let section = self.sections.partition_point(|section| section.facts.end() <= offset);
        if section == self.sections.len() {
            return None;
        }
        let blocks = self.opened(section);
        let block = blocks.partition_point(|block| block.facts.end() <= offset);
        (block < blocks.len()).then_some(BlockId { section: section as u32, block: block as u32 })
    }

    /// What is known of a block before it is read.
    ///
    /// # Panics
    /// If the block is one of another text.
    pub fn block(&self, id: BlockId) -> BlockFacts {
        self.text_block(id).facts
    }

    /// The length of the text.
    pub fn bytes(&self) -> u64 {
        self.sections.last().map_or(0, |section| section.facts.end())
    }

    /// The number of events.
    pub fn events(&self) -> u64 {
        self.sections.iter().map(|section| section.facts.events).fold(0, u64::saturating_add)
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
    /// If the block is one of another text.
    pub fn read(&self, id: BlockId, condition: Option<&Condition>, buffer: &mut Vec<u8>) -> Result<(), Error> {
        self.snapshot.0.read(&self.text_block(id).pieces, None, condition, buffer).map(drop)
    }

    /// As [`Text::read`], for a reader that looks at nothing but these fields: if all of them are columns of the block,
    /// the lines are made of the columns and have nothing else, such as `{"Level":"Error"}`, and the documents are not
    /// read. Each line has, at each of the fields, the text that its document has. Returns whether columns answered,
    /// also that no event matches.
    ///
    /// # Errors
    /// As [`Text::read`].
    ///
    /// # Panics
    /// If the block is one of another text.
    pub fn read_fields(
        &self,
        id: BlockId,
        fields: &Fields,
        condition: Option<&Condition>,
        buffer: &mut Vec<u8>,
    ) -> Result<bool, Error> {
        self.snapshot.0.read(&self.text_block(id).pieces, Some(fields), condition, buffer)
    }

    /// The values at some paths of the events of a block that match, in parts one after the other, if columns have all of
    /// them and decide the condition exactly. No document is read. `None` if lines must be read. Those of the first `shown`
    /// paths can be looked at; of the others only whether events [have some](Cells::has_some).
    ///
    /// # Panics
    /// If the block is one of another text.
    pub fn read_cells(
        &self,
        id: BlockId,
        paths: &[Path],
        shown: usize,
        condition: Option<&Condition>,
    ) -> Option<Vec<Cells>> {
        let pieces = &self.text_block(id).pieces;
        if pieces.windows(2).any(|pair| pair[0].last >= pair[1].first) {
            return None;
        }
        let cells = pieces.iter().map(|piece| match piece.home {
            Home::Span(span, block) => {
                self.snapshot.0.spans[span].cells(block, piece.rows.clone(), (paths, shown), condition)
            }
            Home::Recent(_) => None,
        });
        cells.collect()
    }

    /// As [`Text::read`] without a condition, and replaces `keys` by those of the events, in the order of their lines.
    ///
    /// # Errors
    /// As [`Text::read`].
    ///
    /// # Panics
    /// If the block is one of another text.
    pub fn read_keyed(&self, id: BlockId, keys: &mut Vec<Key>, buffer: &mut Vec<u8>) -> Result<(), Error> {
        self.snapshot.0.read_keyed(&self.text_block(id).pieces, keys, buffer)
    }

    /// Whether a block has events that arrived with one of these numbers. Reads no document.
    ///
    /// # Panics
    /// If the block is one of another text.
    pub fn has_arrivals(&self, id: BlockId, arrivals: &Range<u64>) -> bool {
        self.text_block(id).pieces.iter().any(|piece| {
            let rows = self.snapshot.0.rows(piece.home);
            let keys = rows.as_ref().and_then(|rows| rows.keys.get(piece.rows.clone())).unwrap_or_default();
            keys.iter().any(|key| arrivals.contains(&key.arrival))
        })
    }

    /// The number of the span that a block belongs to, if any.
    ///
    /// # Panics
    /// If the block is one of another text.
    pub fn span_of(&self, id: BlockId) -> Option<u64> {
        match self.text_block(id).pieces[..] {
            [Piece { home: Home::Span(span, _), .. }] => Some(self.snapshot.0.spans[span].number()),
            _ => None,
        }
    }

    /// The paths of a condition that have no column in some span of a section.
    ///
    /// # Panics
    /// If there is no such section.
    pub fn without_column(&self, section: usize, condition: &Condition) -> Vec<Path> {
        let state = &*self.snapshot.0;
        let lacks = |unit: &Unit, path: &Path| match unit.home {
            UnitHome::Span(span) => !state.spans[span].table().columns.iter().any(|(other, _)| other == path),
            UnitHome::Recent(_) => false,
        };
        let units = &self.sections[section].units;
        let slots: BTreeSet<usize> = condition.slots().into_iter().collect();
        let mut paths: Vec<&Path> = slots.into_iter().filter_map(|slot| condition.paths().get(slot)).collect();
        paths.retain(|path| !path.steps().is_empty() && **path != state.settings.time_field);
        paths.retain(|path| units.iter().any(|unit| lacks(unit, path)));
        paths.into_iter().cloned().collect()
    }

    /// Whether all events of the store hold, at this path, a UTC text of one fixed width, so that the order of these
    /// texts is the order of the events. Reads nothing.
    pub fn is_ordered_by(&self, path: &Path) -> bool {
        let state = &*self.snapshot.0;
        *path == state.settings.time_field && state.order().is_of_texts()
    }

    /// Which kinds of values the events of this text have at a path; `None` if no index knows. Of an event that has a
    /// key twice, the values of both may count. Reads something of each span, and the events in the logs, except for the time field, which the
    /// manifest knows enough about if the text [is ordered by](Self::is_ordered_by) it.
    pub fn kinds(&self, path: &Path) -> Option<FieldKinds> {
        if !self.sections.is_empty() && self.is_ordered_by(path) {
            return Some(FieldKinds::STRING);
        }
        let state = &*self.snapshot.0;
        // For the blocks that are here whole, and for those with some events elsewhere.
        let (mut whole, mut cut) = (FieldKinds::NONE, FieldKinds::NONE);
        for (number, section) in self.sections.iter().enumerate() {
            if section.is_cut() {
                let (of_whole, of_cut) = self.kinds_of_cut(number, path)?;
                (whole, cut) = (whole.with(of_whole), cut.with(of_cut));
                continue;
            }
            for unit in &section.units {
                whole = whole.with(match unit.home {
                    UnitHome::Span(span) => state.spans[span].kinds(path)?,
                    UnitHome::Recent(block) => state.recent.facts(block, 0..state.recent.block(block).len(), path)?.0,
                });
            }
        }
        // What only the events elsewhere may have is not known of those that are here.
        cut.is_within(whole).then_some(whole)
    }

    /// What numbers the events of this text have at a path; `None` if they are not known, or if there are no events. Reads
    /// the tables of all spans, and the events in the logs.
    pub fn numbers(&self, path: &Path) -> Option<Numbers> {
        let State { spans, recent, .. } = &*self.snapshot.0;
        // In the blocks that are here whole, and in those with some events elsewhere.
        let (mut whole, mut cut) = (None, None);
        for (number, section) in self.sections.iter().enumerate() {
            if section.is_cut() {
                let (blocks, events) = self.parts_of_cut(number);
                for CutBlock { span, block, is_whole } in blocks {
                    let all = if is_whole { &mut whole } else { &mut cut };
                    *all = (*all).max(Some(spans[span].block_numbers(path, block)?));
                }
                for (block, rows) in events {
                    whole = whole.max(Some(recent.facts(block, rows, path)?.1?));
                }
                continue;
            }
            for unit in &section.units {
                let numbers = match unit.home {
                    UnitHome::Span(span) => spans[span].numbers(path)?,
                    UnitHome::Recent(block) => recent.facts(block, 0..recent.block(block).len(), path)?.1?,
                };
                whole = whole.max(Some(numbers));
            }
        }
        // The numbers with a point may be those elsewhere.
        if cut > whole { cut.filter(|numbers| *numbers == Numbers::Integers) } else { whole }
    }

    /// Whether this text has spans, and the newest of them have few different values at a path: a column of
    /// [words](crate::column::ColumnType::Words), or one of integers from 0 to 65,535. Others may have more. Reads the tables of
    /// a few spans, and of their indexes the bounds of these integers.
    pub fn has_few_values(&self, path: &Path) -> bool {
        let spans = &self.snapshot.0.spans;
        let newest = self.sections.iter().rev().flat_map(|section| section.units.iter().rev());
        let newest = newest.filter_map(|unit| match unit.home {
            UnitHome::Span(span) => Some(spans[span].has_few_values(path)),
            UnitHome::Recent(_) => None,
        });
        let mut newest = newest.take(FEW_SPANS).peekable();
        newest.peek().is_some() && newest.all(|has_few| has_few)
    }

    /// The parts of a section, which is cut: blocks of spans, and events in the logs.
    fn parts_of_cut(&self, section: usize) -> (Vec<CutBlock>, Vec<(usize, Range<usize>)>) {
        let mut events: HashMap<(usize, usize), usize> = HashMap::new();
        let mut recent = Vec::new();
        for piece in self.opened(section).iter().flat_map(|block| &block.pieces) {
            match piece.home {
                Home::Span(span, block) => *events.entry((span, block)).or_default() += piece.rows.len(),
                Home::Recent(block) => recent.push((block, piece.rows.clone())),
            }
        }
        let blocks = events.into_iter().map(|((span, block), events)| {
            let all = self.snapshot.0.spans[span].table().blocks[block].events;
            CutBlock { span, block, is_whole: events as u64 == all }
        });
        (blocks.collect(), recent)
    }

    /// The kinds in the blocks of a section that are in this text whole, and those in the blocks that are not.
    fn kinds_of_cut(&self, section: usize, path: &Path) -> Option<(FieldKinds, FieldKinds)> {
        let state = &*self.snapshot.0;
        let mut spans: HashMap<usize, Vec<Option<FieldKinds>>> = HashMap::new();
        let (mut whole, mut cut) = (FieldKinds::NONE, FieldKinds::NONE);
        let (blocks, recent) = self.parts_of_cut(section);
        for CutBlock { span, block, is_whole } in blocks {
            if let Entry::Vacant(entry) = spans.entry(span) {
                entry.insert(state.spans[span].block_kinds(path)?);
            }
            let kinds = spans[&span].get(block).copied()??;
            let all = if is_whole { &mut whole } else { &mut cut };
            *all = all.with(kinds);
        }
        for (block, rows) in recent {
            whole = whole.with(state.recent.facts(block, rows, path)?.0);
        }
        Some((whole, cut))
    }

    pub(super) fn text_block(&self, id: BlockId) -> &TextBlock {
        &self.opened(id.section as usize)[id.block as usize]
    }

    pub(super) fn opened(&self, section: usize) -> &[TextBlock] {
        let section = &self.sections[section];
        section.blocks.get_or_init(|| {
            let mut blocks = blocks(&self.snapshot.0, &section.units);
            // A span that is not what the manifest says stays in its place.
            let last = section.facts.end().saturating_sub(1).max(section.facts.offset);
            for block in &mut blocks {
                block.facts.offset = section.facts.offset.saturating_add(block.facts.offset).min(last);
            }
            blocks
        })
    }
}

impl Section {
    /// A section that begins at a byte of the text; `None` if the window leaves nothing of it. It is opened if the window
    /// leaves a part of it.
    fn new(state: &State, units: Vec<Unit>, offset: u64) -> Option<Self> {
        let mut section = Self {
            facts: BlockFacts {
                offset,
                bytes: units.iter().map(|unit| unit.bytes).fold(0, u64::saturating_add),
                events: units.iter().map(|unit| unit.events).fold(0, u64::saturating_add),
                times: (units.first()?.first.time, units.iter().map(|unit| unit.last.time).max()?),
            },
            units,
            blocks: OnceLock::new(),
        };
        if section.is_cut() {
            let mut blocks = blocks(state, &section.units);
            let first = blocks.first()?.facts.times.0;
            let last = blocks.iter().map(|block| block.facts.times.1).max()?;
            let sum = |of: fn(&BlockFacts) -> u64| blocks.iter().map(|block| of(&block.facts)).sum();
            (section.facts.bytes, section.facts.events) = (sum(|facts| facts.bytes), sum(|facts| facts.events));
            section.facts.times = (first, last);
            blocks.iter_mut().for_each(|block| block.facts.offset += offset);
            section.blocks = blocks.into();
        }
        Some(section)
    }

    /// Whether the window leaves a part of it.
    pub(super) fn is_cut(&self) -> bool {
        self.units.iter().any(|unit| {
            unit.from.is_some_and(|from| unit.first < from) || unit.until.is_some_and(|until| until <= unit.last)
        })
    }
}

/// The spans and the blocks of the logs that may have events in the window. Reads nothing.
fn units(state: &State, window: Window, before: Option<Key>) -> Vec<Unit> {
    let key = |time| Key { time, arrival: 0 };
    let until = [window.until.map(key), before].into_iter().flatten().min();
    let spans = state.spans.iter().enumerate().map(|(number, span)| {
        let entry = span.entry();
        Unit {
            home: UnitHome::Span(number),
            first: entry.first,
            last: entry.last,
            events: entry.events,
            bytes: entry.text_bytes,
            from: window.since.max(entry.keep_from).map(key),
            until,
        }
    });
    let recent = (0..state.recent.blocks()).map(|block| {
        let rows = state.recent.block(block);
        Unit {
            home: UnitHome::Recent(block),
            first: state.recent.first(block),
            last: state.recent.last(block),
            events: rows.len() as u64,
            bytes: rows.iter().map(|row| row.len() as u64).sum(),
            from: window.since.map(key),
            until,
        }
    });
    let is_within = |unit: &Unit| {
        unit.from.is_none_or(|from| from <= unit.last) && unit.until.is_none_or(|until| unit.first < until)
    };
    spans.chain(recent).filter(is_within).collect()
}

/// The blocks of a section, the first at 0.
fn blocks(state: &State, units: &[Unit]) -> Vec<TextBlock> {
    let mut wholes = wholes(state, units);
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
    blocks.collect()
}

/// The blocks that have events in the window. Reads the tables of spans.
fn wholes(state: &State, units: &[Unit]) -> Vec<Unit<Home>> {
    let mut wholes = Vec::new();
    for unit in units {
        let Unit { home, first, last, events, bytes, from, until } = *unit;
        match home {
            UnitHome::Recent(block) => {
                wholes.push(Unit { home: Home::Recent(block), first, last, events, bytes, from, until });
            }
            UnitHome::Span(number) => {
                let blocks = state.spans[number].table().blocks.iter().enumerate();
                let blocks = blocks.filter(|(_, block)| {
                    from.is_none_or(|from| from <= block.last) && until.is_none_or(|until| block.first < until)
                });
                wholes.extend(blocks.map(|(block, entry)| Unit {
                    home: Home::Span(number, block),
                    first: entry.first,
                    last: entry.last,
                    events: entry.events,
                    bytes: entry.text_bytes,
                    from,
                    until,
                }));
            }
        }
    }
    wholes
}

/// Where a section is cut into blocks, apart from its ends. `wholes` are sorted by their first keys.
fn cuts(wholes: &[Unit<Home>]) -> Vec<Key> {
    let mut cuts = Vec::new();
    // The blocks that go on, and the bytes since the last cut.
    let (mut open, mut bytes): (Vec<Unit<Home>>, u64) = (Vec::new(), 0);
    for whole in wholes {
        open.retain(|before| before.last >= whole.first);
        // These are read on both sides of a cut. What lies in memory costs nothing.
        let is_read = |before: &&Unit<Home>| matches!(before.home, Home::Span(..));
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
    whole: &Unit<Home>,
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

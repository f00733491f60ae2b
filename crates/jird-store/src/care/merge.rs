//! Spans written again, as others: merged with each other, without what retention removed of them, or without certain events.

use super::pace::{Pace, Rests};
use crate::column::spread;
use crate::error::{Damage, Damages, Error, ErrorKind};
use crate::event::{Key, TextOrder};
use crate::manifest::{Folder, Fresh, SpanEntry};
use crate::settings::Settings;
use crate::span::{BlockRows, Effort, Fault, SpanFile, SpanWriter};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

/// About how many bytes of events a span has at most. Tests have small ones.
pub(super) const SPAN_BYTES: u64 = if cfg!(test) { 30 << 10 } else { 256 << 20 };

/// Whether a span with so many bytes of events ends before an event of a later day, in UTC: retention then removes whole files.
/// It is one of the largest size by then, so no later compaction merges the two days again.
pub(super) fn ends_with_day(bytes: u64, last: Key, next: Key) -> bool {
    let day = |key: Key| key.time.div_euclid(86_400_000_000_000);
    bytes >= SPAN_BYTES / 4 && day(last) < day(next)
}

/// What compactions and deletions leave of the room on a disk.
const ROOM_LEFT: u64 = if cfg!(test) { 4 << 10 } else { 16 << 20 };

/// Whether there is room for the span that comes of some, which is at most about as large as they are together. If not, the
/// error says that the `task` needs it.
pub(super) fn has_room(folder: &Folder, task: &str, group: &[SpanEntry]) -> Result<(), Error> {
    let needed = group.iter().map(|span| span.file_bytes).sum::<u64>().saturating_add(ROOM_LEFT);
    // Where the system does not say, the disk will.
    let Ok(room) = folder.files.room(&folder.path) else { return Ok(()) };
    if room >= needed {
        return Ok(());
    }
    let message = format!(
        "cannot {task} needs {needed} bytes of room on the disk for a while, and there are {room}; nothing of it was changed: make room and try again"
    );
    Err(Error::new(ErrorKind::Io(std::io::ErrorKind::StorageFull), message))
}

/// What came of opening spans to write them again.
pub(super) enum Opened {
    /// All tables could be read.
    Whole(Vec<SpanFile>),
    /// Events are lost. Those of a lost index are not, and it is made again.
    Damaged(Vec<Damage>),
    /// One is not there: retention was quicker.
    Gone,
}

/// Opens spans and reads their tables.
pub(super) fn open_all(folder: &Folder, group: &[SpanEntry]) -> Result<Opened, Error> {
    let (mut spans, damages) = (Vec::new(), Arc::new(Damages::default()));
    for entry in group {
        match SpanFile::open(folder, entry, true, &damages) {
            Ok(span) => spans.extend(span.inspect(|span| {
                span.table();
            })),
            Err(error) if error.is_missing_file() => return Ok(Opened::Gone),
            Err(error) => return Err(error),
        }
    }
    let lost: Vec<Damage> = damages.list().into_iter().filter(|damage| damage.events != Some(0)).collect();
    Ok(if lost.is_empty() { Opened::Whole(spans) } else { Opened::Damaged(lost) })
}

/// Some of the events of a span, by their numbers in it. Memory: a bit for each event of the span.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RowSet(Vec<u64>);

impl RowSet {
    /// Adds an event.
    pub(super) fn add(&mut self, row: usize) {
        if self.0.len() <= row / 64 {
            self.0.resize(row / 64 + 1, 0);
        }
        self.0[row / 64] |= 1 << (row % 64);
    }

    /// Whether an event is one of them.
    pub(super) fn has(&self, row: usize) -> bool {
        self.0.get(row / 64).is_some_and(|word| word >> (row % 64) & 1 == 1)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Of some blocks of each span, about this many events are looked at, and of all together this many bytes at most.
const SAMPLE_EVENTS: usize = 128;
const SAMPLE_BYTES: usize = 1 << 20;

/// Some events of the spans, by which columns are chosen. Their texts may become words of a column, so none is among
/// them that goes. What cannot be read is told when it is merged.
fn sample(spans: &[SpanFile], dropped: &RowSet) -> Vec<u8> {
    let mut sample = Vec::new();
    for span in spans {
        let blocks = span.table().blocks.len();
        let mut some = vec![0, blocks / 2, blocks.saturating_sub(1)];
        some.dedup();
        for block in some.into_iter().filter(|block| *block < blocks) {
            if sample.len() < SAMPLE_BYTES {
                sample_block(span, block, dropped, &mut sample);
            }
        }
    }
    sample
}

/// Adds some events of a block that stay.
fn sample_block(span: &SpanFile, block: usize, dropped: &RowSet, sample: &mut Vec<u8>) {
    let mut text = Vec::new();
    if span.read_documents(block, &mut text).is_err() {
        return;
    }
    let cut = span.entry().keep_from.filter(|from| span.table().blocks[block].first.time < *from);
    let keys = match cut.map(|_| span.read_rows(block)) {
        Some(Ok(rows)) => rows.keys,
        Some(Err(_)) => return,
        None => Vec::new(),
    };
    let is_hidden = |line: usize| cut.is_some_and(|from| keys.get(line).is_none_or(|key| key.time < from));
    let start = first_row(span, block);
    let lines = text.split_inclusive(|byte| *byte == b'\n').enumerate();
    let lines = lines.filter(|(line, _)| !dropped.has(start + line) && !is_hidden(*line));
    let lines: Vec<&[u8]> = lines.map(|(_, event)| event).collect();
    spread(lines.len(), SAMPLE_EVENTS).for_each(|number| sample.extend_from_slice(lines[number]));
}

/// The number of the first event of a block.
pub(super) fn first_row(span: &SpanFile, block: usize) -> usize {
    span.table().blocks[..block].iter().map(|block| block.events as usize).sum()
}

/// Why spans could not be written again.
pub(super) enum Failed {
    /// A block cannot be read.
    Damage(Damage),
    /// The operating system refused to write.
    Error(Error),
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

/// Writes the events of spans to new ones, in their order. Memory: two blocks of each span.
pub(super) struct Merge<'f> {
    folder: &'f Folder,
    settings: &'f Settings,
    spans: &'f [SpanFile],
    /// Events that are left out, if it is one span.
    dropped: &'f RowSet,
    base: u64,
    writer: Option<SpanWriter>,
    /// The event that was written last.
    last: Option<Key>,
    /// What was written. If it is dropped, it is removed.
    pub(super) made: Vec<(SpanEntry, Fresh)>,
    order: TextOrder,
    sample: Vec<u8>,
}

impl<'f> Merge<'f> {
    /// Of several spans, nothing is `dropped`. `None` if their arrival numbers are too far from each other for one span.
    pub(super) fn new(
        folder: &'f Folder,
        settings: &'f Settings,
        spans: &'f [SpanFile],
        dropped: &'f RowSet,
    ) -> Option<Self> {
        debug_assert!(spans.len() == 1 || dropped.is_empty(), "numbers of events are those of one span");
        let base = spans.iter().map(|span| span.table().base).min().unwrap_or_default();
        let last = spans.iter().map(|span| span.table().arrival_last).max().unwrap_or_default();
        let order = spans.iter().fold(TextOrder::Empty, |order, span| order.and(span.entry().order));
        let merge = || Self {
            folder,
            settings,
            spans,
            dropped,
            base,
            writer: None,
            last: None,
            made: Vec::new(),
            order,
            sample: sample(spans, dropped),
        };
        u32::try_from(last - base).is_ok().then(merge)
    }

    /// Writes the events of all spans. Rests after each block, as the pace says.
    pub(super) fn run(&mut self, pace: Pace) -> Result<(), Failed> {
        let mut rests = Rests::new(pace);
        let mut cursors = Vec::new();
        let mut next = BinaryHeap::new();
        for span in self.spans {
            let mut cursor = Cursor { span, block: 0, at: 0, row: 0, rows: BlockRows::default(), text: Vec::new() };
            if cursor.load(self.folder)? {
                next.push(Reverse((cursor.key(), cursors.len())));
            }
            cursors.push(cursor);
        }
        while let Some(Reverse((_, number))) = next.pop() {
            let cursor = &mut cursors[number];
            // As many as come before those of all others.
            let end = next.peek().map(|Reverse((key, _))| *key);
            let goes_on = loop {
                self.push(cursor)?;
                if !cursor.step(self.folder)? {
                    break false;
                }
                if cursor.at == 0 {
                    rests.rest();
                }
                if end.is_some_and(|end| cursor.key() > end) {
                    break true;
                }
            };
            if goes_on {
                next.push(Reverse((cursor.key(), number)));
            }
        }
        self.close()
    }

    fn push(&mut self, cursor: &Cursor<'_>) -> Result<(), Failed> {
        let key = cursor.key();
        if self.dropped.has(cursor.row) || cursor.span.entry().keep_from.is_some_and(|from| key.time < from) {
            return Ok(());
        }
        let event = cursor.event().ok_or_else(|| cursor.damage(self.folder, &Fault::Wrong("its lines are damaged")))?;
        let bytes = self.writer.as_ref().map_or(0, SpanWriter::text_bytes);
        if self.last.replace(key).is_some_and(|last| ends_with_day(bytes, last, key)) {
            self.close()?;
        }
        #[expect(clippy::single_match_else, reason = "the borrow ends in between")]
        let writer = match &mut self.writer {
            Some(writer) => writer,
            None => {
                let fresh = Fresh::new(self.folder, self.folder.reserve()?);
                let writer = SpanWriter::new(self.folder, fresh, self.settings, self.base, Effort::Compact)?;
                self.writer.insert(writer.with_sample(self.sample.clone()))
            }
        };
        writer.push(key, event)?;
        if writer.text_bytes() >= SPAN_BYTES { self.close() } else { Ok(()) }
    }

    fn close(&mut self) -> Result<(), Failed> {
        if let Some(writer) = self.writer.take() {
            self.made.push(writer.finish(self.order)?);
        }
        Ok(())
    }
}

/// A span, and how far it was read.
struct Cursor<'s> {
    span: &'s SpanFile,
    block: usize,
    at: usize,
    /// The number of the event in the span.
    row: usize,
    rows: BlockRows,
    text: Vec<u8>,
}

impl Cursor<'_> {
    fn key(&self) -> Key {
        self.rows.keys[self.at]
    }

    /// The event with its line feed; `None` if the offsets lie.
    fn event(&self) -> Option<&[u8]> {
        let (start, end) = (self.rows.offsets[self.at] as usize, self.rows.offsets[self.at + 1] as usize);
        let event = self.text.get(start..end)?;
        (memchr::memchr(b'\n', event) == Some(event.len() - 1)).then_some(event)
    }

    /// Goes to the next event. `false` if there is none.
    fn step(&mut self, folder: &Folder) -> Result<bool, Failed> {
        (self.at, self.row) = (self.at + 1, self.row + 1);
        if self.at < self.rows.keys.len() {
            return Ok(true);
        }
        self.block += 1;
        self.load(folder)
    }

    fn load(&mut self, folder: &Folder) -> Result<bool, Failed> {
        self.at = 0;
        if self.block == self.span.table().blocks.len() {
            return Ok(false);
        }
        self.rows = self.span.read_rows(self.block).map_err(|fault| self.damage(folder, &fault))?;
        let mut text = std::mem::take(&mut self.text);
        self.span.read_documents(self.block, &mut text).map_err(|fault| self.damage(folder, &fault))?;
        self.text = text;
        Ok(true)
    }

    fn damage(&self, folder: &Folder, fault: &Fault) -> Failed {
        let events = Some(self.span.table().blocks[self.block].events);
        let file = folder.span(self.span.number());
        Failed::Damage(Damage { file, block: Some(self.block), events, reason: fault.to_string() })
    }
}

//! Compaction: spans that overlap in time, or are small, become few that do neither.

use super::tiers::Extent;
use crate::clean::care_lock;
use crate::column::spread;
use crate::error::{Damage, Damages, Error, ErrorKind};
use crate::event::{Key, TextOrder};
use crate::manifest::{Folder, Fresh, SpanEntry};
use crate::settings::Settings;
use crate::snapshot::sum_up;
use crate::span::{BlockRows, Effort, Fault, SpanFile, SpanWriter};
use crate::store::Store;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

/// About how many bytes of events a span has at most. Tests have small ones.
pub(super) const SPAN_BYTES: u64 = if cfg!(test) { 30 << 10 } else { 256 << 20 };
/// At most as many spans are merged at a time: of each, a block is in memory.
pub(super) const MERGED_MAX: usize = 128;

/// What a compaction did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Compacted {
    /// The spans that were merged, and those that they became.
    pub merged: u64,
    /// The spans that came of it.
    pub made: u64,
    /// The bytes of their events.
    pub bytes: u64,
    /// Spans that stayed as they are because they are damaged; nothing of them was removed.
    pub damage: Vec<Damage>,
}

impl Store {
    /// Merges spans into spans of up to 256 MB, and drops what retention removed of them. A writer and readers go on
    /// meanwhile. Memory: two blocks for each span that is merged, 128 at most.
    ///
    /// # Errors
    /// `Locked` if another compaction is at work. What was merged before an error stays so; of the rest, nothing is left.
    /// Spans are not merged, and that is an error in the end, if the disk lacks the room for the new one and some more,
    /// which a writer may need meanwhile.
    pub fn compact(&self, extent: Extent) -> Result<Compacted, Error> {
        let _lock = care_lock(&self.folder)?;
        let mut compacted = Compacted::default();
        let mut lack = Ok(());
        loop {
            let manifest = self.folder.manifest()?;
            let before = compacted.merged;
            for group in extent.groups(&manifest.spans) {
                match has_room(&self.folder, &group) {
                    Ok(()) => compact_group(&self.folder, &manifest.settings, &group, &mut compacted)?,
                    // Others may be smaller, and make room.
                    Err(error) => lack = Err(error),
                }
            }
            // What was made may be one of several of its size.
            if extent == Extent::Full || compacted.merged == before {
                break;
            }
        }
        self.folder.keep_ballast();
        // A compaction reports what the logs lack, too.
        for damage in self.snapshot()?.damage() {
            if !compacted.damage.contains(&damage) {
                compacted.damage.push(damage);
            }
        }
        let manifest = self.folder.manifest()?;
        sum_up(&self.folder, |number| manifest.spans.iter().any(|span| span.number == number));
        lack.map(|()| compacted)
    }
}

/// What a compaction leaves of the room on a disk.
const ROOM_LEFT: u64 = if cfg!(test) { 4 << 10 } else { 16 << 20 };

/// Whether there is room for the span that comes of a group, which is at most about as large as they are together.
fn has_room(folder: &Folder, group: &[SpanEntry]) -> Result<(), Error> {
    let needed = group.iter().map(|span| span.file_bytes).sum::<u64>().saturating_add(ROOM_LEFT);
    // Where the system does not say, the disk will.
    let Ok(room) = folder.files.room(&folder.path) else { return Ok(()) };
    if room >= needed {
        return Ok(());
    }
    let message = format!(
        "cannot compact {}: merging {} spans needs {needed} bytes of room on the disk for a while, and there are {room}; they are as they were: make room and try again",
        folder.path.display(),
        group.len(),
    );
    Err(Error::new(ErrorKind::Io(std::io::ErrorKind::StorageFull), message))
}

fn compact_group(
    folder: &Folder,
    settings: &Settings,
    group: &[SpanEntry],
    compacted: &mut Compacted,
) -> Result<(), Error> {
    let (mut spans, damages) = (Vec::new(), Arc::new(Damages::default()));
    for entry in group {
        match SpanFile::open(folder, entry, true, &damages) {
            Ok(span) => spans.extend(span.inspect(|span| {
                span.table();
            })),
            // Retention was quicker.
            Err(error) if error.is_missing_file() => return Ok(()),
            Err(error) => return Err(error),
        }
    }
    // A lost index is rebuilt; lost events are not ignored.
    let lost: Vec<Damage> = damages.list().into_iter().filter(|damage| damage.events != Some(0)).collect();
    if !lost.is_empty() {
        compacted.damage.extend(lost);
        return Ok(());
    }
    let base = spans.iter().map(|span| span.table().base).min().unwrap_or_default();
    let last = spans.iter().map(|span| span.table().arrival_last).max().unwrap_or_default();
    if last - base > u64::from(u32::MAX) {
        return Ok(());
    }
    let (writer, made) = (None, Vec::new());
    let mut merge = Merge { folder, settings, base, writer, made, order: order(group), sample: sample(&spans) };
    match merge.run(&spans) {
        Ok(()) => {}
        Err(Failed::Damage(damage)) => {
            compacted.damage.push(damage);
            return Ok(());
        }
        Err(Failed::Error(error)) => return Err(error),
    }
    let (entries, fresh): (Vec<SpanEntry>, Vec<Fresh>) = merge.made.into_iter().unzip();
    folder.sync()?;
    let bytes: u64 = entries.iter().map(|span| span.text_bytes).sum();
    let is_done = folder.change_to_free(|manifest| {
        // Retention may have removed or cut some meanwhile.
        if !group.iter().all(|span| manifest.spans.contains(span)) {
            return Ok(false);
        }
        manifest.spans.retain(|span| !group.contains(span));
        manifest.spans.extend(entries);
        Ok(true)
    })?;
    if is_done {
        group.iter().for_each(|span| folder.discard_span(span.number));
        let _ = folder.sync();
        compacted.merged += group.len() as u64;
        compacted.made += fresh.len() as u64;
        compacted.bytes += bytes;
        fresh.into_iter().for_each(Fresh::keep);
    }
    Ok(())
}

/// Of some blocks of each span, about this many events are looked at, and of all together this many bytes at most.
const SAMPLE_EVENTS: usize = 128;
const SAMPLE_BYTES: usize = 1 << 20;

/// Some events of the spans, by which columns are chosen. What cannot be read is told when it is merged.
fn sample(spans: &[SpanFile]) -> Vec<u8> {
    let (mut sample, mut text) = (Vec::new(), Vec::new());
    for span in spans {
        let blocks = span.table().blocks.len();
        let mut some = vec![0, blocks / 2, blocks.saturating_sub(1)];
        some.dedup();
        for block in some.into_iter().filter(|block| *block < blocks) {
            if sample.len() < SAMPLE_BYTES && span.read_documents(block, &mut text).is_ok() {
                let lines: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
                spread(lines.len(), SAMPLE_EVENTS).for_each(|number| sample.extend_from_slice(lines[number]));
            }
        }
    }
    sample
}

fn order(group: &[SpanEntry]) -> TextOrder {
    group.iter().fold(TextOrder::Empty, |order, span| order.and(span.order))
}

enum Failed {
    Damage(Damage),
    Error(Error),
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

struct Merge<'f> {
    folder: &'f Folder,
    settings: &'f Settings,
    base: u64,
    writer: Option<SpanWriter>,
    made: Vec<(SpanEntry, Fresh)>,
    order: TextOrder,
    sample: Vec<u8>,
}

impl Merge<'_> {
    fn run(&mut self, spans: &[SpanFile]) -> Result<(), Failed> {
        let mut cursors = Vec::new();
        let mut next = BinaryHeap::new();
        for span in spans {
            let mut cursor = Cursor { span, block: 0, at: 0, rows: BlockRows::default(), text: Vec::new() };
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
        if cursor.span.entry().keep_from.is_some_and(|from| key.time < from) {
            return Ok(());
        }
        let event = cursor.event().ok_or_else(|| cursor.damage(self.folder, &Fault::Wrong("its lines are damaged")))?;
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
        self.at += 1;
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

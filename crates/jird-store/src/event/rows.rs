//! The order of events: time, then arrival.

use super::TextOrder;
use arrow_buffer::Buffer;

/// An event's place in the order of a store. No two events have the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// Nanoseconds since 1970.
    pub time: i64,
    /// How many events came before it, ever.
    pub arrival: u64,
}

/// What retention removed: the events before a time that had come before an arrival number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Clip {
    pub(crate) before: i64,
    pub(crate) arrivals_below: u64,
}

impl Clip {
    pub(crate) fn removes(&self, key: Key) -> bool {
        key.time < self.before && key.arrival < self.arrivals_below
    }
}

/// A batch as it lies in the log.
#[derive(Debug)]
pub(crate) struct LoggedBatch {
    /// The arrival number of the first event.
    pub(crate) arrival: u64,
    /// The events, each with a line feed at its end. A part of the log that was read, or of its own.
    pub(crate) text: Buffer,
    /// One time for each line of `text`.
    pub(crate) times: Vec<i64>,
    pub(crate) order: TextOrder,
    /// What the writer noted with the batch.
    pub(crate) mark: Box<[u8]>,
}

impl LoggedBatch {
    /// The arrival number of the event after the last one.
    pub(crate) fn end(&self) -> u64 {
        self.arrival + self.times.len() as u64
    }
}

/// An event of some batches: where it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub(crate) key: Key,
    batch: u32,
    start: u32,
    end: u32,
}

impl Row {
    /// Bytes of the event with its line feed.
    pub(crate) fn len(&self) -> usize {
        (self.end - self.start) as usize
    }

    /// The event with its line feed.
    pub(crate) fn text<'b>(&self, batches: &'b [impl AsRef<LoggedBatch>]) -> &'b [u8] {
        &batches[self.batch as usize].as_ref().text[self.start as usize..self.end as usize]
    }
}

impl AsRef<Self> for LoggedBatch {
    fn as_ref(&self) -> &Self {
        self
    }
}

/// The events of some batches in their order, without those that retention removed. The text of a batch is less than
/// 4 GiB.
pub(crate) fn sorted_rows(batches: &[impl AsRef<LoggedBatch>], clips: &[Clip]) -> Vec<Row> {
    let mut rows = Vec::with_capacity(batches.iter().map(|batch| batch.as_ref().times.len()).sum());
    for (number, batch) in batches.iter().map(AsRef::as_ref).enumerate() {
        let mut start = 0;
        let ends = memchr::memchr_iter(b'\n', &batch.text);
        for ((time, arrival), end) in batch.times.iter().zip(batch.arrival..).zip(ends) {
            let key = Key { time: *time, arrival };
            if !clips.iter().any(|clip| clip.removes(key)) {
                rows.push(Row { key, batch: number as u32, start, end: end as u32 + 1 });
            }
            start = end as u32 + 1;
        }
    }
    if !rows.is_sorted_by_key(|row| row.key) {
        rows.sort_unstable_by_key(|row| row.key);
    }
    rows
}

//! The events in the logs, sorted in memory.

use crate::error::{Damage, Damages, Error};
use crate::event::{Clip, Key, LoggedBatch, Row, TextOrder, sorted_rows};
use crate::log;
use crate::manifest::{Folder, LogEntry};
use crate::span::BLOCK_BYTES;
use std::ops::Range;
use std::sync::Arc;

/// The events in the logs, in blocks like those of spans.
#[derive(Debug, Default)]
pub(super) struct Recent {
    batches: Vec<Arc<LoggedBatch>>,
    rows: Vec<Row>,
    blocks: Vec<Range<usize>>,
    bytes: u64,
}

impl Recent {
    /// Reads logs up to their last whole batches, the newest first. A writer goes on meanwhile, and what is in a log was
    /// written when the older ones were complete: read in the other order, the end of one log could be missing although
    /// the next one has newer events.
    pub(super) fn read(folder: &Folder, logs: &[LogEntry], lenient: bool, damages: &Damages) -> Result<Self, Error> {
        let mut batches = Vec::new();
        let mut clips: Vec<Clip> = Vec::new();
        for entry in logs.iter().rev() {
            let path = folder.log(entry.number);
            let content = match folder.files.open(&path).and_then(|input| log::read(&*input)) {
                Ok(content) => content,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound && !lenient => {
                    return Err(Error::io("open", &path, &error));
                }
                Err(error) => {
                    damages.note(Damage { file: path, block: None, events: None, reason: error.to_string() });
                    continue;
                }
            };
            for (at, bytes, what) in &content.damage {
                let reason = format!("a stretch of {bytes} bytes from byte {at} on {what}");
                damages.add(Damage { file: path.clone(), block: None, events: None, reason });
            }
            clips.extend(&entry.clips);
            batches.extend(content.batches.into_iter().rev());
        }
        batches.reverse();
        let rows = sorted_rows(&batches, &clips);
        let mut recent = Self { batches, rows, ..Self::default() };
        let (mut start, mut bytes) = (0, 0);
        for (number, row) in recent.rows.iter().enumerate() {
            bytes += row.len();
            recent.bytes += row.len() as u64;
            if bytes >= BLOCK_BYTES || number + 1 == recent.rows.len() {
                recent.blocks.push(start..number + 1);
                (start, bytes) = (number + 1, 0);
            }
        }
        Ok(recent)
    }

    pub(super) fn blocks(&self) -> usize {
        self.blocks.len()
    }

    /// The rows of a block.
    pub(super) fn block(&self, number: usize) -> &[Row] {
        &self.rows[self.blocks[number].clone()]
    }

    pub(super) fn first(&self, block: usize) -> Key {
        self.rows[self.blocks[block].start].key
    }

    pub(super) fn last(&self, block: usize) -> Key {
        self.rows[self.blocks[block].end - 1].key
    }

    /// An event with its line feed.
    pub(super) fn event(&self, row: &Row) -> &[u8] {
        row.text(&self.batches)
    }

    pub(super) fn order(&self) -> TextOrder {
        self.batches.iter().fold(TextOrder::Empty, |order, batch| order.and(batch.order))
    }

    /// The arrival number after the last one.
    pub(super) fn arrivals(&self) -> u64 {
        self.batches.iter().map(|batch| batch.arrival + batch.times.len() as u64).max().unwrap_or_default()
    }

    /// How many events, and their bytes.
    pub(super) fn size(&self) -> (u64, u64) {
        (self.rows.len() as u64, self.bytes)
    }
}

//! The events in the logs, sorted in memory.

use crate::column::{self, Numbers};
use crate::event::{Clip, Key, LoggedBatch, Row, TextOrder, sorted_rows};
use crate::index::FieldKinds;
use crate::logs::Logs;
use crate::span::BLOCK_BYTES;
use jird::Path;
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
    /// The events that were in the logs, without those that retention removed.
    pub(super) fn new(logs: Logs, clips: &[Clip]) -> Self {
        let batches = logs.batches;
        let rows = sorted_rows(&batches, clips);
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
        recent
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

    /// All events in their order, each with its time and without its line feed.
    pub(super) fn events(&self) -> impl Iterator<Item = (i64, &[u8])> {
        self.rows.iter().map(|row| {
            let event = self.event(row);
            (row.key.time, event.strip_suffix(b"\n").unwrap_or(event))
        })
    }

    /// What some events of a block have at a path: the kinds of values, and what numbers they are if that is known. Reads
    /// all of them. `None` if they are not JSON after all.
    pub(super) fn facts(&self, block: usize, rows: Range<usize>, path: &Path) -> Option<(FieldKinds, Option<Numbers>)> {
        let lines: Vec<u8> = self.block(block).get(rows)?.iter().flat_map(|row| self.event(row)).copied().collect();
        column::of_lines(path, &lines).ok()
    }

    pub(super) fn order(&self) -> TextOrder {
        self.batches.iter().fold(TextOrder::Empty, |order, batch| order.and(batch.order))
    }

    /// How many events, and their bytes.
    pub(super) fn size(&self) -> (u64, u64) {
        (self.rows.len() as u64, self.bytes)
    }
}

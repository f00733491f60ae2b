//! Span files: immutable Arrow IPC files of events in their order, each with a file of indexes.
//!
//! A record batch is a block: about 256 KB of events. Its columns are `time`, `arrival` and `document`; each document
//! ends with a line feed, so that the values of the column, which lie one after the other, are NDJSON that needs no
//! copy. The *table* says where the blocks and their documents are and what their checksums are. It stands in the footer of the
//! Arrow file and in the index file; the manifest has its checksum.

mod arrow;
mod asked;
mod columns;
mod flush;
mod index_file;
mod open;
mod read;
mod rows;
mod table;
mod walk;
mod write;

pub(crate) use asked::{note_asked, often_asked, sum_up_asked};
pub(crate) use index_file::IndexFile;
pub(crate) use open::{SpanFile, without_columns};
#[cfg(test)]
pub(crate) use read::places;
pub(crate) use rows::{BlockRows, Fault};
pub(crate) use table::{BlockEntry, PartSums, Table};
pub(crate) use walk::summary;
pub(crate) use write::{Effort, SpanWriter, rebuild_index};

/// A block has no more bytes of documents, unless it is one event. Tests have small ones.
pub(crate) const BLOCK_BYTES: usize = if cfg!(test) { 2 << 10 } else { 256 << 10 };

/// How much longer blocks are with Zstandard, which finds more in longer ones.
const ZSTD_BLOCK_FACTOR: usize = 2;

/// What a file may claim that a block has: more than a full one and the longest event.
pub(crate) const BLOCK_BYTES_MAX: u64 = (ZSTD_BLOCK_FACTOR * BLOCK_BYTES + jird::policy::RECORD_BYTES_MAX + 1) as u64;

//! A crash-safe store of JSON events. Documents stay documents, reading is sparse and trusted, and indexes only leave
//! out work.
//!
//! Events are checked and minified when they come in ([`Batch`]), and appended to a write-ahead log ([`Writer`]). The log
//! is sealed into immutable span files, which are Arrow IPC files of events in the order of time, then arrival. A
//! [`Snapshot`] is one state of the store, whatever happens to it later: its [`Text`] is the events of a stretch of time
//! as NDJSON, in blocks; a [`Condition`] leaves out those that cannot have a match.
//!
//! ```
//! use jird_store::{Batch, Settings, Store, Window, WriterOptions};
//! let folder = std::env::temp_dir().join(format!("jird-store-{}", std::process::id()));
//! # let _ = std::fs::remove_dir_all(&folder);
//! let store = Store::create(&folder, &Settings::default())?;
//! let writer = store.writer(&WriterOptions::default())?;
//! let ticket = writer.append_event(br#"{"@t": "2024-03-05T07:00:00Z", "n": 1.50}"#)?;
//! writer.commit(ticket)?;
//!
//! let text = store.snapshot()?.text(Window::ALL)?;
//! let mut lines = Vec::new();
//! for block in text.blocks() {
//!     text.read(block, None, &mut lines)?;
//! }
//! assert_eq!(lines, b"{\"@t\":\"2024-03-05T07:00:00Z\",\"n\":1.50}\n");
//! # writer.finish()?;
//! # std::fs::remove_dir_all(&folder).unwrap();
//! # Ok::<(), jird_store::Error>(())
//! ```
//!
//! # The source, from the ground up
//!
//! Each folder or file uses only those above it. After the dash: where to start reading.
//!
//! ```text
//! error     errors, damage that was left out, and how durable a batch is - Error, Damage
//! settings  what a store is told when it is made, and what readers and writers choose - Settings
//! time      texts and numbers as points in time, for stores and queries - parse, of_text
//! search    words in any text of an event, and in its message - Search
//! notation  the JSON of manifest and tables - write_path
//! files     operations on files; stores elsewhere, which are only read; a simulated disk for tests - Files, Objects
//! event     events, checked, minified and dated; their order - Batch, Key
//! index     indexes of a span that only leave out work - IndexBuilder, SpanIndex, Condition
//! column    small columns next to the documents: they decide conditions, or stand for documents - Columns
//! log       the write-ahead log - head, read
//! manifest  the state of a store, its copy, and its changes - Folder::change
//! source    how far sources were taken: checkpoints, first in the log and then in the manifest - Checkpoint, Prefix
//! logs      all logs of a state: their events, and what is missing; what was acknowledged; the wish to seal - Logs, Taken
//! span      span files and their index files - SpanWriter, SpanFile
//! clean     what a crash left behind, and files that no manifest names - orphans
//! snapshot  one state of a store: events of a window in sections and blocks, merged where spans overlap - Text
//! tail      events in the order in which they come, from the logs - Tail
//! writer    appending, group commit, sealing - Writer
//! store     a store: a folder - Store
//! care      compaction, retention, deletion, checks, export, copies, rebuilding a manifest; all that by itself - Store::compact, Store::backup, Upkeep
//! ```
//!
//! `docs/store-format.md` of the repository describes the files.
#![forbid(unsafe_code)]

mod care;
mod clean;
#[doc(hidden)]
pub mod column;
mod error;
mod event;
mod files;
#[doc(hidden)]
pub mod index;
mod log;
mod logs;
mod manifest;
mod notation;
mod search;
mod settings;
mod snapshot;
mod source;
mod span;
mod store;
mod tail;
#[cfg(test)]
mod tests;
pub mod time;
mod writer;

pub use care::{
    Backup, BackupOptions, Compacted, DeleteScope, Deleted, Deletion, Export, Extent, Info, Limits, LogInfo, Pace,
    Restored, Retained, Size, SpanInfo, Upkeep, UpkeepLimits, Verified,
};
pub use column::{Cell, Cells, Fields, Numbers};
pub use error::{Damage, Error, ErrorKind, Sync};
pub use event::{Batch, BatchBuilder, EventError, FutureLimit, Key};
pub use files::{Object, Objects};
pub use index::{Condition, FieldKinds, Index, TimeHint};
pub use search::{Matcher, Search, SearchError};
pub use settings::{ColumnChoice, Compression, Patience, Settings, Window, WriterOptions};
pub use snapshot::{BlockFacts, BlockId, Extreme, Saved, Selected, Skipped, Snapshot, Text};
pub use source::{Checkpoint, Prefix, PrefixSums, Sources};
pub use store::{Store, is_store};
pub use tail::{Arrived, Tail};
pub use writer::{Ticket, Totals, Writer};

//! A crash-safe store of JSON events. Documents stay documents, reading is sparse and trusted, and indexes only leave
//! out work.
//!
//! Events are checked and minified when they come in ([`Batch`]), and appended to a write-ahead log ([`Writer`]). The log
//! is sealed into immutable span files, which are Arrow IPC files of events in the order of time, then arrival. A
//! [`Snapshot`] is one state of the store, whatever happens to it later: its [`Text`] is the events of a stretch of time
//! as NDJSON, in blocks, of which a [`Condition`] leaves out those that cannot have a match.
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

pub use care::{Compacted, Export, Info, LogInfo, Restored, Retained, SpanInfo, Verified};
pub use column::Fields;
pub use error::{Damage, Error, ErrorKind, Sync};
pub use event::{Batch, BatchBuilder, Key};
pub use files::{Object, Objects};
pub use index::{Condition, FieldKinds, Index};
pub use settings::{Compression, Settings, Window, WriterOptions};
pub use snapshot::{BlockFacts, BlockId, Saved, Selected, Skipped, Snapshot, Text};
pub use source::{Checkpoint, Prefix, PrefixSums, Sources};
pub use store::{Store, is_store};
pub use tail::{Arrived, Tail};
pub use writer::{Ticket, Totals, Writer};

//! Indexes that only leave out work: from an index and a [`Condition`] it is known which blocks of events cannot have a
//! match. A block that is left out surely has none; a block that is read may have none.
//!
//! Nothing here opens a file. [`IndexBuilder`] takes the events of a span, block by block, and makes bytes;
//! [`SpanIndex`] reads those bytes through a [`ReadAt`](jird::hooks::lines::ReadAt), and only the runs that a condition
//! touches.
//!
//! An index knows, per block:
//!
//! | index | what it knows | serves |
//! |---|---|---|
//! | keys | which [`FieldKinds`] each path has | every comparison, `is null`, truth |
//! | ranges | the least and the greatest number of each path, exactly | comparisons with numbers |
//! | pairs | a filter of (path, number or short text) | `=` and `in` |
//! | words | a filter of the four-byte parts of all texts and keys, and of rendered messages | `=`, `like`, `match`, `search` |
//!
//! Paths through arrays, and paths of more than [`DEPTH_MAX`] keys, have words only. Of keys that repeat in an object,
//! queries take the first and the index has all of them.
//!
//! ```text
//! hash ── number ──┬── walk ── facts ──┐
//!                  └── kinds, bloom ───┼── builder ──── encode
//!                                      └── condition ── span
//! ```

mod bloom;
mod builder;
mod condition;
mod facts;
mod grams;
mod hash;
mod hash_set;
mod kinds;
mod layout;
mod messages;
mod number;
mod span;
#[cfg(test)]
mod tests;
mod time;
mod walk;

pub use builder::IndexBuilder;
pub use condition::Condition;
pub(crate) use condition::{Leaf, Node};
pub use kinds::FieldKinds;
pub use layout::Wrong;
pub(crate) use span::BlockRange;
pub use span::{Answer, Index, SpanIndex};
pub use time::TimeHint;
pub(crate) use time::Times;

/// Paths of more keys than this are not indexed.
pub const DEPTH_MAX: usize = 16;

/// Texts of more bytes than this are not in the filter of pairs; their words are indexed all the same.
pub const SHORT_MAX: usize = 64;

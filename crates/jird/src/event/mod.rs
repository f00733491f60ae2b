//! Values as events: any source to any sink, with no tree between.
//!
//! A [`Source`] sends its values one by one, and a [`Sink`] receives them; each knows the protocol and nothing of the
//! other. So each format needs one implementation, instead of one for each pair of formats. JSON text, rows of tables
//! and Rust types are sources and sinks alike. What stands between a source and a sink is a sink that forwards to
//! another one ([`filter`]). The idea is that of polymorphic write streams (Weiher and Hirschfeld, "Standard Object
//! Out: Streaming Objects with Polymorphic Write Streams", DLS 2019).
//!
//! **Interest flows upward.** A sink answers each key with [`Interest::Take`] or [`Interest::Skip`]. A skipped value is
//! checked, but it is not unescaped, converted or sent.
//!
//! **Rows.** A source of tables may send a whole record as a [`Row`], which a sink can ask for single values. A sink
//! that does not ask receives the row's events.
//!
//! **Exact numbers.** A number arrives in the form its source has it in ([`Numeral`]). From JSON it arrives as text,
//! and the sink converts it if it must.
//!
//! | | source | sink |
//! |---|---|---|
//! | JSON text, memory or reader; lines, parts | [`JsonSource`] | [`JsonSink`]: compact, pretty, canonical; one array |
//! | JSON text in pieces | [`Feed`] | |
//! | JSON text within another format | [`JsonText`] | [`JsonSink`] to a `Vec` |
//! | Rust types | `Values`, `send_value` | `Objects`, `for_each` |
//!
//! To build a parsed value from events, write them to a [`JsonSink`] into a `Vec`, and [`parse`](crate::parse) that.
//!
//! To decode a text into one type, [`Deserializer::records`](crate::Deserializer::records) is shorter and uses no
//! events.

pub(crate) mod condition;
pub(crate) mod facts;
pub mod filter;
#[cfg(feature = "serde")]
mod from_types;
#[cfg(feature = "serde")]
mod into_types;
mod json;
pub(crate) mod keys;
pub(crate) mod parts;
mod pattern;
pub(crate) mod pipe;
mod protocol;
pub(crate) mod recording;
pub(crate) mod tape;
mod tracker;

pub(crate) use facts::base64;
pub use facts::{Failure, Interest, Key, Numeral, Place, Timestamp};
#[cfg(feature = "serde")]
pub use from_types::{Values, send_value};
#[cfg(feature = "serde")]
pub use into_types::{Objects, for_each};
#[cfg(feature = "serde")]
pub(crate) use json::Cutter;
pub use json::{Feed, JsonSink, JsonSource};
pub(crate) use keys::KeyTable;
pub(crate) use parts::{PartBuffer, Parts};
pub use pattern::{BadPattern, Pattern};
pub use protocol::{Row, Scalar, Sink, Source, copy};
pub use tape::JsonText;

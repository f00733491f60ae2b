//! Values as events: any source to any sink, with no tree between.
//!
//! A [`Source`] sends what it has, value by value, and a [`Sink`] receives it; each knows the protocol and nothing of the other. So
//! there is one implementation for a format and not one for a pair: JSON text, rows of tables, and Rust types are sources and
//! sinks alike, and what stands between them is a sink that hands on to another ([`filter`]). The idea is that of polymorphic
//! write streams (Weiher and Hirschfeld, "Standard Object Out: Streaming Objects with Polymorphic Write Streams", DLS 2019).
//!
//! **Interest flows upward.** A sink answers each key with [`Interest::Take`] or [`Interest::Skip`]. What is skipped is checked but
//! neither unescaped, nor converted, nor sent.
//!
//! **Rows.** A source of tables may hand on a whole record as a [`Row`], of which a sink asks for values. All others get its events.
//!
//! **Exact.** A number comes as its source has it ([`Numeral`]): of JSON as text, which a sink converts if it must.
//!
//! | | source | sink |
//! |---|---|---|
//! | JSON text, from memory or a reader; lines of it, or parts | [`JsonSource`] | [`JsonSink`]: compact, pretty, canonical; lines or an array |
//! | JSON text in pieces | [`Feed`] | |
//! | values that were parsed, and texts in other formats | [`Parsed`], [`send`], [`send_text`], [`JsonText`] | a [`JsonSink`] into a `Vec`, and [`parse`](crate::parse) |
//! | Rust types | `Values`, `send_value` | `Objects`, `for_each` |
//! | the events of one record | [`Recording`] | [`Recording`], of which a [`Condition`] can be asked |
//!
//! A source and its sink can have a thread each: [`pipe`]. A sink of text can be written to by several: [`Parts`].
//!
//! Of a text that is decoded into one type, [`Deserializer::records`](crate::Deserializer::records) is the shorter way: no events
//! in between.

mod condition;
pub mod filter;
mod json;
mod keys;
#[cfg(feature = "serde")]
mod objects;
mod parts;
mod pattern;
mod pipe;
mod protocol;
mod recording;
mod row;
mod tape;
#[cfg(feature = "serde")]
mod values;

pub use condition::Condition;
#[cfg(feature = "serde")]
pub(crate) use json::Cutter;
pub use json::{Feed, JsonSink, JsonSource};
pub use keys::KeyTable;
#[cfg(feature = "serde")]
pub use objects::{Objects, for_each};
pub use parts::{PartBuffer, Parts};
pub use pattern::{BadPattern, Pattern};
pub use pipe::{Pipe, PipeError, pipe};
pub use protocol::{Failure, Interest, Key, Numeral, Place, Scalar, Sink, Source, Timestamp, base64, copy};
pub use recording::{Recording, Replay};
pub use row::Row;
pub use tape::{JsonText, Parsed, send, send_text};
#[cfg(feature = "serde")]
pub use values::{Values, send_value};

/// Appends a string as JSON, with its quotes and as few escapes as can be.
///
/// ```
/// let mut text = Vec::new();
/// jird::event::write_string("a\n\u{e9}", &mut text);
/// assert_eq!(text, "\"a\\n\u{e9}\"".as_bytes());
/// ```
pub fn write_string(content: &str, text: &mut Vec<u8>) {
    crate::text::escape_into(content, text);
}

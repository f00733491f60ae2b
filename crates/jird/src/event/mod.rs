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
//! | parsed values; other formats' text | [`Parsed`], [`send`], [`send_text`], [`JsonText`] | [`JsonSink`] to a `Vec` |
//! | Rust types | `Values`, `send_value` | `Objects`, `for_each` |
//! | the events of one record | [`Recording`] | [`Recording`], which a [`Condition`] can be tested on |
//!
//! To build a parsed value from events, write them to a [`JsonSink`] into a `Vec`, and [`parse`](crate::parse) that.
//!
//! A source and its sink can each have a thread: [`pipe`]. Several threads can write to one sink of text: [`Parts`].
//!
//! To decode a text into one type, [`Deserializer::records`](crate::Deserializer::records) is shorter and uses no
//! events.

mod condition;
mod facts;
pub mod filter;
#[cfg(feature = "serde")]
mod from_types;
#[cfg(feature = "serde")]
mod into_types;
mod json;
mod keys;
mod parts;
mod pattern;
mod pipe;
mod protocol;
mod recording;
mod tape;
mod tracker;

pub use condition::Condition;
pub use facts::{Failure, Interest, Key, Numeral, Place, Timestamp, base64};
#[cfg(feature = "serde")]
pub use from_types::{Values, send_value};
#[cfg(feature = "serde")]
pub use into_types::{Objects, for_each};
#[cfg(feature = "serde")]
pub(crate) use json::Cutter;
pub use json::{Feed, JsonSink, JsonSource};
pub use keys::KeyTable;
pub use parts::{PartBuffer, Parts};
pub use pattern::{BadPattern, Pattern};
pub use pipe::{Pipe, PipeError, pipe};
pub use protocol::{Row, Scalar, Sink, Source, copy};
pub use recording::{Recording, Replay};
pub use tape::{JsonText, Parsed, send, send_text};

/// Appends a string as JSON, with its quotes and with as few escapes as possible.
///
/// ```
/// let mut text = Vec::new();
/// jird::event::write_string("a\n\u{e9}", &mut text);
/// assert_eq!(text, "\"a\\n\u{e9}\"".as_bytes());
/// ```
pub fn write_string(content: &str, text: &mut Vec<u8>) {
    crate::text::escape_into(content, text);
}

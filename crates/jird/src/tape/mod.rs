//! The tape: a value's nodes in document order, and the cursor over them.
//!
//! A node is one 8-byte word, a container two. Nothing is copied out of the text and nothing is converted: a word says what
//! a value is and where it stands.
//!
//! ```text
//!            63   60 59 58              32 31                    0
//! scalar    | kind  |f |      length      |        offset        |   f: a string holds an escape, or a number has a point
//!            63   60 59                 32 31                    0      or an exponent. offset and length of a string are
//! container | kind  |        count        |        offset        |      those of its content, without quotes.
//!           |         end of text         |   index past its end |
//! ```
//!
//! An object's members are a key (a string) and a value in turn. The node after a scalar is the next one; the node after a
//! container is at the index in its second word, so that anything is skipped in constant time. A length that does not fit is
//! stored as all ones, and found again from the text when asked for.
#![allow(unsafe_code, reason = "text that pass one found to be UTF-8 becomes `str` without a second check")]

mod build;
mod document;
mod dump;
mod value;
mod word;

pub(crate) use build::TapeBuilder;
pub use document::{Document, Parser, parse, validate};
pub use value::{Elements, Entries, Kind, Value};
pub(crate) use value::Source;

//! The tape: a value's nodes in document order, and the cursor over them.
//!
//! A node is one 8-byte word, a container two. Nothing is copied out of the text and nothing is converted: a word says what
//! a value is and where it stands.
//!
//! ```text
//!            63 62  60 59 58              32 31                    0
//! scalar    |u | kind |f |      length      |        offset        |   u: the text was not checked
//!            63 62  60 59                 32 31                    0   f: a string holds an escape, a number has a point or
//! container |u | kind |        count        |        offset        |      an exponent. Offset and length of a string are
//!           |         end of text           |    length in words   |      those of its content, without quotes.
//! ```
//!
//! An object's members are a key (a string) and a value in turn. The node after a scalar is the next one; the node after a
//! container is as many words on as its second word says, so that anything is skipped in constant time. A length that does
//! not fit is stored as all ones, and found again from the text when asked for.
#![allow(
    unsafe_code,
    reason = "what pass one found to be UTF-8, and what the builder has bounded, is not checked again"
)]

mod build;
mod document;
mod dump;
#[cfg(any(test, jird_checked))]
pub(crate) mod model;
mod trust;
mod value;
mod word;

pub use document::{Document, Parser, parse, validate};
pub use value::{Elements, Entries, Kind, Value};

//! The tape: a value's nodes in document order, and the cursor over them.
//!
//! A scalar is one 8-byte word, a container one where it begins and one where it ends: a word for every token of the text
//! but commas and colons. Nothing is copied out of the text and nothing is converted: a word says what a value is and where
//! it stands.
//!
//! ```text
//!         63 62  60 59 58              32 31          0
//! scalar |u | kind |f |      length      |   offset   |   u: the text was not checked
//!         63 62  60 59                 32 31          0   f: a string holds an escape. Offset and length of a string are
//! first  |u | kind |   length in words   |   offset   |      those of its content, without quotes.
//! last   |u | End  | number of children  | end of text|
//! ```
//!
//! An object's members are a key (a string) and a value in turn. The node after a scalar is the next one; the node after a
//! container is as many words on as its first word says, so that anything is skipped in constant time. A scalar's length that
//! does not fit is stored as all ones, and found again from the text when asked for; for a container's see `long.rs`.
#![allow(
    unsafe_code,
    reason = "what pass one found to be UTF-8, and what the builder has bounded, is not checked again"
)]

mod build;
mod document;
mod dump;
mod duplicates;
mod long;
#[cfg(any(test, jird_checked))]
pub(crate) mod model;
#[cfg(feature = "parallel")]
mod parallel;
mod pointer;
pub(crate) mod structure;
mod trust;
#[cfg(feature = "parallel")]
mod unpaired;
mod value;

pub use document::{Document, Parser, Technique, parse, validate};
#[cfg(feature = "serde")]
pub(crate) use value::Halves;
pub use value::{Descendants, Elements, Entries, Kind, Value};

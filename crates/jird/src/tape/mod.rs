//! The tape: a value's nodes in document order, and the cursor over them.
//!
//! A scalar takes one 8-byte word. A container takes two: one where it begins and one where it ends. So every
//! token of the text except commas and colons has a word. Nothing is copied out of the text and nothing is
//! converted: a word says what a value is and where it stands.
//!
//! ```text
//!         63 62  60 59 58              32 31          0
//! scalar |u | kind |f |      length      |   offset   |   u: the text was not checked
//!         63 62  60 59                 32 31          0   f: a string holds an escape
//! first  |u | kind |   length in words   |   offset   |
//! last   |u | End  | number of children  | end of text|
//! ```
//!
//! The offset and length of a string are those of its content, without quotes.
//!
//! An object's members are stored as a key (a string) followed by a value. The node after a scalar is the next
//! word. A container's first word says how many words the container takes, so the reader skips any value in
//! constant time. If a scalar's length does not fit, the word holds all ones, and the reader finds the length
//! in the text again when asked; `long.rs` describes the same case for containers.
#![allow(
    unsafe_code,
    reason = "what pass one found to be UTF-8, and what the builder has bounded, is not checked again"
)]

mod build;
mod document;
mod dump;
mod duplicates;
mod growing;
mod long;
#[cfg(any(test, jird_checked))]
pub(crate) mod model;
#[cfg(feature = "parallel")]
mod parallel;
mod pointer;
mod small;
pub(crate) mod structure;
mod trust;
#[cfg(feature = "parallel")]
mod unpaired;
mod value;

pub use document::{Document, Parser, Technique, parse, validate};
pub(crate) use growing::{GrowingTape, StringSpan};
pub use pointer::{index as pointer_index, unescape as pointer_key};
#[cfg(feature = "serde")]
pub(crate) use value::Halves;
pub use value::{Descendants, Elements, Entries, Kind, Value};

//! Escapes ⇄ strings: what RFC 8259 §7 lets stand between two quotes.
//!
//! ```text
//! check_escape   is this backslash the start of an escape, and how long is it
//! unescape       string content as it stands in JSON → the text it means
//! eq_unescaped   the same, compared instead of written
//! escape         text → a JSON string, quotes and all
//! ```
//!
//! [`check_escape`] decides what is JSON. The others are memory-safe on anything, but only meaningful on what was
//! checked.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "taking words apart is what happens here"
)]
#![allow(clippy::inline_always, reason = "a few instructions each, and the loops around them must see through them")]
#![allow(clippy::needless_bitwise_bool, reason = "vector comparisons instead of branches")]

mod escape;
mod hex;
mod room;
mod swar;
mod unescape;

pub(crate) use escape::escape_into;
pub(crate) use unescape::{check_escape, eq_unescaped, unescape, unescape_bytes};

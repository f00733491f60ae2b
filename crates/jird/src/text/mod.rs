//! Escapes ⇄ strings: the text that RFC 8259 §7 allows between two quotes.
//!
//! ```text
//! check_escape   checks the escape that a backslash begins, and returns its length
//! unescape       string content as it stands in JSON → the text it means
//! eq_unescaped   as unescape, but compares instead of writing
//! escape         text → a JSON string with its quotes
//! short          short text as words, for comparison
//! writer         writes strings, numbers and what is between them
//! direct         writes strings and numbers into memory of the caller's
//! compose        writes objects and arrays, member by member
//! ```
//!
//! [`check_escape`] decides what is JSON. The other functions are memory-safe on any input, but their results are
//! meaningful only for input that was checked.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "taking words apart is what happens here"
)]
#![allow(clippy::inline_always, reason = "a few instructions each, and the loops around them must see through them")]
#![allow(clippy::needless_bitwise_bool, reason = "vector comparisons instead of branches")]

pub(crate) mod compose;
#[cfg_attr(not(feature = "serde"), allow(dead_code, reason = "only what is typed is written so"))]
pub(crate) mod direct;
mod escape;
mod hex;
#[cfg(feature = "serde")]
mod raw;
mod room;
mod short;
mod swar;
mod unescape;
#[cfg_attr(not(feature = "serde"), allow(dead_code, reason = "only what is typed is written so"))]
pub(crate) mod writer;

pub(crate) use crate::kernel::{as_utf8, trusted_str};
#[cfg(feature = "serde")]
pub use raw::RawValue;
pub(crate) use short::{SHORT, same, words};
pub use swar::plain_end;
#[cfg(feature = "serde")]
pub(crate) use unescape::whole_len;
pub(crate) use unescape::{Escape, check_escape, eq_unescaped, starts_unescaped, unescape, unescape_in};
#[cfg_attr(not(feature = "serde"), allow(unused_imports, reason = "only what is typed is written so"))]
pub(crate) use writer::{Drain, Mark, Out, Overflow, Writer, write_string};

/// Offset of the quote that closes a string whose content begins at the start of `rest`.
pub(crate) fn closing_quote(rest: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        let found = at + memchr::memchr2(b'"', b'\\', rest.get(at..)?)?;
        if rest[found] == b'"' {
            return Some(found);
        }
        at = found + 2;
    }
}

/// The number of bytes at the end of `text` that begin a character without completing it.
pub(crate) fn cut_len(text: &[u8]) -> usize {
    let lead = text.iter().rev().take(3).position(|&byte| byte & 0xC0 != 0x80);
    let Some(back) = lead.map(|later| later + 1) else { return 0 };
    let wanted = match text[text.len() - back] {
        0xF0.. => 4,
        0xE0.. => 3,
        0xC0.. => 2,
        _ => 1,
    };
    if back < wanted { back } else { 0 }
}

/// The end of `text[start..end]` without its trailing white space.
pub(crate) fn trim_end(text: &[u8], start: usize, end: usize) -> usize {
    let mut end = end;
    while end > start && is_space(text[end - 1]) {
        end -= 1;
    }
    end
}

/// White space of JSON (RFC 8259 §2).
#[inline(always)]
pub(crate) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// Appends a number in a writer's format.
pub(crate) fn write_number(
    text: &mut Vec<u8>,
    write: impl FnOnce(&mut Writer<'_, ()>) -> Result<(), crate::error::Error>,
) {
    let mut out = Out::new(core::mem::take(text), ());
    let mut writer = out.writer();
    write(&mut writer).expect("a vector takes everything");
    writer.commit();
    *text = out.into_buffer();
}

/// Offset of the first byte that makes `bytes` invalid UTF-8, or their length if the last character is truncated.
/// `None` if they are UTF-8.
pub(crate) fn not_utf8_at(bytes: &[u8]) -> Option<usize> {
    let error = core::str::from_utf8(bytes).err()?;
    let start = error.valid_up_to();
    Some(match error.error_len() {
        None => bytes.len(),
        // The character's first bytes are valid, and this byte cannot continue it.
        Some(len) if begins_character(bytes[start]) => start + len,
        Some(_) => start,
    })
}

/// Whether a UTF-8 character can begin with this byte.
pub(crate) fn begins_character(byte: u8) -> bool {
    matches!(byte, 0..0x80 | 0xC2..0xF5)
}

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

mod escape;
mod hex;
mod swar;
mod unescape;

pub(crate) use escape::escape_into;
pub(crate) use unescape::{check_escape, eq_unescaped, unescape, unescape_bytes};

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

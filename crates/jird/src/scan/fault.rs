//! Finds the first invalid byte, given that something in a chunk is invalid.

use super::{Chunk, Violations};
use crate::fault::{ErrorKind, Fault};

/// The first error that pass one found in a chunk, if any. Scans the chunk again only if it is not UTF-8.
#[inline]
pub(crate) fn first_fault(chunk: Chunk<'_>, found: &Violations) -> Option<Fault> {
    if found.control.is_none() && found.escape.is_none() && !found.not_utf8 {
        return None;
    }
    locate_fault(chunk, found)
}

#[cold]
fn locate_fault(chunk: Chunk<'_>, found: &Violations) -> Option<Fault> {
    let utf8 = if found.not_utf8 { not_utf8_at(chunk) } else { None };
    // If several rules are broken at the same offset, the first of this list is reported. An escape comes before
    // UTF-8, because a byte that cannot begin a character is checked only with the next chunk if it is the last of
    // this chunk.
    let faults = [(found.escape, ErrorKind::Escape), (utf8, ErrorKind::Utf8), (found.control, ErrorKind::Control)];
    let (offset, kind) =
        faults.into_iter().filter_map(|(offset, kind)| Some((offset?, kind))).min_by_key(|(offset, _)| *offset)?;
    // An escape or a character that the text's end cuts off has no other error, so the string is unfinished.
    let kind = if offset == chunk.text.len() { ErrorKind::String } else { kind };
    Some(Fault::at_byte(kind, offset))
}

/// Offset of the first byte that makes a UTF-8 sequence invalid, among the sequences that begin in the chunk or reach
/// into it. Returns the text's length if the text's end cuts a sequence off.
fn not_utf8_at(Chunk { text, from, to }: Chunk<'_>) -> Option<usize> {
    let mut start = from;
    for back in 1..=from.min(3) {
        match text[from - back] {
            0xC0.. => {
                start = from - back;
                break;
            }
            0x80..0xC0 => {}
            _ => break,
        }
    }
    let end = text.len().min(to + 3);
    Some(start + crate::text::not_utf8_at(&text[start..end])?)
}

//! From "somewhere in this chunk" to the first byte that is wrong.

use super::{Chunk, Found};
use crate::fault::{ErrorKind, Fault};

/// The first offence that pass one found in a chunk, if any. Scans the chunk again only if it is not UTF-8.
#[inline]
pub(crate) fn first_fault(chunk: Chunk<'_>, found: &Found) -> Option<Fault> {
    if found.control.is_none() && found.escape.is_none() && !found.not_utf8 {
        return None;
    }
    locate_fault(chunk, found)
}

#[cold]
fn locate_fault(chunk: Chunk<'_>, found: &Found) -> Option<Fault> {
    let utf8 = if found.not_utf8 { not_utf8_at(chunk) } else { None };
    // At the same offset the rule that comes first here is the one that is named. An escape comes before UTF-8, since a
    // sequence that begins at the chunk's end is judged with the next chunk only.
    let faults = [(found.escape, ErrorKind::Escape), (utf8, ErrorKind::Utf8), (found.control, ErrorKind::Control)];
    let (offset, kind) =
        faults.into_iter().filter_map(|(offset, kind)| Some((offset?, kind))).min_by_key(|(offset, _)| *offset)?;
    let kind = if offset == chunk.text.len() && kind == ErrorKind::Escape { ErrorKind::String } else { kind };
    Some(Fault::at_byte(kind, offset))
}

/// Where the first sequence begins that is not UTF-8, among those that begin in the chunk or reach into it.
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
    let error = core::str::from_utf8(&text[start..end]).err()?;
    Some(start + error.valid_up_to())
}

/// `text[..end]` as `str`, where `text` was scanned as one chunk with checks on and `found` is what came of it. `faulty`
/// says that something was found, at `end`.
#[inline]
pub(crate) fn checked_str<'t>(text: &'t [u8], found: &Found, faulty: bool, end: usize) -> Option<&'t str> {
    if faulty || found.not_utf8 {
        return core::str::from_utf8(text.get(..end)?).ok();
    }
    // SAFETY: the scan of the whole of `text` found it to be UTF-8.
    Some(unsafe { crate::text::trusted_str(text) })
}

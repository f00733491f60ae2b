//! Checks and decodes escapes.

#![allow(unsafe_code, reason = "writes UTF-8 that it has made itself")]

use super::hex::Unit;
use super::room::Room;
use super::swar::{equal, lowest};
use core::hint::select_unpredictable;

/// The length of the escape whose backslash is `text[at]`: 2, 6, or 12 for a surrogate pair.
///
/// # Errors
///
/// The offset in `text` of the first byte that no escape can have there, or `text.len()` if the text ends too early. A
/// trailing surrogate without a leading one is refused at its second digit, which makes it a trailing one. A leading
/// surrogate without a trailing one is refused at the first byte after it that cannot belong to a trailing one. RFC
/// 8259 §8.2 leaves both cases to the reader; no UTF-8 text can hold them.
///
/// # Panics
///
/// If `at` is not in `text`.
#[inline]
pub(crate) fn check_escape(text: &[u8], at: usize) -> Result<usize, usize> {
    let escape = &text[at..];
    debug_assert_eq!(escape[0], b'\\');
    match escape.get(1) {
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(2),
        Some(b'u') => check_unicode(escape).map_err(|offset| at + offset),
        _ => Err(at + 1),
    }
}

/// [`check_escape`] from `\u` on, with offsets from the backslash.
#[inline]
fn check_unicode(escape: &[u8]) -> Result<usize, usize> {
    match unit(escape) {
        Some(unit) if !unit.is_surrogate() => Ok(6),
        Some(_) if pair(escape).is_some() => Ok(12),
        Some(unit) if unit.bits() < 0xdc00 => Err(6 + first_wrong_trail(&escape[6..])),
        _ => Err(first_wrong(escape)),
    }
}

/// The offset of the first byte that makes a `\u` escape invalid: the second digit if it makes this a trailing
/// surrogate, otherwise the first byte that is not a digit.
#[cold]
fn first_wrong(escape: &[u8]) -> usize {
    match escape {
        [_, _, b'd' | b'D', b'c'..=b'f' | b'C'..=b'F', ..] => 3,
        _ => first_no_digit(escape),
    }
}

/// The offset of the first byte that is not a hexadecimal digit, in a `\u` escape with fewer than four digits.
#[cold]
fn first_no_digit(escape: &[u8]) -> usize {
    let digits = &escape[2..];
    2 + digits.iter().take_while(|byte| byte.is_ascii_hexdigit()).count()
}

/// The offset of the first byte that cannot belong to a trailing surrogate.
#[cold]
fn first_wrong_trail(escape: &[u8]) -> usize {
    let fits = |place: usize, byte: u8| match place {
        0 => byte == b'\\',
        1 => byte == b'u',
        2 => matches!(byte, b'd' | b'D'),
        3 => matches!(byte, b'c'..=b'f' | b'C'..=b'F'),
        _ => byte.is_ascii_hexdigit(),
    };
    (0..6).find(|&place| !escape.get(place).is_some_and(|&byte| fits(place, byte))).unwrap_or(6)
}

/// The code unit of the `\uXXXX` that `escape` begins with.
#[inline(always)]
fn unit(escape: &[u8]) -> Option<Unit> {
    match escape.first_chunk::<6>() {
        Some(&[b'\\', b'u', a, b, c, d]) => Unit::read([a, b, c, d]),
        _ => None,
    }
}

/// The scalar value of the surrogate pair that `escape` begins with, given that it begins with a surrogate.
#[inline(always)]
fn pair(escape: &[u8]) -> Option<u32> {
    let high = unit(escape)?.bits();
    let low = unit(escape.get(6..)?)?.bits();
    // One comparison tests both that the first is a leading surrogate and that the second is a trailing one.
    let is_pair = (high << 16 | low) & 0xfc00_fc00 == 0xd800_dc00;
    is_pair.then(|| 0x1_0000 + ((high & 0x3ff) << 10 | low & 0x3ff))
}

/// The character that each byte after a backslash stands for; 0 if there is none, or if it depends on what follows
/// (`u`).
static SIMPLE: [u8; 256] = {
    let mut table = [0; 256];
    let pairs = *b"\"\"\\\\//b\x08f\x0cn\nr\rt\t";
    let mut at = 0;
    while at < pairs.len() {
        table[pairs[at] as usize] = pairs[at + 1];
        at += 2;
    }
    table
};

/// A decoded escape: its meaning, and its length in the text.
#[derive(Clone, Copy)]
pub(crate) struct Escape {
    /// The bytes of the character in order, the first lowest; the rest is zero.
    pub(crate) utf8: u32,
    pub(crate) utf8_len: usize,
    pub(crate) len: usize,
}

impl Escape {
    /// Reads the escape that `escape` begins with. An invalid escape becomes U+FFFD, which replaces the longest prefix
    /// that could begin an escape. Half a surrogate pair also becomes U+FFFD.
    #[inline(always)]
    pub(crate) fn read(escape: &[u8]) -> Self {
        // The cold path returns only a length: a whole `Self` would be returned in memory, and then be kept in memory
        // on the hot path too.
        Self::good(escape).unwrap_or_else(|| Self { utf8: 0x00bd_bfef, utf8_len: 3, len: bad_len(escape) })
    }

    /// The escape, if it is valid.
    #[inline(always)]
    fn good(escape: &[u8]) -> Option<Self> {
        let Some(unit) = unit(escape) else {
            let simple = SIMPLE[usize::from(*escape.get(1)?)];
            return (simple != 0).then_some(Self { utf8: u32::from(simple), utf8_len: 1, len: 2 });
        };
        // This encodes UTF-8 by hand: `char::encode_utf8` into a buffer ends in a call to `memcpy` of one to four bytes
        // ("I sped up `serde_json` strings by 20%", section "Hazards").
        if !unit.is_surrogate() {
            let (utf8, utf8_len) = unit.utf8();
            return Some(Self { utf8, utf8_len, len: 6 });
        }
        let code = pair(escape)?;
        let utf8 = 0x8080_80f0 | code >> 18 | (code >> 12 & 0x3f) << 8 | (code >> 6 & 0x3f) << 16 | (code & 0x3f) << 24;
        Some(Self { utf8, utf8_len: 4, len: 12 })
    }
}

/// The number of bytes of the invalid `escape` that one replacement character stands for.
#[cold]
#[inline(never)]
fn bad_len(escape: &[u8]) -> usize {
    match escape.get(1) {
        Some(b'u') if unit(escape).is_some() => 6,
        Some(b'u') => first_no_digit(escape),
        _ => 1,
    }
}

/// Appends the text that `raw` (a string's content, without its quotes) means.
///
/// It is made for content that was checked. In other content, each `\` or `\u` that begins no escape is replaced with
/// U+FFFD, together with its digits, and so is each half of a surrogate pair.
pub(crate) fn unescape(raw: &str, out: &mut String) {
    // SAFETY: a `str` is UTF-8 as a whole.
    unsafe { unescape_in(raw.as_bytes(), 0, raw.len(), out) };
}

/// [`unescape`] for `text[start..end]`. Faster if text follows, since the last bytes then need no special care.
///
/// # Safety
///
/// `start <= end && end <= text.len()`, and the bytes between them are UTF-8. Checked in builds that check unchecked
/// accesses.
#[inline(never)]
pub(crate) unsafe fn unescape_in(text: &[u8], start: usize, end: usize, out: &mut String) {
    if cfg!(any(debug_assertions, jird_checked)) {
        // SAFETY: the caller's promise.
        let _ = unsafe { super::trusted_str(&text[start..end]) };
    }
    // SAFETY: `unescape_bytes` appends whole pieces of the text between escapes, which are ASCII, and whole characters
    // for the escapes: valid UTF-8, since the text is.
    unescape_bytes(text, start, end, unsafe { out.as_mut_vec() });
}

/// [`unescape_in`] for bytes: the appended bytes are UTF-8 exactly if `text[start..end]` is.
#[inline(always)]
fn unescape_bytes(text: &[u8], start: usize, end: usize, out: &mut Vec<u8>) {
    // There is always room for as many bytes as are still to be read, plus a wide block: each byte becomes at most one
    // byte, except in a bad escape, which makes its own room.
    let mut room = Room::new(out, end - start + WIDE);
    let at = unescape_blocks(text, start, end, &mut room);
    if at < end {
        // The rest is shorter than a block. It is copied to a buffer in which bytes follow it, and read from there.
        let last = last_block(&text[..end], end - at);
        unescape_blocks([last, [0; BLOCK]].as_flattened(), 0, end - at, &mut room);
    }
    room.finish();
}

/// The number of complete bytes of a string's content whose end is missing: an escape, a surrogate pair or a character
/// that is truncated is left out.
#[cfg(feature = "serde")]
pub(crate) fn whole_len(raw: &[u8]) -> usize {
    let whole = match core::str::from_utf8(raw) {
        Err(error) if error.error_len().is_none() => &raw[..error.valid_up_to()],
        _ => raw,
    };
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'\\', &whole[at..]) {
        let backslash = at + found;
        at = match check_escape(whole, backslash) {
            Ok(len) => backslash + len,
            Err(wrong) if wrong == whole.len() => return backslash,
            // The backslash begins no escape, and stands for itself.
            Err(_) => backslash + 1,
        };
    }
    whole.len()
}

/// Number of bytes that are copied at a time.
const BLOCK: usize = 16;

/// The same, after a block without a backslash.
const WIDE: usize = 32;

/// Appends the meaning of `text[at..end]` as long as blocks can be read from `text`; returns the offset that it has
/// reached. Needs room for all of it plus a wide block, and leaves room for the rest plus a wide block.
#[inline(always)]
fn unescape_blocks(text: &[u8], mut at: usize, end: usize, room: &mut Room<'_>) -> usize {
    let content = &text[..end];
    // Below this offset there is something to read, and a whole block to read it from.
    let stop = end.min((text.len() + 1).saturating_sub(BLOCK));
    let wide_stop = end.min((text.len() + 1).saturating_sub(WIDE));
    while at < stop {
        // SAFETY: `at < stop`, so `at + BLOCK <= text.len()`.
        let block = unsafe { block_at::<BLOCK>(text, at) };
        // Whole blocks are stored. Only the bytes before a backslash count; the decoded escape then overwrites the
        // others.
        let len = first_backslash(block);
        // SAFETY: the first of these bytes is still to be read, so there is room for it plus a wide block.
        unsafe { room.bytes(block, len) };
        at += len;
        if len == BLOCK {
            while at < wide_stop {
                // SAFETY: `at < wide_stop`, so `at + WIDE <= text.len()`.
                let wide = unsafe { block_at::<WIDE>(text, at) };
                if has_backslash(wide) {
                    break;
                }
                // SAFETY: as above.
                unsafe { room.bytes(wide, WIDE) };
                at += WIDE;
            }
            continue;
        }
        // Escapes often come in rows.
        while content.get(at) == Some(&b'\\') {
            at += unescape_one(&content[at..], room);
        }
    }
    // SAFETY: `at` is beyond `end` only because the last block was copied past it, so the bytes past `end` were
    // appended.
    unsafe { room.take_back(at.saturating_sub(end)) };
    at
}

/// The last `len` (1..`BLOCK`) bytes of `content`, followed by zeros.
#[inline(always)]
fn last_block(content: &[u8], len: usize) -> [u8; BLOCK] {
    // Calls `memcpy` only if the content is shorter than a block.
    if let Some(&last) = content.last_chunk() {
        return (u128::from_le_bytes(last) >> (8 * (BLOCK - len))).to_le_bytes();
    }
    let mut last = [0; BLOCK];
    last[..len].copy_from_slice(&content[content.len() - len..]);
    last
}

/// `text[at..at + LEN]`
///
/// # Safety
///
/// `at + LEN <= text.len()`. Checked in builds that check unchecked accesses.
#[inline(always)]
unsafe fn block_at<const LEN: usize>(text: &[u8], at: usize) -> &[u8; LEN] {
    if cfg!(any(debug_assertions, jird_checked)) {
        return text[at..].first_chunk().expect("a block is there");
    }
    // SAFETY: the caller's promise.
    unsafe { &*text.as_ptr().add(at).cast() }
}

/// Appends the meaning of the escape at the start of `rest`; returns the escape's length. Needs room for all of `rest`
/// plus a wide block, and leaves room for everything after the escape plus a wide block.
#[inline(always)]
fn unescape_one(rest: &[u8], room: &mut Room<'_>) -> usize {
    let escape = Escape::read(rest);
    if escape.utf8_len > escape.len {
        // Only a bad escape can become longer.
        room.ensure(escape.utf8_len + rest.len() - escape.len + WIDE);
    }
    // SAFETY: room for `rest` is room for the escape; where it is not, room was just made.
    unsafe { room.bytes(&escape.utf8.to_le_bytes(), escape.utf8_len) };
    escape.len
}

/// Whether there is a backslash in a block.
#[inline(always)]
fn has_backslash<const LEN: usize>(block: &[u8; LEN]) -> bool {
    // The compiler turns this into vector comparisons.
    block.iter().fold(0, |hits, &byte| hits | u8::from(byte == b'\\')) != 0
}

/// The offset of the first backslash of a block; the block's length if there is none.
#[inline(always)]
fn first_backslash(block: &[u8; BLOCK]) -> usize {
    if !has_backslash(block) {
        return BLOCK;
    }
    let (words, _) = block.as_chunks();
    let [low, high] = [0, 1].map(|index| equal(u64::from_le_bytes(words[index]), b'\\'));
    // Which word it is in is unpredictable, so there is no branch.
    8 * usize::from(low == 0) + lowest(select_unpredictable(low == 0, high, low))
}

/// Whether the decoded form of `raw` equals `wanted`; does not write it. Bad escapes count as in [`unescape`].
pub(crate) fn eq_unescaped(raw: &[u8], wanted: &str) -> bool {
    let mut raw = raw;
    let mut wanted = wanted.as_bytes();
    loop {
        while raw.first() == Some(&b'\\') {
            let escape = Escape::read(raw);
            let Some(behind) = without_prefix(wanted, escape.utf8, escape.utf8_len) else { return false };
            raw = &raw[escape.len..];
            wanted = behind;
        }
        let len = plain_len(raw);
        let ((plain, behind), Some((head, tail))) = (raw.split_at(len), wanted.split_at_checked(len)) else {
            return false;
        };
        if plain != head {
            return false;
        }
        if behind.is_empty() {
            return tail.is_empty();
        }
        raw = behind;
        wanted = tail;
    }
}

/// Whether the decoded form of `raw` begins with `wanted`. Bad escapes count as in [`unescape`].
pub(crate) fn starts_unescaped(raw: &[u8], wanted: &[u8]) -> bool {
    let (mut raw, mut wanted) = (raw, wanted);
    while let ([next, ..], [first, ..]) = (raw, wanted) {
        if *next == b'\\' {
            let escape = Escape::read(raw);
            let Some(behind) = without_prefix(wanted, escape.utf8, escape.utf8_len) else { return false };
            (raw, wanted) = (&raw[escape.len..], behind);
        } else if next == first {
            (raw, wanted) = (&raw[1..], &wanted[1..]);
        } else {
            return false;
        }
    }
    wanted.is_empty()
}

/// `text` without the first `len` (1..=4) bytes of `prefix`, lowest first, if it begins with them.
#[inline(always)]
fn without_prefix(text: &[u8], prefix: u32, len: usize) -> Option<&[u8]> {
    // One comparison instead of a call to `memcmp`, except at the end.
    let same = match text.first_chunk::<4>() {
        Some(&first) => (u32::from_le_bytes(first) ^ prefix) << (32 - 8 * len) == 0,
        None => text.starts_with(&prefix.to_le_bytes()[..len]),
    };
    same.then(|| &text[len..])
}

/// The number of bytes before the first backslash.
#[inline(always)]
fn plain_len(raw: &[u8]) -> usize {
    let mut at = 0;
    while let Some(bytes) = raw[at..].first_chunk::<8>() {
        let hits = equal(u64::from_le_bytes(*bytes), b'\\');
        if hits != 0 {
            return at + lowest(hits);
        }
        at += 8;
    }
    raw[at..].iter().position(|&byte| byte == b'\\').map_or(raw.len(), |index| at + index)
}

#[cfg(test)]
mod tests;

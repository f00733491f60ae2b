//! Reading escapes.

#![allow(unsafe_code, reason = "writes UTF-8 that it has made itself")]

use super::hex;
use super::room::Room;
use super::swar::{equal, lowest};

/// The length of the escape whose backslash is `text[at]`: 2, 6, or 12 for a surrogate pair.
///
/// # Errors
///
/// The offset in `text` of the first byte that no escape could go on with: `text.len()` if it ends too early. A trailing
/// surrogate without a leading one is refused at its backslash; a leading one at the first byte behind it that begins or
/// continues no trailing one. RFC 8259 §8.2 leaves both to the reader; no UTF-8 text can hold them.
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
    let Some(unit) = unit(escape) else { return Err(first_wrong(escape)) };
    match unit {
        0xd800..=0xdbff => match pair(escape) {
            Some(_) => Ok(12),
            None => Err(6 + first_wrong_trail(&escape[6..])),
        },
        0xdc00..=0xdfff => Err(0),
        _ => Ok(6),
    }
}

/// The offset of the first byte that is no hexadecimal digit, in a `\u` with fewer than four.
#[cold]
fn first_wrong(escape: &[u8]) -> usize {
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
fn unit(escape: &[u8]) -> Option<u16> {
    match escape.first_chunk::<6>() {
        Some(&[b'\\', b'u', a, b, c, d]) => hex::unit([a, b, c, d]),
        _ => None,
    }
}

/// The scalar value of the surrogate pair that `escape` begins with, given that a leading surrogate does begin it.
#[inline(always)]
fn pair(escape: &[u8]) -> Option<u32> {
    let high = u32::from(unit(escape)?) & 0x3ff;
    match unit(&escape[6..])? {
        low @ 0xdc00..=0xdfff => Some(0x1_0000 + (high << 10 | u32::from(low) & 0x3ff)),
        _ => None,
    }
}

/// What each byte behind a backslash stands for; 0 if that is nothing, or depends on what follows (`u`).
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

/// One escape read: what it means, and how many bytes of text it took.
struct Escape {
    /// The bytes of the character in order, the first lowest; the rest is zero.
    utf8: u32,
    utf8_len: usize,
    len: usize,
}

impl Escape {
    /// Reads the escape that `escape` begins with. The longest start of one that does not become one stands for U+FFFD;
    /// so does half a surrogate pair.
    #[inline(always)]
    fn read(escape: &[u8]) -> Self {
        let simple = escape.get(1).map_or(0, |&byte| SIMPLE[usize::from(byte)]);
        if simple != 0 {
            return Self { utf8: u32::from(simple), utf8_len: 1, len: 2 };
        }
        let Some(unit) = unit(escape) else { return Self::bad(escape) };
        // UTF-8 by hand: `char::encode_utf8` into a buffer ends in a call to `memcpy` of one to four bytes
        // ("I sped up `serde_json` strings by 20%", section "Hazards").
        let code = u32::from(unit);
        match unit {
            0..=0x7f => Self { utf8: code, utf8_len: 1, len: 6 },
            0x80..=0x7ff => Self { utf8: 0x80c0 | code >> 6 | (code & 0x3f) << 8, utf8_len: 2, len: 6 },
            0xd800..=0xdbff => match pair(escape) {
                Some(code) => Self {
                    utf8: 0x8080_80f0
                        | code >> 18
                        | (code >> 12 & 0x3f) << 8
                        | (code >> 6 & 0x3f) << 16
                        | (code & 0x3f) << 24,
                    utf8_len: 4,
                    len: 12,
                },
                None => Self { len: 6, ..Self::REPLACEMENT },
            },
            0xdc00..=0xdfff => Self { len: 6, ..Self::REPLACEMENT },
            _ => Self {
                utf8: 0x0080_80e0 | code >> 12 | (code >> 6 & 0x3f) << 8 | (code & 0x3f) << 16,
                utf8_len: 3,
                len: 6,
            },
        }
    }

    /// U+FFFD.
    const REPLACEMENT: Self = Self { utf8: 0x00bd_bfef, utf8_len: 3, len: 0 };

    #[cold]
    fn bad(escape: &[u8]) -> Self {
        let len = if escape.get(1) == Some(&b'u') { first_wrong(escape) } else { 1 };
        Self { len, ..Self::REPLACEMENT }
    }
}

/// Appends the text that `raw` (a string's content, without its quotes) means.
///
/// For content that was checked. In anything else, U+FFFD takes the place of each `\` or `\u` that begins no escape,
/// together with the digits that it has, and of each half of a surrogate pair.
pub(crate) fn unescape(raw: &str, out: &mut String) {
    // SAFETY: `unescape_bytes` appends whole pieces of `raw` between escapes, which are ASCII, and whole characters for
    // the escapes: valid UTF-8, since `raw` is.
    unescape_bytes(raw.as_bytes(), unsafe { out.as_mut_vec() });
}

/// [`unescape`] for bytes: what is appended is UTF-8 exactly if `raw` is.
pub(crate) fn unescape_bytes(raw: &[u8], out: &mut Vec<u8>) {
    // Throughout there is room for as many bytes as are still to be read: a byte becomes at most one, except a bad escape,
    // which makes its own room.
    let mut room = Room::new(out, raw.len());
    let mut rest = raw;
    while let Some(first) = rest.first_chunk::<8>() {
        // Blocks and words are copied as they are; a backslash ends the count, and what follows overwrites it.
        if let Some((block, behind)) = plain_block(rest) {
            // SAFETY: `rest` holds the block, so there is room for it.
            unsafe { room.block(block) };
            rest = behind;
            continue;
        }
        let word = u64::from_le_bytes(*first);
        let len = lowest(equal(word, b'\\'));
        // SAFETY: `rest` holds the word, so there is room for it.
        unsafe { room.word(word, len) };
        rest = &rest[len..];
        // Escapes often come in rows.
        while rest.first() == Some(&b'\\') {
            rest = unescape_one(rest, &mut room);
        }
    }
    while let Some((&byte, behind)) = rest.split_first() {
        if byte == b'\\' {
            rest = unescape_one(rest, &mut room);
        } else {
            // SAFETY: `rest` holds this byte, so there is room for it.
            unsafe { room.word(u64::from(byte), 1) };
            rest = behind;
        }
    }
    room.finish();
}

/// Appends what the escape at the start of `rest` means; returns what follows it. Needs room for all of `rest`, and
/// leaves room for all that it returns.
#[inline(always)]
fn unescape_one<'a>(rest: &'a [u8], room: &mut Room<'_>) -> &'a [u8] {
    let escape = Escape::read(rest);
    let behind = &rest[escape.len..];
    if escape.utf8_len > escape.len {
        // A bad one.
        room.ensure(escape.utf8_len + behind.len());
    }
    // SAFETY: room for `rest` is room for the escape, or else was just made.
    unsafe { room.word(u64::from(escape.utf8), escape.utf8_len) };
    behind
}

/// Cuts off a block that has no backslash. The compiler makes vector comparisons of the loop.
#[inline(always)]
fn plain_block(rest: &[u8]) -> Option<(&[u8; 32], &[u8])> {
    let (block, behind) = rest.split_first_chunk()?;
    let hits = block.iter().fold(0, |hits, &byte| hits | u8::from(byte == b'\\'));
    (hits == 0).then_some((block, behind))
}

/// Whether `raw` means the text `wanted`, without writing it. Bad escapes count as in [`unescape`].
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

/// How many bytes stand before the first backslash.
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

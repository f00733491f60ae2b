//! Writing strings.

#![allow(unsafe_code, reason = "stores into a vector's spare capacity, with room made before")]

use super::room::Room;
use super::swar::{below, equal, lowest};

/// What stands for each byte that cannot stand for itself, as `serde_json` writes it: `\\n`, or `\\u001f`, and its length in
/// the last byte; zeros if the byte needs no escape.
static ESCAPES: [u64; 256] = {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut table = [0; 256];
    let mut control = 0;
    while control < 0x20 {
        let low = DIGITS[control & 15];
        table[control] = u64::from_le_bytes([b'\\', b'u', b'0', b'0', DIGITS[control >> 4], low, 0, 6]);
        control += 1;
    }
    let pairs = *b"\"\"\\\\\x08b\x0cf\nn\rr\tt";
    let mut at = 0;
    while at < pairs.len() {
        table[pairs[at] as usize] = u64::from_le_bytes([b'\\', pairs[at + 1], 0, 0, 0, 0, 0, 2]);
        at += 2;
    }
    table
};

/// Length of the longest escape.
const ESCAPE_MAX: usize = 6;

/// Appends `content` as a JSON string with its quotes. Escapes only what RFC 8259 §7 demands, in the shortest form that
/// has a name: `\b \t \n \f \r \" \\`, else `\u00xx` in lower case. DEL, `/` and all beyond ASCII stand for themselves.
pub(crate) fn escape_into(content: &str, out: &mut Vec<u8>) {
    let content = content.as_bytes();
    // Throughout there is room for as many bytes as are still to be read, and the closing quote.
    let mut room = Room::new(out, content.len() + 2);
    // SAFETY: room for both quotes was made.
    unsafe { room.word(u64::from(b'"'), 1) };
    let mut rest = content;
    while let Some(first) = rest.first_chunk::<8>() {
        // Words and blocks are copied as they are; what needs an escape ends the count, and its escape overwrites it.
        let word = u64::from_le_bytes(*first);
        let len = lowest(hits(word));
        // SAFETY: `rest` holds the word, so there is room for it.
        unsafe { room.word(word, len) };
        rest = &rest[len..];
        if len < 8 {
            escape_one(rest[0], rest.len(), &mut room);
            rest = &rest[1..];
            continue;
        }
        while let Some((block, behind)) = plain_block(rest) {
            // SAFETY: `rest` holds the block, so there is room for it.
            unsafe { room.bytes(block, block.len()) };
            rest = behind;
        }
    }
    let mut word = last_word(content, rest.len());
    let mut left = rest.len();
    while left > 0 {
        // The zeros behind the last count as hits, too late to matter.
        let len = lowest(hits(word)).min(left);
        // SAFETY: there is room for what is left.
        unsafe { room.word(word, len) };
        left -= len;
        if left > 0 {
            word >>= 8 * len;
            escape_one(word as u8, left, &mut room);
            word >>= 8;
            left -= 1;
        }
    }
    // SAFETY: there is room for the closing quote.
    unsafe { room.word(u64::from(b'"'), 1) };
    room.finish();
}

/// Cuts off a block in which nothing needs an escape. The compiler makes vector comparisons of the loop.
#[inline(always)]
fn plain_block(rest: &[u8]) -> Option<(&[u8; 32], &[u8])> {
    let (block, behind) = rest.split_first_chunk()?;
    let needs = |byte: u8| (byte < 0x20) | (byte == b'"') | (byte == b'\\');
    let hits = block.iter().fold(0, |hits, &byte| hits | u8::from(needs(byte)));
    (hits == 0).then_some((block, behind))
}

/// The high bit of each byte that needs an escape, exact up to the lowest.
#[inline(always)]
fn hits(word: u64) -> u64 {
    below(word, 0x20) | equal(word, b'"') | equal(word, b'\\')
}

/// Appends the escape for `byte`, and leaves room for the `left - 1` bytes behind it and the quote.
#[inline(always)]
fn escape_one(byte: u8, left: usize, room: &mut Room<'_>) {
    let escape = ESCAPES[usize::from(byte)];
    room.ensure(left + ESCAPE_MAX);
    // SAFETY: room for the longest was just made.
    unsafe { room.word(escape, (escape >> 56) as usize) };
}

/// The last `len` (0..=7) bytes of `content`, the first lowest, and zeros behind them.
#[inline(always)]
fn last_word(content: &[u8], len: usize) -> u64 {
    if len == 0 {
        return 0;
    }
    // Where the string is long enough, one load that ends with it; else two that overlap, instead of a loop.
    if let Some(&last) = content.last_chunk::<8>() {
        return u64::from_le_bytes(last) >> (64 - 8 * len);
    }
    let bytes = &content[content.len() - len..];
    if let (Some(&low), Some(&high)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        return u64::from(u32::from_le_bytes(low)) | u64::from(u32::from_le_bytes(high)) << (8 * len - 32);
    }
    let middle = len / 2;
    u64::from(bytes[0]) | u64::from(bytes[middle]) << (8 * middle) | u64::from(bytes[len - 1]) << (8 * (len - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn escaped(content: &str) -> String {
        let mut out = b"before".to_vec();
        escape_into(content, &mut out);
        String::from_utf8(out).unwrap().strip_prefix("before").unwrap().to_owned()
    }

    /// Byte by byte, as the RFC has it.
    fn naive(content: &str) -> String {
        let inside: String = content
            .chars()
            .map(|char| match char {
                '"' => r#"\""#.to_owned(),
                '\\' => r"\\".to_owned(),
                '\n' => r"\n".to_owned(),
                '\r' => r"\r".to_owned(),
                '\t' => r"\t".to_owned(),
                '\u{8}' => r"\b".to_owned(),
                '\u{c}' => r"\f".to_owned(),
                '\0'..'\u{20}' => format!(r"\u{:04x}", u32::from(char)),
                _ => char.to_string(),
            })
            .collect();
        format!("\"{inside}\"")
    }

    #[test]
    fn every_character_is_escaped_at_every_place() {
        let chars: Vec<char> = (0..=0x7f_u8).map(char::from).chain(['\u{80}', 'é', '\u{2028}', '语', '😀']).collect();
        for &char in &chars {
            for before in 0..20 {
                for behind in [0, 1, 7, 8, 9, 40] {
                    let content = format!("{}{char}{}", "a".repeat(before), "z".repeat(behind));
                    assert_eq!(escaped(&content), naive(&content));
                }
            }
        }
    }

    #[test]
    fn texts_of_every_length_keep_their_bytes() {
        for len in 0..200 {
            for content in
                ["é".repeat(len), "x".repeat(len), "\"".repeat(len), "\u{1}\\".repeat(len), "😀a".repeat(len)]
            {
                assert_eq!(escaped(&content), naive(&content));
            }
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        let content: String = (0..0x1_0000).filter_map(char::from_u32).chain(['😀', '\u{10ffff}']).collect();
        let string = escaped(&content);
        let mut again = String::new();
        super::super::unescape(&string[1..string.len() - 1], &mut again);
        assert_eq!(again, content);
    }
}

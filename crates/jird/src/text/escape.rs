//! Writing strings.

#![allow(unsafe_code, reason = "stores into a vector's spare capacity, with room made before")]

use super::pen::{Out, SLACK, spare};
use super::swar::{below, equal};
use crate::kernel::{BLOCK, Kernel, SHORT, Simd, escapes};
use core::mem::MaybeUninit;

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
pub(super) const ESCAPE_MAX: usize = 6;

/// The escape for `byte`, which needs one, and its length.
#[inline(always)]
pub(super) fn of(byte: u8) -> ([u8; 8], usize) {
    let escape = ESCAPES[usize::from(byte)];
    (escape.to_le_bytes(), (escape >> 56) as usize)
}

/// Whether `byte` needs an escape.
#[inline(always)]
pub(super) fn needs(byte: u8) -> bool {
    ESCAPES[usize::from(byte)] != 0
}

/// Whether nothing in `key` needs an escape. Of a key that is known when this is compiled, so is the answer.
#[inline(always)]
pub(super) fn is_plain(key: &[u8]) -> bool {
    let (words, rest) = key.as_chunks::<8>();
    let seen = words.iter().fold(0, |seen, word| seen | hits(u64::from_le_bytes(*word)));
    let last = match (key.last_chunk::<8>(), rest.first_chunk::<4>(), rest.last_chunk::<4>()) {
        (Some(&last), ..) => hits(u64::from_le_bytes(last)),
        (None, Some(&low), Some(&high)) => {
            hits(u64::from(u32::from_le_bytes(high)) << 32 | u64::from(u32::from_le_bytes(low)))
        }
        _ => u64::from(rest.iter().any(|&byte| needs(byte))),
    };
    seen | last == 0
}

/// Appends `content` as a JSON string with its quotes, as a pen does.
pub(crate) fn escape_into(content: &str, out: &mut Vec<u8>) {
    let mut whole = Out::new(core::mem::take(out), ());
    whole.pen().string(content).expect("a vector takes everything").put_down();
    *out = whole.into_buffer();
}

/// Copies to `to` what stands in `content` from `from` on, up to the first byte that needs an escape; returns how many bytes
/// that is. What is stored behind them does not count.
///
/// # Safety
/// From `to` on there is room for all that is left of `content`, and `SLACK` bytes more.
#[inline(always)]
pub(super) unsafe fn copy_plain(kernel: Kernel, content: &[u8], from: usize, to: *mut u8) -> usize {
    let rest = &content[from..];
    let mut done = 0;
    if rest.len() >= LONG {
        // SAFETY: the caller's promise.
        done = kernel.copy_plain(rest, unsafe { spare(to, rest.len()) });
    }
    while let Some(&block) = rest[done..].first_chunk::<SHORT>() {
        // SAFETY: there is room for what is left, of which the block is the beginning.
        unsafe { to.add(done).cast::<[u8; SHORT]>().write(block) };
        let hits = escapes(block);
        if hits != 0 {
            return done + hits.trailing_zeros() as usize;
        }
        done += SHORT;
    }
    let left = rest.len() - done;
    if left == 0 {
        return done;
    }
    let block = last_block(content, left);
    const { assert!(SHORT <= SLACK) };
    // SAFETY: as above; and what of the block is behind the end is in the slack.
    unsafe { to.add(done).cast::<[u8; SHORT]>().write(block) };
    // The zeros behind the end count as hits, too late to matter.
    done + (escapes(block) | 1 << left).trailing_zeros() as usize
}

/// Strings from this length on are worth a call.
const LONG: usize = 2 * BLOCK;

/// [`Kernel::copy_plain`]
#[inline(always)]
pub(crate) fn copy_plain_blocks<S: Simd>(simd: S, content: &[u8], out: &mut [MaybeUninit<u8>]) -> usize {
    let mut done = 0;
    for (block, out) in content.as_chunks::<BLOCK>().0.iter().zip(out.as_chunks_mut::<BLOCK>().0) {
        *out = block.map(MaybeUninit::new);
        let hits = simd.escapes(simd.load(block));
        if hits != 0 {
            return done + hits.trailing_zeros() as usize;
        }
        done += BLOCK;
    }
    done
}

/// The high bit of each byte that needs an escape, exact up to the lowest.
#[inline(always)]
fn hits(word: u64) -> u64 {
    below(word, 0x20) | equal(word, b'"') | equal(word, b'\\')
}

/// The last `len` (1..`SHORT`) bytes of `content`, and zeros behind them.
#[inline(always)]
fn last_block(content: &[u8], len: usize) -> [u8; SHORT] {
    // Where the string is long enough, one load that ends with it; else two that overlap, instead of a loop.
    if let Some(&last) = content.last_chunk::<SHORT>() {
        return (u128::from_le_bytes(last) >> (8 * (SHORT - len))).to_le_bytes();
    }
    let bytes = &content[content.len() - len..];
    if let (Some(&low), Some(&high)) = (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) {
        let high = u64::from_le_bytes(high) >> (8 * (SHORT - 1 - len)) >> 8;
        return (u128::from(u64::from_le_bytes(low)) | u128::from(high) << 64).to_le_bytes();
    }
    let word = if let (Some(&low), Some(&high)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        u64::from(u32::from_le_bytes(low)) | u64::from(u32::from_le_bytes(high)) << (8 * len - 32)
    } else {
        let middle = len / 2;
        u64::from(bytes[0]) | u64::from(bytes[middle]) << (8 * middle) | u64::from(bytes[len - 1]) << (8 * (len - 1))
    };
    u128::from(word).to_le_bytes()
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

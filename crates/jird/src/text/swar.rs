//! Searches for a byte in a word of eight.
//!
//! These are borrow-based tests (Mycroft's). They are cheap, and exact up to the first hit; bytes above it may be
//! reported falsely. So they can only answer where the first hit is.

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;

/// Sets the high bit of each byte of `word` that equals `byte`; exact up to the lowest bit that is set. `byte` is
/// ASCII.
#[inline(always)]
pub(super) fn equal(word: u64, byte: u8) -> u64 {
    (word ^ (ONES * u64::from(byte))).wrapping_sub(ONES) & !word & HIGH
}

/// Sets the high bit of each byte of `word` that is below `limit`; exact up to the lowest bit that is set. `limit` is
/// ASCII.
#[inline(always)]
pub(super) fn below(word: u64, limit: u8) -> u64 {
    word.wrapping_sub(ONES * u64::from(limit)) & !word & HIGH
}

/// The offset of the first quote, backslash or control character at or after `at`, or the text's length.
#[inline(always)]
pub fn plain_end(text: &[u8], mut at: usize) -> usize {
    while let Some(word) = text.get(at..).and_then(<[u8]>::first_chunk) {
        let word = u64::from_le_bytes(*word);
        let ends = equal(word, b'"') | equal(word, b'\\') | below(word, b' ');
        if ends != 0 {
            return at + lowest(ends);
        }
        at += 8;
    }
    while text.get(at).is_some_and(|&byte| byte >= b' ' && byte != b'"' && byte != b'\\') {
        at += 1;
    }
    at
}

/// Index, 0..8, of the lowest byte whose high bit is set.
#[inline(always)]
pub(super) fn lowest(mask: u64) -> usize {
    mask.trailing_zeros() as usize / 8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_hit_is_exact_whatever_surrounds_it() {
        for byte in 0..=255_u8 {
            for around in [0, 1, 0x1f, 0x20, b'"' ^ 1, b'\\', 0x7f, 0x80, 0xff] {
                for place in 0..8 {
                    let mut bytes = [around; 8];
                    bytes[place] = byte;
                    let word = u64::from_le_bytes(bytes);
                    let first = |test: &dyn Fn(u8) -> bool| bytes.iter().position(|&byte| test(byte)).unwrap_or(8);
                    assert_eq!(lowest(equal(word, b'"')), first(&|byte| byte == b'"'), "{bytes:x?}");
                    assert_eq!(lowest(below(word, 0x20)), first(&|byte| byte < 0x20), "{bytes:x?}");
                }
            }
        }
    }
}

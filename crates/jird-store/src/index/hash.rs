//! The hash of paths, values and parts of the index. It is a part of the format: it may not change without a new
//! version.
//!
//! It folds the 128-bit product of two words, as wyhash does. An attacker may find values that collide: that makes a
//! filter say "may" more often, never "no".

const SEED: u64 = 0x9E37_79B9_7F4A_7C15;
const KEYS: [u64; 4] = [0xA076_1D64_78BD_642F, 0xE703_7ED1_A0B4_28DB, 0x8EBC_6AF0_9C88_C6E3, 0x5899_65CC_7537_4CC3];

/// What the hash of a value is for, so that equal bytes of different kinds differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Domain {
    /// A short text at a path.
    Text = 1,
    /// A number whose digits fit in a word.
    Number,
    /// Any other number.
    LongNumber,
    /// A text that is not short.
    LongText,
    /// A part of an index.
    Check,
}

/// The hash of the root, from which the hashes of paths are made.
pub(crate) const ROOT: u64 = SEED;

/// The two halves of a product, folded.
#[inline(always)]
pub(crate) fn fold(left: u64, right: u64) -> u64 {
    let product = u128::from(left) * u128::from(right);
    product as u64 ^ (product >> 64) as u64
}

/// The path of a member.
#[inline(always)]
pub(crate) fn child(parent: u64, key: &[u8]) -> u64 {
    bytes(parent, key)
}

/// A text or another value at a path.
#[inline(always)]
pub(crate) fn value(path: u64, domain: Domain, text: &[u8]) -> u64 {
    bytes(path.wrapping_add(KEYS[0].wrapping_mul(domain as u64)), text)
}

/// A number `digits × 10^exponent` at a path.
#[inline(always)]
pub(crate) fn number(path: u64, digits: u64, exponent: i64, negative: bool) -> u64 {
    let path = path.wrapping_add(KEYS[0].wrapping_mul(Domain::Number as u64 + (u64::from(negative) << 8)));
    fold(fold(path ^ KEYS[1], digits ^ KEYS[2]) ^ exponent as u64, KEYS[3])
}

/// A checksum.
pub(crate) fn check(text: &[u8]) -> u64 {
    value(SEED, Domain::Check, text)
}

/// A checksum that is stored in four bytes.
pub(crate) fn check32(text: &[u8]) -> u32 {
    let check = check(text);
    (check ^ check >> 32) as u32
}

/// Whether a text has this checksum. A fuzzer could not make a right one: for it, any is.
pub(crate) fn has_check(text: &[u8], wanted: u64) -> bool {
    cfg!(fuzzing) || check(text) == wanted
}

/// The same for one in four bytes.
pub(crate) fn has_check32(text: &[u8], wanted: u32) -> bool {
    cfg!(fuzzing) || check32(text) == wanted
}

/// A word, such as three bytes of a text.
#[inline(always)]
pub(crate) fn word(word: u64) -> u64 {
    fold(word ^ KEYS[0], KEYS[1])
}

/// What a hash is in a block: its bits there have nothing to do with those in another block.
#[inline(always)]
pub(crate) fn in_block(hash: u64, block: usize) -> u32 {
    fold(hash ^ KEYS[2], KEYS[3].wrapping_add(block as u64)) as u32
}

/// Bytes after a state.
#[inline(always)]
fn bytes(state: u64, text: &[u8]) -> u64 {
    let len = text.len();
    let (mut state, mut rest) = (state ^ KEYS[3], text);
    while let Some((head, tail)) = rest.split_first_chunk::<16>().filter(|_| rest.len() > 16) {
        let [left, right] = halves(head);
        state = fold(left ^ KEYS[1], right ^ state);
        rest = tail;
    }
    let (left, right) = ends(rest);
    fold(fold(left ^ KEYS[1] ^ (len as u64).wrapping_mul(SEED), right ^ state), KEYS[2])
}

#[inline(always)]
fn halves(chunk: &[u8; 16]) -> [u64; 2] {
    let word = u128::from_le_bytes(*chunk);
    [word as u64, (word >> 64) as u64]
}

/// Up to 16 bytes as two words: the first and the last bytes, which overlap in between.
#[inline(always)]
fn ends(text: &[u8]) -> (u64, u64) {
    if let (Some(first), Some(last)) = (text.first_chunk::<8>(), text.last_chunk::<8>()) {
        (u64::from_le_bytes(*first), u64::from_le_bytes(*last))
    } else if let (Some(first), Some(last)) = (text.first_chunk::<4>(), text.last_chunk::<4>()) {
        (u64::from(u32::from_le_bytes(*first)), u64::from(u32::from_le_bytes(*last)))
    } else {
        match *text {
            [] => (0, 0),
            [one] => (u64::from(one), 0),
            [one, .., last] => (u64::from(one) | u64::from(text[1]) << 8, u64::from(last)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn texts_that_differ_in_a_byte_or_in_length_have_different_hashes() {
        let mut seen = HashSet::new();
        for len in 0..70 {
            let zeros = vec![0; len];
            assert!(seen.insert(value(ROOT, Domain::Text, &zeros)), "{len} zeros");
            for at in 0..len {
                for byte in [1, 2, 0x80, 0xff] {
                    let mut text = zeros.clone();
                    text[at] = byte;
                    assert!(seen.insert(value(ROOT, Domain::Text, &text)), "{byte} at {at} of {len}");
                }
            }
        }
    }

    #[test]
    fn the_same_value_at_another_path_or_of_another_kind_is_another_pair() {
        let [left, right] = [b"a", b"b"].map(|key| child(ROOT, key));
        let all = [
            value(left, Domain::Text, b"1"),
            value(right, Domain::Text, b"1"),
            value(left, Domain::LongNumber, b"1"),
            number(left, 1, 0, false),
            number(left, 1, 0, true),
            number(left, 1, 1, false),
            number(right, 1, 0, false),
            value(child(left, b"b"), Domain::Text, b"1"),
            value(child(ROOT, b"a.b"), Domain::Text, b"1"),
            value(child(ROOT, b"ab"), Domain::Text, b"1"),
        ];
        assert_eq!(all.iter().collect::<HashSet<_>>().len(), all.len());
    }

    #[test]
    fn the_hash_is_a_part_of_the_format() {
        assert_eq!(value(child(ROOT, b"Level"), Domain::Text, b"Error"), 1_271_187_001_073_201_317);
        assert_eq!(check(b"0123456789abcdefghijklmnopqrstuvwxyz"), 1_673_381_652_123_764_170);
    }
}

//! Short texts as words, to hash and compare them without a loop and without a branch on their length.

#![allow(unsafe_code, reason = "loads of words at places that depend on a length")]

use core::hint::select_unpredictable;

/// For texts up to this length, [`words`] and the length determine the text.
pub(crate) const SHORT: usize = 16;

/// All bytes of a text of up to [`SHORT`] bytes, some of them twice; for a longer text, only some of its bytes.
///
/// This makes loads of four bytes each, at offsets computed from the length by arithmetic alone. Lengths come in any
/// order, and a branch for each class of lengths would be mispredicted half of the time, which costs more than all
/// these loads.
#[inline(always)]
pub(crate) fn words(text: &[u8]) -> [u64; 2] {
    let len = text.len();
    if len == 0 {
        return [0; 2];
    }
    // A text of fewer than four bytes has no word to load. It loads four other bytes instead, which are not used.
    let is_few = len < 4;
    let whole = select_unpredictable(is_few, &[0; 4][..], text);
    let last = whole.len() - 4;
    let second = last.min(4);
    // SAFETY: `whole` has at least four bytes, so all of these offsets are at most `last`, and `last + 4` is its
    // length.
    let [first, second, third, fourth] =
        unsafe { [load(whole, 0), load(whole, second), load(whole, last - second), load(whole, last)] };
    // SAFETY: there is at least one byte, and these offsets are below the length.
    let few = unsafe { byte(text, 0) | byte(text, len / 2) << 8 | byte(text, len - 1) << 16 };
    [select_unpredictable(is_few, few, first | second << 32), select_unpredictable(is_few, few, third | fourth << 32)]
}

/// Whether two texts are equal. Short ones are compared by words, with a branch for each class of lengths: use it where
/// lengths are predictable.
#[inline(always)]
pub(crate) fn same(one: &[u8], other: &[u8]) -> bool {
    if one.len() != other.len() {
        return false;
    }
    match one.len() {
        8..=SHORT => one.first_chunk::<8>() == other.first_chunk() && one.last_chunk::<8>() == other.last_chunk(),
        4..8 => one.first_chunk::<4>() == other.first_chunk() && one.last_chunk::<4>() == other.last_chunk(),
        17..=32 => one.first_chunk::<16>() == other.first_chunk() && one.last_chunk::<16>() == other.last_chunk(),
        _ => one == other,
    }
}

/// # Safety
/// `at + 4` is at most the length.
#[inline(always)]
unsafe fn load(text: &[u8], at: usize) -> u64 {
    if cfg!(any(debug_assertions, jird_checked)) {
        assert!(at + 4 <= text.len());
    }
    // SAFETY: the caller's promise; and the load needs no alignment.
    u64::from(u32::from_le(unsafe { text.as_ptr().add(at).cast::<u32>().read_unaligned() }))
}

/// # Safety
/// `at` is less than the length.
#[inline(always)]
unsafe fn byte(text: &[u8], at: usize) -> u64 {
    if cfg!(any(debug_assertions, jird_checked)) {
        assert!(at < text.len());
    }
    // SAFETY: the caller's promise.
    u64::from(unsafe { *text.as_ptr().add(at) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    /// A copy at another address.
    fn other_of(text: &[u8]) -> Vec<u8> {
        text.to_vec()
    }

    #[test]
    fn a_short_text_is_its_words_and_length() {
        let long: Vec<u8> = (1..=SHORT as u8 + 9).collect();
        for len in 0..=long.len() {
            for changed in 0..len {
                let mut other = long[..len].to_vec();
                other[changed] ^= 0x80;
                let differ = words(&long[..len]) != words(&other);
                assert!(differ || len > SHORT, "{len} bytes, of which {changed} differs");
                assert!(!same(&long[..len], &other) && same(&long[..len], &other_of(&long[..len])));
            }
            assert!(!same(&long[..len], &long[..len / 2]) || len == 0);
        }
        let mut seen = HashMap::new();
        for text in ["", "\0", "\0\0", "\0\0\0", "a", "aa", "aaa", "aaaa", "ab", "ba", "abb", "aab"] {
            assert_eq!(seen.insert((words(text.as_bytes()), text.len()), text), None);
        }
    }
}

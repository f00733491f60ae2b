//! Turns 64 tokens into words of the tape.

use super::simd::BLOCK;
use crate::limits::LENGTH_MAX;
use crate::word::UPPER;
use core::mem::MaybeUninit;

/// 64 tokens that become words of the tape ([`crate::word`]): the offset in the lower half; kind and length in the
/// upper half.
#[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "masks of what the kind tells as well"))]
pub(crate) struct TokenWords<'a> {
    /// The kinds.
    pub(crate) kinds: &'a [u8; BLOCK],
    /// Where the tokens begin.
    pub(crate) starts: &'a [u32; BLOCK],
    /// Where those in `scalar` end.
    pub(crate) ends: &'a [u32; BLOCK],
    /// Tokens that get a word.
    pub(crate) keep: u64,
    /// Strings; their word holds the offset of the content.
    pub(crate) string: u64,
    /// Strings with an escape.
    pub(crate) escaped: u64,
    /// Strings, numbers and literals, which have a length.
    pub(crate) scalar: u64,
    /// Closing brackets; their word holds the offset of the text after them.
    pub(crate) close: u64,
    /// The flag that is or-ed into the upper half of every word.
    pub(crate) flag: u32,
}

/// [`Simd::words`](super::Simd::words) for CPUs without a compress instruction: it goes over the kept tokens one by
/// one.
#[inline(always)]
pub(super) fn one_by_one(tokens: &TokenWords<'_>, out: &mut [MaybeUninit<u64>; BLOCK]) {
    let TokenWords { kinds, starts, ends, mut keep, .. } = *tokens;
    for word in out.iter_mut().take(keep.count_ones() as usize) {
        let index = keep.trailing_zeros() as usize % BLOCK;
        keep &= keep.wrapping_sub(1);
        let form = u32::from(FORMS[usize::from(kinds[index])]);
        let start = starts[index];
        let len = ends[index].wrapping_sub(start).wrapping_sub(form & FORM_QUOTES).min(LENGTH_MAX as u32);
        let upper = tokens.flag | (form & FORM_UPPER) << 24 | len;
        word.write(u64::from(upper) << 32 | u64::from(start.wrapping_add(form & FORM_SKIP)));
    }
}

/// How a token's word is made, by its kind: the bits from [`UPPER`], the number of quotes in its bytes, and the number
/// of bytes that the offset skips. Bracket lengths are meaningless here; the upper halves of their words are written
/// later.
static FORMS: [u8; 256] = {
    let mut forms = UPPER;
    let mut kind = 0;
    while kind < 256 {
        forms[kind] |= match kind as u8 & 0x7F {
            b'"' => 3,
            b'}' | b']' => 1,
            _ => 0,
        };
        kind += 1;
    }
    forms
};

const FORM_UPPER: u32 = 0xF8;
const FORM_QUOTES: u32 = 2;
const FORM_SKIP: u32 = 1;

//! 64 tokens as words of the tape.

use super::simd::BLOCK;
use crate::limits::LENGTH_MAX;
use crate::word::UPPER;
use core::mem::MaybeUninit;

/// 64 tokens that become words of the tape ([`crate::word`]): offset in the lower half, what it is and its length in the upper.
#[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "masks of what the kind tells as well"))]
pub(crate) struct TokenWords<'a> {
    /// The kinds.
    pub(crate) kinds: &'a [u8; BLOCK],
    /// Where the tokens begin, and where the one behind them does.
    pub(crate) pos: &'a [u32; BLOCK + 1],
    /// Tokens that get a word.
    pub(crate) keep: u64,
    /// Strings, whose word says where the content is.
    pub(crate) string: u64,
    /// Strings with an escape.
    pub(crate) escaped: u64,
    /// Strings, numbers and literals, which have a length.
    pub(crate) scalar: u64,
    /// Scalars that white space follows, and where they end, in order.
    pub(crate) loose: u64,
    pub(crate) ends: &'a [u32; BLOCK],
    /// Closing brackets, whose word says where the text behind them begins.
    pub(crate) close: u64,
    /// What the upper half of every word holds besides.
    pub(crate) flag: u32,
}

/// [`Simd::words`](super::Simd::words) without a compress: token by token, those that are kept.
#[inline(always)]
pub(super) fn one_by_one(tokens: &TokenWords<'_>, out: &mut [MaybeUninit<u64>; BLOCK]) {
    let TokenWords { kinds, pos: [starts @ .., _], mut keep, mut loose, .. } = *tokens;
    let [_, nexts @ ..] = tokens.pos;
    let mut nexts: [u32; BLOCK] = *nexts;
    for &end in tokens.ends {
        if loose == 0 {
            break;
        }
        nexts[loose.trailing_zeros() as usize % BLOCK] = end;
        loose &= loose - 1;
    }
    for word in out.iter_mut().take(keep.count_ones() as usize) {
        let index = keep.trailing_zeros() as usize % BLOCK;
        keep &= keep.wrapping_sub(1);
        let form = u32::from(FORMS[usize::from(kinds[index])]);
        let start = starts[index];
        let len = nexts[index].wrapping_sub(start).wrapping_sub(form & FORM_QUOTES).min(LENGTH_MAX as u32);
        let upper = tokens.flag | (form & FORM_UPPER) << 24 | len;
        word.write(u64::from(upper) << 32 | u64::from(start.wrapping_add(form & FORM_SKIP)));
    }
}

/// How a token's word is made, by its kind: what [`UPPER`] says, how many of its bytes are quotes, and how many the offset
/// skips. That brackets have no length nobody needs to know: the upper halves of their words are written later.
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

pub(super) const FORM_UPPER: u32 = 0xF8;
pub(super) const FORM_QUOTES: u32 = 2;
pub(super) const FORM_SKIP: u32 = 1;

//! The shape that nearly every number has: up to 19 digits, perhaps a point early among them, no exponent.

#![allow(unsafe_code, reason = "loads whole words that it has shown to be in the text")]

use super::swar::{HalfWord, Word};
use super::token::Token;

/// A number as `digits / 10^places`, negated if `negative`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Plain {
    pub(super) negative: bool,
    /// All digits in order as one integer, below 10^19.
    pub(super) digits: u64,
    /// How many of them stand behind the point, 0..=18.
    pub(super) places: u32,
}

/// Powers of ten that a `u64` holds.
pub(super) static TENS: [u64; 20] = {
    let mut tens = [1; 20];
    let mut power = 1;
    while power < 20 {
        tens[power] = tens[power - 1] * 10;
        power += 1;
    }
    tens
};

/// `token` (checked) as a [`Plain`]; `None` if it has an exponent, more than 19 digits, or its point behind the first
/// eight bytes.
#[inline(always)]
pub(super) fn plain(token: Token<'_>) -> Option<Plain> {
    let (negative, size) = token.unsigned();
    let (digits, places) = if size.len() > Word::LEN { long(size.bytes()) } else { short(size) }?;
    Some(Plain { negative, digits, places })
}

/// Up to eight bytes.
#[inline(always)]
fn short(size: Token<'_>) -> Option<(u64, u32)> {
    if size.len() == 0 {
        return None;
    }
    let word = Word::load_head(size.rest()).first(size.len());
    let marks = word.marks();
    if marks == 0 {
        return Some((word.value(), 0));
    }
    if word.exponents() != 0 {
        return None;
    }
    Some((word.without(marks).value(), 7 - marks.trailing_zeros() / 8))
}

/// Nine bytes or more.
#[inline(always)]
fn long(text: &[u8]) -> Option<(u64, u32)> {
    let end = text.len();
    // 19 digits and a point.
    if !(Word::LEN + 1..=20).contains(&end) {
        return None;
    }
    // SAFETY: more than eight bytes.
    let head = unsafe { Word::load_unchecked(text, 0) };
    // Behind them there are digits only: one to eight; or eight, and then one to four.
    let (behind, marks) = if end <= 2 * Word::LEN {
        // SAFETY: more than eight bytes, of which these are the last eight.
        let last = unsafe { Word::load_unchecked(text, end - Word::LEN) }.last(end - Word::LEN);
        (last.value(), last.marks())
    } else {
        let len = end - 2 * Word::LEN;
        // SAFETY: more than sixteen bytes, of which these are the second eight and the last four.
        let (middle, last) = unsafe {
            (Word::load_unchecked(text, Word::LEN), HalfWord::load_unchecked(text, end - HalfWord::LEN).last(len))
        };
        (middle.value() * TENS[len] + u64::from(last.value()), middle.marks() | u64::from(last.marks()))
    };
    if marks | head.exponents() != 0 {
        return None;
    }
    // Among the first eight there is a point, or nothing but digits.
    let ten = TENS[end - Word::LEN];
    let mark = head.marks();
    if mark != 0 {
        let places = end as u32 - 1 - mark.trailing_zeros() / 8;
        return Some((head.without(mark).value().wrapping_mul(ten).wrapping_add(behind), places));
    }
    (end < 20).then(|| (head.value().wrapping_mul(ten).wrapping_add(behind), 0))
}

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
    if size.len() <= Word::LEN { short(negative, size) } else { long(negative, size.bytes()) }
}

/// [`plain`] for a sign and at most eight bytes; `None` for more.
#[inline(always)]
pub(super) fn plain_if_short(token: Token<'_>) -> Option<Plain> {
    let (negative, size) = token.unsigned();
    if size.len() <= Word::LEN { short(negative, size) } else { None }
}

/// Up to eight bytes.
#[inline(always)]
fn short(negative: bool, size: Token<'_>) -> Option<Plain> {
    if size.len() == 0 {
        return None;
    }
    let word = Word::load_head(size.rest()).first(size.len());
    let marks = word.marks();
    if marks == 0 {
        return Some(Plain { negative, digits: word.value(), places: 0 });
    }
    if word.exponents() != 0 {
        return None;
    }
    Some(Plain { negative, digits: word.without(marks).value(), places: 7 - marks.trailing_zeros() / 8 })
}

/// Nine bytes or more.
#[inline(always)]
fn long(negative: bool, text: &[u8]) -> Option<Plain> {
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
    let mark = head.marks();
    let (head, places) = if mark != 0 {
        (head.without(mark), end as u32 - 1 - mark.trailing_zeros() / 8)
    } else if end < 20 {
        (head, 0)
    } else {
        return None;
    };
    let digits = head.value().wrapping_mul(TENS[end - Word::LEN]).wrapping_add(behind);
    Some(Plain { negative, digits, places })
}

//! The shape that nearly every number has: up to 19 digits, possibly with a point early among them, and no exponent.
//!
//! It is read in whole words, without a branch on the sign and with two branches on the length: up to eight bytes, up
//! to 16, or more. If there are more than eight bytes, the first eight may hold a point, and only digits may follow
//! them:
//!
//! ```text
//! token    6 5 . 6 1 3 6 1 6 9 9 9 9 9 9 9 7 7
//! head    [6 5 . 6 1 3 6 1]                      → [0 6 5 6 1 3 6 1]
//! tail                 [. . 6 9][9 9 9 9 9 9 7 7] → [0 0 6 9][9 9 9 9 9 9 7 7], cut by a table
//! ```

#![allow(unsafe_code, reason = "loads whole words that it has shown to be in the text")]

use super::swar::{Word, digits_end};
use super::token::Token;

/// A number as `digits / 10^places`, negated if `negative`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Plain {
    pub(super) negative: bool,
    /// Whether it has no point.
    pub(super) integer: bool,
    /// All digits in order as one integer, below 10^19.
    pub(super) digits: u64,
    /// How many of the digits stand after the point, 0..=18; at least one for a checked decimal.
    pub(super) places: u32,
    /// The number of bytes without the sign, 1..=20.
    pub(super) len: usize,
}

/// The maximum length without a sign: 19 digits and a point.
pub(super) const LEN_MAX: usize = 20;

/// The powers of ten that a `u64` holds, followed by zeros, so that an index of five bits needs no check.
pub(super) static TENS: [u64; 32] = {
    let mut tens = [0; 32];
    tens[0] = 1;
    let mut power = 1;
    while power < 20 {
        tens[power] = tens[power - 1] * 10;
        power += 1;
    }
    tens
};

/// `token` (checked) as a [`Plain`]; `None` if it has an exponent, more than 19 digits, or its point after the first
/// eight bytes.
#[inline(always)]
pub(super) fn plain(token: Token<'_>) -> Option<Plain> {
    let (negative, size) = token.unsigned();
    if size.len() <= Word::LEN {
        short(negative, size)
    } else {
        // SAFETY: `size` has more than eight bytes.
        unsafe { long(negative, size) }
    }
}

/// Whether `token` (checked) has neither a point nor an exponent.
#[inline(always)]
pub(super) fn is_integer(token: Token<'_>) -> bool {
    let (_, size) = token.unsigned();
    if size.len() <= Word::LEN {
        return size.len() == 0 || size.head().first(size.len()).others() == 0;
    }
    if size.len() > LEN_MAX {
        return digits_end(size.bytes(), 0) == size.len();
    }
    // SAFETY: `size` has more than eight bytes.
    let (head, half, last) = unsafe { size.ends() };
    let (half, last) = (half.only(BEHIND.half[size.len() % 32]), last.only(BEHIND.last[size.len() % 32]));
    last.or(half.wide()).or(head).others() == 0
}

/// Reads up to eight bytes.
#[inline(always)]
fn short(negative: bool, size: Token<'_>) -> Option<Plain> {
    let len = size.len();
    if len == 0 {
        return None;
    }
    let word = size.head().first(len);
    let others = word.others();
    if others == 0 {
        return Some(Plain { negative, integer: true, digits: word.value(), places: 0, len });
    }
    if more_than_a_point(others) != 0 {
        return None;
    }
    let point = others.trailing_zeros() as usize / 8;
    Some(Plain { negative, integer: false, digits: word.without(point).value(), places: 7 - point as u32, len })
}

/// Reads nine bytes or more.
///
/// # Safety
///
/// `size.len() > 8`
#[inline(always)]
unsafe fn long(negative: bool, size: Token<'_>) -> Option<Plain> {
    let len = size.len();
    if len > LEN_MAX {
        return None;
    }
    // SAFETY: the caller guarantees more than eight bytes.
    let (head, half, last) = unsafe { size.ends() };
    let (half, last) = (half.only(BEHIND.half[len % 32]), last.only(BEHIND.last[len % 32]));
    let others = head.others();
    if last.or(half.wide()).others() | more_than_a_point(others) != 0 {
        return None;
    }
    // `float` takes the same branch next. Using the half word for every length cost decimals of 15 digits 14 more
    // instructions, of 135.
    let tail = if len <= 16 { last.value() } else { u64::from(half.value()) * TENS[8] + last.value() };
    let join = |head: Word| head.value().wrapping_mul(BEHIND.ten[len % 32]).wrapping_add(tail);
    // The first eight bytes hold one point, or only digits.
    if others == 0 {
        let number = Plain { negative, integer: true, digits: join(head), places: 0, len };
        return (len < LEN_MAX).then_some(number);
    }
    let point = others.trailing_zeros() as usize / 8;
    let places = (len - 1 - point) as u32;
    Some(Plain { negative, integer: false, digits: join(head.without(point)), places, len })
}

/// Not zero if `others` of a word shows more than one point, which means an exponent. A point has one bit there, and
/// `e` and `E` have more.
#[inline(always)]
fn more_than_a_point(others: u64) -> u64 {
    others & others.wrapping_sub(1)
}

/// Indexed by the length of a token without its sign, 9..=20: masks of the bytes of its last words that come after its
/// first eight bytes, and ten to the power of the number of those bytes. Other lengths are not used, and an index of
/// five bits needs no check.
struct Behind {
    last: [u64; 32],
    half: [u32; 32],
    ten: [u64; 32],
}

/// A constant is placed in the crate that uses it, and its address needs no load. There are three arrays because an
/// index is scaled by the size of an element for free, but not by the size of a triple.
const BEHIND: &Behind = &{
    let mut behind = Behind { last: [0; 32], half: [0; 32], ten: [0; 32] };
    let mut len = Word::LEN + 1;
    while len <= LEN_MAX {
        let bytes = len - Word::LEN;
        behind.last[len] = if bytes < 8 { u64::MAX << (64 - 8 * bytes) } else { u64::MAX };
        behind.half[len] = if bytes <= 8 { 0 } else { u32::MAX << (32 - 8 * (bytes - 8)) };
        behind.ten[len] = TENS[bytes];
        len += 1;
    }
    behind
};

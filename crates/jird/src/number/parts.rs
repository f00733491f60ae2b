//! Splits a checked number into its parts, whatever their length.

use super::swar::digits_end;

/// The parts of a number as they stand in the text: `[-] whole [. fraction] [e [-] exponent]`. A missing part is
/// empty.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parts<'a> {
    pub(super) negative: bool,
    pub(super) whole: &'a [u8],
    pub(super) fraction: &'a [u8],
    pub(super) exponent_negative: bool,
    /// The digits without leading zeros.
    pub(super) exponent: &'a [u8],
}

impl<'a> Parts<'a> {
    /// Splits `token` in one pass.
    pub(super) fn of(token: &'a [u8]) -> Self {
        let (negative, rest) = sign(token);
        let (whole, mut rest) = rest.split_at(digits_end(rest, 0));
        let mut fraction: &[u8] = &[];
        if let Some((b'.', after)) = rest.split_first() {
            (fraction, rest) = after.split_at(digits_end(after, 0));
        }
        let (exponent_negative, exponent) = match rest.split_first() {
            Some((b'e' | b'E', after)) => sign(after),
            _ => (false, &[][..]),
        };
        let exponent = &exponent[..digits_end(exponent, 0)];
        Self { negative, whole, fraction, exponent_negative, exponent: without_leading_zeros(exponent) }
    }

    /// The exponent; if it has more than 18 digits, the number of 18 nines with its sign. That is so far from zero
    /// that no number of digits that fits in memory can compensate for it.
    pub(super) fn exponent_saturated(&self) -> i64 {
        const LARGE: i64 = 999_999_999_999_999_999;
        let size = match self.exponent.len() {
            0..=18 => self.exponent.iter().fold(0, |value, digit| value * 10 + i64::from(digit - b'0')),
            _ => LARGE,
        };
        if self.exponent_negative { -size } else { size }
    }
}

/// Splits a sign off the front; true if it is a minus.
fn sign(text: &[u8]) -> (bool, &[u8]) {
    match text.split_first() {
        Some((b'-', rest)) => (true, rest),
        Some((b'+', rest)) => (false, rest),
        _ => (false, text),
    }
}

/// `digits` from the first one that is not zero.
pub(super) fn without_leading_zeros(digits: &[u8]) -> &[u8] {
    let zeros = digits.iter().take_while(|&&digit| digit == b'0').count();
    &digits[zeros..]
}

/// `digits` up to the last one that is not zero.
pub(super) fn without_trailing_zeros(digits: &[u8]) -> &[u8] {
    let zeros = digits.iter().rev().take_while(|&&digit| digit == b'0').count();
    &digits[..digits.len() - zeros]
}

/// The significant digits of a number, with zeros trimmed at both ends, and the position of the point among them: the
/// size is `0.[head][tail] × 10^(point + exponent)`. A zero has no digits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Significant<'a> {
    pub(super) head: &'a [u8],
    /// Empty if `head` is.
    pub(super) tail: &'a [u8],
    pub(super) point: i64,
}

impl<'a> Significant<'a> {
    /// Takes time linear in the trimmed zeros.
    pub(super) fn of(parts: &Parts<'a>) -> Self {
        let mut head = without_leading_zeros(parts.whole);
        let mut tail = without_trailing_zeros(parts.fraction);
        let mut point = head.len() as i64;
        if head.is_empty() {
            head = without_leading_zeros(tail);
            point = head.len() as i64 - tail.len() as i64;
            tail = &[];
        } else if tail.is_empty() {
            head = without_trailing_zeros(head);
        }
        Self { head, tail, point }
    }

    pub(super) fn len(&self) -> usize {
        self.head.len() + self.tail.len()
    }

    /// The first digits in order, at most `len_max`.
    pub(super) fn first(&self, len_max: usize) -> impl Iterator<Item = u8> {
        self.head.iter().chain(self.tail).take(len_max).copied()
    }
}

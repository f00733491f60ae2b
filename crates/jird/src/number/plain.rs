//! The shape that nearly every number has: up to 19 digits, perhaps a point early among them, no exponent.

#![allow(unsafe_code, reason = "loads whole words that it has shown to be in the text")]

use super::swar::Word;

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
pub(super) fn plain(token: &[u8]) -> Option<Plain> {
    let negative = token.first() == Some(&b'-');
    let text = &token[usize::from(negative)..];
    let (digits, places) = if text.len() > Word::LEN { long(text) } else { short(text) }?;
    Some(Plain { negative, digits, places })
}

/// Up to eight bytes.
#[inline(always)]
fn short(text: &[u8]) -> Option<(u64, u32)> {
    if text.is_empty() {
        return None;
    }
    let word = Word::load_head(text, 0).first(text.len());
    let nondigits = word.nondigits();
    if nondigits == 0 {
        return Some((word.value(), 0));
    }
    let point = nondigits.trailing_zeros() / 8;
    if !nondigits.is_power_of_two() || !word.is_point(point) {
        return None;
    }
    Some((word.without(point).value(), 7 - point))
}

/// Nine bytes or more.
#[inline(always)]
fn long(text: &[u8]) -> Option<(u64, u32)> {
    let end = text.len();
    // 19 digits and a point.
    if !(Word::LEN + 1..=20).contains(&end) {
        return None;
    }
    // SAFETY: more than eight bytes, of which these are the first and the last eight.
    let (head, last) = unsafe { (Word::load_unchecked(text, 0), Word::load_unchecked(text, end - Word::LEN)) };
    // Behind the first eight bytes there are digits only: another eight if there are so many, then at most eight.
    let (behind, wrong) = if end > 2 * Word::LEN {
        // SAFETY: more than sixteen bytes, of which these are the second eight.
        let middle = unsafe { Word::load_unchecked(text, Word::LEN) };
        (Some(middle), middle.nondigits())
    } else {
        (None, 0)
    };
    let last_len = if behind.is_some() { end - 2 * Word::LEN } else { end - Word::LEN };
    let last = last.last(last_len);
    if wrong | last.nondigits() != 0 {
        return None;
    }
    // Among the first eight there is a point, perhaps.
    let nondigits = head.nondigits();
    let (head, places) = if nondigits == 0 {
        if end > 19 {
            return None;
        }
        (head, 0)
    } else {
        let point = nondigits.trailing_zeros() / 8;
        if !nondigits.is_power_of_two() || !head.is_point(point) {
            return None;
        }
        (head.without(point), end as u32 - 1 - point)
    };
    let mut digits = head.value();
    if let Some(middle) = behind {
        digits = digits * TENS[8] + middle.value();
    }
    Some((digits * TENS[last_len] + last.value(), places))
}

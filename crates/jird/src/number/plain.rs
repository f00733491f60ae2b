//! The shape that nearly every number has: up to 19 digits, perhaps a point early among them, no exponent.

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
pub(super) const TENS: [u64; 20] = {
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
    let first = usize::from(negative);
    let len = token.len() - first;
    let head = Word::load_head(token, first);
    if len <= 8 {
        if len == 0 {
            return None;
        }
        let head = head.first(len);
        let nondigits = head.nondigits();
        if nondigits == 0 {
            return Some(Plain { negative, digits: head.value(), places: 0 });
        }
        let point = nondigits.trailing_zeros() as usize / 8;
        if !nondigits.is_power_of_two() || !head.is_point(point) {
            return None;
        }
        return Some(Plain { negative, digits: head.without(point).value(), places: 7 - point as u32 });
    }
    let nondigits = head.nondigits();
    let point = nondigits.trailing_zeros() as usize / 8;
    // 19 digits, and a point if there is one.
    let len_max = 19 + usize::from(nondigits != 0);
    if len > len_max || !(nondigits == 0 || nondigits.is_power_of_two() && head.is_point(point)) {
        return None;
    }
    let head = if nondigits == 0 { head } else { head.without(point) };
    let tail = tail(token, first + 8)?;
    let tail_len = len - 8;
    let digits = head.value() * TENS[tail_len] + tail;
    let places = if nondigits == 0 { 0 } else { (len - 1 - point) as u32 };
    Some(Plain { negative, digits, places })
}

/// The 1..=12 digits from `at` to the end of `token`, which is longer than eight bytes.
#[inline(always)]
fn tail(token: &[u8], at: usize) -> Option<u64> {
    let len = token.len() - at;
    let last = Word::load(token, token.len() - 8);
    if len <= 8 {
        let last = last.last(len);
        return (last.nondigits() == 0).then(|| last.value());
    }
    let first = Word::load(token, at);
    let last = last.last(len - 8);
    (first.nondigits() | last.nondigits() == 0).then(|| first.value() * TENS[len - 8] + last.value())
}

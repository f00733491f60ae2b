//! Numbers by their exact value: for the filter of pairs, and for ranges.

use super::hash::{self, Domain};
use jird::Number;
use std::cmp::Ordering;

/// The longest bound of a range, in bytes. Longer keys are cut, and the range becomes wider.
pub(crate) const BOUND_MAX: usize = 40;

/// A number has at most this many digits to be [`Canonical`].
const DIGITS_MAX: u32 = 19;

const TENS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
    1e21, 1e22,
];

/// A number without leading and trailing zeros: `digits × 10^exponent`. Zero has exponent 0 and is not negative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Canonical {
    digits: u64,
    exponent: i64,
    negative: bool,
}

impl Canonical {
    /// The number that a token is. `None` if it has more than 19 significant digits or an exponent of more than 15
    /// digits; that depends on its value alone, because no token in memory is so long that its point makes up for such
    /// an exponent.
    #[inline]
    pub(crate) fn of(token: &[u8]) -> Option<Self> {
        let (negative, token) = match token {
            [b'-', rest @ ..] => (true, rest),
            rest => (false, rest),
        };
        // `zeros` are those after the last digit that is not 0: they count only if another such digit follows.
        let (mut digits, mut count, mut zeros, mut places) = (0_u64, 0_u32, 0_u32, 0_i64);
        let mut place = 0;
        let mut at = 0;
        while let Some(&byte) = token.get(at) {
            match byte {
                b'0' => {
                    zeros += u32::from(digits != 0);
                    places += place;
                }
                b'1'..=b'9' => {
                    count = count.saturating_add(zeros).saturating_add(1);
                    if count > DIGITS_MAX {
                        return None;
                    }
                    digits = digits * 10_u64.pow(zeros + 1) + u64::from(byte - b'0');
                    zeros = 0;
                    places += place;
                }
                b'.' => place = 1,
                _ => break,
            }
            at += 1;
        }
        if digits == 0 {
            return Some(Self { digits: 0, exponent: 0, negative: false });
        }
        let scale = if at < token.len() { exponent_of(&token[at + 1..])? } else { 0 };
        Some(Self { digits, exponent: i64::from(zeros) - places + scale, negative })
    }

    /// The nearest double, where that is easy to compute, and whether no other number of this kind is that double.
    #[inline]
    fn to_f64(self) -> Option<(f64, bool)> {
        let ten = *TENS.get(usize::try_from(self.exponent.unsigned_abs()).ok()?)?;
        if self.digits > 1 << 53 {
            return None;
        }
        // Both operands are exact, so the result is rounded once (Clinger, "How to Read Floating Point Numbers
        // Accurately", PLDI 1990).
        #[expect(clippy::cast_precision_loss, reason = "at most 2^53")]
        let size = if self.exponent < 0 { self.digits as f64 / ten } else { self.digits as f64 * ten };
        // Decimals of up to 15 digits are told apart by doubles.
        Some((if self.negative { -size } else { size }, self.digits < 1_000_000_000_000_000))
    }
}

fn exponent_of(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] | rest => (false, rest),
    };
    let zeros = digits.iter().take_while(|&&digit| digit == b'0').count();
    let digits = &digits[zeros..];
    if digits.len() > 15 {
        return None;
    }
    let size = digits.iter().fold(0, |size, digit| size * 10 + i64::from(digit.wrapping_sub(b'0') & 15));
    Some(if negative { -size } else { size })
}

/// The hash of a number at a path: equal for numbers of equal value.
#[inline]
pub(crate) fn hash(path: u64, token: &[u8], canonical: Option<Canonical>, scratch: &mut Vec<u8>) -> u64 {
    if let Some(Canonical { digits, exponent, negative }) = canonical {
        return hash::number(path, digits, exponent, negative);
    }
    scratch.clear();
    order_key(token, scratch);
    hash::value(path, Domain::LongNumber, scratch)
}

/// Appends the engine's key of a token; nothing if it is not a number.
pub(crate) fn order_key(token: &[u8], out: &mut Vec<u8>) {
    if let Some(number) = number(token) {
        number.order_key(out);
    }
}

fn number(token: &[u8]) -> Option<Number<'_>> {
    Number::new(std::str::from_utf8(token).ok()?)
}

/// The least and the greatest of some numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Extremes {
    least: Extreme,
    greatest: Extreme,
    any: bool,
}

#[derive(Clone, Debug, Default)]
struct Extreme {
    token: Vec<u8>,
    /// The token as a double.
    size: f64,
    /// If this is true of another token, and it is as large, it is the same number.
    is_told: bool,
}

impl Extremes {
    pub(crate) fn clear(&mut self) {
        self.any = false;
    }

    /// Counts a number in. False if it is none.
    #[inline]
    pub(crate) fn add(&mut self, token: &[u8], canonical: Option<Canonical>) -> bool {
        let (size, is_told) = match canonical.and_then(Canonical::to_f64) {
            Some(easy) => easy,
            None => match nearest(token) {
                Some(size) => (size, false),
                None => return false,
            },
        };
        if !self.any {
            self.any = true;
            self.least.set(token, size, is_told);
            self.greatest.set(token, size, is_told);
            return true;
        }
        if self.least.is_passed(token, size, is_told, Ordering::Less) {
            self.least.set(token, size, is_told);
        }
        if self.greatest.is_passed(token, size, is_told, Ordering::Greater) {
            self.greatest.set(token, size, is_told);
        }
        true
    }

    /// Two keys: no number is below the first or above the second. An empty second key: there is no such bound.
    pub(crate) fn bounds(&self) -> [Vec<u8>; 2] {
        let [mut least, mut greatest] = [&self.least, &self.greatest].map(|extreme| {
            let mut key = Vec::new();
            order_key(&extreme.token, &mut key);
            key
        });
        least.truncate(BOUND_MAX);
        if greatest.len() > BOUND_MAX {
            greatest.truncate(BOUND_MAX);
            // The least of the keys of this length that are above all that begin with it.
            while greatest.last() == Some(&0xff) {
                greatest.pop();
            }
            if let Some(last) = greatest.last_mut() {
                *last += 1;
            }
        }
        [least, greatest]
    }
}

impl Extreme {
    #[inline]
    fn set(&mut self, token: &[u8], size: f64, is_told: bool) {
        self.token.clear();
        self.token.extend_from_slice(token);
        (self.size, self.is_told) = (size, is_told);
    }

    /// Whether a number is beyond this one on one side. Rounding to doubles keeps the order, but may make numbers
    /// equal.
    #[inline]
    fn is_passed(&self, token: &[u8], size: f64, is_told: bool, side: Ordering) -> bool {
        match size.partial_cmp(&self.size) {
            Some(Ordering::Equal) if !(is_told && self.is_told) => self.is_passed_exactly(token, side),
            order => order == Some(side),
        }
    }

    #[cold]
    fn is_passed_exactly(&self, token: &[u8], side: Ordering) -> bool {
        number(token).zip(number(&self.token)).is_some_and(|(new, old)| new.compare(old) == side)
    }
}

/// The nearest double; an infinite one if there is none.
#[cold]
fn nearest(token: &[u8]) -> Option<f64> {
    let infinite = if token.starts_with(b"-") { f64::NEG_INFINITY } else { f64::INFINITY };
    number(token).map(|number| number.to_f64().unwrap_or(infinite))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKENS: [&str; 38] = [
        "0",
        "-0",
        "0.0",
        "0e5",
        "1",
        "1.0",
        "10e-1",
        "0.1e1",
        "1e0",
        "-1",
        "-1.0",
        "100",
        "1e2",
        "1E+2",
        "10e01",
        "1e00000000000000000000002",
        "0.01",
        "1e-2",
        "1000000000000000000000000000000",
        "1e30",
        "9007199254740993",
        "9007199254740992",
        "9007199254740992.0",
        "9007199254740992.5",
        "9223372036854775807",
        "12345678901234567890",
        "18446744073709551616",
        "123456789012345678901234567890",
        "123456789012345678901234567890.0",
        "1234567890123456789012345678900e-1",
        "1e400",
        "10e399",
        "-1e400",
        "1e-400",
        "1e99999999999999999999",
        "0.30000000000000004",
        "0.3",
        "1.5e-3",
    ];

    fn compare(left: &str, right: &str) -> Ordering {
        Number::new(left).unwrap().compare(Number::new(right).unwrap())
    }

    #[test]
    fn equal_numbers_and_only_they_have_equal_hashes() {
        let hash = |token: &str| hash(1, token.as_bytes(), Canonical::of(token.as_bytes()), &mut Vec::new());
        for left in TOKENS {
            for right in TOKENS {
                assert_eq!(hash(left) == hash(right), compare(left, right).is_eq(), "{left} {right}");
            }
        }
    }

    #[test]
    fn bounds_hold_every_number_and_are_exact_if_they_are_short() {
        let long = [format!("0.{}1", "0".repeat(60)), "7".repeat(99), format!("-{}", "9".repeat(99)), "9".repeat(99)];
        let tokens: Vec<&str> = TOKENS.into_iter().chain(long.iter().map(String::as_str)).collect();
        let key = |token: &str| {
            let mut key = Vec::new();
            order_key(token.as_bytes(), &mut key);
            key
        };
        for first in 0..tokens.len() {
            for step in 1..7 {
                let some: Vec<&str> = tokens[first..].iter().step_by(step).copied().collect();
                let mut extremes = Extremes::default();
                for token in &some {
                    assert!(extremes.add(token.as_bytes(), Canonical::of(token.as_bytes())));
                }
                let [least, greatest] = extremes.bounds();
                assert!(least.len() <= BOUND_MAX && greatest.len() <= BOUND_MAX);
                for token in &some {
                    assert!(least <= key(token), "{token} of {some:?}");
                    assert!(greatest.is_empty() || greatest >= key(token), "{token} of {some:?}");
                }
                let wanted = some.iter().map(|token| key(token)).min().unwrap();
                assert_eq!(least, wanted[..wanted.len().min(BOUND_MAX)]);
                let wanted = some.iter().map(|token| key(token)).max().unwrap();
                assert!(greatest == wanted || wanted.len() > BOUND_MAX);
            }
        }
    }
}

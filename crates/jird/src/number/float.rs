//! Checked tokens to floating point, correctly rounded (to nearest, ties to even), for any length of digits and
//! exponent, in one pass over the text.
//!
//! There are three methods; each passes on the numbers that it cannot decide:
//!
//! 1. If significand and power of ten are both exact doubles, one operation rounds once (Clinger 1990).
//! 2. For up to 19 digits: one or two multiplications by a 128-bit power of five (Eisel and Lemire; Lemire, "Number
//!    Parsing at a Gigabyte per Second", Software: Practice and Experience 51(8), 2021). For more than 19: the first
//!    19 digits, and these plus one; if both round to the same value, so does everything in between.
//! 3. `core`'s parser, which compares exactly. It gets the number rewritten with at most 770 digits, which is enough
//!    to tell any decimal from any halfway point between doubles (those have at most 768 digits), and with an exponent
//!    that it takes at face value. It would not read the further digits of an exponent above 65,535, and would take a
//!    1 with a million zeros and `e-1000000` for infinite.

use std::io::Write;

use super::parts::{Parts, Significant};
use super::plain::{Plain, TENS, plain};
use super::powers;
use super::token::Token;

/// The nearest `f64`; `None` if that would be infinite.
#[inline]
pub(crate) fn to_f64(token: &[u8]) -> Option<f64> {
    to_float(Token::alone(token))
}

/// [`to_f64`] of `text[start..end]`.
#[inline(always)]
pub(crate) fn to_f64_at(text: &[u8], start: usize, end: usize) -> Option<f64> {
    to_float(Token::at(text, start, end))
}

/// The nearest `f32`, rounded once; `None` if that would be infinite.
#[inline]
pub(crate) fn to_f32(token: &[u8]) -> Option<f32> {
    to_float(Token::alone(token))
}

/// [`to_f32`] of `text[start..end]`.
#[inline]
#[cfg(test)]
pub(crate) fn to_f32_at(text: &[u8], start: usize, end: usize) -> Option<f32> {
    to_float(Token::at(text, start, end))
}

#[inline(always)]
fn to_float<F: Float>(token: Token<'_>) -> Option<F> {
    match plain(token) {
        Some(number) => Some(of_plain(number)),
        None => long(token.bytes()),
    }
}

/// The nearest value, which is finite. The method depends on the number's length and not on its digits, because a
/// document's numbers have few lengths, so the branch is predicted.
#[inline(always)]
pub(super) fn of_plain<F: Float>(number: Plain) -> F {
    if number.integer {
        // One conversion rounds once, for every integer.
        F::from_integer(number.digits).negated_if(number.negative)
    } else if number.len <= F::EXACT_LEN {
        // There are fewer places than bytes, so the remainder changes nothing and saves a bounds check. The digits are
        // below 2^63, so a signed conversion is enough.
        let ten = F::TENS[number.places as usize % F::EXACT_LEN];
        F::from_signed(number.digits as i64).over(ten).negated_if(number.negative)
    } else {
        F::from_bits(quotient::<F>(number.digits, number.places), number.negative)
    }
}

/// The bits of the value nearest to `digits / 10^places`. There are at most 18 places: 128 bits of the power decide
/// every case, and the value is zero, or normal and finite.
///
/// This is [`nearest`] for the frequent case, in which the upper 64 bits decide.
#[inline(always)]
fn quotient<F: Float>(digits: u64, places: u32) -> u64 {
    // At most 19 for invalid tokens; an index of five bits needs no check.
    let power = places as usize % 32;
    // Avoids the logarithm of zero; a zero goes to the careful function below.
    let log2 = (digits | 1).ilog2();
    let high = ((u128::from(digits << (63 - log2)) * u128::from(FIFTHS[power])) >> 64) as u64;
    // The power is truncated. If all bits beyond the significand are set, the missing part may carry, and the result
    // of the carry may be a tie. If none is set, the number may be zero.
    if high.wrapping_add(1) & u64::MAX >> (F::SIGNIFICAND_BITS + 3) <= 1 {
        return quotient_with_care::<F>(digits, places);
    }
    let top = (high >> 63) as u32;
    let significand = high >> (top + 61 - F::SIGNIFICAND_BITS);
    let exponent = u64::from(top + log2) << F::SIGNIFICAND_BITS;
    // The sum rounds as in `join`.
    F::EXPONENTS[power].wrapping_add(exponent) + ((significand + (significand & 1)) >> 1)
}

/// As [`quotient`], for the cases that it cannot decide.
#[cold]
#[inline(never)]
fn quotient_with_care<F: Float>(digits: u64, places: u32) -> u64 {
    let power = -i64::from(places);
    if digits == 0 { 0 } else { Scaled::of::<F>(digits, power).rounded::<F>(power) }
}

/// For each number of places: the high half of 5^-places.
const FIFTHS: &[u64; 32] = &{
    let mut fifths = [0; 32];
    let mut places = 0;
    while places < 32 {
        fifths[places] = powers::of_five(-(places as i64)).0;
        places += 1;
    }
    fifths
};

/// Any number that is not plain.
#[inline(never)]
fn long<F: Float>(token: &[u8]) -> Option<F> {
    const LEN_MAX: usize = 19;
    let parts = Parts::of(token);
    let digits = Significant::of(&parts);
    if digits.len() == 0 {
        return F::finite(0, parts.negative);
    }
    let integer = digits.first(LEN_MAX).fold(0, |value, digit| value * 10 + u64::from(digit - b'0'));
    let scale = digits.point + parts.exponent_saturated();
    let power = scale - digits.len().min(LEN_MAX) as i64;
    if digits.len() <= LEN_MAX && integer <= F::INTEGER_MAX {
        let size = F::from_integer(integer);
        let ten = |power: u64| F::TENS.get(usize::try_from(power).ok()?).copied();
        if let Some(ten) = ten(power.unsigned_abs()) {
            return Some(if power < 0 { size.over(ten) } else { size.times(ten) }.negated_if(parts.negative));
        }
    }
    let nearest = match nearest::<F>(integer, power) {
        Some(bits) if digits.len() <= LEN_MAX || nearest::<F>(integer + 1, power) == Some(bits) => bits,
        _ => return by_comparison(&digits, scale, parts.negative),
    };
    F::finite(nearest, parts.negative)
}

/// `0.digits × 10^scale` by `core`'s exact comparison.
#[cold]
fn by_comparison<F: Float>(digits: &Significant<'_>, scale: i64, negative: bool) -> Option<F> {
    const LEN_MAX: usize = 770;
    let mut text = [b'0'; LEN_MAX + 32];
    let mut len = 0;
    for digit in digits.first(LEN_MAX) {
        text[len] = digit;
        len += 1;
    }
    if digits.len() > LEN_MAX {
        // The digits that were cut off are not all zero, because the last digit is not zero.
        text[len] = b'1';
        len += 1;
    }
    let power = scale - len as i64;
    let mut rest = &mut text[len..];
    let room = rest.len();
    write!(rest, "e{power}").expect("an i64 fits behind the digits");
    len += room - rest.len();
    let size: F = str::from_utf8(&text[..len]).ok()?.parse().ok()?;
    size.is_finite().then(|| size.negated_if(negative))
}

/// The bits of the value nearest to `integer × 10^power`, including those of infinity. `None` if 128 bits of the power
/// of five do not decide.
#[inline(always)]
fn nearest<F: Float>(integer: u64, power: i64) -> Option<u64> {
    if integer == 0 || power < F::POWER_MIN {
        return Some(0);
    }
    if power > F::POWER_MAX {
        return Some(F::INFINITE_BITS);
    }
    let scaled = Scaled::of::<F>(integer, power);
    if scaled.low == u64::MAX && !(-27..=55).contains(&power) {
        return None;
    }
    if scaled.exponent <= 0 {
        // Subnormal, or too small even for that. Here the halfway points are too long to be hit exactly.
        let down = 1 - scaled.exponent;
        let significand = if down < 64 { scaled.high >> scaled.shift >> down } else { 0 };
        // A carry into the first exponent bit gives the smallest normal number, which is correct.
        return Some((significand + (significand & 1)) >> 1);
    }
    Some(scaled.rounded::<F>(power).min(F::INFINITE_BITS))
}

/// `integer × 10^power` to 128 bits.
struct Scaled {
    /// The leading bits; the first or the second bit is set.
    high: u64,
    low: u64,
    /// The shift after which `high` has one bit more than a significand with its leading bit.
    shift: u32,
    /// The biased exponent, if the value is normal.
    exponent: i32,
}

impl Scaled {
    /// `integer` must not be zero, and `power` must be in the table.
    #[inline(always)]
    fn of<F: Float>(integer: u64, power: i64) -> Self {
        let zeros = integer.leading_zeros();
        let (high, low) = product(integer << zeros, power, F::SIGNIFICAND_BITS + 3);
        let top = (high >> 63) as u32;
        let exponent = log2(power) + 63 + top as i32 - zeros as i32 + F::EXPONENT_BIAS;
        Self { high, low, shift: top + 61 - F::SIGNIFICAND_BITS, exponent }
    }

    /// The bits of the nearest value, if it is normal; if it is too large, the bits of infinity or a larger number.
    #[inline(always)]
    fn rounded<F: Float>(&self, power: i64) -> u64 {
        let mut significand = self.high >> self.shift;
        // Exactly halfway, which only small powers allow: round to the even neighbour, which is the lower one here.
        if self.low <= 1 && significand & 3 == 1 && F::TIES.contains(&power) && significand << self.shift == self.high {
            significand &= !1;
        }
        join::<F>(self.exponent, significand)
    }
}

/// The bits of a normal value, from its biased exponent and its significand with one bit more, which decides the
/// rounding.
#[inline(always)]
fn join<F: Float>(exponent: i32, significand: u64) -> u64 {
    let significand = (significand + (significand & 1)) >> 1;
    // The leading bit adds one to the exponent, and a carry from rounding adds one more, which is correct.
    ((exponent - 1) as u64).wrapping_shl(F::SIGNIFICAND_BITS) + significand
}

/// `floor(log2(10^power))`, for any power of the table.
#[inline(always)]
const fn log2(power: i64) -> i32 {
    ((power as i32) * (152_170 + 65_536)) >> 16
}

/// The high 128 bits of `integer × 5^power` (scaled), to at least `bits` bits; exact or just below.
#[inline(always)]
fn product(integer: u64, power: i64, bits: u32) -> (u64, u64) {
    let (five_high, five_low) = powers::of_five(power);
    let first = u128::from(integer) * u128::from(five_high);
    let (mut high, mut low) = ((first >> 64) as u64, first as u64);
    let undecided = u64::MAX >> bits;
    if high & undecided == undecided {
        let second = (u128::from(integer) * u128::from(five_low)) >> 64;
        let (sum, carry) = low.overflowing_add(second as u64);
        low = sum;
        high += u64::from(carry);
    }
    (high, low)
}

/// The two formats and their parameters.
pub(super) trait Float: Copy + std::str::FromStr + 'static {
    /// Stored bits of the significand.
    const SIGNIFICAND_BITS: u32;
    /// The bias that is added to a binary exponent when it is stored.
    const EXPONENT_BIAS: i32;
    /// The stored exponent of infinity.
    const EXPONENT_INFINITE: i32;
    /// Infinity's bits.
    const INFINITE_BITS: u64 = (Self::EXPONENT_INFINITE as u64) << Self::SIGNIFICAND_BITS;
    /// Every integer up to this is exact.
    const INTEGER_MAX: u64 = 2 << Self::SIGNIFICAND_BITS;
    /// Below this power the nearest value of any 64-bit integer times the power is zero; above the other one it is
    /// infinity.
    const POWER_MIN: i64;
    const POWER_MAX: i64;
    /// The powers at which a 64-bit integer can lie halfway between two values.
    const TIES: std::ops::RangeInclusive<i64>;
    /// The powers of ten that are exact.
    const TENS: &'static [Self];

    /// A decimal of at most this many bytes, the point included, has digits that are exact.
    const EXACT_LEN: usize = if Self::INTEGER_MAX > TENS[15] { 16 } else { 8 };

    /// For each number of places: the exponent of the smallest double that is not below 10^-places, less one, with its
    /// bias and at its place in the bits of a double.
    const EXPONENTS: &'static [u64; 32] = &{
        let mut exponents = [0; 32];
        let mut places = 0;
        while places < 32 {
            let exponent = log2(-(places as i64)) + Self::EXPONENT_BIAS - 1;
            exponents[places] = (exponent as u64) << Self::SIGNIFICAND_BITS;
            places += 1;
        }
        exponents
    };

    fn from_integer(integer: u64) -> Self;
    fn from_signed(integer: i64) -> Self;
    fn times(self, other: Self) -> Self;
    fn over(self, other: Self) -> Self;
    fn negated_if(self, negative: bool) -> Self;
    fn is_finite(self) -> bool;
    fn from_bits(size: u64, negative: bool) -> Self;
    /// `None` if these are the bits of infinity.
    fn finite(bits: u64, negative: bool) -> Option<Self>;
}

macro_rules! float {
    ($float:ident as $bits:ident: $significand:expr, bias $bias:expr, infinite $infinite:expr,
     powers $powers:expr, ties $ties:expr, tens $tens:expr) => {
        impl Float for $float {
            const SIGNIFICAND_BITS: u32 = $significand;
            const EXPONENT_BIAS: i32 = $bias;
            const EXPONENT_INFINITE: i32 = $infinite;
            const POWER_MIN: i64 = *$powers.start();
            const POWER_MAX: i64 = *$powers.end();
            const TIES: std::ops::RangeInclusive<i64> = $ties;
            const TENS: &'static [Self] = &$tens;

            #[inline(always)]
            fn from_integer(integer: u64) -> Self {
                integer as $float
            }
            #[inline(always)]
            fn from_signed(integer: i64) -> Self {
                integer as $float
            }
            #[inline(always)]
            fn times(self, other: Self) -> Self {
                self * other
            }
            #[inline(always)]
            fn over(self, other: Self) -> Self {
                self / other
            }
            #[inline(always)]
            fn negated_if(self, negative: bool) -> Self {
                $float::from_bits(self.to_bits() ^ $bits::from(negative) << ($bits::BITS - 1))
            }
            #[inline(always)]
            fn is_finite(self) -> bool {
                $float::is_finite(self)
            }
            #[inline(always)]
            fn from_bits(size: u64, negative: bool) -> Self {
                $float::from_bits(size as $bits | $bits::from(negative) << ($bits::BITS - 1))
            }
            #[inline(always)]
            fn finite(bits: u64, negative: bool) -> Option<Self> {
                (bits != Self::INFINITE_BITS).then(|| <Self as Float>::from_bits(bits, negative))
            }
        }
    };
}

float!(f64 as u64: 52, bias 1023, infinite 0x7ff, powers (powers::SMALLEST..=powers::LARGEST), ties -4..=23, tens [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
    1e21, 1e22
]);
float!(f32 as u32: 23, bias 127, infinite 0xff, powers (-65..=38), ties -17..=10, tens [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10
]);

#[cfg(test)]
#[allow(clippy::format_push_string, reason = "texts to test, not to hurry")]
mod tests {
    use super::*;

    /// Compares with `std`, bit by bit.
    fn agrees(text: &str) {
        let double: f64 = text.parse().unwrap();
        let expected = double.is_finite().then_some(double.to_bits());
        assert_eq!(to_f64(text.as_bytes()).map(f64::to_bits), expected, "{text}");
        let among = format!("7{text}7890123456");
        assert_eq!(to_f64_at(among.as_bytes(), 1, 1 + text.len()).map(f64::to_bits), expected, "{text}");
        let single: f32 = text.parse().unwrap();
        let expected = single.is_finite().then_some(single.to_bits());
        assert_eq!(to_f32(text.as_bytes()).map(f32::to_bits), expected, "{text}");
        assert_eq!(to_f32_at(among.as_bytes(), 1, 1 + text.len()).map(f32::to_bits), expected, "{text}");
    }

    #[test]
    fn the_edges_of_the_formats_are_as_std_has_them() {
        let rows = [
            "0",
            "-0",
            "0.0",
            "-0.0",
            "0e5",
            "-0e-5",
            "0e99999999999999999999",
            "1",
            "-1.5",
            "0.1",
            "1e22",
            "1e23",
            "1e-22",
            "9007199254740991",
            "9007199254740992",
            "9007199254740993",
            "9007199254740993.0",
            "9007199254740995",
            "9007199254740993.00000000000000000000000000000000000001",
            "18446744073709551615",
            "18446744073709551616",
            "1.7976931348623157e308",
            "1.7976931348623158e308",
            "1.7976931348623159e308",
            "1e308",
            "1e309",
            "-1e400",
            "2.2250738585072014e-308",
            "2.2250738585072011e-308",
            "2.225073858507201136057409796709131975934819546351645648e-308",
            "5e-324",
            "4.9e-324",
            "2.4703282292062327e-324",
            "2.4703282292062328e-324",
            "2e-324",
            "1e-400",
            "-1e-400",
            "3.4028234e38",
            "3.4028235e38",
            "3.4028236e38",
            "3.40282356779733661637539395458142568447e38",
            "1e39",
            "3.40282356779733661637539395458142568448e38",
            "1.17549435e-38",
            "1.4e-45",
            "7.006492321624085e-46",
            "7.1e-46",
            "7.006492321624086e-46",
            "1.00000017881393421514957253748434595763683319091796875001e0",
            "1.00000017881393432617187499",
            "8589973",
            "16777217",
            "16777217.0",
            "16777219.5",
            "1e000000000001",
            "1E+00",
            "1e-0",
            "123456789012345678901234567890",
            "0.000000000000000000000000000000012345",
            "12345678.5",
            "123456789.5",
            "1234567890123456789",
            "12345678901234567890",
            "1234567890.1234567890",
            "9999999999999999999",
            "9999999999999999999.9",
            "1090544144181609348671888949248",
            "6929495644600919.5",
            "3.2378839133029012895883524125015321748630994e-319",
        ];
        for row in rows {
            agrees(row);
        }
    }

    #[test]
    fn every_halfway_point_goes_to_the_even_neighbour() {
        // Exact decimal expansions of the middle between two neighbours, a little below it, and a little above it.
        let mut bits = 0x3ff0_0000_0000_0001_u64;
        for round in 0..2000_u64 {
            bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(round | 1);
            let low = f64::from_bits(bits & 0x7fff_ffff_ffff_ffff);
            if !low.is_finite() {
                continue;
            }
            // An f32 and half its last place is an exact f64, printed in full.
            let single = low as f32;
            let next = f32::from_bits(single.to_bits() + 1);
            if next.is_finite() {
                let middle = format!("{:.200e}", f64::midpoint(f64::from(single), f64::from(next)));
                agrees(&middle);
                let (digits, exponent) = middle.split_once('e').unwrap();
                agrees(&format!("{digits}00000001e{exponent}"));
            }
            agrees(&format!("{low:e}"));
            agrees(&format!("{low:.18e}"));
            agrees(&format!("{low:.19e}"));
            agrees(&format!("{low:.800e}"));
        }
    }

    #[test]
    fn the_longest_halfway_point_counts_to_its_last_digit() {
        // Between the largest subnormal and the smallest normal number: (2^53 - 1) · 2^-1075, in full.
        let mut digits: Vec<u8> = ((1_u64 << 53) - 1).to_string().bytes().map(|digit| digit - b'0').collect();
        for _ in 0..1075 {
            let mut carry = 0;
            for digit in digits.iter_mut().rev() {
                let value = *digit * 5 + carry;
                (*digit, carry) = (value % 10, value / 10);
            }
            if carry > 0 {
                digits.insert(0, carry);
            }
        }
        assert_eq!(digits.len(), 768);
        let all_but_last: String = digits[..767].iter().map(|digit| char::from(b'0' + digit)).collect();
        for (last, expected) in
            [("5", 1_u64 << 52), ("4", (1 << 52) - 1), ("6", 1 << 52), ("49999999999999", (1 << 52) - 1)]
        {
            let text = format!("{all_but_last}{last}e{}", -1074 - last.len() as i64);
            assert_eq!(to_f64(text.as_bytes()).map(f64::to_bits), Some(expected), "{last}");
            agrees(&text);
        }
    }

    #[test]
    fn generated_numbers_are_as_std_has_them() {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut random = move |below: u64| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state % below
        };
        for _ in 0..300_000 {
            let mut text = String::new();
            if random(2) == 0 {
                text.push('-');
            }
            let whole = random(11);
            if random(4) == 0 || whole == 0 {
                text.push('0');
            } else {
                text.push((b'1' + random(9) as u8) as char);
                (1..whole).for_each(|_| text.push((b'0' + random(10) as u8) as char));
            }
            if random(4) > 0 {
                text.push('.');
                (0..=random(20)).for_each(|_| text.push((b'0' + random(10) as u8) as char));
            }
            match random(3) {
                0 => text += &format!("e{}", random(700) as i64 - 350),
                1 => text += &format!("E{:+}", random(60) as i64 - 30),
                _ => {}
            }
            agrees(&text);
        }
    }

    #[test]
    fn digits_and_exponents_of_a_million_places_are_exact_and_quick() {
        let million = "0".repeat(1_000_000);
        let rows = [
            (format!("1{million}e-1000000"), Some(1.0)),
            (format!("0.{million}1e1000001"), Some(1.0)),
            (format!("-0.{million}25e1000002"), Some(-25.0)),
            (format!("1{million}"), None),
            (format!("1{million}e-1000324"), Some(0.0)),
            (format!("0.{million}1"), Some(0.0)),
            (format!("1e{million}1"), Some(10.0)),
            (format!("1e-{million}1"), Some(0.1)),
            (format!("1e1{million}"), None),
            (format!("1e-1{million}"), Some(0.0)),
            (format!("0.{million}e1{million}"), Some(0.0)),
            (format!("9007199254740993.{million}"), Some(9_007_199_254_740_992.0)),
            (format!("9007199254740993.{million}1"), Some(9_007_199_254_740_994.0)),
            (format!("{}e-999999", "3".repeat(1_000_000)), Some(3.333_333_333_333_333_5)),
        ];
        for (text, expected) in rows {
            assert_eq!(to_f64(text.as_bytes()).map(f64::to_bits), expected.map(f64::to_bits), "{}", &text[..20]);
        }
    }

    #[test]
    fn garbage_does_not_panic() {
        for len in 0..50 {
            for byte in [0, b'-', b'.', b'e', 0xff, b'/', b':'] {
                for mark in [b'.', b'e', b'9'] {
                    let mut token = vec![byte; len];
                    if let Some(middle) = token.get_mut(len / 2) {
                        *middle = mark;
                    }
                    let _ = (to_f64(&token), to_f32(&token));
                }
            }
        }
    }
}

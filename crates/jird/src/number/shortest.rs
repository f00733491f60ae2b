//! Doubles of everyday size → their shortest digits, exactly.
//!
//! For a double `m · 2^e` from 1e-5 to 2^52, the product with the power of ten that brings 15 or 16 digits before the
//! point fits in 128 bits. No power is rounded, no bound is approximated, and one multiplication is enough. `k` is
//! chosen so that the distance of two neighbours, times `10^k`, is at least a tenth and less than one:
//!
//! ```text
//! m · 2^e · 10^k = m · 5^k / 2^s = whole + fraction         s = -(e + k), 1..=49
//! half the distance              = 5^k / 2^(s+1)
//! ```
//!
//! If `whole` or `whole + 1` is at most half the distance away, it is the shortest; at most one of them is. Otherwise
//! the nearest tenth is the shortest. (The bounds are Adams', "Ryū Revisited", and Giulietti's, "The Schubfach way to
//! render doubles". Looking for the shorter candidate first is Xiang Junbo's idea, as in zmij, which writes the
//! numbers that are not of everyday size.)

use crate::kernel::{SIXTEEN, sixteen_digits};
use core::hint::select_unpredictable;

/// The digits of a number, and the position of its point. Only [`shortest`] makes one. A writer stores the digits
/// without bounds checks, and relies on the bounds of `count` and `point`.
pub(crate) struct Shortest {
    /// The first sixteen digits as text, the first one in the lowest byte, with zeros after the significant ones.
    digits: u128,
    /// The seventeenth digit, as text.
    last: u8,
    /// The number of significant digits. Invariant: 0..=17.
    count: usize,
    /// The number of digits before the point. Invariant: -4..=16. If it is `-n`, `n` zeros stand between the point and
    /// the digits.
    point: i32,
}

impl Shortest {
    /// The first sixteen digits as text, the first one in the lowest byte, with zeros after the significant ones.
    #[inline(always)]
    pub(crate) fn digits(&self) -> u128 {
        self.digits
    }

    /// The seventeenth digit, as text.
    #[inline(always)]
    pub(crate) fn last(&self) -> u8 {
        self.last
    }

    /// The number of significant digits: 17 at most.
    #[inline(always)]
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// The number of digits before the point: -4..=16. If it is `-n`, `n` zeros stand between the point and the
    /// digits.
    #[inline(always)]
    pub(crate) fn point(&self) -> i32 {
        self.point
    }
}

/// The scale for a binary exponent.
#[derive(Clone, Copy)]
struct Scale {
    /// 5^k
    five: u64,
    k: i32,
    s: u32,
}

/// The table covers the exponents -1 to -69.
const EXPONENTS: usize = 69;

/// Indexed by `-e - 1`.
static SCALES: [Scale; EXPONENTS] = {
    let mut scales = [Scale { five: 0, k: 0, s: 0 }; EXPONENTS];
    let mut index = 0;
    while index < EXPONENTS {
        let halvings = index as u32 + 1;
        // The smallest k with 10^k / 2^halvings >= 1/10.
        let mut k = 0;
        while 10_u128.pow(k + 1) < 1 << halvings {
            k += 1;
        }
        scales[index] = Scale { five: 5_u64.pow(k), k: k as i32, s: halvings - k };
        index += 1;
    }
    scales
};

/// The digits of `value` without its sign. `None` if it is not of everyday size, and for some powers of two, whose
/// neighbours are at unequal distances.
#[inline(always)]
pub(crate) fn shortest(value: f64) -> Option<Shortest> {
    const HIDDEN: u64 = 1 << 52;
    let bits = value.to_bits();
    let exponent = bits >> 52 & 0x7ff;
    // The exponent is biased by 1023, and counts from the first bit.
    let scale = SCALES.get(1074_u64.wrapping_sub(exponent) as usize)?;
    let mantissa = bits & (HIDDEN - 1) | HIDDEN;
    let product = u128::from(mantissa) * u128::from(scale.five);
    // 53 bits and s bits: no bits are lost.
    let whole = (product >> scale.s) as u64;
    let fraction = (product as u64) << (64 - scale.s);
    if mantissa == HIDDEN && fraction != 0 {
        // The neighbour below is nearer than the neighbour above.
        return None;
    }
    // No value lies on a bound: half the distance is an odd multiple of half of the fraction's unit.
    let half = scale.five << (63 - scale.s);
    let up = fraction.checked_add(half).is_none();
    let is_whole = up | (fraction < half);
    let whole = whole + u64::from(up);
    // The nearest tenth. Two tenths are equally near only at 1/4 and 3/4, and the even one is taken.
    let tenths = ((u128::from(fraction) * 10 + (1 << 63)) >> 64) as u64 - u64::from(fraction == 1 << 62);
    let tenths = select_unpredictable(is_whole, 0, tenths);
    // `whole` has 15 or 16 digits, and the tenths follow. If it has 15, the tenths are appended to make sixteen.
    let is_short = whole < SIXTEEN / 10;
    let (digits, nonzero) = sixteen_digits(select_unpredictable(is_short, whole * 10 + tenths, whole));
    let last = select_unpredictable(is_short, 0, tenths);
    let point = 16 - i32::from(is_short) - scale.k;
    // The index after the last digit that is not zero.
    let count = 32 - (nonzero & 0xFFFF | u32::from(last != 0) << 16).leading_zeros();
    (-4..=16).contains(&point).then_some(Shortest { digits, last: b'0' + last as u8, count: count as usize, point })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text that a writer makes of it.
    fn text(value: f64) -> Option<String> {
        let Shortest { digits, last, count, point } = shortest(value)?;
        let mut all = digits.to_le_bytes().to_vec();
        all.push(last);
        all.truncate(count);
        let digits = String::from_utf8(all).unwrap();
        let text = match usize::try_from(point) {
            Err(_) | Ok(0) => format!("0.{}{digits}", "0".repeat(point.unsigned_abs() as usize)),
            Ok(point) if point < count => format!("{}.{}", &digits[..point], &digits[point..]),
            Ok(point) => format!("{digits}{}.0", "0".repeat(point - count)),
        };
        Some(text)
    }

    fn check(value: f64) {
        match text(value) {
            Some(text) => assert_eq!(text, zmij::Buffer::new().format_finite(value)),
            None => assert!(
                !(1e-5..2_f64.powi(52)).contains(&value) || value.to_bits() << 12 == 0,
                "{value} is of everyday size"
            ),
        }
    }

    #[test]
    fn everyday_doubles_are_as_short_as_they_can_be() {
        let mut state = 1_u64;
        for _ in 0..if cfg!(debug_assertions) { 400_000 } else { 20_000_000 } {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let random = state >> 11 ^ state << 40;
            // Every exponent of the table and its neighbours, with any mantissa.
            check(f64::from_bits((1000 + (random >> 52) % 80) << 52 | state >> 12));
            // Short decimals.
            check((random % 1_000_000) as f64 / 10_f64.powi((random >> 40) as i32 % 11));
        }
    }

    #[test]
    fn neighbours_of_powers_and_of_halves_are_written() {
        for exponent in -25..55 {
            let power = 2_f64.powi(exponent);
            for value in [power, power.next_up(), power.next_down(), power * 1.25, power * 1.5, power * 1.75] {
                check(value);
                check(value.next_up());
            }
        }
        for exponent in -7..17 {
            let power = 10_f64.powi(exponent);
            let mut value = power;
            for _ in 0..20 {
                check(value);
                value = value.next_down();
            }
            check(power.next_up());
        }
        for value in [0.0, 1.0, 0.1, 0.3, 2.5, 1e15, 123_456_789.25, 4_503_599_627_370_495.5] {
            check(value);
        }
    }
}

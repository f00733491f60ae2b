//! Exact sums of decimals and doubles.

use jird::Number;
use jird::event::Numeral;
use num_bigint::{BigInt, Sign};

/// A sum of numbers, and how many there are. It is exact, so it does not depend on the order of the numbers, and a
/// number can be taken back. Doubles count as the decimals that they are written as.
#[derive(Clone, Debug, Default)]
pub(super) struct Total {
    /// The part of the sum that machine integers hold: `units / 10^places`.
    units: i128,
    places: u32,
    count: i64,
    /// The rest, which is rare.
    more: Option<Box<More>>,
}

/// The part of a sum that needs more than machine integers.
#[derive(Clone, Debug, Default)]
struct More {
    /// A sum, `units / 10^places`.
    units: BigInt,
    places: i64,
    not_a_number: i64,
    infinite: i64,
    minus_infinite: i64,
}

/// A number whose digits would reach this far from its point is not summed: the sum could have as many digits.
const PLACES_MAX: i64 = 10_000;

/// The maximum of [`Total::places`].
const SMALL_PLACES_MAX: u32 = 18;

/// A number is too far from the others for an exact sum; this is its text.
#[derive(Debug)]
pub(super) struct TooFar(pub(super) String);

impl TooFar {
    /// The number of characters that are kept.
    const SHOWN: usize = 40;
}

/// Whether a number is added or taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    Add,
    TakeBack,
}

impl Change {
    fn sign(self) -> i64 {
        match self {
            Self::Add => 1,
            Self::TakeBack => -1,
        }
    }
}

impl Total {
    /// The number of numbers.
    pub(super) fn count(&self) -> i64 {
        self.count
    }

    /// Adds a number of JSON, or takes it back.
    #[inline]
    pub(super) fn number(&mut self, number: Number<'_>, change: Change) -> Result<(), TooFar> {
        match number.to_scaled() {
            Some((units, places)) => self.scaled(units, places, change),
            None => self.any(number.text(), change)?,
        }
        Ok(())
    }

    /// Adds a double, or takes it back.
    #[inline]
    pub(super) fn double(&mut self, value: f64, change: Change) -> Result<(), TooFar> {
        if let Some(units) = units_of(value, self.places) {
            self.scaled(units.into(), self.places, change);
            return Ok(());
        }
        self.double_elsewhere(value, change)
    }

    #[inline(never)]
    fn double_elsewhere(&mut self, value: f64, change: Change) -> Result<(), TooFar> {
        const EXACT: f64 = 9_007_199_254_740_992.0;
        // More places than before, but few enough that they do not use up the digits.
        for places in self.places + 1..=9 {
            if let Some(units) = units_of(value, places) {
                self.scaled(units.into(), places, change);
                return Ok(());
            }
        }
        if value.abs() < EXACT && value.fract() == 0.0 {
            #[expect(clippy::cast_possible_truncation, reason = "an integer below 2^53")]
            self.scaled(value as i128, 0, change);
            return Ok(());
        }
        if !value.is_finite() {
            self.count += change.sign();
            let more = self.more.get_or_insert_default();
            let count = match value {
                f64::INFINITY => &mut more.infinite,
                f64::NEG_INFINITY => &mut more.minus_infinite,
                _ => &mut more.not_a_number,
            };
            *count += change.sign();
            return Ok(());
        }
        let mut text = Vec::new();
        Numeral::F64(value).write(&mut text);
        let text = str::from_utf8(&text).expect("a double is written in ASCII");
        self.number(Number::new(text).expect("a finite double is a number"), change)
    }

    /// Adds `units / 10^places`, or takes it back.
    #[inline]
    pub(super) fn scaled(&mut self, units: i128, places: u32, change: Change) {
        self.count += change.sign();
        let sum = match change {
            Change::Add => self.units.checked_add(units),
            Change::TakeBack => self.units.checked_sub(units),
        };
        if places == self.places
            && let Some(sum) = sum.filter(|sum| *sum != i128::MIN)
        {
            self.units = sum;
        } else {
            self.scaled_elsewhere(units, places, change);
        }
    }

    #[cold]
    #[inline(never)]
    fn scaled_elsewhere(&mut self, units: i128, places: u32, change: Change) {
        // Only a total of another thread can be so small, and it cannot be negated.
        let units = if change == Change::Add { units } else { units.checked_neg().unwrap_or(i128::MAX) };
        let common = places.max(self.places);
        let aligned = |units: i128, places: u32| units.checked_mul(10_i128.checked_pow(common - places)?);
        let sum = aligned(self.units, self.places)
            .and_then(|sum| sum.checked_add(aligned(units, places)?))
            .filter(|sum| common <= SMALL_PLACES_MAX && *sum != i128::MIN);
        if let Some(sum) = sum {
            (self.units, self.places) = (sum, common);
            return;
        }
        let more = self.more.get_or_insert_default();
        more.add(self.units.into(), self.places.into());
        more.add(units.into(), places.into());
        self.units = 0;
    }

    /// A number with an exponent or with many digits.
    #[cold]
    #[inline(never)]
    fn any(&mut self, text: &str, change: Change) -> Result<(), TooFar> {
        let (mantissa, exponent) = match text.find(['e', 'E']) {
            Some(at) => (&text[..at], text[at + 1..].parse::<i64>().ok()),
            None => (text, Some(0)),
        };
        let places = mantissa.find('.').map_or(0, |point| mantissa.len() - point - 1);
        let places = exponent.and_then(|exponent| i64::try_from(places).ok()?.checked_sub(exponent));
        let far = || TooFar(text.chars().take(TooFar::SHOWN).collect());
        // The number of digits is checked first: to read them takes quadratic time.
        if mantissa.len() as u64 > 2 * PLACES_MAX.unsigned_abs() {
            return Err(far());
        }
        let digits: String = mantissa.chars().filter(|char| *char != '.').collect();
        let units: BigInt = digits.parse().expect("a number has digits");
        let places = match places {
            _ if units.sign() == Sign::NoSign => 0,
            Some(places) => places,
            None => return Err(far()),
        };
        let len = i64::try_from(digits.len()).unwrap_or(i64::MAX);
        if places > PLACES_MAX || len.saturating_sub(places) > PLACES_MAX {
            return Err(far());
        }
        self.count += change.sign();
        self.more.get_or_insert_default().add(if change == Change::Add { units } else { -units }, places);
        Ok(())
    }

    /// Adds another total.
    pub(super) fn merge(&mut self, other: &Self) {
        let count = self.count + other.count;
        self.scaled(other.units, other.places, Change::Add);
        self.count = count;
        if let Some(others) = &other.more {
            let more = self.more.get_or_insert_default();
            more.add(others.units.clone(), others.places);
            more.not_a_number += others.not_a_number;
            more.infinite += others.infinite;
            more.minus_infinite += others.minus_infinite;
        }
    }

    /// The sum as a double: the nearest one, ties to even.
    pub(super) fn sum(&self) -> f64 {
        self.divided(1)
    }

    /// The arithmetic mean as a double: the nearest one, ties to even.
    pub(super) fn mean(&self) -> f64 {
        self.divided(self.count)
    }

    fn divided(&self, by: i64) -> f64 {
        const EXACT: i128 = 1 << 53;
        if let Some(special) = self.special() {
            return special;
        }
        // One division of two exact doubles is rounded once.
        let power = 10_i128.pow(self.places);
        if self.more.is_none()
            && self.units.unsigned_abs() <= EXACT.unsigned_abs()
            && let Some(by) = power.checked_mul(by.into()).filter(|by| *by <= EXACT)
        {
            #[expect(clippy::cast_precision_loss, reason = "both are at most 2^53")]
            return self.units as f64 / by as f64;
        }
        let (units, places) = self.exact();
        let by = BigInt::from(by);
        match u32::try_from(places) {
            Ok(places) => ratio(&units, &(by * BigInt::from(10).pow(places))),
            Err(_) => ratio(&(units * power_of_ten(-places)), &by),
        }
    }

    /// The sum as a JSON number; `None` if it is not finite.
    pub(super) fn text(&self) -> Option<String> {
        if self.special().is_some() {
            return None;
        }
        let (units, places) = self.exact();
        let mut text = String::new();
        Number::new(&format!("{units}e{}", -places))?.normalize(&mut text);
        Some(text)
    }

    /// The sum, if it is infinite or not a number.
    fn special(&self) -> Option<f64> {
        let more = self.more.as_ref()?;
        match (more.not_a_number > 0, more.infinite > 0, more.minus_infinite > 0) {
            (false, false, false) => None,
            (false, true, false) => Some(f64::INFINITY),
            (false, false, true) => Some(f64::NEG_INFINITY),
            _ => Some(f64::NAN),
        }
    }

    fn exact(&self) -> (BigInt, i64) {
        let mut all = self.more.as_deref().cloned().unwrap_or_default();
        all.add(self.units.into(), self.places.into());
        (all.units, all.places)
    }

    /// All of it, for another thread.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let more = self.more.as_deref();
        let (units, places) = if more.is_some() { self.exact() } else { (self.units.into(), self.places.into()) };
        let odd = |count: fn(&More) -> i64| more.map_or(0, count);
        let counts = [
            self.count,
            places,
            odd(|more| more.not_a_number),
            odd(|more| more.infinite),
            odd(|more| more.minus_infinite),
        ];
        let mut bytes: Vec<u8> = counts.iter().flat_map(|count| count.to_le_bytes()).collect();
        bytes.extend(units.to_signed_bytes_le());
        bytes
    }

    /// The total that these bytes were made of.
    pub(super) fn of_bytes(bytes: &[u8]) -> Option<Self> {
        let (counts, units) = bytes.split_at_checked(5 * 8)?;
        let (counts, _) = counts.as_chunks::<8>();
        let [count, places, not_a_number, infinite, minus_infinite] =
            <[_; 5]>::try_from(counts).ok()?.map(i64::from_le_bytes);
        let units = BigInt::from_signed_bytes_le(units);
        let is_plain = [not_a_number, infinite, minus_infinite] == [0; 3];
        if let (true, Ok(units), Ok(places @ ..=SMALL_PLACES_MAX)) =
            (is_plain, i128::try_from(&units), u32::try_from(places))
        {
            return Some(Self { units, places, count, more: None });
        }
        let more = More { units, places, not_a_number, infinite, minus_infinite };
        Some(Self { count, more: Some(more.into()), ..Self::default() })
    }

    /// The memory that it takes, in bytes.
    pub(super) fn size(&self) -> usize {
        size_of::<Self>() + self.more.as_ref().map_or(0, |more| size_of::<More>() + more.units.bits() as usize / 8)
    }
}

/// The integer `units` for which `units / 10^places` is the decimal that `value` is written as, if it has at most 15
/// digits and this is quickly found.
///
/// No two decimals of at most 15 digits have the same nearest double (D. W. Matula, "In-and-out conversions", 1968), so
/// one that rounds to `value` is the shortest that does.
#[inline]
fn units_of(value: f64, places: u32) -> Option<i64> {
    const POWERS: [f64; SMALL_PLACES_MAX as usize + 1] =
        [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18];
    // What is added to it loses its fraction, if it is below 2^51.
    const ROUNDING: f64 = 6_755_399_441_055_744.0;
    const DIGITS_15: f64 = 1e15;
    let power = *POWERS.get(places as usize)?;
    let units = (value * power + ROUNDING) - ROUNDING;
    // Both sides of the division are exact, so its result is the double nearest to that decimal.
    #[expect(clippy::float_cmp, reason = "the very same double")]
    let is_it = units.abs() < DIGITS_15 && units / power == value;
    #[expect(clippy::cast_possible_truncation, reason = "an integer below 10^15")]
    is_it.then_some(units as i64)
}

impl More {
    fn add(&mut self, units: BigInt, places: i64) {
        if units.sign() == Sign::NoSign {
            return;
        }
        if self.units.sign() == Sign::NoSign {
            (self.units, self.places) = (units, places);
            return;
        }
        let common = self.places.max(places);
        self.units *= power_of_ten(common - self.places);
        self.units += units * power_of_ten(common - places);
        self.places = common;
    }
}

fn power_of_ten(power: i64) -> BigInt {
    BigInt::from(10).pow(u32::try_from(power).expect("numbers that are too far are refused"))
}

/// The double nearest to `numerator / denominator`, ties to even. The denominator is positive.
fn ratio(numerator: &BigInt, denominator: &BigInt) -> f64 {
    // Enough for all bits of a double, the bit that decides how it is rounded, and some more.
    const BITS: i64 = 66;
    // All doubles are multiples of 2^-1074; those below 2^-1022 have fewer bits.
    const LEAST: i64 = -1074;
    const LEAST_NORMAL: i64 = -1022;
    let bits = |number: &BigInt| i64::try_from(number.bits()).unwrap_or(i64::MAX);
    let size = numerator.magnitude();
    let by = denominator.magnitude();
    if size.bits() == 0 {
        return 0.0;
    }
    let shift = BITS - (bits(numerator) - bits(denominator));
    let shifted = |number: &num_bigint::BigUint, shift: i64| number << u64::try_from(shift).unwrap_or(0);
    let (size, by) = (shifted(size, shift), shifted(by, -shift));
    let quotient = &size / &by;
    // Whether something is left decides only between a tie and more than a tie: one bit is enough for it.
    let rest = u128::from(&quotient * &by != size);
    let quotient = u128::try_from(&quotient).expect("it has 66 or 67 bits") | rest;
    let exponent = 128 - i64::from(quotient.leading_zeros()) - shift;
    let value = if exponent > LEAST_NORMAL {
        #[expect(clippy::cast_precision_loss, reason = "rounded once, to the nearest, ties to even")]
        let value = quotient as f64;
        scaled_by_two(value, -shift)
    } else {
        let dropped = u32::try_from(shift + LEAST).unwrap_or(0).min(127);
        let (whole, left) = (quotient >> dropped, quotient & ((1 << dropped) - 1));
        let half = 1 << (dropped - 1);
        let up = left > half || left == half && whole & 1 == 1;
        f64::from_bits(u64::try_from(whole).expect("below 2^53") + u64::from(up))
    };
    if numerator.sign() == Sign::Minus { -value } else { value }
}

/// `value × 2^power`, where both the value and the result are normal or the result is infinite.
fn scaled_by_two(mut value: f64, mut power: i64) -> f64 {
    while power != 0 {
        let step = power.clamp(-1000, 1000);
        value *= 2_f64.powi(i32::try_from(step).expect("a small step"));
        power -= step;
    }
    value
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "sums are exact")]
mod tests {
    use super::*;

    fn total(texts: &[&str]) -> Total {
        let mut total = Total::default();
        for text in texts {
            total.number(Number::new(text).unwrap(), Change::Add).unwrap();
        }
        total
    }

    #[test]
    fn sums_are_exact() {
        for (texts, sum) in [
            (&["0.1"; 10][..], "1"),
            (&["1e20", "1", "1", "-1e20"], "2"),
            (&["0.1", "0.2"], "0.3"),
            (&["9007199254740993", "1"], "9007199254740994"),
            (&["18446744073709551615"; 3], "55340232221128654845"),
            (&["99999999999999999999999999999999999999", "0.5"], "9.99999999999999999999999999999999999995e37"),
            (&["1e400", "1e-400", "-1e400"], "1e-400"),
            (&["-0.0"], "0"),
            (&["0e99999999999999999999"], "0"),
        ] {
            assert_eq!(total(texts).text().as_deref(), Some(sum), "{texts:?}");
            let again = Total::of_bytes(&total(texts).to_bytes()).unwrap();
            assert_eq!((again.text().as_deref(), again.count()), (Some(sum), texts.len() as i64));
            let mut twice = total(texts);
            twice.merge(&again);
            for text in texts {
                twice.number(Number::new(text).unwrap(), Change::TakeBack).unwrap();
            }
            assert_eq!((twice.text().as_deref(), twice.count()), (Some(sum), texts.len() as i64), "{texts:?}");
        }
        for far in ["1e10001", "1e-10001", "1e99999999999999999999"] {
            assert!(Total::default().number(Number::new(far).unwrap(), Change::Add).is_err(), "{far}");
        }
    }

    #[test]
    fn sums_are_rounded_once() {
        // The nearest double is what parsing the exact sum gives.
        let mut random = 11_u64;
        let mut next = |below: u64| {
            random = random.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
            (random >> 33) % below
        };
        for _ in 0..20_000 {
            let mut sum = Total::default();
            for _ in 0..=next(4) {
                let sign = if next(2) == 0 { "-" } else { "" };
                let exponent = [0, 0, 0, 5, 300][next(5) as usize];
                let exponent = next(2 * exponent + 1) as i64 - exponent as i64;
                let text = format!("{sign}{}.{}e{exponent}", next(1 << 31), next(1 << 31) * next(1 << 31));
                sum.number(Number::new(&text).unwrap(), Change::Add).unwrap();
            }
            let text = sum.text().unwrap();
            assert_eq!(sum.sum().to_bits(), (text.parse::<f64>().unwrap() + 0.0).to_bits(), "{text}");
        }
        for text in [
            "5e-324",
            "2.5e-324",
            "2.4703282292062327e-324",
            "1.1125369292536007e-308",
            "2.2250738585072011e-308",
            "1.7976931348623157e308",
            "1.7976931348623159e308",
            "2.2250738585072014e-308",
            "1e-400",
        ] {
            assert_eq!(total(&[text]).sum().to_bits(), text.parse::<f64>().unwrap().to_bits(), "{text}");
        }
    }

    #[test]
    fn means_are_rounded_once() {
        assert_eq!(total(&["1", "2"]).mean(), 1.5);
        assert_eq!(total(&["0.1", "0.2", "0.3"]).mean(), 0.2);
        assert_eq!(total(&["1", "1", "0"]).mean(), 2.0 / 3.0);
        assert_eq!(total(&["9007199254740993", "9007199254740993"]).mean(), 9_007_199_254_740_992.0);
        assert_eq!(total(&["1e308", "1e308"]).mean(), 1e308);
    }

    #[test]
    #[expect(clippy::cast_precision_loss, reason = "any doubles will do")]
    fn doubles_are_the_decimals_that_their_texts_are() {
        let mut random = 5_u64;
        for round in 0..200_000_u64 {
            random = random.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
            let value = match round % 4 {
                0 => f64::from_bits(random),
                // Few and many digits, on both sides of what is found quickly.
                1 => (random >> 33) as f64 / 10_f64.powi((random % 12) as i32),
                2 => -((random >> (random % 64)) as f64) / 1000.0,
                _ => (random >> 44) as f64 * 0.1,
            };
            if !value.is_finite() || value.abs() > 1e300 || value.abs() < 1e-300 {
                continue;
            }
            let mut quick = Total::default();
            // The places of others are those in which it is looked for first.
            quick.scaled(7, (random >> 20) as u32 % 12, Change::Add);
            let mut slow = quick.clone();
            quick.double(value, Change::Add).unwrap();
            let mut text = Vec::new();
            Numeral::F64(value).write(&mut text);
            slow.number(Number::new(str::from_utf8(&text).unwrap()).unwrap(), Change::Add).unwrap();
            assert_eq!(quick.text(), slow.text(), "{value:e}");
            quick.double(value, Change::TakeBack).unwrap();
            slow.number(Number::new(str::from_utf8(&text).unwrap()).unwrap(), Change::TakeBack).unwrap();
            assert_eq!(quick.text(), slow.text(), "{value:e}");
        }
    }

    #[test]
    fn doubles_count_as_they_are_written() {
        let mut sum = Total::default();
        for value in [0.1, 0.2, 1e300, -1e300, 5.0, f64::INFINITY] {
            sum.double(value, Change::Add).unwrap();
        }
        assert_eq!(sum.sum(), f64::INFINITY);
        sum.double(f64::INFINITY, Change::TakeBack).unwrap();
        assert_eq!((sum.sum(), sum.count()), (5.3, 5));
        sum.double(f64::NAN, Change::Add).unwrap();
        assert!(Total::of_bytes(&sum.to_bytes()).unwrap().sum().is_nan());
    }
}

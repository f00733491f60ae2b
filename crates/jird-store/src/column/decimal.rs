//! Decimals with few digits: each is stored as a 32-bit integer, to be divided by a power of ten.
//!
//! Log events have milliseconds with four decimals, or status codes, and doubles take twice the room and more than twice the
//! time of decompression. Only doubles that come back bit for bit have room here; columns treat the others as values
//! of another kind. As both numbers of the division are exact, its result is the nearest double of the decimal, which is
//! what a parser makes of its text. Compare ALP (Afroozeh, Kuffó and Boncz, 2023), which looks for such powers in doubles.

/// The most digits after the point.
const DIGITS_MAX: u8 = 9;
/// The numbers are below this one, as those of Arrow's `Decimal32` of nine digits.
const UNITS_END: f64 = 1e9;
/// The numbers of a sample must leave room for others that are this many times as large, as those of later events may be.
const HEADROOM: f64 = 4.0;
const POWERS: [f64; DIGITS_MAX as usize + 1] = [1.0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9];

/// How many digits the decimals of a column have after the point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Digits(u8);

impl Digits {
    /// `None` if there are more than nine.
    pub fn new(count: u8) -> Option<Self> {
        (count <= DIGITS_MAX).then_some(Self(count))
    }

    /// How many there are.
    pub fn count(self) -> u8 {
        self.0
    }

    /// The integer that stands for a double, if there is one.
    #[inline]
    pub(crate) fn units(self, double: f64) -> Option<i32> {
        let units = (double * self.power()).round();
        let units = (units.abs() < UNITS_END).then_some(units as i32)?;
        // An integer that is zero has no sign.
        (self.double(units).to_bits() == double.to_bits()).then_some(units)
    }

    /// The double for which an integer stands.
    #[inline]
    pub(crate) fn double(self, units: i32) -> f64 {
        f64::from(units) / self.power()
    }

    /// The doubles for which these integers stand, the least significant byte first.
    pub(crate) fn doubles(self, units: &[[u8; 4]]) -> Vec<f64> {
        let power = self.power();
        units.iter().map(|units| f64::from(i32::from_le_bytes(*units)) / power).collect()
    }

    fn power(self) -> f64 {
        POWERS[usize::from(self.0)]
    }
}

/// The numbers of a sample.
#[derive(Clone, Copy, Debug)]
pub(super) struct SampledNumbers {
    /// The fewest digits that suit all of them; `None` if none do.
    digits: Option<Digits>,
    largest: f64,
}

impl SampledNumbers {
    pub(super) fn new() -> Self {
        Self { digits: Digits::new(0), largest: 0.0 }
    }

    pub(super) fn add(&mut self, double: f64) {
        let Some(Digits(least)) = self.digits else { return };
        self.largest = self.largest.max(double.abs());
        self.digits = (least..=DIGITS_MAX).map(Digits).find(|digits| digits.units(double).is_some());
    }

    /// The digits that suit all of them and those that may come.
    pub(super) fn digits(self) -> Option<Digits> {
        self.digits.filter(|digits| self.largest * HEADROOM * digits.power() < UNITS_END)
    }
}

#[cfg(test)]
mod tests {
    use super::{Digits, SampledNumbers, UNITS_END};

    #[test]
    fn what_has_room_comes_back_bit_for_bit() {
        let mut state = 1_u64;
        let mut random = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state >> 20
        };
        let mut with_room = 0;
        for _ in 0..200_000 {
            let digits = Digits::new((random() % 10) as u8).unwrap();
            let units = (random() % 2_000_000_000) as i64 - 1_000_000_000;
            // What is parsed, and not what is divided.
            let text = format!("{units}e-{}", random() % 12);
            let double: f64 = text.parse().unwrap();
            if let Some(kept) = digits.units(double) {
                assert_eq!(digits.double(kept).to_bits(), double.to_bits(), "{text}");
                assert_eq!(digits.doubles(&[kept.to_le_bytes()])[0].to_bits(), double.to_bits(), "{text}");
                with_room += 1;
            }
            let same: f64 = format!("{units}e-{}", digits.count()).parse().unwrap();
            let has_room = same != 0.0 && units.unsigned_abs() < UNITS_END as u64;
            assert_eq!(digits.units(same).map(i64::from), has_room.then_some(units).or((same == 0.0).then_some(0)));
        }
        assert!(with_room > 20_000, "{with_room}");
    }

    #[test]
    fn other_doubles_have_none() {
        let digits = Digits::new(4).unwrap();
        for double in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 0.000_05, 1e300, 5e-324, 100_000.0, 1.0 / 3.0]
        {
            assert_eq!(digits.units(double), None, "{double}");
        }
        assert_eq!(digits.units(99_999.999_9), Some(999_999_999));
        assert_eq!(digits.units(-0.0001), Some(-1));
        assert!(Digits::new(10).is_none());
    }

    #[test]
    fn a_sample_has_the_digits_of_all_numbers_and_room_for_larger_ones() {
        let of = |numbers: &[f64]| {
            let mut sampled = SampledNumbers::new();
            numbers.iter().for_each(|number| sampled.add(*number));
            sampled.digits().map(Digits::count)
        };
        assert_eq!(of(&[200.0, 404.0, 0.0]), Some(0));
        assert_eq!(of(&[1.5, 200.0, 0.0625]), Some(4));
        assert_eq!(of(&[1.5, f64::MAX]), None);
        assert_eq!(of(&[1.5, -0.0]), None);
        assert_eq!(of(&[1e9]), None);
        assert_eq!(of(&[249_999_999.0]), Some(0));
        assert_eq!(of(&[250_000_000.0]), None);
        assert_eq!(of(&[0.1, 25_000.0, 0.0001]), None);
        assert_eq!(of(&[0.1 + 0.2]), None);
    }
}

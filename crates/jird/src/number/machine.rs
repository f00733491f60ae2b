//! Converts checked tokens to the machine number that fits them.

use super::check::check_at;
use super::float::of_plain;
use super::plain::{Plain, is_integer, plain};
use super::token::Token;
use super::{to_f64, to_i64, to_u64};

/// A number in the form in which a machine holds it: the result of
/// [`Value::machine_number`](crate::Value::machine_number). Which of the three variants it is depends only on the
/// number's text:
///
/// | text | is |
/// |---|---|
/// | no point, no exponent, within `i64`; `-0` is 0 | `I64` |
/// | the same, above `i64` and within `u64` | `U64` |
/// | the same, beyond both | `None`: it is never converted to a double |
/// | a point or an exponent, and its nearest double is finite | `F64`: that double, ties to even; `-0.0` stays `-0.0` |
/// | a point or an exponent, and larger than that | `None` |
///
/// Where the result is `None`, the text is still there: [`Value::as_number`](crate::Value::as_number).
///
/// ```
/// use jird::{Number, value::MachineNumber};
/// let machine = |text| Number::new(text).and_then(Number::machine_number);
/// assert_eq!(machine("-7"), Some(MachineNumber::I64(-7)));
/// assert_eq!(machine("18446744073709551615"), Some(MachineNumber::U64(u64::MAX)));
/// assert_eq!(machine("18446744073709551616"), None);
/// assert_eq!(machine("7.0"), Some(MachineNumber::F64(7.0)));
/// assert_eq!(machine("1e400"), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MachineNumber {
    /// An integer in the range of `i64`.
    I64(i64),
    /// An integer above the range of `i64`, in the range of `u64`.
    U64(u64),
    /// A number with a point or an exponent.
    F64(f64),
}

/// `text[start..end]` (checked) as a machine number.
#[inline(always)]
pub(crate) fn to_machine_at(text: &[u8], start: usize, end: usize) -> Option<MachineNumber> {
    machine(Token::at(text, start, end))
}

/// The number that begins at `start`, as a machine number, and the offset behind it. `None` if no number of RFC 8259 stands
/// there up to a byte that no number has, or none that a machine holds.
#[inline]
pub fn number_at(text: &[u8], start: usize) -> Option<(MachineNumber, usize)> {
    let is_of_number = |byte: &u8| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-');
    let len = text.get(start..)?.iter().position(|byte| !is_of_number(byte)).unwrap_or(text.len() - start);
    check_at(text, start, start + len).ok()?;
    Some((to_machine_at(text, start, start + len)?, start + len))
}

/// The double that is nearest to a decimal of `len` bytes without its sign, for callers that have read it: `digits / 10^places`.
/// It has a point and no exponent, at most 19 digits, and so at most 20 bytes; other figures make no sense.
#[inline(always)]
pub fn decimal(negative: bool, digits: u64, places: u32, len: usize) -> f64 {
    of_plain(Plain { negative, integer: false, digits, places, len })
}

/// Whether `token` (checked) has neither a point nor an exponent.
#[inline]
pub(crate) fn is_integer_token(token: &[u8]) -> bool {
    is_integer(Token::alone(token))
}

/// Whether `text[start..end]` (checked) has neither a point nor an exponent.
#[inline]
pub(crate) fn is_integer_at(text: &[u8], start: usize, end: usize) -> bool {
    is_integer(Token::at(text, start, end))
}

#[inline(always)]
fn machine(token: Token<'_>) -> Option<MachineNumber> {
    match plain(token) {
        Some(number) => of_plain_number(number),
        None => machine_long(token.bytes()),
    }
}

#[inline(always)]
fn of_plain_number(number: Plain) -> Option<MachineNumber> {
    if !number.integer {
        return Some(MachineNumber::F64(of_plain(number)));
    }
    match i64::try_from(number.digits) {
        // Without a branch, because any number may be negative and the branch would be mispredicted.
        Ok(size) => Some(MachineNumber::I64((size ^ -i64::from(number.negative)) + i64::from(number.negative))),
        Err(_) if !number.negative => Some(MachineNumber::U64(number.digits)),
        Err(_) => 0_i64.checked_sub_unsigned(number.digits).map(MachineNumber::I64),
    }
}

/// Any number that is not plain.
#[inline(never)]
fn machine_long(token: &[u8]) -> Option<MachineNumber> {
    if is_integer_token(token) {
        to_i64(token).map(MachineNumber::I64).or_else(|| to_u64(token).map(MachineNumber::U64))
    } else {
        to_f64(token).map(MachineNumber::F64)
    }
}

#[cfg(test)]
#[allow(clippy::format_push_string, reason = "texts to test, not to hurry")]
mod tests {
    use super::*;
    use crate::number::{to_f32, to_f64_at, to_i64_at, to_u64_at};

    /// The result that each of the three variants should have, computed with `std` alone. An `F64` is compared as
    /// bits, because `-0.0` is not `0.0` here.
    #[derive(Debug, PartialEq)]
    enum Bits {
        I64(i64),
        U64(u64),
        F64(u64),
    }

    fn bits(number: MachineNumber) -> Bits {
        match number {
            MachineNumber::I64(value) => Bits::I64(value),
            MachineNumber::U64(value) => Bits::U64(value),
            MachineNumber::F64(value) => Bits::F64(value.to_bits()),
        }
    }

    #[test]
    fn a_number_is_read_where_it_begins() {
        let read = |text: &str, start| number_at(text.as_bytes(), start);
        assert_eq!(read("1", 0), Some((MachineNumber::I64(1), 1)));
        assert_eq!(read("[-12.5,3]", 1), Some((MachineNumber::F64(-12.5), 6)));
        assert_eq!(read("[1,2e3 ]            ", 3), Some((MachineNumber::F64(2000.0), 6)));
        for (text, start) in
            [("", 0), ("1", 1), ("1", 2), ("a", 0), ("-", 0), ("01", 0), ("1.", 0), ("1-2", 0), ("1e400", 0), ("+1", 0)]
        {
            assert_eq!(read(text, start), None, "{text}");
        }
    }

    #[test]
    fn a_decimal_that_was_read_elsewhere_is_rounded_as_its_text() {
        for text in [
            "0.1",
            "1.5",
            "0.30000000000000004",
            "3.141592653589793238",
            "999999999999999999.9",
            "0.000000000000000000",
        ] {
            let (whole, fraction) = text.split_once('.').unwrap();
            let digits = format!("{whole}{fraction}").parse().unwrap();
            let found = decimal(false, digits, fraction.len() as u32, text.len());
            assert_eq!(found.to_bits(), text.parse::<f64>().unwrap().to_bits(), "{text}");
            assert_eq!(decimal(true, digits, fraction.len() as u32, text.len()).to_bits(), (-found).to_bits());
        }
    }

    fn to_machine(token: &[u8]) -> Option<MachineNumber> {
        to_machine_at(token, 0, token.len())
    }

    fn naive(text: &str) -> Option<Bits> {
        if text.contains(['.', 'e', 'E']) {
            let value: f64 = text.parse().unwrap();
            return value.is_finite().then(|| Bits::F64(value.to_bits()));
        }
        text.parse().map(Bits::I64).or_else(|_| text.parse().map(Bits::U64)).ok()
    }

    /// The token alone; at the start, at the end and in the middle of a text; next to bytes that would count if they
    /// were read as part of it. The functions for one kind of number must give the same results.
    fn agrees(text: &str) {
        let expected = naive(text);
        assert_eq!(to_machine(text.as_bytes()).map(bits), expected, "{text}");
        let integer = !text.contains(['.', 'e', 'E']);
        for around in ["7", "-", ".", "e", "0", " ", "\u{7f}"] {
            for (before, behind) in [(0, 0), (0, 20), (20, 0), (1, 1), (2, 3), (3, 7), (5, 8), (9, 2), (20, 20)] {
                let among = format!("{}{text}{}", around.repeat(before), around.repeat(behind));
                let (among, start, end) = (among.as_bytes(), before, before + text.len());
                let found = to_machine_at(among, start, end).map(bits);
                assert_eq!(found, expected, "{text} amid {before} and {behind} of {around}");
                assert_eq!(is_integer_at(among, start, end), integer, "{text} amid {around}");
                let double = text.parse::<f64>().unwrap();
                let double = double.is_finite().then_some(double.to_bits());
                assert_eq!(to_f64_at(among, start, end).map(f64::to_bits), double, "{text} amid {around}");
                let zero = text == "-0";
                let unsigned = if zero { Some(0) } else { text.parse().ok() };
                assert_eq!(to_i64_at(among, start, end), text.parse().ok(), "{text} amid {around}");
                assert_eq!(to_u64_at(among, start, end), unsigned, "{text} amid {around}");
            }
        }
        let single: f32 = text.parse().unwrap();
        let single = single.is_finite().then_some(single.to_bits());
        assert_eq!(to_f32(text.as_bytes()).map(f32::to_bits), single, "{text}");
    }

    fn agrees_signed(text: &str) {
        agrees(text);
        agrees(&format!("-{text}"));
    }

    /// xorshift64: the same digits in every run.
    struct Random(u64);

    impl Random {
        fn below(&mut self, limit: u64) -> u64 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            self.0 % limit
        }

        fn digits(&mut self, len: usize) -> String {
            (0..len).map(|_| char::from(b'0' + self.below(10) as u8)).collect()
        }
    }

    #[test]
    fn every_length_and_every_place_of_the_point_is_as_std_has_it() {
        let mut random = Random(0x9e37_79b9_7f4a_7c15);
        for len in 1..=25 {
            let nines = "9".repeat(len);
            let zeros = format!("1{}", "0".repeat(len - 1));
            let mut rows = vec![nines, zeros, "0".repeat(len), format!("{}1", "0".repeat(len - 1))];
            rows.extend((0..4).map(|_| random.digits(len)));
            for digits in rows {
                for point in 1..=len {
                    let (whole, fraction) = digits.split_at(point);
                    // A leading zero must be alone.
                    let whole = match whole.trim_start_matches('0') {
                        "" => "0",
                        whole => whole,
                    };
                    let text = if fraction.is_empty() { whole.to_owned() } else { format!("{whole}.{fraction}") };
                    agrees_signed(&text);
                }
            }
        }
    }

    #[test]
    fn an_exponent_at_any_place_is_seen() {
        let mut random = Random(0x2545_f491_4f6c_dd1d);
        for len in 1..=22 {
            for exponent in
                ["e0", "E5", "e-7", "E+1", "e-000012", "e300", "e12345678", "e-123456789012", "e000000000000001"]
            {
                let digits = random.digits(len);
                agrees_signed(&format!("1{digits}{exponent}"));
                agrees_signed(&format!("0.{digits}{exponent}"));
                let (whole, fraction) = digits.split_at(len / 2);
                agrees_signed(&format!("7{whole}.{fraction}3{exponent}"));
            }
        }
    }

    #[test]
    fn integers_at_the_borders_are_of_the_narrower_kind_or_none() {
        for border in
            [1_u128 << 31, 1 << 32, 1 << 53, 1 << 63, 1 << 64, 10_u128.pow(18), 10_u128.pow(19), 10_u128.pow(20)]
        {
            for text in (border - 12..=border + 12).map(|value| value.to_string()) {
                agrees_signed(&text);
            }
        }
        let rows = [
            ("-0", Some(Bits::I64(0))),
            ("-9223372036854775808", Some(Bits::I64(i64::MIN))),
            ("-9223372036854775809", None),
            ("9223372036854775807", Some(Bits::I64(i64::MAX))),
            ("9223372036854775808", Some(Bits::U64(1 << 63))),
            ("18446744073709551615", Some(Bits::U64(u64::MAX))),
            ("18446744073709551616", None),
            ("99999999999999999999", None),
            ("100000000000000000000000", None),
            ("18446744073709551616.0", Some(Bits::F64(18_446_744_073_709_551_616_f64.to_bits()))),
            ("0.000000000000", Some(Bits::F64(0))),
            ("-0.00000000000000000", Some(Bits::F64(1 << 63))),
            ("1e309", None),
        ];
        for (text, expected) in rows {
            assert_eq!(to_machine(text.as_bytes()).map(bits), expected, "{text}");
            agrees(text);
        }
    }

    /// `odd / 2^halvings` in full: halfway between two floats that have one bit less than `odd`. Also its neighbours,
    /// one up and one down in the last place, which are not halfway.
    fn around_halfway(odd: u64, halvings: u32) -> [String; 3] {
        let digits = u128::from(odd) * 5_u128.pow(halvings);
        [digits - 1, digits, digits + 1].map(|digits| {
            let places = halvings as usize;
            let digits = format!("{digits:0>width$}", width = places + 1);
            let (whole, fraction) = digits.split_at(digits.len() - places);
            if fraction.is_empty() { format!("{whole}.0") } else { format!("{whole}.{fraction}") }
        })
    }

    #[test]
    fn halfway_between_two_floats_the_even_one_is_nearest() {
        let mut random = Random(0x1234_5678_9abc_def1);
        let mut among_words = 0;
        for round in 0..400 {
            // Doubles have 53 bits. No tie of doubles is short enough for `plain`, which needs the point early.
            for text in around_halfway(random.below(1 << 53) | 1 << 53 | 1, round % 8) {
                agrees_signed(&text);
            }
            // `f32` has 24.
            for text in around_halfway(random.below(1 << 24) | 1 << 24 | 1, round % 20) {
                among_words += usize::from(plain(Token::alone(text.as_bytes())).is_some_and(|number| number.len > 8));
                agrees_signed(&text);
            }
        }
        assert!(among_words > 600, "of the shape that is decided in words: {among_words}");
    }

    #[test]
    fn doubles_as_they_are_printed_are_read_back() {
        let mut random = Random(0x0dd0_15ea_5e1f_00d5);
        for _ in 0..200_000 {
            let text = format!("{:?}", f64::from_bits(random.below(1 << 62) >> 4 | 0x3c00_0000_0000_0000) * 1e9);
            assert_eq!(to_machine(text.as_bytes()).map(bits), naive(&text), "{text}");
            let places = random.below(18) as usize;
            let text = format!("{:.places$}", random.below(u64::MAX) as f64 / 1e17);
            assert_eq!(to_machine(text.as_bytes()).map(bits), naive(&text), "{text}");
        }
    }

    #[test]
    fn garbage_does_not_panic() {
        for len in 0..50 {
            for byte in [0, b'-', b'.', b'e', b'7', 0xff, b'/', b':'] {
                for mark in [b'.', b'e', b'-', 0x10, 0x80] {
                    for at in 0..len.max(1) {
                        let mut token = vec![byte; len];
                        if let Some(place) = token.get_mut(at) {
                            *place = mark;
                        }
                        let _ = (to_machine(&token), is_integer_token(&token));
                    }
                }
            }
        }
    }
}

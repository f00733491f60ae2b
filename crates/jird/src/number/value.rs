//! The public type for numbers.

use std::cmp::Ordering;
use std::fmt::{self, Write};
use std::str::FromStr;

use super::parts::{Parts, Significant};
use super::plain::plain;
use super::token::Token;
use super::{
    MachineNumber, check, decimal, is_integer_token, order, to_f32, to_f64_at, to_i64_at, to_i128, to_machine_at,
    to_u64_at, to_u128,
};
use crate::kernel::trusted_str;

/// A JSON number as it stands in the text, checked against the grammar of RFC 8259 §6. It loses nothing: conversions
/// happen when they are asked for, and a value that does not fit is `None`, never a wrong value.
///
/// It is neither `Eq` nor `Ord`, because `1.0` and `1` are the same value but not the same text. Say which one you
/// mean with [`compare`](Self::compare) or [`text`](Self::text).
///
/// ```
/// use jird::Number;
/// let number = Number::new("12345678901234567890").unwrap();
/// assert_eq!(number.as_i64(), None);
/// assert_eq!(number.as_u64(), Some(12_345_678_901_234_567_890));
/// assert!(number.compare(Number::new("1e400").unwrap()).is_lt());
/// ```
#[derive(Clone, Copy)]
pub struct Number<'a>(Token<'a>);

/// Whether all bytes are ASCII. Meant for texts of about 20 bytes.
#[inline(always)]
fn is_ascii(text: &[u8]) -> bool {
    let (words, rest) = text.as_chunks();
    let all = words.iter().fold(0, |all, word| all | u64::from_ne_bytes(*word));
    let all = rest.iter().fold(all, |all, byte| all | u64::from(*byte));
    all & u64::from_ne_bytes([0x80; 8]) == 0
}

impl<'a> Number<'a> {
    /// The number that all of `text` is; `None` if `text` is not a number by RFC 8259 §6.
    pub fn new(text: &'a str) -> Option<Self> {
        check(text.as_bytes()).is_ok().then(|| Self::of_checked(text))
    }

    /// A number whose grammar was checked before. For any other text the conversions are meaningless.
    pub(crate) fn of_checked(text: &'a str) -> Self {
        Self(Token::alone(text.as_bytes()))
    }

    /// The same for `text[start..end]`, whose bytes must be ASCII. It keeps the text around the number, which makes
    /// conversions faster.
    ///
    /// # Panics
    /// If `start..end` is not a range in `text`.
    #[inline(always)]
    pub(crate) fn of_checked_at(text: &'a [u8], start: usize, end: usize) -> Self {
        Self(Token::at(text, start, end))
    }

    /// The text as it stands in the input.
    #[inline]
    #[allow(unsafe_code, reason = "to find UTF-8 where there is only ASCII takes longer than to write the number")]
    pub fn text(self) -> &'a str {
        let bytes = self.0.bytes();
        if !is_ascii(bytes) {
            return "";
        }
        // SAFETY: the text was just found to be ASCII.
        unsafe { trusted_str(bytes) }
    }

    /// The text that contains the number, and the number's range in it.
    #[cfg_attr(not(feature = "serde"), expect(dead_code, reason = "only what is typed asks"))]
    #[inline(always)]
    pub(crate) fn place(self) -> (&'a [u8], usize, usize) {
        self.0.place()
    }

    #[inline(always)]
    fn bytes(self) -> &'a [u8] {
        self.0.bytes()
    }

    /// Whether it has neither a decimal point nor an exponent: `1.0` and `1e2` are not integers.
    pub fn is_integer(self) -> bool {
        is_integer_token(self.bytes())
    }

    /// The value as a machine number: an integer as `i64` or `u64`, anything else as the nearest `f64`. `None` if it
    /// is an integer beyond both, or too large for a finite double. [`MachineNumber`] documents all rules. Takes time
    /// linear in the length of the text.
    #[inline]
    pub fn machine_number(self) -> Option<MachineNumber> {
        let (text, start, end) = self.0.place();
        to_machine_at(text, start, end)
    }

    /// The value, if it is an [integer](Self::is_integer) in range. `-0` is 0.
    #[inline]
    pub fn as_i64(self) -> Option<i64> {
        let (text, start, end) = self.0.place();
        to_i64_at(text, start, end)
    }

    /// The value, if it is an [integer](Self::is_integer) in range. `-0` is 0.
    #[inline]
    pub fn as_u64(self) -> Option<u64> {
        let (text, start, end) = self.0.place();
        to_u64_at(text, start, end)
    }

    /// The value, if it is an [integer](Self::is_integer) in range. `-0` is 0.
    pub fn as_i128(self) -> Option<i128> {
        to_i128(self.bytes())
    }

    /// The value, if it is an [integer](Self::is_integer) in range. `-0` is 0.
    pub fn as_u128(self) -> Option<u128> {
        to_u128(self.bytes())
    }

    /// The value, if it is an [integer](Self::is_integer) of at most 38 digits, the range of an Arrow `Decimal128(38,
    /// 0)`.
    pub fn to_decimal38(self) -> Option<i128> {
        const LIMIT: u128 = 10_u128.pow(38);
        self.as_i128().filter(|value| value.unsigned_abs() < LIMIT)
    }

    /// The nearest double, ties to even; `None` if that would be infinite. `-0` keeps its sign, and so do numbers so
    /// small that they round to zero. Takes time linear in the length of the text.
    #[inline]
    pub fn to_f64(self) -> Option<f64> {
        let (text, start, end) = self.0.place();
        to_f64_at(text, start, end)
    }

    /// The nearest `f32`, rounded once, under the rules of [`to_f64`](Self::to_f64).
    #[inline]
    pub fn to_f32(self) -> Option<f32> {
        to_f32(self.bytes())
    }

    /// Whether some double has exactly this value: true for `0.5` and `1e22`, false for `0.1` and `9007199254740993`.
    /// Takes time linear in the length of the text.
    pub fn is_exact_f64(self) -> bool {
        if let Some(number) = plain(self.0) {
            if number.places == 0 {
                return significant_bits(number.digits) <= 53;
            }
            // d / 10^p = (d / 5^p) / 2^p: exact if 5^p divides d and the quotient fits. 5^18 fits in 64 bits.
            let fives = 5_u64.pow(number.places);
            return number.digits % fives == 0 && significant_bits(number.digits / fives) <= 53;
        }
        self.is_exact_f64_any()
    }

    #[inline(never)]
    fn is_exact_f64_any(self) -> bool {
        // The longest exact expansion of a double has 767 significant digits.
        const DIGITS_MAX: usize = 767;
        let digits = Significant::of(&Parts::of(self.bytes()));
        if digits.len() > DIGITS_MAX {
            return false;
        }
        let Some(value) = self.to_f64() else { return false };
        let mut exact = Buffer { bytes: [0; DIGITS_MAX + 16], len: 0 };
        let written = write!(exact, "{value:.0$e}", DIGITS_MAX - 1);
        debug_assert!(written.is_ok(), "sign, point and exponent fit beside the digits");
        decimal::compare(self.bytes(), &exact.bytes[..exact.len]).is_eq()
    }

    /// The order of the two values, exact for any length and any exponent: `1e400` is greater than `9`; `1.0`, `1` and
    /// `10e-1` are equal, and so are `-0` and `0`. Takes time linear in the length of the texts.
    #[inline(always)]
    pub fn compare(self, other: Number<'_>) -> Ordering {
        decimal::compare(self.bytes(), other.bytes())
    }

    /// Appends a key: bytes that are ordered as [`compare`](Self::compare) orders the numbers, for sorting and for
    /// finding equal numbers where only bytes can be compared. No key is the beginning of another one, so other bytes
    /// may follow it. Takes time and room linear in the length of the text.
    ///
    /// ```
    /// use jird::Number;
    /// let key = |text| {
    ///     let mut key = Vec::new();
    ///     Number::new(text).map(|number| number.order_key(&mut key));
    ///     key
    /// };
    /// assert!(key("9007199254740993") > key("9007199254740992.5"));
    /// assert!(key("-1e400") < key("-9"));
    /// assert_eq!(key("1.0"), key("10e-1"));
    /// ```
    pub fn order_key(self, out: &mut Vec<u8>) {
        order::order_key(self.bytes(), out);
    }

    /// The exact value as `digits / 10^places`, for numbers without an exponent and with at most 19 digits, which
    /// nearly all numbers are. There are at most 18 places.
    ///
    /// ```
    /// use jird::Number;
    /// assert_eq!(Number::new("-12.50").and_then(Number::to_scaled), Some((-1250, 2)));
    /// assert_eq!(Number::new("1e3").and_then(Number::to_scaled), None);
    /// ```
    #[inline]
    pub fn to_scaled(self) -> Option<(i128, u32)> {
        let number = plain(self.0)?;
        let digits = i128::from(number.digits);
        Some((if number.negative { -digits } else { digits }, number.places))
    }

    /// Appends the one text that all numbers of this value share, which is itself a JSON number: `1`, `1.0` and
    /// `10e-1` give `1`, `-0.0` gives `0`, `1e400` and `10e399` give `1e400`. Takes time linear in the length of the
    /// text.
    pub fn normalize(self, out: &mut String) {
        decimal::normalize(self.bytes(), out);
    }

    /// Parses the text as another type, for example a decimal or a big integer of another crate.
    ///
    /// # Errors
    ///
    /// The errors of that type's parser.
    pub fn parse<T: FromStr>(self) -> Result<T, T::Err> {
        self.text().parse()
    }
}

impl fmt::Debug for Number<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Number({})", self.text())
    }
}

impl fmt::Display for Number<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

/// The number of bits from the highest to the lowest set bit.
fn significant_bits(value: u64) -> u32 {
    if value == 0 { 0 } else { 64 - value.leading_zeros() - value.trailing_zeros() }
}

/// A text buffer on the stack.
struct Buffer<const LEN: usize> {
    bytes: [u8; LEN],
    len: usize,
}

impl<const LEN: usize> Write for Buffer<LEN> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = self.len + text.len();
        self.bytes.get_mut(self.len..end).ok_or(fmt::Error)?.copy_from_slice(text.as_bytes());
        self.len = end;
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::format_push_string, reason = "texts to test, not to hurry")]
mod tests;

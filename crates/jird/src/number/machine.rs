//! Checked tokens to whatever machine number they are.

use super::float::of_plain;
use super::plain::{Plain, is_integer, plain};
use super::token::Token;
use super::{to_f64, to_i64, to_u64};

/// A number as a machine holds it: what [`Value::machine_number`](crate::Value::machine_number) gives. Which of the three
/// it is follows from the number's text, and from nothing else:
///
/// | text | is |
/// |---|---|
/// | no point, no exponent, within `i64`; `-0` is 0 | `I64` |
/// | the same, above `i64` and within `u64` | `U64` |
/// | the same, beyond both | none: it is never changed into a double |
/// | a point or an exponent, and the nearest double is finite | `F64`: that double, ties to even; `-0.0` keeps its sign |
/// | a point or an exponent, and larger than that | none |
///
/// What is none still has its text: [`Value::as_number`](crate::Value::as_number).
///
/// ```
/// use jird::{MachineNumber, Number};
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
    /// An integer above that, in the range of `u64`.
    U64(u64),
    /// A number with a point or an exponent.
    F64(f64),
}

/// `token` as a machine number.
#[inline]
pub(crate) fn to_machine(token: &[u8]) -> Option<MachineNumber> {
    machine(Token::alone(token))
}

/// [`to_machine`] of `text[start..end]`.
#[inline]
pub(crate) fn to_machine_at(text: &[u8], start: usize, end: usize) -> Option<MachineNumber> {
    machine(Token::at(text, start, end))
}

/// Whether `token` (checked) has neither a point nor an exponent.
#[inline]
pub(crate) fn is_integer_token(token: &[u8]) -> bool {
    is_integer(Token::alone(token))
}

/// The same of `text[start..end]`.
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
        // Without a branch, for every other number may be negative.
        Ok(size) => Some(MachineNumber::I64((size ^ -i64::from(number.negative)) + i64::from(number.negative))),
        Err(_) if !number.negative => Some(MachineNumber::U64(number.digits)),
        Err(_) => 0_i64.checked_sub_unsigned(number.digits).map(MachineNumber::I64),
    }
}

/// Any number at all.
#[inline(never)]
fn machine_long(token: &[u8]) -> Option<MachineNumber> {
    if is_integer_token(token) {
        to_i64(token).map(MachineNumber::I64).or_else(|| to_u64(token).map(MachineNumber::U64))
    } else {
        to_f64(token).map(MachineNumber::F64)
    }
}

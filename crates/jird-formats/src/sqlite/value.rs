//! A value as SQLite stores it.

use crate::cell::Cell;
use crate::columns::survives;
use core::fmt::{Display, Write};
use jird::event::Numeral;
use jird::hooks::base64;
use jird::value::MachineNumber;
use rusqlite::Statement;
use rusqlite::types::{ToSqlOutput, ValueRef};

/// A value as SQLite stores it, in one of its five storage classes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value<'a> {
    Null,
    Integer(i64),
    Real(f64),
    Text(&'a str),
    Blob(&'a [u8]),
}

impl Value<'_> {
    /// Binds the value to a statement's parameter, numbered from 1.
    #[inline(always)]
    pub(super) fn bind(self, statement: &mut Statement<'_>, parameter: usize) -> Result<(), rusqlite::Error> {
        statement.raw_bind_parameter(
            parameter,
            ToSqlOutput::Borrowed(match self {
                Self::Null => ValueRef::Null,
                Self::Integer(value) => ValueRef::Integer(value),
                Self::Real(value) => ValueRef::Real(value),
                Self::Text(text) => ValueRef::Text(text.as_bytes()),
                Self::Blob(bytes) => ValueRef::Blob(bytes),
            }),
        )
    }
}

/// Converts a number's text to an `i64`, or to the `f64` whose ordinary decimal it is. Any other number stays text.
#[inline(always)]
pub(super) fn converted(number: Numeral<'_>) -> Numeral<'_> {
    let Numeral::Text(text) = number else { return number };
    match text.machine_number() {
        Some(MachineNumber::I64(value)) => Numeral::I64(value),
        Some(MachineNumber::F64(value)) if survives(text) => Numeral::F64(value),
        _ => number,
    }
}

/// The value that SQLite stores for a cell whose number is [`converted`]. Nothing changes, except that booleans become
/// 1 and 0. If the cell does not hold the text itself, the text is written into `scratch`.
#[inline(always)]
pub(super) fn of_cell<'a>(cell: Cell<'a>, scratch: &'a mut String) -> Value<'a> {
    match cell {
        Cell::Missing | Cell::Null => Value::Null,
        Cell::Bool(value) => Value::Integer(value.into()),
        Cell::Number(number) => of_number(number, scratch),
        Cell::Text(text) | Cell::Json(text) => Value::Text(text),
        Cell::Bytes(bytes) => Value::Blob(bytes),
        Cell::Timestamp(time) => written(&time, scratch),
    }
}

/// The value that SQLite stores for a number. A number that is still text after [`converted`] is stored as text.
#[inline(always)]
pub(super) fn of_number<'a>(number: Numeral<'a>, scratch: &'a mut String) -> Value<'a> {
    match number {
        Numeral::I64(value) => Value::Integer(value),
        Numeral::U64(value) => i64::try_from(value).map_or_else(|_| written(&value, scratch), Value::Integer),
        Numeral::F64(value) => Value::Real(value),
        Numeral::Text(number) => Value::Text(number.text()),
    }
}

/// The bytes of a blob, from the text that stands for them in JSON: base64, as it is written here and no other way.
///
/// ```
/// use jird_formats::sqlite::blob_of;
/// assert_eq!(blob_of("AP8="), Some(vec![0, 255]));
/// assert_eq!((blob_of("AP9="), blob_of("AP8"), blob_of("a text")), (None, None, None));
/// ```
pub fn blob_of(text: &str) -> Option<Vec<u8>> {
    base64_simd::STANDARD.decode_to_vec(text).ok().filter(|bytes| base64(bytes) == text)
}

#[cold]
fn written<'a>(value: &dyn Display, scratch: &'a mut String) -> Value<'a> {
    scratch.clear();
    write!(scratch, "{value}").expect("a `String` takes everything");
    Value::Text(scratch)
}

/// A value in words.
#[cold]
pub(super) fn told(value: Value<'_>) -> String {
    match value {
        Value::Text(text) => format!("the text {:?}", text.chars().take(40).collect::<String>()),
        Value::Integer(value) => format!("the integer {value}"),
        Value::Real(value) => format!("the number {value}"),
        Value::Null | Value::Blob(_) => "a value".into(),
    }
}

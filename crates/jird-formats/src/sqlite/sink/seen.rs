//! What a column has held: a bit for each kind of value.

use crate::cell::Cell;
use crate::sqlite::value::Value;

pub(super) const INTEGER: u8 = 1;
pub(super) const REAL: u8 = 2;
pub(super) const TEXT: u8 = 4;
pub(super) const JSON: u8 = 8;
pub(super) const BLOB: u8 = 16;
/// -0.0, which a `REAL` column would not keep when it is copied.
const NEGATIVE_ZERO: u8 = 32;

/// The bit of a cell, and of the value that it is in a table.
#[inline]
pub(super) fn of(cell: Cell<'_>, value: Value<'_>) -> u8 {
    match value {
        Value::Null => 0,
        Value::Text(_) if matches!(cell, Cell::Json(_)) => JSON,
        Value::Integer(_) => INTEGER,
        Value::Real(value) if value == 0.0 && value.is_sign_negative() => REAL | NEGATIVE_ZERO,
        Value::Real(_) => REAL,
        Value::Text(_) => TEXT,
        Value::Blob(_) => BLOB,
    }
}

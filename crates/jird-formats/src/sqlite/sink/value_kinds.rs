//! What a column has held: one bit for each kind of value.

use crate::cell::Cell;
use crate::sqlite::value::Value;

pub(super) const INTEGER: u8 = 1;
pub(super) const REAL: u8 = 2;
pub(super) const TEXT: u8 = 4;
pub(super) const JSON: u8 = 8;
pub(super) const BLOB: u8 = 16;
/// -0.0, which loses its sign if it is copied to a `REAL` column.
const NEGATIVE_ZERO: u8 = 32;

/// The bit of a cell, given the value that is stored for it.
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

//! A value as SQLite has it.

use crate::cell::Cell;
use crate::columns::survives;
use jird::MachineNumber;
use jird::event::{self, Numeral};
use rusqlite::Statement;
use rusqlite::types::{ToSqlOutput, ValueRef};
use std::borrow::Cow;

/// A value as SQLite has it: one of its five storage classes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value<'a> {
    Null,
    Integer(i64),
    Real(f64),
    Text(&'a str),
    Blob(&'a [u8]),
}

impl Value<'_> {
    /// Binds it to a statement's parameter, numbered from 1.
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

/// What a cell is in a table.
#[derive(Clone, Debug)]
pub(super) enum Stored<'a> {
    /// This.
    Plain(Value<'a>),
    /// The text of a number that neither an `i64` nor the ordinary decimal of an `f64` is.
    Exact(Cow<'a, str>),
    /// The text of an array or an object.
    Json(&'a str),
    /// The text of a point in time.
    Time(String),
}

/// A cell as SQLite has it. Nothing is changed, but that booleans are 1 and 0.
#[inline]
pub(super) fn store(cell: Cell<'_>) -> Stored<'_> {
    Stored::Plain(match cell {
        Cell::Missing | Cell::Null => Value::Null,
        Cell::Bool(value) => Value::Integer(value.into()),
        Cell::Number(number) => return store_number(number),
        Cell::Text(text) => Value::Text(text),
        Cell::Bytes(bytes) => Value::Blob(bytes),
        Cell::Json(json) => return Stored::Json(json),
        Cell::Timestamp(time) => return Stored::Time(time.to_string()),
    })
}

/// A number as SQLite has it.
#[inline]
pub(super) fn store_number(number: Numeral<'_>) -> Stored<'_> {
    Stored::Plain(match (number.machine(), number) {
        (Some(MachineNumber::I64(value)), _) => Value::Integer(value),
        (Some(MachineNumber::U64(value)), _) => return Stored::Exact(value.to_string().into()),
        (Some(MachineNumber::F64(value)), Numeral::Text(text)) if survives(text) => Value::Real(value),
        (_, Numeral::Text(text)) => return Stored::Exact(text.text().into()),
        (Some(MachineNumber::F64(value)), _) => Value::Real(value),
        (None, _) => unreachable!("only a number's text is beyond what a machine has"),
    })
}

/// A cell as JSON text, appended; `None` if it is null.
pub(super) fn write_json(cell: Cell<'_>, text: &mut Vec<u8>) -> Option<()> {
    match cell {
        Cell::Missing | Cell::Null => return None,
        Cell::Bool(value) => text.extend_from_slice(if value { b"true" } else { b"false" }),
        Cell::Number(number) => number.write(text),
        Cell::Text(content) => event::write_string(content, text),
        Cell::Bytes(bytes) => event::write_string(&event::base64(bytes), text),
        Cell::Json(json) => text.extend_from_slice(json.as_bytes()),
        Cell::Timestamp(time) => event::write_string(&time.to_string(), text),
    }
    Some(())
}

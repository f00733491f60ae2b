//! The text of one value.

use super::cast::{ArrayFormatter, FormatOptions, cast};
#[cfg(feature = "sql")]
use crate::functions::json_texts;
use crate::sql::{Output, OutputKind};
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt64Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, Int64Array, ListArray, RecordBatch, StringArray, UInt64Array,
};
use arrow_schema::{ArrowError, DataType, FieldRef};
use jird::event::Numeral;
use jird::hooks::write_string;
use jird::record::Field;
use jird_formats::{Cell, ColumnType, JsonCells};
use std::io::Write;
use std::sync::Arc;

/// One column of a batch, ready to be printed.
pub(super) enum Cells<'a> {
    /// JSON text, printed unchanged.
    Json(&'a StringArray),
    Bool(&'a BooleanArray),
    Int(&'a Int64Array),
    Unsigned(&'a UInt64Array),
    Float(&'a Float64Array),
    Text(&'a StringArray),
    /// Lists, printed as JSON arrays.
    List(&'a ListArray, FieldRef),
    /// Numbers that their formatter writes as JSON does.
    Bare(&'a dyn Array, ArrayFormatter<'a>),
    /// All other types, printed as texts.
    Other(&'a dyn Array, ArrayFormatter<'a>),
}

/// How computed values are formatted.
const OPTIONS: FormatOptions = FormatOptions::new();

/// Casts a column of any Arrow type to a type that [`Cells`] knows.
pub(super) fn known(array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    let target = match array.data_type() {
        DataType::Int8 | DataType::Int16 | DataType::Int32 => DataType::Int64,
        DataType::UInt8 | DataType::UInt16 | DataType::UInt32 => DataType::UInt64,
        DataType::Float16 | DataType::Float32 => DataType::Float64,
        DataType::LargeUtf8 | DataType::Utf8View | DataType::Null => DataType::Utf8,
        DataType::Dictionary(_, value) => (**value).clone(),
        #[cfg(feature = "sql")]
        DataType::Struct(_) | DataType::Map(..) => {
            let field = Arc::new(arrow_schema::Field::new("struct", array.data_type().clone(), true));
            return Ok(Arc::new(json_texts(array, &field)?));
        }
        _ => return Ok(Arc::clone(array)),
    };
    cast(array, &target)
}

/// The columns of a batch, cast to types that [`Cells`] knows.
pub(super) fn known_columns(batch: &RecordBatch) -> Result<Vec<ArrayRef>, ArrowError> {
    batch.columns().iter().map(known).collect()
}

impl<'a> Cells<'a> {
    /// The cells of a batch. `arrays` are its columns, as [`known_columns`] returned them.
    pub(super) fn all(
        columns: &[Output],
        batch: &RecordBatch,
        arrays: &'a [ArrayRef],
    ) -> Result<Vec<Self>, ArrowError> {
        let fields = batch.schema_ref().fields();
        arrays.iter().zip(columns).zip(fields).map(|((array, column), field)| Self::new(column, field, array)).collect()
    }

    /// The cells of a column that [`known`] returned.
    pub(super) fn new(column: &Output, field: &FieldRef, array: &'a ArrayRef) -> Result<Self, ArrowError> {
        match column.kind {
            OutputKind::Computed => Self::computed(field, array),
            _ => Ok(Self::Json(array.as_string())),
        }
    }

    fn computed(field: &FieldRef, array: &'a ArrayRef) -> Result<Self, ArrowError> {
        Ok(match array.data_type() {
            DataType::Boolean => Self::Bool(array.as_boolean()),
            DataType::Int64 => Self::Int(array.as_primitive::<Int64Type>()),
            DataType::UInt64 => Self::Unsigned(array.as_primitive::<UInt64Type>()),
            DataType::Float64 => Self::Float(array.as_primitive::<Float64Type>()),
            DataType::Utf8 if ColumnType::is_json(field) || field.data_type().is_nested() => {
                Self::Json(array.as_string())
            }
            DataType::Utf8 => Self::Text(array.as_string()),
            DataType::List(inner) => Self::List(array.as_list(), inner.clone()),
            DataType::Decimal128(..) | DataType::Decimal256(..) => {
                Self::Bare(array, ArrayFormatter::try_new(array, &OPTIONS)?)
            }
            _ => Self::Other(array, ArrayFormatter::try_new(array, &OPTIONS)?),
        })
    }

    /// Whether the cell is null.
    #[inline]
    pub(super) fn is_null(&self, row: usize) -> bool {
        match self {
            Self::Json(array) | Self::Text(array) => array.is_null(row),
            Self::Bool(array) => array.is_null(row),
            Self::Int(array) => array.is_null(row),
            Self::Unsigned(array) => array.is_null(row),
            Self::Float(array) => array.is_null(row),
            Self::List(array, _) => array.is_null(row),
            Self::Bare(array, _) | Self::Other(array, _) => array.is_null(row),
        }
    }

    /// Whether a value that is not null is a number.
    pub(super) fn is_number(&self, row: usize) -> bool {
        match self {
            Self::Json(array) => array.value(row).starts_with(|first: char| first == '-' || first.is_ascii_digit()),
            Self::Int(_) | Self::Unsigned(_) | Self::Float(_) | Self::Bare(..) => true,
            Self::Bool(_) | Self::Text(_) | Self::List(..) | Self::Other(..) => false,
        }
    }

    /// Appends the JSON of a value that is not null.
    #[inline]
    pub(super) fn json(&self, row: usize, out: &mut Vec<u8>) -> Result<(), ArrowError> {
        match self {
            Self::Json(array) => out.extend_from_slice(array.value(row).as_bytes()),
            Self::Text(array) => write_string(array.value(row), out),
            Self::Float(array) if !array.value(row).is_finite() => out.extend_from_slice(b"null"),
            Self::List(array, inner) => {
                let values = known(&array.value(row))?;
                let cells = Cells::computed(inner, &values)?;
                out.push(b'[');
                for index in 0..values.len() {
                    if index > 0 {
                        out.push(b',');
                    }
                    if cells.is_null(index) { out.extend_from_slice(b"null") } else { cells.json(index, out)? }
                }
                out.push(b']');
            }
            Self::Other(_, formatter) => write_string(&formatter.value(row).to_string(), out),
            _ => self.bare(row, out)?,
        }
        Ok(())
    }

    /// The value as a cell. Values that JSON does not have become texts.
    #[inline]
    pub(super) fn cell<'s>(&'s self, row: usize, scratch: &'s mut Scratch) -> Result<Cell<'s>, ArrowError> {
        if self.is_null(row) {
            return Ok(Cell::Missing);
        }
        Ok(match self {
            Self::Json(array) => scratch.cells.cell(array.value(row)),
            Self::Text(array) => Cell::Text(array.value(row)),
            Self::Bool(array) => Cell::Bool(array.value(row)),
            Self::Int(array) => Cell::Number(Numeral::I64(array.value(row))),
            Self::Unsigned(array) => Cell::Number(Numeral::U64(array.value(row))),
            Self::List(..) => Cell::Json(scratch.write(|out| self.json(row, out))?),
            Self::Float(_) | Self::Bare(..) | Self::Other(..) => Cell::Text(scratch.write(|out| self.bare(row, out))?),
        })
    }

    /// Appends a value for people: nothing for a missing value, and texts without quotes, unless the text is empty or
    /// reads like null.
    pub(super) fn plain(&self, row: usize, out: &mut Vec<u8>) -> Result<(), ArrowError> {
        if self.is_null(row) {
            return Ok(());
        }
        let mut text = |text: &str| match text {
            "" | "null" => write_string(text, out),
            text => out.extend_from_slice(text.as_bytes()),
        };
        match self {
            Self::Json(array) => match Field::from_raw(array.value(row)).as_str() {
                Some(content) => text(&content),
                None => out.extend_from_slice(array.value(row).as_bytes()),
            },
            Self::Text(array) => text(array.value(row)),
            Self::Other(..) | Self::Float(_) => self.bare(row, out)?,
            _ => self.json(row, out)?,
        }
        Ok(())
    }

    fn bare(&self, row: usize, out: &mut Vec<u8>) -> Result<(), ArrowError> {
        match self {
            Self::Bool(array) => write!(out, "{}", array.value(row)),
            Self::Int(array) => write!(out, "{}", array.value(row)),
            Self::Unsigned(array) => write!(out, "{}", array.value(row)),
            // The shortest text that reads back as the same value.
            Self::Float(array) => write!(out, "{:?}", array.value(row)),
            Self::Bare(_, formatter) | Self::Other(_, formatter) => write!(out, "{}", formatter.value(row)),
            Self::Json(_) | Self::Text(_) | Self::List(..) => Ok(()),
        }
        .map_err(|error| ArrowError::IoError(error.to_string(), error))
    }
}

/// Buffers that a cell borrows from.
#[derive(Default)]
pub(super) struct Scratch {
    cells: JsonCells,
    text: Vec<u8>,
}

impl Scratch {
    fn write(&mut self, write: impl FnOnce(&mut Vec<u8>) -> Result<(), ArrowError>) -> Result<&str, ArrowError> {
        self.text.clear();
        write(&mut self.text)?;
        std::str::from_utf8(&self.text).map_err(|error| ArrowError::ParseError(error.to_string()))
    }
}

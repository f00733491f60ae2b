//! Which columns an input has, and what they hold.

use super::{Row, Table};
use crate::cell::Cell;
use crate::columns::{Accumulator, ColumnType};
#[cfg(feature = "arrow")]
use crate::columns::{Shape, ShapeReader, ValueType};
use core::convert::Infallible;
use jird::event::{Interest, Place, Timestamp};

/// The columns of an input, found by reading all of it. It is a [`Table`] that keeps no rows.
///
/// ```
/// use jird::event::{self, JsonSource};
/// use jird_formats::{ColumnType, Rows, Schema};
/// let text = b"{\"id\": 1}\n{\"id\": 2, \"late\": [true]}";
/// let mut rows = Rows::new(Schema::default());
/// event::copy(&mut JsonSource::from_slice(text), &mut rows)?;
/// let columns: Vec<_> = rows.table().columns().iter().map(|column| (column.name(), column.column_type())).collect();
/// assert_eq!(columns, [("id", Some(ColumnType::Int64)), ("late", Some(ColumnType::Json))]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Schema {
    columns: Vec<Column>,
    rows: u64,
    /// Reads objects and arrays, to find the types within them.
    #[cfg(feature = "arrow")]
    nested: Option<ShapeReader>,
}

/// A column, and what was seen of it.
#[derive(Clone, Debug)]
pub struct Column {
    name: String,
    seen: Accumulator,
    rows: u64,
    nulls: u64,
    bytes: u64,
    timestamps: u64,
    times: Times,
    #[cfg(feature = "arrow")]
    shape: Option<Shape>,
}

/// What the points in time of a column need.
#[derive(Clone, Copy, Debug, Default)]
struct Times {
    utc: bool,
    local: bool,
    /// Some have digits after the microsecond.
    nanoseconds: bool,
    /// The largest distance from 1970, in seconds.
    seconds_max: u64,
}

/// The type that holds a column's points in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimestampType {
    /// Counts nanoseconds since 1970, or else microseconds, as an `i64`.
    pub nanoseconds: bool,
    /// Whether they are in UTC, as opposed to a time zone that is not stated.
    pub is_utc: bool,
}

impl Schema {
    /// Also finds the types within objects and arrays. A [`ColumnPlan`](crate::ColumnPlan) of these columns then has
    /// lists and structs instead of JSON text, where all values of a column allow it.
    #[cfg(feature = "arrow")]
    #[must_use]
    pub fn nested(mut self) -> Self {
        self.nested = Some(ShapeReader::default());
        self
    }

    /// The columns, in the order in which they were first met.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The number of rows seen.
    pub fn rows(&self) -> u64 {
        self.rows
    }
}

impl Column {
    /// The key.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The narrowest type that keeps all values; `None` if there were only nulls. Bytes and timestamps count as text
    /// here.
    pub fn column_type(&self) -> Option<ColumnType> {
        self.seen.column_type()
    }

    /// Which values were met, and where the type had to widen. Records are named by their number, from 0.
    pub fn seen(&self) -> &Accumulator {
        &self.seen
    }

    /// The number of rows that have the column, null or not.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// How many of these are null.
    pub fn nulls(&self) -> u64 {
        self.nulls
    }

    /// Whether all values are bytes.
    pub fn is_bytes(&self) -> bool {
        self.bytes > 0 && self.bytes == self.rows - self.nulls
    }

    /// The type of the column's objects or arrays, if it has nothing else, and they were looked into.
    #[cfg(feature = "arrow")]
    pub(crate) fn nested_type(&self) -> Option<ValueType> {
        self.shape.as_ref()?.value_type()
    }

    /// Whether all values are points in time.
    pub fn is_timestamps(&self) -> bool {
        self.timestamps > 0 && self.timestamps == self.rows - self.nulls
    }

    /// The type that holds all values, if all are points in time, all of them or none are in UTC, and none is too far
    /// from 1970.
    pub fn timestamp_type(&self) -> Option<TimestampType> {
        let Times { utc, local, nanoseconds, seconds_max } = self.times;
        let per_second = if nanoseconds { 1_000_000_000 } else { 1_000_000 };
        let fits = seconds_max < i64::MAX.unsigned_abs() / per_second;
        (self.is_timestamps() && utc != local && fits).then_some(TimestampType { nanoseconds, is_utc: utc })
    }
}

impl Times {
    fn observe(&mut self, time: Timestamp) {
        self.utc |= time.is_utc;
        self.local |= !time.is_utc;
        self.nanoseconds |= !time.nanoseconds.is_multiple_of(1000);
        self.seconds_max = self.seconds_max.max(time.seconds.unsigned_abs());
    }
}

impl Table for Schema {
    type Error = Infallible;

    fn add_column(&mut self, name: &str) -> Result<Interest, Infallible> {
        let seen = Accumulator::default();
        self.columns.push(Column {
            name: name.to_owned(),
            seen,
            rows: 0,
            nulls: 0,
            bytes: 0,
            timestamps: 0,
            times: Times::default(),
            #[cfg(feature = "arrow")]
            shape: self.nested.as_ref().map(|_| Shape::default()),
        });
        Ok(Interest::Take)
    }

    fn add_row(&mut self, row: &mut Row, place: Place) -> Result<(), Infallible> {
        self.rows += 1;
        for (column, cell) in self.columns.iter_mut().zip(row.cells()) {
            if let Cell::Missing = cell {
                continue;
            }
            column.rows += 1;
            column.nulls += u64::from(cell.is_null());
            column.bytes += u64::from(matches!(cell, Cell::Bytes(_)));
            if let Cell::Timestamp(time) = cell {
                column.timestamps += 1;
                column.times.observe(time);
            }
            column.seen.observe_cell(cell, place.record);
            #[cfg(feature = "arrow")]
            if let (Some(shape), Some(reader)) = (&mut column.shape, &mut self.nested) {
                shape.observe(cell, reader);
            }
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}

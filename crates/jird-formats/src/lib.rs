//! Tables as sources and sinks of events: CSV, SQLite, Arrow IPC, Parquet; and JSON records as columns.
//!
//! [`Rows`] makes rows of records, for whatever is a [`Table`]. [`Schema`] reads an input and knows its columns. [`Accumulator`]
//! sees every value of a column and knows the narrowest [`ColumnType`] that keeps them all; a [`ColumnBuilder`] makes an Arrow
//! array. Nothing here knows of SQL, but that of SQLite.

mod columns;
#[cfg(feature = "csv")]
mod csv;
mod rows;

pub use columns::{Accumulator, ColumnType, JSON_EXTENSION, Widening};
#[cfg(feature = "arrow")]
pub use columns::{ColumnBuilder, Unfit};
#[cfg(feature = "csv")]
pub use csv::{CsvError, CsvErrorKind, CsvSink, CsvSource, CsvType, Dialect, Empty, Terminator};
pub use rows::{Cell, Column, Row, Rows, Schema, Table};

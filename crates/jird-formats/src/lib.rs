//! Tables as sources and sinks of events: CSV, SQLite, Arrow IPC, Parquet; and JSON records as columns.
//!
//! [`Rows`] makes rows of records, for whatever is a [`Table`]. [`Schema`] reads an input and knows its columns. [`Accumulator`]
//! sees every value of a column and knows the narrowest [`ColumnType`] that keeps them all; a [`ColumnBuilder`] makes an Arrow
//! array. Nothing here knows of SQL, but that of SQLite.

mod columns;
mod rows;
#[cfg(feature = "sqlite")]
pub mod sqlite;

pub use columns::{Accumulator, ColumnType, JSON_EXTENSION, Widening};
#[cfg(feature = "arrow")]
pub use columns::{ColumnBuilder, Unfit};
pub use rows::{Cell, Column, Row, Rows, Schema, Table};

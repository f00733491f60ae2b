//! Tables as sources and sinks of events: CSV, SQLite, Arrow IPC, Parquet; and JSON records as columns.
//!
//! [`Rows`] makes rows of records, for whatever is a [`Table`]. [`Schema`] reads an input and knows its columns. [`Accumulator`]
//! sees every value of a column and knows the narrowest [`ColumnType`] that keeps them all; a [`ColumnBuilder`] makes an Arrow
//! array. Nothing here knows of SQL, but that of SQLite.
//!
//! Two examples to begin with, in `examples/` of the repository: `artists.rs` reads Rust values from a table and from a document
//! alike, `tasks.rs` writes some to a table. `docs/formats.md` there says what survives from one format to another.
#![forbid(unsafe_code)]

#[cfg(feature = "arrow")]
mod arrow;
#[cfg(any(feature = "arrow", feature = "sqlite"))]
mod bad_value;
mod cell;
mod columns;
#[cfg(feature = "csv")]
mod csv;
pub mod encoding;
#[cfg(feature = "files")]
pub mod files;
#[cfg(feature = "parquet")]
mod parquet;
mod rows;
#[cfg(feature = "sqlite")]
pub mod sqlite;

#[cfg(feature = "arrow")]
pub use arrow::{
    ArrowBatches, ArrowCompression, ArrowError, ArrowLayout, ArrowOptions, ArrowSink, ArrowSource, ColumnPlan,
    NotFinite,
};
#[cfg(any(feature = "arrow", feature = "sqlite"))]
pub use bad_value::{BadValue, BadValueKind};
pub use cell::Cell;
pub use columns::{Accumulator, ColumnType, JSON_EXTENSION, Widening};
#[cfg(feature = "arrow")]
pub use columns::{ColumnBuilder, Unfit};
#[cfg(feature = "csv")]
pub use csv::{CsvError, CsvErrorKind, CsvSink, CsvSource, CsvType, Dialect, Empty, Terminator};
#[cfg(feature = "parquet")]
pub use parquet::{ParquetBatches, ParquetCompression, ParquetOptions, ParquetSink, ParquetSource, is_panic_caught};
pub use rows::{Column, JsonCells, Row, Rows, Schema, Table, TimestampType};

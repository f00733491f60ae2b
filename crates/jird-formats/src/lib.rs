//! Tables as sources and sinks of events (CSV, SQLite, Arrow IPC, Parquet), and JSON records as columns.
//!
//! [`Rows`] turns records into rows for any [`Table`]. [`Schema`] reads an input and finds its columns. [`Accumulator`]
//! sees every value of a column and finds the narrowest [`ColumnType`] that keeps them all. A [`ColumnBuilder`] makes
//! an Arrow array. Apart from SQLite's, nothing here knows SQL.
//!
//! Two examples in `examples/` of the repository are a good start: `artists.rs` reads Rust values from a table and from
//! a document in the same way, and `tasks.rs` writes some to a table. `docs/formats.md` there lists what each
//! conversion preserves.
//!
//! # The source, from the ground up
//!
//! Each folder or file uses only those above it. After the dash: where to start reading.
//!
//! ```text
//! panics     panics of libraries as errors - caught
//! detached   threads that nothing waits for - Crew
//! cell       one value of a row - Cell
//! encoding   how a file's text begins: marks, and encodings that are not read - Encoding
//! columns    the type of a column, from all of its values; Arrow arrays - Accumulator, ColumnBuilder
//! fields     what records hold: fields, kinds of values - Fields
//! rows       records as rows, for every sink that has columns - Rows, Table, Schema
//! error      what can go wrong with a table, and where - Error
//! bad_value  values that JSON cannot represent - Untold
//! csv, sqlite   one format each, as a source and as a sink - CsvSource, CsvSink, and so on
//! arrow      files that hold columns, and Arrow IPC - ColumnSource, ColumnSink
//! parquet    Parquet, as another such file
//! recover    going on after a bad record
//! files      opening files, compression, bad records, copies of pipes - Compression, OnError, Spool
//! lenient    comments, JSON5 and other text that is almost JSON, as a source - LenientSource
//! remote     objects of S3, Google and Azure, and files of web servers, as blocking readers - Remotes, RemoteFile
//! ```
//!
//! `files/open.rs` opens the files of users; databases are opened only by SQLite. `remote` is the only folder that
//! uses the clients of `object_store`: `address` takes URLs apart, `clients` makes the clients, `watch` stands
//! between them and the network (budget, patience, wrong ranges), `blocks` fetches ahead, `list` expands patterns,
//! `words` has the errors.
#![forbid(unsafe_code)]

#[cfg(feature = "arrow")]
mod arrow;
#[cfg(any(feature = "arrow", feature = "sqlite"))]
mod bad_value;
mod cell;
mod columns;
#[cfg(feature = "csv")]
mod csv;
mod detached;
pub mod encoding;
#[cfg(any(feature = "arrow", feature = "csv", feature = "sqlite"))]
mod error;
mod fields;
#[cfg(feature = "files")]
pub mod files;
mod lenient;
mod panics;
#[cfg(feature = "parquet")]
mod parquet;
mod recover;
#[cfg(feature = "remote")]
pub mod remote;
mod rows;
#[cfg(feature = "sqlite")]
pub mod sqlite;

#[cfg(feature = "arrow")]
pub use arrow::{
    ArrowBatches, ArrowCompression, ArrowLayout, ArrowOptions, BatchWriter, ColumnPlan, ColumnSink, ColumnSource,
    NotFinite,
};
pub use cell::Cell;
pub use columns::{Accumulator, ColumnType, JSON_EXTENSION, Widening};
#[cfg(feature = "arrow")]
pub use columns::{ColumnBuilder, Shape, ShapeReader, Unfit, ValueType, holds, value_text};
#[cfg(feature = "csv")]
pub use csv::{CsvSink, CsvSource, CsvType, Dialect, DialectChoice, Empty, Terminator};
pub use detached::{Crew, apart};
#[cfg(any(feature = "arrow", feature = "csv", feature = "sqlite"))]
pub use error::{Error, ErrorKind};
pub use fields::{FieldFacts, FieldKind, FieldPlace, Fields};
pub use lenient::{LenientFault, LenientLayout, LenientOptions, LenientSource};
pub use panics::{catches_panics_of_this_thread, caught, is_panic_caught};
#[cfg(feature = "parquet")]
pub use parquet::{ParquetBatches, ParquetCompression, ParquetOptions};
pub use recover::{BadRow, Recover};
pub use rows::{Column, JsonCells, Row, Rows, Schema, Table, TimestampType};

/// The Rust examples of README.md, which run as doctests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

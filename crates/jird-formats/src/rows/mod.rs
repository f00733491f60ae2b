//! Records as rows, for every sink that has columns.
//!
//! ```text
//! json     JSON text as it is written down
//! cells    JSON texts as cells
//! row      a record's cells, by column
//! rows     the event sink that makes rows of records, and hands them to a `Table`
//! schema   which columns an input has, and what they hold: found by reading all of it
//! ```

mod cells;
mod json;
mod row;
mod schema;
mod sink;

pub use cells::JsonCells;
#[cfg(any(feature = "arrow", feature = "sqlite"))]
pub(crate) use json::Json;
pub use row::Row;
pub use schema::{Column, Schema, TimestampType};
#[cfg(any(feature = "csv", feature = "parquet", feature = "sqlite"))]
pub(crate) use sink::VALUE;
pub use sink::{Rows, Table};

//! SQLite: tables and queries as sources, tables as sinks of rows, of events and of Rust values.
//!
//! ```text
//! database     opening one, and what it says of its tables
//! source       a table or a query as a source
//! search       some columns and rows of a table; condition: a predicate as SQL
//! copy         a table into another database, with its definition
//! pieces       a table in pieces, for several connections
//! sink         a table as a sink of rows, and so of events
//! inserter     Rust values into a table, with nothing in between
//! definition   what a table looks like; from a Rust type (trace)
//! insert       rows into a table, many per statement; scope: all of them or none
//! value        what a value is in SQLite; affinity: what SQLite makes of it there
//! ```

mod affinity;
mod condition;
mod copy;
mod database;
mod definition;
mod error;
mod insert;
mod inserter;
mod pieces;
mod scope;
mod search;
mod sink;
mod source;
mod trace;
mod value;

pub use affinity::Affinity;
pub use copy::TableCopy;
pub use database::{
    ColumnInfo, ForeignKey, TableInfo, foreign_keys, is_database, open, open_read_only, open_read_only_within,
    open_within, quote, stop_when, tables, tables_and_views,
};
pub use definition::{ColumnDefinition, Definition, StorageType, create_for};
pub use inserter::Inserter;
pub use pieces::{TablePiece, TablePieces, is_same_state};
/// The binding, in the version whose connections this module takes.
pub use rusqlite;
pub use sink::{SqliteReport, SqliteSink};
pub use source::{SqliteQuery, SqliteSource};
pub use value::blob_of;

//! SQLite databases as targets: tables made for classes, and rows from objects or from batches of Arrow.
//!
//! ```text
//! objects  rows of objects
//! batches  rows of Arrow's batches
//! table    the classes `Database` and `Table`
//! ```

mod batches;
mod objects;
mod table;

pub(crate) use table::{Database, Table};

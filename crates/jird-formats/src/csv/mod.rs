//! CSV and its relatives (RFC 4180), as a source and as a sink.
//!
//! ```text
//! dialect  which bytes delimit, quote and end
//! masks    where the marks of 64 bytes are
//! scan     the fields of a record as most are written: found by their marks, resumed at any byte
//! records  records of a reader: by `scan`, or by csv-core where a record is out of the ordinary
//! columns  names for columns
//! row      the fields of a record as values, and as events
//! source   records, one by one
//! lines    cells as fields of lines
//! sink     rows as records
//! ```
//!
//! csv-core (the parser of the `csv` crate) defines what is valid. It parses the records that `scan` does not
//! understand; for all others, tests compare the two.

mod columns;
mod dialect;
mod lines;
mod masks;
mod records;
mod row;
mod scan;
mod sink;
mod source;

pub use dialect::{Dialect, DialectChoice, Terminator};
pub use sink::CsvSink;
pub use source::{CsvSource, CsvType, Empty};

/// More columns than this are an error. This limits the memory for a record.
pub(crate) const COLUMNS_MAX: usize = 1 << 20;

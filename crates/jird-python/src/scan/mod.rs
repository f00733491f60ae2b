//! `scan`: lines of files as values of Python, and as columns of Arrow.
//!
//! ```text
//! condition  `where`: conditions as in SQL
//! files      files of lines, cut into parts that threads read
//! failure    what ends a scan
//! rows       records, parsed by threads, from which the interpreter only makes values
//! columns    columns of Arrow: their types, and their batches
//! table      the class `Scan`
//! ```
//!
//! Threads read and check the lines, and never touch the interpreter. Their results come in the order of the lines over
//! a channel of bounded length.

mod columns;
mod condition;
mod failure;
mod files;
mod rows;
mod table;

pub(crate) use table::{Scan, ScanIter};

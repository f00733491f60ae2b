//! `scan` and `query`: lines of files, and results of SQL, as values of Python and as columns of Arrow.
//!
//! ```text
//! condition  `where`: conditions as in SQL
//! input      input files, none of which is a database
//! files      files of lines, cut into parts that threads read
//! failure    what ends a scan
//! rows       records, parsed by threads, from which the interpreter only makes values
//! progress   the callback that is told how much is done
//! columns    columns of Arrow: their types, and their batches
//! table      the class `Scan`
//! program    the program `jird`, which has SQL, and whose output is read as a file of lines or of Arrow
//! query      the class `Query`
//! ```
//!
//! Threads read and check the lines, and never touch the interpreter. Their results come in the order of the lines over
//! a channel of bounded length.

mod columns;
mod condition;
mod failure;
mod files;
mod input;
mod program;
mod progress;
mod query;
mod rows;
mod table;

pub(crate) use condition::path;
pub(crate) use query::Query;
pub(crate) use table::{Scan, ScanIter};

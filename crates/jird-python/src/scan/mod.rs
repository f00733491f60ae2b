//! `scan` and `query`: lines of files, and results of SQL, as values of Python and as columns of Arrow.
//!
//! ```text
//! condition  `where`: conditions as in SQL
//! input      input files, without databases; texts that are kept
//! files      files of lines, cut into parts that threads read
//! records    records within documents, as lines
//! failure    what ends a scan
//! rows       records, parsed by threads, from which the interpreter only makes values
//! feed       lines that come in chunks, read on the caller's thread
//! chunks     chunks that code of Python hands out
//! source     where an iteration gets its records from: threads, or a feed
//! progress   the callback that is told how much is done
//! kinds      what columns of Arrow hold, and how they are built
//! columns    columns of Arrow: their types, and their batches
//! given      types of columns as the caller gives them
//! table      the class `Scan`
//! iter       the class `ScanIter`
//! program    the program `jird`, which has SQL, and whose output is read as a file of lines or of Arrow
//! query      the class `Query`
//! ```
//!
//! Threads read and check the lines, and never touch the interpreter. Their results come in the order of the lines over
//! a channel of bounded length. Code of Python that hands out chunks runs on the thread that asks for the next record,
//! and so does what reads those chunks.

mod chunks;
mod columns;
mod condition;
mod failure;
mod feed;
mod files;
mod given;
mod input;
mod iter;
mod kinds;
mod program;
mod progress;
mod query;
mod records;
mod rows;
mod source;
mod table;

pub(crate) use condition::path;
pub(crate) use iter::ScanIter;
pub(crate) use query::Query;
pub(crate) use table::Scan;

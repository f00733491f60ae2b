//! NDJSON: one value per line. A JSON string cannot contain a newline, so every newline ends a record, and a text can
//! be cut at any newline.
//!
//! [`Scanner`] reads whole lines; if not everything must be checked, it reads only the lines that may match a
//! predicate. [`read_range`] and [`read_stream`] cut an input into pieces of whole lines with bounded memory, and a
//! [`LineReader`] scans these pieces and says in which line each bad record is. `typed` decodes each line into a type.
//!
//! Several threads share the work: [`ranges`] and [`StreamPieces`] cut an input into parts, and [`drive`] reads them on
//! all threads, hands out the results in order, and says which lines each result covers.

#[cfg(feature = "parallel")]
mod drive;
mod found;
mod gate;
mod options;
mod part;
mod piece;
mod read;
mod row;
mod run;
mod scanner;
mod search;
mod stream;
mod sweeps;
#[cfg(feature = "serde")]
mod typed;

pub use crate::policy::RECORD_BYTES_MAX;
#[cfg(feature = "parallel")]
pub use crate::threads::in_order;
#[cfg(feature = "parallel")]
pub use drive::{drive, ranges};
#[doc(hidden)]
pub use gate::When;
pub use options::{Check, Options};
pub use part::{Counting, LineReader, Part, PieceSource};
pub use piece::{LinePiece, newlines};
pub use read::{ReadAt, read_range, read_stream};
pub use row::{Bad, Match, Scanned};
pub use scanner::Scanner;
pub use stream::{StreamPiece, StreamPieces};
#[cfg(feature = "serde")]
pub use typed::{Typed, typed, typed_on};

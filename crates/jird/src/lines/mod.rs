//! NDJSON: one value per line. A JSON string cannot contain a newline, so every newline ends a record, and a text can
//! be cut at any newline.
//!
//! [`Scanner`] reads whole lines; if not everything must be checked, it reads only the lines that may match a
//! predicate. [`read_stream`] cuts a stream into pieces of whole lines, with bounded memory. `typed` decodes each line
//! into a type, on all cores.

#[cfg(feature = "parallel")]
pub(crate) mod drive;
pub(crate) mod gate;
mod lines_with;
mod options;
pub(crate) mod part;
pub(crate) mod piece;
pub(crate) mod position;
pub(crate) mod read;
mod row;
mod run;
mod scanner;
mod search;
pub(crate) mod stream;
mod sweeps;
#[cfg(feature = "serde")]
mod typed;

pub use options::{Check, Options};
pub use read::read_stream;
pub use row::{Bad, Match, Scanned};
pub use scanner::Scanner;
#[cfg(feature = "serde")]
pub use typed::{Typed, typed, typed_on};

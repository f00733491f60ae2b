//! NDJSON: one value per line. A JSON string cannot contain a newline, so every newline ends a record, and a text can
//! be cut at any newline.
//!
//! [`Scanner`] reads whole lines; if not everything must be checked, it reads only the lines that may match a
//! predicate. [`read_range`] and [`read_stream`] cut an input into pieces of whole lines with bounded memory. `typed`
//! decodes each line into a type. [`in_order`] spreads pieces over threads and hands the results out in order.

mod found;
mod gate;
mod grammar;
mod options;
mod read;
mod row;
mod run;
mod scanner;
mod search;
#[cfg(feature = "serde")]
mod typed;

pub use crate::policy::RECORD_BYTES_MAX;
#[cfg(feature = "parallel")]
pub use crate::threads::in_order;
#[doc(hidden)]
pub use gate::Search;
pub use options::{Check, Options};
pub use read::{ReadAt, read_range, read_stream};
pub use row::{Bad, Match, Scanned};
pub use scanner::Scanner;
#[cfg(feature = "serde")]
pub use typed::{Typed, typed, typed_on};

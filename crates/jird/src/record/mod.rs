//! Sparse reading of one (usually small) value: which parts are wanted, where they stand, and whether the record is.
//!
//! [`Projection`] names the wanted paths, one *slot* each; a [`Field`] is what a record has in a slot; a [`Predicate`]
//! decides over fields. [`Record`] reads a single value by hand. Nothing here knows of SQL, Arrow or files.

mod field;
mod like;
#[cfg(jird_checked)]
pub(crate) mod model;
mod needles;
mod predicate;
mod reader;
mod select;

pub use crate::path::Step;
pub use field::Field;
pub use like::Like;
pub(crate) use needles::{NEEDLE_MAX, NEEDLES_MAX, Needles, Pair};
pub use predicate::{Comparison, Literal, Matcher, Mismatches, Predicate};
pub use reader::{Record, RecordBuffer};
pub use select::Projection;
pub(crate) use select::{Mark, Select, Slot};

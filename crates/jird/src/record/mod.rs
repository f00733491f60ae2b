//! Sparse reading of one value, which is usually small: the wanted fields, where they are, and whether a predicate
//! keeps the record.
//!
//! [`Projection`] names the wanted paths, one *slot* each. A [`Field`] is the value that a record has in a slot. A
//! [`Predicate`] decides on fields. [`FieldReader`] finds the fields of single records, and [`Record`] reads a single
//! value by hand. This module knows nothing of SQL, Arrow or files.

mod field;
mod fields;
mod finder;
mod grammar;
mod like;
#[cfg(jird_checked)]
pub(crate) mod model;
mod needles;
mod order;
mod predicate;
mod reader;
mod select;

pub use crate::path::Step;
pub use field::Field;
pub use fields::FieldReader;
pub(crate) use finder::Finder;
#[cfg(feature = "jsonpath")]
pub(crate) use finder::value_len;
pub(crate) use grammar::lines_are_right;
pub use like::Like;
pub(crate) use needles::{NEEDLE_MAX, NEEDLES_MAX, Needles, Pair};
pub use predicate::{Comparison, JsonTest, Literal, Matcher, Mismatches, Predicate};
pub use reader::{Record, RecordBuffer};
pub use select::Projection;
pub(crate) use select::{Mark, Select, Slot};

//! JSON records as columns: which Arrow type a field needs so that no value changes, and the arrays themselves.
//!
//! [`Accumulator`] sees every value of a field and knows the narrowest [`ColumnType`] that keeps them all; a
//! [`ColumnBuilder`] makes the array. Nothing here reads files or knows of SQL.

mod columns;

pub use columns::{Accumulator, ColumnBuilder, ColumnType, JSON_EXTENSION, Unfit, Widening};

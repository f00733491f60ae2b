//! From fields to Arrow columns.

mod build;
mod infer;
mod kind;

pub use build::{ColumnBuilder, Unfit};
pub use infer::{Accumulator, Widening};
pub use kind::{ColumnType, JSON_EXTENSION};

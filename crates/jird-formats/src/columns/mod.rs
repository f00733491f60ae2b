//! From fields to Arrow columns.

#[cfg(feature = "arrow")]
mod build;
mod infer;
mod kind;
#[cfg(feature = "arrow")]
mod shape;
#[cfg(feature = "arrow")]
mod value_text;

#[cfg(feature = "arrow")]
pub use build::{ColumnBuilder, Unfit, holds};
#[cfg(feature = "sqlite")]
pub(crate) use infer::survives;
#[cfg(feature = "arrow")]
pub(crate) use infer::surviving;
pub use infer::{Accumulator, Widening};
pub use kind::{ColumnType, JSON_EXTENSION};
#[cfg(feature = "arrow")]
pub use shape::{Shape, ShapeReader, ValueType};
#[cfg(feature = "arrow")]
pub use value_text::value_text;

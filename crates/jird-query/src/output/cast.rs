//! Casts and texts of computed columns, by Arrow.

pub(super) use arrow_cast::cast;
pub(super) use arrow_cast::display::{ArrayFormatter, FormatOptions};

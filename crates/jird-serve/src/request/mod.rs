//! What a request asks for: tables, columns, conditions, rows; and what a row is.

pub(crate) mod again;
pub(crate) mod ask;
pub(crate) mod catalog;
pub(crate) mod choice;
pub(crate) mod input;
pub(crate) mod rows;
pub(crate) mod select;
pub(crate) mod uri;

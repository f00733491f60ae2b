//! What a request asks for: tables, columns, conditions, rows; and what a row is.
//!
//! ```text
//! uri      paths                                      rows     rows → bytes, with nothing between
//! catalog  the tables                                 input    bodies, checked
//! ask      SQL with quoted names and parameters       again    what a body says of a row that it has already
//! choice   the form of the answer                     select   which events
//! functions   what statements need and SQLite lacks
//! ```

pub(crate) mod again;
pub(crate) mod ask;
pub(crate) mod catalog;
pub(crate) mod functions;
pub(crate) mod input;
pub(crate) mod negotiation;
pub(crate) mod rows;
pub(crate) mod select;
pub(crate) mod uri;

//! Databases: their tables read as streams of rows, and written; what of changed rows comes back.

pub(crate) mod database;
pub(crate) mod own;
pub(crate) mod pace;
mod returned;
pub(crate) mod stream;
pub(crate) mod writer;

//! Databases: their tables read as streams of rows, and written.

pub(crate) mod database;
pub(crate) mod stream;
pub(crate) mod writer;

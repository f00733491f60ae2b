//! What all floors use: errors, names, threads, and what ends a query early.

pub(crate) mod defined;
pub(crate) mod error;
pub(crate) mod interrupt;
pub(crate) mod named;
pub(crate) mod nearest;
pub(crate) mod threads;

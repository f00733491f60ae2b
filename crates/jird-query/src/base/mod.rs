//! What all floors use: errors, names, threads, and what ends a query early.
//!
//! ```text
//! defined   the names of files and queries       nearest  the name that was meant
//! named     what a query may read that a client sends
//! bytes     how much memory values take, and whether there is enough
//! ```

pub(crate) mod bytes;
pub(crate) mod defined;
pub(crate) mod error;
pub(crate) mod interrupt;
pub(crate) mod named;
pub(crate) mod nearest;
pub(crate) mod threads;

//! What all floors use: errors and problems, settings, and files that may be served.

pub(crate) mod error;
pub(crate) mod file;
pub(crate) mod problem;
pub(crate) mod settings;
pub(crate) mod sources;
pub(crate) mod strangers;

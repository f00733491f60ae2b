//! What all floors use: errors and problems, settings, and files that may be served.
//!
//! ```text
//! sources    what is served
//! problem    what a client is told when its request fails
//! strangers  connections without the token
//! ```

pub(crate) mod error;
pub(crate) mod file;
pub(crate) mod problem;
pub(crate) mod settings;
pub(crate) mod sources;
pub(crate) mod strangers;

//! What all floors use: errors and problems, settings, and files that may be served.
//!
//! ```text
//! sources    what is served
//! problem    what a client is told when its request fails
//! strangers  connections without a token
//! token      tokens, and what requests with them may do
//! ```

pub(crate) mod error;
pub(crate) mod file;
pub(crate) mod problem;
pub(crate) mod settings;
pub(crate) mod sources;
pub(crate) mod strangers;
pub(crate) mod token;

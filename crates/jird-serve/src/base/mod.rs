//! What all floors use: errors and problems, settings, and files that may be served.
//!
//! ```text
//! place      where a server listens, where requests come from, proxies
//! sources    what is served
//! problem    what a client is told when its request fails
//! strangers  connections without a token
//! token      tokens, and what requests with them may do
//! waits      how many wait for something
//! ```

pub(crate) mod error;
pub(crate) mod file;
pub(crate) mod place;
pub(crate) mod problem;
pub(crate) mod settings;
pub(crate) mod sources;
pub(crate) mod strangers;
pub(crate) mod token;
pub(crate) mod waits;

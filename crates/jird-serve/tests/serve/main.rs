//! The server as its clients see it, over real sockets.

mod changes;
mod common;
mod events;
mod hostile;
#[cfg(feature = "query")]
mod query;
mod reading;
mod safety;
mod sources;
mod streams;

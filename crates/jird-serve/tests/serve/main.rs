//! The server as its clients see it, over real sockets.

mod changes;
mod common;
mod events;
mod hostile;
mod page;
#[cfg(feature = "query")]
mod query;
mod reading;
mod safety;
mod sharing;
mod sources;
mod streams;

//! The server as its clients see it, over real sockets.

mod changes;
mod common;
mod hostile;
mod page;
mod reading;
mod safety;
mod sharing;
mod sources;
mod streams;

//! The server as its clients see it, over real sockets.

mod changes;
mod common;
mod hostile;
mod kept;
mod reading;
mod safety;
mod streams;
mod tls;

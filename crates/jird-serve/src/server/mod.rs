//! The server: connections, each request on its way to its route, and syslog.

mod listen;
mod ready;
mod service;
mod socket;
mod syslog;

pub use listen::{Reloader, Server, Stopper};

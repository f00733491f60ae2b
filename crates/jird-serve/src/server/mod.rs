//! The server: connections, and each request on its way to its route.

mod listen;
mod ready;
mod service;
mod socket;

pub use listen::{Reloader, Server, Stopper};

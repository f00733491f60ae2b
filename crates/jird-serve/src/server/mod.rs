//! The server: connections, and each request on its way to its route.

mod listen;
mod service;

pub use listen::{Reloader, Server, Stopper};

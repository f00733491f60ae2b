//! SQLite tables as JSON over HTTP, events of a store, and SQL over these and over files. Rows are written straight to
//! the bytes of answers, bodies of requests straight to the parameters of statements.
//!
//! Start at [`Server`]. What a server may do is said in [`Settings`]: at first it only reads, and only programs of the
//! same machine reach it. The guide's page `serve.md` describes requests and answers.
#![deny(unsafe_code)]

mod base;
mod cache;
mod events;
mod http;
mod log;
mod request;
mod routes;
mod server;
mod tables;

pub use base::error::Error;
pub use base::settings::{Limits, Settings, Source, Tls};
pub use jird_store::Sync;
pub use server::{Server, Stopper};

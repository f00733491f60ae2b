//! SQLite tables as JSON over HTTP, events of a store, and SQL over these and over files. Rows are written straight to
//! the bytes of answers, bodies of requests straight to the parameters of statements.
//!
//! Start at [`Server`]. What a server may do is said in [`Settings`]: at first it only reads, and only programs of the
//! same machine reach it. The guide's page `serve.md` describes requests and answers.
#![deny(unsafe_code)]

mod again;
mod ask;
mod body;
mod catalog;
mod change;
mod choice;
mod database;
mod doors;
mod error;
mod events;
mod file;
mod follow;
mod guard;
mod input;
mod intake;
mod journal;
mod kept;
mod log;
mod openapi;
mod pack;
mod page;
mod paths;
mod problem;
#[cfg(feature = "query")]
mod queries;
#[cfg(feature = "query")]
mod query;
mod read;
mod readers;
mod rows;
mod select;
mod served;
mod server;
mod service;
mod settings;
mod sources;
mod state;

mod strangers;
mod stream;
mod tag;
mod tls;
mod uri;
mod writer;

pub use error::Error;
pub use jird_store::Sync;
pub use server::{Server, Stopper};
pub use settings::{Limits, Settings, Source, Tls};

//! SQLite tables as JSON over HTTP. Rows are written straight to the bytes of answers, bodies of requests straight to
//! the parameters of statements.
//!
//! Start at [`Server`]. What a server may do is said in [`Settings`]: at first it only reads, and only programs of the
//! same machine reach it. The guide's page `serve.md` describes requests and answers.
#![forbid(unsafe_code)]

mod ask;
mod body;
mod catalog;
mod change;
mod choice;
mod error;
mod guard;
mod input;
mod journal;
mod kept;
mod log;
mod openapi;
mod pack;
mod problem;
mod read;
mod readers;
mod rows;
mod server;
mod service;
mod settings;
mod state;
mod stream;
mod tag;
mod tls;
mod uri;
mod writer;

pub use error::Error;
pub use server::{Server, Stopper};
pub use settings::{Limits, Settings, Tls};

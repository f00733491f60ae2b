//! SQLite tables as JSON over HTTP, events of a store, and SQL over these and over files. Rows are written straight to
//! the bytes of answers, bodies of requests straight to the parameters of statements.
//!
//! Start at [`Server`]. [`Settings`] says what a server may do: by default it only reads, and only local programs reach
//! it. The guide's page `serve.md` describes requests and answers.
//!
//! # The source, from the ground up
//!
//! Each floor uses only those above it. After the dash: where to start reading.
//!
//! ```text
//! base     settings and limits, what is served, what failed requests are told - Settings, Sources, Problem
//! request  what a request asks for: path, table, SQL, events, words in them, checked body; rows → bytes - Catalog, Ask
//! http     bodies, exchanges of HTTP/2, entity tags, compression, access, TLS, log and metrics - Body, Packer, Guard, Journal
//! log      whether the write-ahead log of a database has changed; the only file with unsafe code - head
//! cache    answers that are kept until something is written; connections that read - Answers::look, Reader::answer
//! tables   the tables of a database; the connection that writes; short and long answers, and their pace; the server's own - Writer, Own
//! events   the writer of the store: a queue, the thread that appends, refused events; followers; upkeep - Intake, Follow, Upkeep
//! queries  SQL of others, each query in a process of its own, which the system limits - Queries, run_queries
//! routes   what each path answers: tables, /query, /events, ingestion, /sources, alerts, the page - read::get, State
//! server   sockets and connections, plain and encrypted; from a request to its answer; /ready; syslog - Server, Service, Ready, Syslog
//! ```
//!
//! A short query runs on the thread that serves connections, with 100,000 steps of SQLite and 256 KB. If that is not enough,
//! it starts again on a thread of its own, which streams; such threads take turns. So a request for few rows costs no
//! switch of threads, and no query makes others wait.
#![deny(unsafe_code)]

mod base;
mod cache;
mod events;
mod http;
mod log;
#[cfg(feature = "query")]
mod queries;
mod request;
mod routes;
mod server;
mod tables;

pub use base::error::Error;
pub use base::place::{Listen, Proxy};
pub use base::settings::{Limits, Settings, Source, Tls};
pub use base::token::Token;
pub use jird_store::Sync;
#[cfg(feature = "query")]
pub use queries::run_queries;
pub use server::{Reloader, Server, Stopper};

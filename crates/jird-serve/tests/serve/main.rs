//! The server as its clients see it, over real sockets.
#![allow(clippy::print_stdout, reason = "what is skipped is for who reads the log")]

mod again;
#[cfg(all(feature = "query", target_os = "linux"))]
mod bombs;
mod changes;
mod clients;
mod common;
mod elastic;
mod embedded;
mod events;
mod hostile;
mod http_2;
mod ingest;
mod kept;
mod killed;
#[cfg(unix)]
mod locks;
mod loki;
#[cfg(unix)]
mod operators;
mod otlp;
mod own;
mod page;
mod postgrest;
#[cfg(feature = "query")]
mod query;
mod reading;
#[cfg(unix)]
mod replaced;
mod safety;
mod search;
mod seq;
mod sharing;
mod sources;
mod streams;
mod syslog;
#[cfg(all(unix, feature = "query"))]
mod temporary;
mod tls;

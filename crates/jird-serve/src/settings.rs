//! What a server is told.

use core::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// What a [`Server`](crate::Server) serves, where, and to whom.
#[derive(Clone)]
pub struct Settings {
    /// The SQLite database.
    pub database: PathBuf,
    /// The address to listen at. One that other machines can reach needs a [`token`](Self::token).
    pub listen: SocketAddr,
    /// Whether requests may change the database. It is then switched to a write-ahead log, so that readers go on while
    /// somebody writes.
    pub write: bool,
    /// What requests must have as `Authorization: Bearer TOKEN`.
    pub token: Option<String>,
    /// Names under which clients reach the server, beside `localhost` and its address: what `Host` may be, without the
    /// port. A request with another `Host` is refused.
    pub hosts: Vec<String>,
    /// What connections are encrypted with; `None`: they are not.
    pub tls: Option<Tls>,
    /// How much a request may take.
    pub limits: Limits,
    /// Whether each request becomes a line of JSON on standard error.
    pub log: bool,
}

/// The files, in PEM, that connections are encrypted with. They are read when the server starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tls {
    /// The certificate, and those that lead from it to one that clients trust.
    pub certificate: PathBuf,
    /// The private key of the first certificate.
    pub key: PathBuf,
}

/// How much requests may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most bytes of a body, after which the answer is 413.
    pub body_bytes: usize,
    /// The most bytes of all bodies that are being received, after which the answer is 503.
    pub bodies_bytes: usize,
    /// The most rows of an answer to a request without `limit`, and the greatest `limit`.
    pub rows: u64,
    /// The longest time for a query or a write, and for a body to arrive.
    pub time: Duration,
    /// The longest time in which a client may take nothing of an answer, or send nothing of a request's head.
    pub stall: Duration,
    /// The most connections. Others wait until one ends.
    pub connections: usize,
    /// The most requests at a time, after which the answer is 503.
    pub requests: usize,
    /// The most answers that are too long to be kept in memory, at a time. Each takes a thread and a connection to the
    /// database; beyond, the answer is 503.
    pub streams: usize,
    /// The most bytes of answers that are kept until the database changes, about; 0: none is kept. Each connection to
    /// the database keeps a sixteenth of it.
    pub kept_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body_bytes: 16 << 20,
            bodies_bytes: 128 << 20,
            rows: 1_000_000,
            time: Duration::from_secs(30),
            stall: Duration::from_secs(30),
            connections: 1024,
            requests: 512,
            streams: 64,
            kept_bytes: 32 << 20,
        }
    }
}

impl Settings {
    /// A server of this database that only reads, at a free port of the loopback interface.
    pub fn new(database: impl Into<PathBuf>) -> Self {
        Self {
            database: database.into(),
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            write: false,
            token: None,
            hosts: Vec::new(),
            tls: None,
            limits: Limits::default(),
            log: false,
        }
    }
}

impl fmt::Debug for Settings {
    /// Without the token.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { database, listen, write, token, hosts, tls, limits, log } = self;
        f.debug_struct("Settings")
            .field("database", database)
            .field("listen", listen)
            .field("write", write)
            .field("token", &token.as_ref().map(|_| "…"))
            .field("hosts", hosts)
            .field("tls", tls)
            .field("limits", limits)
            .field("log", log)
            .finish()
    }
}

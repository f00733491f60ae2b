//! The settings of a server.

use crate::base::place::{Listen, Proxy};
use crate::base::token::Token;
use jird_store::{FutureLimit, Sync};
use std::ffi::{OsStr, OsString};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// By default, a power failure loses at most the events of this time.
const SYNC_INTERVAL: Duration = Duration::from_millis(200);

/// What a [`Server`](crate::Server) serves, where, and to which clients.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What is served: at most one SQLite database, at most one event store, and any number of files.
    pub sources: Vec<Source>,
    /// Where to listen.
    pub listen: Listen,
    /// Where to take messages of syslog, by UDP and TCP: they become events of the store, which needs [`write`](Self::write).
    /// The protocol has no tokens: every client that reaches the address can send events.
    pub syslog: Vec<SocketAddr>,
    /// Whether requests may change the database and the store. The database is then switched to a write-ahead log, so
    /// that readers go on during a write.
    pub write: bool,
    /// How durable an event is when it is acknowledged.
    pub sync: Sync,
    /// For a store that is created because it does not exist: the field that holds the time of an event.
    pub time_field: Option<jird::Path>,
    /// How long the store keeps events, by their times; `None`: for ever. Older events are hidden within an hour, and deleted
    /// within a day. Needs a store and [`write`](Self::write).
    pub keep: Option<Duration>,
    /// How many bytes on disk the store may take: beyond that, the spans that end first go, within a minute. Needs a store and
    /// [`write`](Self::write).
    pub keep_bytes: Option<u64>,
    /// A database of the server's own, which keeps saved views and alerts. It is made if it is not there, and changed
    /// whether or not [`write`](Self::write) is set.
    pub state: Option<PathBuf>,
    /// The file to which rejected events are appended; by default `refused.ndjson` in the folder of the store.
    pub quarantine: Option<PathBuf>,
    /// The access tokens. Each request must present one as `Authorization: Bearer TOKEN`. If empty, requests need no token.
    pub tokens: Vec<Token>,
    /// Names under which clients reach the server, besides `localhost` and its address: what `Host` may be, without the
    /// port. A request with another `Host` is refused.
    pub hosts: Vec<String>,
    /// Origins from which cross-origin requests are allowed, each as browsers send it: `http://localhost:8000`.
    /// Browsers hide the answers from pages of other origins.
    pub cors: Vec<String>,
    /// Proxies whose `X-Forwarded-For`, `X-Forwarded-Host` and `X-Forwarded-Prefix` are trusted: for whom a request is, which
    /// `Host` was asked, and what was before its path. They must set all three.
    pub proxies: Vec<Proxy>,
    /// What each path begins with, as `/jird`; empty: nothing. `/health` and `/ready` are there without it, too.
    pub path_prefix: String,
    /// The certificate and key for TLS; `None`: connections are not encrypted.
    pub tls: Option<Tls>,
    /// The program, and its arguments, that runs queries in SQL: each in a process of its own, which does nothing but call
    /// `jird_serve::run_queries` (in builds with the feature `query`). `None`: there are no queries, and no files, which
    /// only queries read.
    pub queries: Option<Vec<OsString>>,
    /// How much a request may take.
    pub limits: Limits,
    /// Whether each request becomes a line of JSON on standard error.
    pub log: bool,
}

/// Something that is served: an SQLite database, an event store, or a file of NDJSON, JSON, CSV, Parquet or Arrow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Its name in SQL. Without one, it has the name of the file, without its endings. A database has none, because its
    /// tables have names.
    pub name: Option<String>,
    /// Where it is.
    pub path: PathBuf,
}

impl Source {
    /// Reads `PATH` or `NAME=PATH`. A path that has a `=` and leads to something is a path.
    ///
    /// ```
    /// let source = jird_serve::Source::new("events=log/2024.ndjson".as_ref());
    /// assert_eq!((source.name.as_deref(), source.path), (Some("events"), "log/2024.ndjson".into()));
    /// ```
    pub fn new(argument: &OsStr) -> Self {
        let named = argument.to_str().and_then(|text| text.split_once('='));
        match named {
            Some((name, path)) if !name.contains('/') && !Path::new(argument).exists() => {
                Self { name: Some(name.to_owned()), path: path.into() }
            }
            _ => Self { name: None, path: argument.into() },
        }
    }
}

/// The files, in PEM, that connections are encrypted with. They are read when the server starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tls {
    /// The server's certificate, followed by its chain.
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
    /// How long a client may go without reading any of a response, or without sending any of a request's head.
    pub stall: Duration,
    /// The most connections. Others wait until one ends.
    pub connections: usize,
    /// The most connections of syslog; one address may have a quarter of them. Others are closed.
    pub syslog_connections: usize,
    /// The most requests at a time, after which the answer is 503.
    pub requests: usize,
    /// The most responses at a time that are too long to be kept in memory. Each takes a thread and a connection to the
    /// database; beyond that, the answer is 503.
    pub streams: usize,
    /// The most clients that follow events at a time, after which the answer is 503.
    pub followers: usize,
    /// How often a client that follows events gets a heartbeat when none arrive.
    pub heartbeat: Duration,
    /// How often alerts are checked.
    pub alerts: Duration,
    /// The most queries in SQL at a time, after which the answer is 503.
    pub queries: usize,
    /// The memory limit of a SQL query for grouping, sorting and joins, in bytes. Beyond it, the answer is 503.
    pub query_bytes: usize,
    /// The size of the response cache in bytes, approximately; 0 turns it off. Each connection to the database keeps a
    /// sixteenth of it.
    pub kept_bytes: usize,
    /// How far in the future the times of events may be: later events are refused. `None`: any time is taken.
    pub future: Option<FutureLimit>,
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
            syslog_connections: 256,
            requests: 512,
            streams: 64,
            followers: 128,
            heartbeat: Duration::from_secs(15),
            alerts: Duration::from_secs(10),
            queries: 8,
            query_bytes: 256 << 20,
            kept_bytes: 32 << 20,
            future: None,
        }
    }
}

impl Settings {
    /// A server of this database, store or file that only reads, at a free port of the loopback interface.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            sources: vec![Source { name: None, path: path.into() }],
            listen: SocketAddr::from(([127, 0, 0, 1], 0)).into(),
            syslog: Vec::new(),
            write: false,
            sync: Sync::Interval(SYNC_INTERVAL),
            time_field: None,
            keep: None,
            keep_bytes: None,
            state: None,
            quarantine: None,
            tokens: Vec::new(),
            hosts: Vec::new(),
            cors: Vec::new(),
            proxies: Vec::new(),
            path_prefix: String::new(),
            tls: None,
            queries: None,
            limits: Limits::default(),
            log: false,
        }
    }
}

impl Settings {
    /// Whether there are queries in SQL.
    pub(crate) fn has_queries(&self) -> bool {
        cfg!(feature = "query") && self.queries.is_some()
    }
}

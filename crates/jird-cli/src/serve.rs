//! `jird serve`: tables, files and events over HTTP.

use crate::durations::age;
use crate::input::open;
use crate::outcome::{Outcome, report as say};
use crate::signals;
use crate::store_args::{SyncArgument, future_limit, path_of};
use anyhow::{Context, Result};
use bytesize::ByteSize;
use jird_serve::{Listen, Proxy, Server, Settings, Source, Tls, Token};
use jird_store::FutureLimit;
use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  jird serve people.db                               read-only, at 127.0.0.1:8082
  jird serve people.db shop-log customers=users.csv  a database, a store, a file by another name
  jird serve people.db --listen 127.0.0.1:8083 --write
  jird serve shop-log --write                        an event store, created if it is missing

GET /TABLE returns rows, with conditions as in PostgREST. GET /TABLE/KEY returns one row:
    curl 'localhost:8082/users?id=gte.2&order=name&limit=10'
    curl localhost:8082/users/2
With --write, POST inserts rows, PATCH and PUT change them, and DELETE deletes them.
/query?sql=… runs SQL over everything that is served, /events returns the events of the store, and
/openapi.json describes all endpoints. A browser shows a page at the same address.

Events are ingested by POST /ingest, one JSON value per line, and by the endpoints that clients of
Seq, Elasticsearch (_bulk), OpenTelemetry (/v1/logs, /v1/traces) and Loki use:
    curl localhost:8082/ingest -H 'Content-Type: application/x-ndjson' --data-binary @events.ndjson
With --syslog 127.0.0.1:5514, syslog messages become events, too:
    logger -n 127.0.0.1 -P 5514 --tcp hello
Syslog has no tokens: every client that reaches that address can send events.

A server that other machines can reach needs a token (--token-file), which clients send as
Authorization: Bearer TOKEN. --tls-cert and --tls-key turn on TLS; without them, put the server
behind a TLS proxy wherever others could read the traffic.
/health and /ready are for probes, /metrics is for Prometheus. Behind a proxy, --listen unix:PATH,
--trust-proxy and --path-prefix help. --keep 30d and --keep-size 50GB remove old events.
On SIGHUP, it reads tokens and certificates again, if it has any.
On SIGTERM or SIGINT, the server finishes running requests (for at most ten seconds) and exits.";

/// Serve tables, files and events over HTTP
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ServeArgs {
    /// What to serve: an SQLite database, an event store, files; NAME=PATH gives a store or file a name
    #[arg(required = true, value_name = "SOURCE")]
    sources: Vec<OsString>,
    /// Where to listen: an address and port, unix:PATH, or systemd for the socket of a .socket unit
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8082")]
    listen: Listen,
    /// Take syslog messages (RFC 5424, RFC 3164) by UDP and TCP at this address and port, without any token. Repeatable
    #[arg(long, value_name = "ADDRESS", requires = "write", value_parser = address)]
    syslog: Vec<SocketAddr>,
    /// Allow requests that change data
    #[arg(long)]
    write: bool,
    /// When to flush events to disk: every batch, every 200 ms, or when the operating system does
    #[arg(long, value_enum, value_name = "WHEN", default_value = "interval")]
    sync: SyncArgument,
    /// For a new store: the field that holds the time of an event [default: @t]
    #[arg(long, value_name = "FIELD")]
    time_field: Option<String>,
    /// Remove events older than this, such as 12h or 30d: they are hidden within an hour, and deleted within a day
    #[arg(long, value_name = "AGE", requires = "write", value_parser = age)]
    keep: Option<Duration>,
    /// Remove the spans that end first whenever the files of the store take more than this, such as 50GB
    #[arg(long, value_name = "SIZE", requires = "write")]
    keep_size: Option<ByteSize>,
    /// Refuse events whose times are further in the future than this: 10m, 1h, 1d [default: any time is taken]
    #[arg(long, value_name = "DURATION", requires = "write", value_parser = future_limit)]
    future_limit: Option<FutureLimit>,
    /// A database of the server's own for saved views and alerts, which all users of the page share; made if missing
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,
    /// The file for rejected events [default: refused.ndjson in the store]
    #[arg(long, value_name = "FILE")]
    quarantine: Option<PathBuf>,
    /// A file of access tokens, one per line: TOKEN, or TOKEN read,query,write,ingest to limit what it may do
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// The server certificate and its chain, in PEM; turns on TLS
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// The private key of the certificate, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// A name of this server, besides localhost and its address; requests for other names are refused. Repeatable
    #[arg(long, value_name = "NAME")]
    host: Vec<String>,
    /// Allow cross-origin requests from this origin (scheme, host, port). Repeatable
    #[arg(long, value_name = "ORIGIN")]
    cors: Vec<String>,
    /// Trust the X-Forwarded-For, -Host and -Prefix of a proxy: ADDRESS, ADDRESS/BITS or unix. Repeatable
    #[arg(long, value_name = "ADDRESS")]
    trust_proxy: Vec<Proxy>,
    /// Prefix of all paths, such as /jird, if the proxy does not remove it
    #[arg(long, value_name = "PATH", default_value = "", hide_default_value = true)]
    path_prefix: String,
    /// Maximum size of a request body [default: 16MiB]
    #[arg(long, value_name = "SIZE")]
    body_max: Option<ByteSize>,
    /// Maximum number of rows in an answer; a request that would return more is refused [default: 1000000]
    #[arg(long, value_name = "ROWS")]
    rows_max: Option<u64>,
    /// Size of the response cache, which any write clears; 0 turns it off [default: 32MiB]
    #[arg(long, value_name = "SIZE")]
    kept_max: Option<ByteSize>,
    /// Time limit for a query or a write [default: 30]
    #[arg(long, value_name = "SECONDS")]
    time_max: Option<u32>,
    /// Memory limit per query for grouping, sorting and joins; its process gets 512 MiB more [default: 256MiB]
    #[cfg(feature = "sql")]
    #[arg(long, value_name = "SIZE")]
    memory_max: Option<ByteSize>,
    /// Turn off /query, and with it SQL and files, which only SQL reads
    #[cfg(feature = "sql")]
    #[arg(long)]
    no_query: bool,
    /// Disable the access log, which has a line of JSON for each request, on standard error
    #[arg(short, long)]
    quiet: bool,
}

pub(crate) fn run(args: ServeArgs) -> Result<Outcome> {
    let args = Arc::new(args);
    let server = Server::bind(settings(&args)?)?;
    let (stopper, reloader) = (server.stopper(), server.reloader());
    let (ended, is_ended) = channel::<()>();
    signals::first(move || {
        stopper.stop();
        // The server has its own time limit. A request that hangs beyond it does not keep the command from ending.
        let _ = is_ended.recv_timeout(Duration::from_secs(12));
    });
    if args.token_file.is_some() || args.tls_cert.is_some() {
        let args = Arc::clone(&args);
        signals::on_hangup(move || {
            let reloaded = tokens(&args).and_then(|tokens| Ok(reloader.reload(tokens, tls(&args).as_ref())?));
            match reloaded {
                Ok(()) => say("tokens and certificates were read again"),
                Err(error) => say(&format!("everything stays as it was: {error:#}")),
            }
        });
    }
    if !args.quiet {
        let sources: Vec<_> = args.sources.iter().map(|source| source.to_string_lossy()).collect();
        let scheme = if args.tls_cert.is_some() { "https" } else { "http" };
        let place = match server.address() {
            Listen::Tcp(address) => format!("{scheme}://{address}{}", args.path_prefix),
            other => other.to_string(),
        };
        say(&format!("serving {} at {place}", sources.join(", ")));
        for address in server.syslog() {
            let reach = if address.ip().is_loopback() { "" } else { ", from everyone who can reach it" };
            say(&format!("taking syslog by UDP and TCP at {address}{reach}"));
        }
    }
    if let Err(error) = server.run() {
        // What went wrong decides the exit code, and not a signal that came before.
        std::mem::forget(ended);
        return Err(error.into());
    }
    // Only a signal stops it, and its thread ends the command with the signal's exit code.
    drop(ended);
    loop {
        std::thread::park();
    }
}

fn settings(args: &ServeArgs) -> Result<Settings> {
    let mut settings = Settings::new("");
    settings.sources = args.sources.iter().map(|source| Source::new(source)).collect();
    settings.listen = args.listen.clone();
    settings.syslog.clone_from(&args.syslog);
    settings.write = args.write;
    settings.sync = args.sync.into();
    settings.time_field = args.time_field.as_deref().map(path_of).transpose()?;
    settings.state.clone_from(&args.state);
    settings.quarantine.clone_from(&args.quarantine);
    settings.keep = args.keep;
    settings.keep_bytes = args.keep_size.map(|size| size.as_u64());
    settings.limits.future = args.future_limit;
    settings.hosts.clone_from(&args.host);
    settings.proxies.clone_from(&args.trust_proxy);
    settings.path_prefix.clone_from(&args.path_prefix);
    settings.cors.clone_from(&args.cors);
    settings.log = !args.quiet;
    settings.tokens = tokens(args)?;
    settings.tls = tls(args);
    #[cfg(feature = "sql")]
    if !args.no_query {
        settings.queries = Some(query_process());
    }
    if let Some(bytes) = args.body_max {
        settings.limits.body_bytes = usize::try_from(bytes.as_u64()).context("--body-max")?;
        settings.limits.bodies_bytes = settings.limits.bodies_bytes.max(settings.limits.body_bytes);
    }
    if let Some(bytes) = args.kept_max {
        settings.limits.kept_bytes = usize::try_from(bytes.as_u64()).context("--kept-max")?;
    }
    if let Some(rows) = args.rows_max {
        settings.limits.rows = rows;
    }
    if let Some(seconds) = args.time_max {
        settings.limits.time = Duration::from_secs(seconds.into());
    }
    #[cfg(feature = "sql")]
    if let Some(bytes) = args.memory_max {
        settings.limits.query_bytes = usize::try_from(bytes.as_u64()).context("--memory-max")?;
    }
    Ok(settings)
}

/// An address and port.
fn address(text: &str) -> Result<SocketAddr> {
    text.parse().ok().context("wanted ADDRESS:PORT such as 127.0.0.1:5514")
}

fn tokens(args: &ServeArgs) -> Result<Vec<Token>> {
    let Some(path) = &args.token_file else { return Ok(Vec::new()) };
    let text = std::io::read_to_string(open(path)?).with_context(|| path.display().to_string())?;
    Token::read_all(&text).with_context(|| path.display().to_string())
}

fn tls(args: &ServeArgs) -> Option<Tls> {
    let (certificate, key) = (args.tls_cert.clone()?, args.tls_key.clone()?);
    Some(Tls { certificate, key })
}

/// The argument with which this program runs queries for a server.
#[cfg(feature = "sql")]
pub(crate) const QUERY_PROCESS: &str = "query-process";

/// This program, also if another file has taken its place.
#[cfg(feature = "sql")]
fn query_process() -> Vec<OsString> {
    let program = match std::path::Path::new("/proc/self/exe") {
        link if link.exists() => link.into(),
        _ => std::env::current_exe().unwrap_or_else(|_| "jird".into()),
    };
    vec![program.into(), QUERY_PROCESS.into()]
}

/// Runs queries for a server, which has started this process.
#[cfg(feature = "sql")]
pub(crate) fn run_queries() -> Outcome {
    match jird_serve::run_queries() {
        Ok(()) => Outcome::Fine,
        Err(error) => Outcome::of_error(&error.into()),
    }
}

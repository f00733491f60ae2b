//! `jird serve`: tables, files and events over HTTP.

use crate::input::open;
use crate::outcome::{Outcome, report as say};
use crate::signals;
use crate::store_args::{SyncArgument, path_of};
use anyhow::{Context, Result};
use bytesize::ByteSize;
use jird_serve::{Server, Settings, Source, Tls};
use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::mpsc::channel;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  jird serve people.db                               read-only, at 127.0.0.1:8082
  jird serve people.db shop-log customers=users.csv  a database, a store, a file by another name
  jird serve people.db --listen 127.0.0.1:8083 --write
  jird serve shop-log --write                        an event store, made if it is missing

A client asks for rows by GET /TABLE, with conditions as PostgREST has them, and for one by /TABLE/KEY:
    curl 'localhost:8082/users?id=gte.2&order=name&limit=10'
    curl localhost:8082/users/2
With --write, POST inserts, PATCH and PUT change, DELETE deletes. /query?sql=… answers SQL over all that is served,
/events has the events of the store. /openapi.json lists all there is. A browser shows a page at the same address.

A store takes events by POST /ingest, a line of JSON each, and where the clients of Seq, Elasticsearch (_bulk) and
OpenTelemetry (/v1/logs) send them:
    curl localhost:8082/ingest -H 'Content-Type: application/x-ndjson' --data-binary @events.ndjson

A server that other machines can reach needs a token, which clients send as Authorization: Bearer TOKEN.
With --tls-cert and --tls-key it speaks TLS; without, put it behind a proxy that does where others can listen.
SIGTERM and SIGINT end it after the requests that it has begun, within ten seconds.";

/// Serve tables, files and events over HTTP
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ServeArgs {
    /// What is served: an SQLite database, an event store, files; NAME=PATH names a store or file
    #[arg(required = true, value_name = "SOURCE")]
    sources: Vec<OsString>,
    /// The address and port to listen at
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8082")]
    listen: SocketAddr,
    /// Let requests change what is served
    #[arg(long)]
    write: bool,
    /// When events are on disk: before they are acknowledged, within 200 ms, or when the system likes
    #[arg(long, value_enum, value_name = "WHEN", default_value = "interval")]
    sync: SyncArgument,
    /// Of a new store: the field that holds the time of an event [default: @t]
    #[arg(long, value_name = "FIELD")]
    time_field: Option<String>,
    /// Where events go that are refused because of what they are [default: refused.ndjson in the store]
    #[arg(long, value_name = "FILE")]
    quarantine: Option<PathBuf>,
    /// A file whose first line is the token that requests must have
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// The certificate that connections are encrypted with, in PEM, and those that lead to one that clients trust
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// The private key of the certificate, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// A name of this server, beside localhost and its address; requests for other names are refused. Repeatable
    #[arg(long, value_name = "NAME")]
    host: Vec<String>,
    /// An origin (scheme, host, port) whose pages may ask as the server's own may. Repeatable
    #[arg(long, value_name = "ORIGIN")]
    cors: Vec<String>,
    /// The longest body of a request [default: 16MiB]
    #[arg(long, value_name = "SIZE")]
    body_max: Option<ByteSize>,
    /// The most rows of an answer; a request that would have more is refused [default: 1000000]
    #[arg(long, value_name = "ROWS")]
    rows_max: Option<u64>,
    /// How much memory answers may take that are kept until somebody writes; 0 keeps none [default: 32MiB]
    #[arg(long, value_name = "SIZE")]
    kept_max: Option<ByteSize>,
    /// The longest time for a query or a write [default: 30]
    #[arg(long, value_name = "SECONDS")]
    time_max: Option<u32>,
    /// The most memory that groups, sorts and joins of a query may take [default: 256MiB]
    #[cfg(feature = "sql")]
    #[arg(long, value_name = "SIZE")]
    memory_max: Option<ByteSize>,
    /// Write no line of JSON for each request to standard error
    #[arg(short, long)]
    quiet: bool,
}

pub(crate) fn run(args: &ServeArgs) -> Result<Outcome> {
    let server = Server::bind(settings(args)?)?;
    let (address, stopper) = (server.address(), server.stopper());
    let (ended, is_ended) = channel::<()>();
    signals::first(move || {
        stopper.stop();
        // It has a limit of its own. What hangs beyond it does not keep the command from ending.
        let _ = is_ended.recv_timeout(Duration::from_secs(12));
    });
    if !args.quiet {
        let sources: Vec<_> = args.sources.iter().map(|source| source.to_string_lossy()).collect();
        let scheme = if args.tls_cert.is_some() { "https" } else { "http" };
        say(&format!("serving {} at {scheme}://{address}", sources.join(", ")));
    }
    server.run()?;
    // Only a signal stops it, and its thread ends the command with the signal's exit code.
    drop(ended);
    loop {
        std::thread::park();
    }
}

fn settings(args: &ServeArgs) -> Result<Settings> {
    let mut settings = Settings::new("");
    settings.sources = args.sources.iter().map(|source| Source::new(source)).collect();
    settings.listen = args.listen;
    settings.write = args.write;
    settings.sync = args.sync.into();
    settings.time_field = args.time_field.as_deref().map(path_of).transpose()?;
    settings.quarantine.clone_from(&args.quarantine);
    settings.hosts.clone_from(&args.host);
    settings.cors.clone_from(&args.cors);
    settings.log = !args.quiet;
    if let Some(path) = &args.token_file {
        let text = std::io::read_to_string(open(path)?).with_context(|| path.display().to_string())?;
        settings.token = Some(text.lines().next().unwrap_or_default().trim().to_owned());
    }
    if let (Some(certificate), Some(key)) = (args.tls_cert.clone(), args.tls_key.clone()) {
        settings.tls = Some(Tls { certificate, key });
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

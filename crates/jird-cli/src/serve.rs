//! `jird serve`: tables as JSON over HTTP.

use crate::outcome::{Outcome, report as say};
use crate::signals;
use anyhow::{Context, Result};
use bytesize::ByteSize;
use jird_serve::{Server, Settings, Tls};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::mpsc::channel;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  jird serve people.db                                  read-only, at 127.0.0.1:8082
  jird serve people.db --listen 127.0.0.1:8083 --write

A client asks for rows by GET /TABLE, with conditions as PostgREST has them, and for one by /TABLE/KEY:
    curl 'localhost:8082/users?id=gte.2&order=name&limit=10'
    curl localhost:8082/users/2
With --write, POST inserts, PATCH and PUT change, DELETE deletes. /openapi.json lists all there is.

A server that other machines can reach needs a token, which clients send as Authorization: Bearer TOKEN.
With --tls-cert and --tls-key it speaks TLS; without, put it behind a proxy that does where others can listen.
SIGTERM and SIGINT end it after the requests that it has begun, within ten seconds.";

/// Serve the tables of a database as JSON over HTTP
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ServeArgs {
    /// The SQLite database
    database: PathBuf,
    /// The address and port to listen at
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8082")]
    listen: SocketAddr,
    /// Let requests change the database
    #[arg(long)]
    write: bool,
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
        let scheme = if args.tls_cert.is_some() { "https" } else { "http" };
        say(&format!("serving {} at {scheme}://{address}", args.database.display()));
    }
    server.run()?;
    // Only a signal stops it, and its thread ends the command with the signal's exit code.
    drop(ended);
    loop {
        std::thread::park();
    }
}

fn settings(args: &ServeArgs) -> Result<Settings> {
    let mut settings = Settings::new(&args.database);
    settings.listen = args.listen;
    settings.write = args.write;
    settings.hosts.clone_from(&args.host);
    settings.log = !args.quiet;
    if let Some(path) = &args.token_file {
        let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
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
    Ok(settings)
}

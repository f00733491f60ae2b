//! The process of queries: it takes one after the other from its server, runs them, and ends with it.

use crate::base::problem::Problem;
use crate::queries::FORMS;
use crate::queries::confine::{confine, limit_time};
use crate::queries::message::{Failure, Order, ProcessMessage, Setup, write_part};
use crate::request::rows::CHUNK;
use hyper::StatusCode;
use jird_formats::apart;
use jird_query::{Error, ErrorKind, Format, Named, Options, Query, Report};
use rustix::event::{PollFd, PollFlags, poll};
use std::io::{self, BufReader, BufWriter, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

/// The variable that a server sets for its processes of queries.
pub(super) const VARIABLE: &str = "JIRD_QUERY_PROCESS";
/// The stack of a thread that plans a query. A sum of a thousand numbers took 16 MB without optimisation.
const STACK_BYTES: usize = 64 << 20;
/// So long a process waits for threads of its last query, which end as soon as they see that it is over.
const PATIENCE: Duration = Duration::from_millis(100);

/// Runs queries for the server that has started this process, until the server has no more of them or ends. It is what
/// [`Settings::queries`](crate::Settings::queries) has to lead to: a program calls this before it does anything else.
///
/// # Errors
/// If no server has started the process, or if the system does not limit it.
pub fn run_queries() -> io::Result<()> {
    if std::env::var_os(VARIABLE).is_none() {
        return Err(io::Error::other("only a server starts this process"));
    }
    let server = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let mut orders = BufReader::new(server.try_clone()?);
    let setup = Setup::read(&mut orders)?;
    confine(&setup)?;
    end_with(server.try_clone()?)?;
    let mut out = BufWriter::with_capacity(CHUNK, server);
    loop {
        ProcessMessage::Ready.write(&mut out)?;
        out.flush()?;
        let order = match Order::read(&mut orders) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
            order => order?,
        };
        ProcessMessage::Begun.write(&mut out)?;
        out.flush()?;
        out = answer(&setup, order, out)?;
    }
}

/// Ends the process with its server, or when the server does not want the answer.
fn end_with(server: UnixStream) -> io::Result<()> {
    apart("server", None, move || {
        // The end of a connection is told to those that wait for nothing.
        let mut ends = [PollFd::new(&server, PollFlags::empty())];
        while !matches!(poll(&mut ends, None), Ok(1..)) {}
        std::process::exit(0);
    })
}

/// Runs a query on a thread with stack enough, and tells how it went. The process ends if anything of the query goes on.
fn answer(setup: &Setup, order: Order, out: BufWriter<UnixStream>) -> io::Result<BufWriter<UnixStream>> {
    let options = Options {
        format: FORMS.get(order.form as usize).map_or(Format::Json, |form| form.0),
        limit: order.limit,
        rows_max: order.rows_max,
        memory_max: usize::try_from(setup.memory_max).ok(),
        ..Options::default()
    };
    limit_time(setup.seconds, options.threads)?;
    let running = Arc::new(());
    let query = Query::of_named(order.sql, named(&setup.paths, order.tables), options);
    let query = query.keeping(Arc::clone(&running) as _);
    let (done, is_done) = channel();
    apart("query", Some(STACK_BYTES), move || {
        let mut out = Parts(out);
        let mut report = Report::default();
        let made = query.run(&mut out, &mut report);
        let told = match made {
            Ok(()) => ProcessMessage::Whole { rows: report.rows },
            Err(error) => ProcessMessage::Failed(failure(&error, query.options().rows_max)),
        };
        query.interrupt().stop();
        drop(query);
        // The server may have gone.
        let _ = done.send(told.write(&mut out.0).and_then(|()| out.0.flush()).map(|()| out.0));
    })?;
    let out = is_done.recv().map_err(|_| io::Error::other("the query came to no end"))??;
    let over = Instant::now();
    while Arc::strong_count(&running) > 1 && over.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_millis(1));
    }
    if Arc::strong_count(&running) > 1 {
        std::process::exit(0);
    }
    Ok(out)
}

fn named(paths: &[PathBuf], tables: Vec<super::message::Table>) -> Vec<Named> {
    let named = tables.into_iter().filter_map(|table| {
        let named = Named::new(&table.name, paths.get(usize::try_from(table.path).ok()?)?);
        Some(if table.is_of_database { named.of_database(table.name) } else { named })
    });
    named.collect()
}

/// How the server answers a query that failed.
fn failure(error: &Error, rows_max: Option<u64>) -> Failure {
    let told = |status: StatusCode| (status, error.to_string());
    let (status, detail) = match error.kind() {
        ErrorKind::Sql => told(StatusCode::BAD_REQUEST),
        ErrorKind::Rows => {
            let rows_max = rows_max.unwrap_or_default();
            (StatusCode::BAD_REQUEST, format!("there are more than {rows_max} rows: ask for fewer, with limit"))
        }
        // The records are not what the query takes them for.
        ErrorKind::Record | ErrorKind::Frame | ErrorKind::Data => told(StatusCode::UNPROCESSABLE_ENTITY),
        ErrorKind::Memory => (StatusCode::SERVICE_UNAVAILABLE, super::MEMORY.to_owned()),
        _ => told(StatusCode::INTERNAL_SERVER_ERROR),
    };
    Failure { status: status.as_u16(), detail, place: error.place() }
}

impl Failure {
    /// Whether it says more of the process than of the query.
    pub(super) fn is_internal(&self) -> bool {
        self.status == StatusCode::INTERNAL_SERVER_ERROR.as_u16()
    }

    /// The same, as the server answers it.
    pub(super) fn problem(self) -> Problem {
        match StatusCode::from_u16(self.status) {
            Ok(StatusCode::SERVICE_UNAVAILABLE) => Problem::busy(self.detail),
            Ok(status) if status.is_client_error() => Problem::new(status, self.detail).at(self.place),
            _ => Problem::new(StatusCode::INTERNAL_SERVER_ERROR, self.detail),
        }
    }
}

/// Sends a result in parts.
struct Parts(BufWriter<UnixStream>);

impl Write for Parts {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(CHUNK);
        write_part(&bytes[..taken], &mut self.0)?;
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

//! `/query`: SQL over everything that is served, and over nothing else.

use crate::base::problem::Problem;
use crate::cache::readers::Found;
use crate::http::body::{Body, GiveUp, receive};
use crate::request::choice::{self, Coding};
use crate::request::input::parser;
use crate::request::rows::{CHUNK, Out, Stop};
use crate::request::uri;
use crate::routes::state::State;
use crate::tables::database::{Database, Opened};
use crate::tables::stream::Long;
use hyper::body::Incoming;
use hyper::header::{ALLOW, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderValue, VARY};
use hyper::http::request::Parts;
use hyper::{Response, StatusCode};
use jird::Kind;
use jird_formats::apart;
use jird_query::{ErrorKind, Format, Named, Options, Query, Report};
use std::collections::HashSet;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::OwnedSemaphorePermit;

/// The longest SQL: planning takes time and stack that no other limit bounds.
const SQL_BYTES: usize = 64 << 10;
/// The stack of a thread that plans a query. A sum of a thousand numbers took 16 MB without optimisation.
const STACK_BYTES: usize = 64 << 20;

/// What a client wants to know.
#[derive(Debug, Default)]
struct Asked {
    sql: Option<String>,
    limit: Option<u64>,
}

/// The media types of answers. The first ones are what an answer says that it is.
const FORMS: [(Format, &[&str]); 6] = [
    (Format::Json, &["application/json", "application/*", "*/*"]),
    (Format::Ndjson, &["application/x-ndjson", "application/ndjson", "application/jsonl"]),
    (Format::Csv, &["text/csv", "text/*"]),
    (Format::Arrow, &["application/vnd.apache.arrow.file"]),
    (Format::ArrowStream, &["application/vnd.apache.arrow.stream"]),
    (Format::Parquet, &["application/vnd.apache.parquet"]),
];

/// Answers a request, which no page of another server has sent.
pub(crate) async fn respond(state: &State, parts: &Parts, body: Incoming) -> Result<Response<Body>, Problem> {
    const METHODS: &str = "GET, HEAD, POST";
    let mut asked = Asked::default();
    match parts.method.as_str() {
        "GET" | "HEAD" => asked.parameters(parts.uri.query())?,
        "POST" => {
            let media = choice::media(&parts.headers);
            let is_json = media == "application/json";
            if !is_json && media != "application/sql" || parts.headers.contains_key(CONTENT_ENCODING) {
                let detail = "a query is application/json, {\"sql\": \"…\"}, or application/sql, and not compressed";
                return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, detail));
            }
            asked.parameters(parts.uri.query())?;
            let received = receive(body, &state.limits, &state.rooms).await?;
            if is_json {
                asked.members(&received.bytes)?;
            } else {
                let sql = String::from_utf8(received.bytes).map_err(|_| Problem::bad("the SQL is not UTF-8"))?;
                asked.sql(sql)?;
            }
        }
        "OPTIONS" => {
            let mut response = Response::new(Body::whole(Vec::new()));
            response.headers_mut().insert(ALLOW, HeaderValue::from_static(METHODS));
            *response.status_mut() = StatusCode::NO_CONTENT;
            return Ok(response);
        }
        _ => return Err(Problem::method(METHODS)),
    }
    answer(state, asked, &parts.headers).await
}

impl Asked {
    fn sql(&mut self, sql: String) -> Result<(), Problem> {
        if sql.len() > SQL_BYTES {
            return Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, format!("SQL has at most {SQL_BYTES} bytes here")));
        }
        match self.sql.replace(sql) {
            None => Ok(()),
            Some(_) => Err(Problem::bad("the request has SQL twice")),
        }
    }

    fn limit(&mut self, limit: Option<u64>) -> Result<(), Problem> {
        let Some(limit) = limit else { return Err(Problem::bad("limit must be an integer, not negative")) };
        match self.limit.replace(limit) {
            None => Ok(()),
            Some(_) => Err(Problem::bad("the request has a limit twice")),
        }
    }

    fn parameters(&mut self, query: Option<&str>) -> Result<(), Problem> {
        for (name, value) in uri::parameters(query)? {
            match name.as_str() {
                "sql" => self.sql(value)?,
                "limit" => self.limit(uri::count(&value))?,
                _ => return Err(unknown(&name)),
            }
        }
        Ok(())
    }

    fn members(&mut self, body: &[u8]) -> Result<(), Problem> {
        let mut parser = parser();
        let root = parser.parse(body).map_err(|error| Problem::of_body(&error, body))?;
        if root.kind() != Kind::Object {
            return Err(Problem::bad("the body is no object, as {\"sql\": \"…\"}"));
        }
        for (key, value) in root.entries() {
            let key = key.as_str().unwrap_or_default();
            match (&*key, value.as_str()) {
                ("sql", Some(sql)) => self.sql(sql.into())?,
                ("sql", None) => return Err(Problem::bad("sql is no string")),
                ("limit", _) => self.limit(value.as_u64())?,
                _ => return Err(unknown(&key)),
            }
        }
        Ok(())
    }
}

fn unknown(name: &str) -> Problem {
    let name: String = name.chars().take(80).collect();
    Problem::bad(format!("a query has no {name:?}: it has sql and limit"))
}

/// Begins the answer.
async fn answer(state: &State, asked: Asked, headers: &HeaderMap) -> Result<Response<Body>, Problem> {
    let detail = "results come as application/json, application/x-ndjson, text/csv, application/vnd.apache.arrow.file, \
                  application/vnd.apache.arrow.stream or application/vnd.apache.parquet";
    let format = choice::best(headers, &FORMS, detail)?;
    let Some(sql) = asked.sql else { return Err(Problem::bad("the query is missing: sql")) };
    let rows_max = state.limits.rows;
    if asked.limit.is_some_and(|limit| limit > rows_max) {
        return Err(Problem::bad(format!("limit is at most {rows_max} here")));
    }
    let database = state.database.as_ref().map(Database::now).transpose()?;
    let queries = &state.queries;
    let place = Arc::new(queries.place()?);
    let options = Options {
        format,
        limit: asked.limit,
        rows_max: Some(rows_max).filter(|_| asked.limit.is_none()),
        memory_max: Some(queries.memory_max),
        ..Options::default()
    };
    let query = Query::of_named(sql, named(state, database.as_deref()), options).keeping(Arc::clone(&place) as _);
    let interrupt = query.interrupt();
    interrupt.stop_after(state.limits.time);
    let give_up = GiveUp::new(move || interrupt.stop());
    let failed = |what: &str| Problem::new(StatusCode::INTERNAL_SERVER_ERROR, what);
    // What is binary has packed parts, or is read at any place.
    let coding = choice::coding(headers).filter(|_| !format.is_binary());
    let (out, begun, chunks) = Long::new(coding).map_err(|_| failed("the packer does not start"))?;
    apart("query", Some(STACK_BYTES), move || run(query, out, place, database))
        .map_err(|_| Problem::busy("there is no thread for the query"))?;
    begun.await.map_err(|_| failed("the query came to no end"))??;
    let mut response = Response::new(Body::stream(chunks, give_up));
    set_head(response.headers_mut(), format, coding);
    Ok(response)
}

fn set_head(headers: &mut HeaderMap, format: Format, coding: Option<Coding>) {
    let media = FORMS.iter().find(|(known, _)| *known == format).map_or("", |(_, names)| names[0]);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(media));
    headers.insert(VARY, HeaderValue::from_static("accept, accept-encoding, authorization"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if let Some(coding) = coding {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static(coding.name()));
    }
}

/// All that SQL may name. A table that came later has no name if a file has it.
fn named(state: &State, database: Option<&Opened>) -> Vec<Named> {
    let store = state.store.iter().map(|store| Named::new(&store.name, store.store.path()));
    let files = state.files.iter().map(|file| Named::new(&file.name, &file.path));
    let mut named: Vec<_> = store.chain(files).collect();
    if let Some(database) = database {
        let taken: HashSet<&str> =
            state.store.iter().map(|store| &*store.name).chain(state.files.iter().map(|file| &*file.name)).collect();
        let catalog = database.catalog();
        let names = catalog.tables().iter().map(|table| table.info.name()).filter(|name| !taken.contains(name));
        named.extend(names.map(|name| Named::new(name, &database.path).of_database(name)));
    }
    named
}

/// So long an answer waits for threads of its query that end as soon as they see that it is over.
const PATIENCE: Duration = Duration::from_millis(100);

/// Runs a query. Its place is free when its last thread has ended.
fn run(query: Query, mut out: Long, place: Arc<OwnedSemaphorePermit>, database: Option<Arc<Opened>>) {
    let mut report = Report::default();
    // The query has connections of its own.
    let user = database.as_ref().map(|database| database.readers.user());
    let made = query.run(&mut Pushed(&mut out), &mut report);
    drop(user);
    let rows_max = query.options().rows_max;
    // What still runs, after an error, ends.
    query.interrupt().stop();
    drop(query);
    // A client that has the answer may ask again at once.
    let over = Instant::now();
    while Arc::strong_count(&place) > 1 && over.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_millis(1));
    }
    drop(place);
    out.finish(match made {
        Ok(()) => match database.map_or(Ok(()), |database| database.check()) {
            Ok(()) => Ok(Found { rows: report.rows, total: None }),
            Err(problem) => Err(problem.into()),
        },
        Err(error) => Err(stop(&error, rows_max)),
    });
}

/// Why there is no answer.
fn stop(error: &jird_query::Error, rows_max: Option<u64>) -> Stop {
    let told = |status| Problem::new(status, error.to_string()).at(error.place());
    Stop::Problem(match error.kind() {
        ErrorKind::BrokenPipe | ErrorKind::Interrupted => return Stop::Gone,
        ErrorKind::Sql => told(StatusCode::BAD_REQUEST),
        ErrorKind::Rows => {
            let rows_max = rows_max.unwrap_or_default();
            Problem::bad(format!("there are more than {rows_max} rows: ask for fewer, with limit"))
        }
        // The records are not what the query takes them for.
        ErrorKind::Record | ErrorKind::Frame | ErrorKind::Data => told(StatusCode::UNPROCESSABLE_ENTITY),
        ErrorKind::Time => Problem::busy("the query took longer than this server allows"),
        ErrorKind::Memory => Problem::busy("the query needs more memory than this server allows"),
        _ => told(StatusCode::INTERNAL_SERVER_ERROR),
    })
}

/// Takes the result in chunks.
struct Pushed<'o>(&'o mut Long);

impl Write for Pushed<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(CHUNK);
        self.0.text().extend_from_slice(&bytes[..taken]);
        if self.0.text().len() >= CHUNK {
            self.0.full().map_err(|_| io::ErrorKind::BrokenPipe)?;
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

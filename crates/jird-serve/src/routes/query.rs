//! `/query`: SQL over everything that is served, and over nothing else.

use crate::base::problem::Problem;
use crate::http::body::{Body, receive};
use crate::queries::{self, FORMS, Order, Queries, Table};
use crate::request::input::parser;
use crate::request::negotiation::{self, Coding};
use crate::request::uri;
use crate::routes::state::State;
use crate::tables::database::{Database, Opened};
use crate::tables::stream::Long;
use hyper::body::Incoming;
use hyper::header::{ALLOW, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderValue, VARY};
use hyper::http::request::Parts;
use hyper::{Response, StatusCode};
use jird::Kind;
use jird_query::Format;
use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

/// The longest SQL: planning takes time and stack that no other limit bounds.
const SQL_BYTES: usize = 64 << 10;
/// What a client wants to know.
#[derive(Debug, Default)]
struct SqlRequest {
    sql: Option<String>,
    limit: Option<u64>,
}

/// Answers a request, which no page of another server has sent.
pub(crate) async fn respond(
    state: &State,
    queries: &Arc<Queries>,
    parts: &Parts,
    body: Incoming,
) -> Result<Response<Body>, Problem> {
    const METHODS: &str = "GET, HEAD, POST";
    let mut asked = SqlRequest::default();
    match parts.method.as_str() {
        "GET" | "HEAD" => asked.parameters(parts.uri.query())?,
        "POST" => {
            let media = negotiation::media(&parts.headers);
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
    answer(state, queries, asked, &parts.headers).await
}

impl SqlRequest {
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
async fn answer(
    state: &State,
    queries: &Arc<Queries>,
    asked: SqlRequest,
    headers: &HeaderMap,
) -> Result<Response<Body>, Problem> {
    let detail = "results come as application/json, application/x-ndjson, text/csv, application/vnd.apache.arrow.file, \
                  application/vnd.apache.arrow.stream or application/vnd.apache.parquet";
    let format = negotiation::best(headers, &FORMS, detail)?;
    let Some(sql) = asked.sql else { return Err(Problem::bad("the query is missing: sql")) };
    let rows_max = state.limits.rows;
    if asked.limit.is_some_and(|limit| limit > rows_max) {
        return Err(Problem::bad(format!("limit is at most {rows_max} here")));
    }
    let database = state.database.as_ref().map(Database::now).transpose()?;
    let place = queries.place()?;
    let order = Order {
        sql,
        form: FORMS.iter().position(|(known, _)| *known == format).unwrap_or_default() as u64,
        limit: asked.limit,
        rows_max: Some(rows_max).filter(|_| asked.limit.is_none()),
        tables: tables(state, queries, database.as_deref()),
    };
    // What is binary has packed parts, or is read at any place.
    let coding = negotiation::coding(headers).filter(|_| !format.is_binary());
    let failed = |what: &str| Problem::new(StatusCode::INTERNAL_SERVER_ERROR, what);
    let (out, begun, chunks) = Long::new(coding, None).map_err(|_| failed("the packer does not start"))?;
    let give_up = queries::answer(Arc::clone(queries), order, place, database, state.limits.time, out);
    let give_up = give_up.map_err(|_| Problem::busy("there is no thread for the query"))?;
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
fn tables(state: &State, queries: &Queries, database: Option<&Opened>) -> Vec<Table> {
    let table = |name: &str, path: &Path, is_of_database| Table {
        name: name.to_owned(),
        path: queries.position(path),
        is_of_database,
    };
    let store = state.store.iter().map(|store| table(&store.name, store.store.path(), false));
    let files = state.files.iter().map(|file| table(&file.name, &file.path, false));
    let mut tables: Vec<_> = store.chain(files).collect();
    if let Some(database) = database {
        let taken: HashSet<String> = tables.iter().map(|table| table.name.clone()).collect();
        let catalog = database.catalog();
        let names = catalog.tables().iter().map(|table| table.info.name()).filter(|name| !taken.contains(*name));
        tables.extend(names.map(|name| table(name, &database.path, true)));
    }
    tables
}

//! `POST`, `PUT`, `PATCH` and `DELETE` of rows.

use crate::base::problem::{Code, Problem};
use crate::http::body::{Body, receive};
use crate::http::etag::{Tag, Tags};
use crate::request::ask::no_row;
use crate::request::input::Input;
use crate::request::negotiation::{self, Preferences, text};
use crate::request::rows::Format;
use crate::request::uri::encoded;
use crate::routes::read::ReadRequest;
use crate::routes::state::State;
use crate::tables::database::Opened;
use crate::tables::writer::{Terms, Turn, Writer, Written};
use hyper::body::Incoming;
use hyper::header::{
    CONTENT_ENCODING, CONTENT_RANGE, CONTENT_TYPE, ETAG, HeaderMap, HeaderName, HeaderValue, IF_MATCH, IF_NONE_MATCH,
    LOCATION,
};
use hyper::{Method, Response, StatusCode};
use std::sync::Arc;

/// The form of a body.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Media {
    Json,
    Lines,
    /// A JSON Patch (RFC 6902).
    Patch,
}

/// Answers a request that changes rows.
pub(crate) async fn change(
    (state, database): (&State, &Arc<Opened>),
    method: Method,
    wanted: ReadRequest,
    headers: &HeaderMap,
    body: Incoming,
) -> Result<Response<Body>, Problem> {
    let writer = database.writer()?;
    if wanted.table.info.is_view() {
        return Err(Problem::method("GET, HEAD"));
    }
    let preferences = Preferences::new(headers);
    let terms = Terms {
        if_match: text(headers, &IF_MATCH).map(|tags| Tags::new(&tags)),
        is_absent: text(headers, &IF_NONE_MATCH).is_some_and(|tags| tags.trim() == "*"),
        rows: preferences.wants_rows.then_some(if wanted.id.is_some() || negotiation::wants_one(headers) {
            Format::Object
        } else {
            Format::Array
        }),
    };
    if wanted.id.is_none() && (terms.if_match.is_some() || terms.is_absent) {
        return Err(Problem::bad("If-Match and If-None-Match are for one row"));
    }
    let media = if method == Method::DELETE { Media::Json } else { media(headers)? };
    if media == Media::Lines && method != Method::POST {
        return Err(Problem::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "this method takes one object as application/json",
        ));
    }
    if media == Media::Patch && (method != Method::PATCH || wanted.id.is_none() || !wanted.parameters.is_empty()) {
        let detail = "application/json-patch+json is for PATCH of one row, by its path and without parameters";
        return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, detail));
    }
    // Wrong conditions are reported before the body is awaited.
    let ask = wanted.ask()?;
    if ask.has_nested() {
        return Err(Problem::bad("conditions, order and pages of tables in brackets are for reading"));
    }
    if method == Method::POST {
        check_post(&ask)?;
    } else if ask.on_conflict.is_some() || ask.columns.is_some() || ask.is_page() {
        return Err(Problem::bad("this method takes no limit, no offset, no on_conflict and no columns"));
    } else if !ask.has_conditions() {
        return Err(Problem::bad("this method needs conditions: without one it would change all rows"));
    }
    drop(ask);
    let received = receive(body, &state.limits, &state.rooms).await?;
    let turn = writer.turn().await?;
    let database = Arc::clone(database);
    let job = move || {
        database.check()?;
        let written = write(&writer, &method, &wanted, (&received.bytes, media), preferences, &terms, &turn);
        let written = written.map_err(|problem| match &wanted.id {
            Some(id) if problem.code == Code::NotOne => no_row(&wanted.table, id),
            _ => problem,
        })?;
        // What was written to a file that is no longer served is not there for clients.
        database.check()?;
        answer(&method, &wanted, written)
    };
    let failed = |_| Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "the write did not come to an end");
    tokio::task::spawn_blocking(job).await.map_err(failed)?
}

fn check_post(ask: &crate::request::ask::Ask<'_>) -> Result<(), Problem> {
    if ask.has_conditions() || ask.is_page() {
        return Err(Problem::bad("POST takes no conditions, no limit and no offset"));
    }
    Ok(())
}

fn media(headers: &HeaderMap) -> Result<Media, Problem> {
    let unsupported = |detail: &str| Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, detail));
    if text(headers, &CONTENT_ENCODING).is_some_and(|coding| !coding.eq_ignore_ascii_case("identity")) {
        return unsupported("bodies are not compressed here");
    }
    match negotiation::media(headers).as_str() {
        "application/json" | "application/merge-patch+json" => Ok(Media::Json),
        "application/x-ndjson" | "application/ndjson" | "application/jsonl" => Ok(Media::Lines),
        "application/json-patch+json" => Ok(Media::Patch),
        _ => unsupported("bodies are application/json or application/x-ndjson"),
    }
}

fn write(
    writer: &Writer,
    method: &Method,
    wanted: &ReadRequest,
    (body, media): (&[u8], Media),
    preferences: Preferences,
    terms: &Terms,
    turn: &Turn,
) -> Result<Written, Problem> {
    let ask = wanted.ask()?;
    let table = &wanted.table;
    match (method, &wanted.id) {
        (&Method::POST, _) => {
            let input = if media == Media::Lines { Input::lines(body) } else { Input::json(body) }?;
            let key = || table.info.key().into_iter().map(str::to_owned).collect();
            let duplicates = preferences.duplicates;
            if ask.on_conflict.is_some() && duplicates.is_none() {
                let detail = "on_conflict needs Prefer: resolution=merge-duplicates, or ignore-duplicates";
                return Err(Problem::bad(detail));
            }
            let keys: Vec<String> = ask.on_conflict.clone().unwrap_or_else(key);
            if duplicates.is_some() && keys.is_empty() {
                return Err(Problem::bad(format!("{} has no primary key: name columns in on_conflict", table.quoted)));
            }
            let conflict = duplicates.map(|duplicates| (&*keys, duplicates));
            writer.insert(table, (&ask, &input), conflict, terms, turn)
        }
        (&Method::PUT, Some(id)) => writer.put(table, (id, &ask), body, terms, turn),
        (&Method::PATCH, _) if media == Media::Patch => writer.patch(table, &ask, body, terms, turn),
        (&Method::PATCH, _) => writer.update(table, &ask, body, terms, turn),
        (&Method::DELETE, _) => writer.delete(table, &ask, terms, turn),
        _ => Err(Problem::method("GET, HEAD, POST, PATCH, DELETE")),
    }
}

fn answer(method: &Method, wanted: &ReadRequest, written: Written) -> Result<Response<Body>, Problem> {
    if let Some(id) = &wanted.id
        && written.rows == 0
    {
        return Err(no_row(&wanted.table, id));
    }
    let is_created = written.is_new && written.rows > 0;
    let mut response = Response::new(Body::whole(Vec::new()));
    let headers = response.headers_mut();
    let value = |text: String| HeaderValue::from_str(&text).expect("it has letters, digits and signs");
    headers.insert(CONTENT_RANGE, value(format!("*/{}", written.rows)));
    if let (true, Some(id)) = (is_created, &written.id) {
        headers.insert(LOCATION, value(format!("/{}/{}", encoded(wanted.table.info.name()), encoded(id))));
    }
    let status = match (&written.text, is_created) {
        (_, true) => StatusCode::CREATED,
        (Some(_), false) => StatusCode::OK,
        (None, false) => StatusCode::NO_CONTENT,
    };
    if let Some(rows) = written.text {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        // That of a `GET` of all columns.
        if wanted.id.is_some() && *method != Method::DELETE && wanted.parameters.is_empty() {
            headers.insert(ETAG, value(format!("\"{}\"", Tag::of(&rows))));
        }
        headers
            .insert(HeaderName::from_static("preference-applied"), HeaderValue::from_static("return=representation"));
        *response.body_mut() = Body::whole(rows);
    }
    *response.status_mut() = status;
    Ok(response)
}

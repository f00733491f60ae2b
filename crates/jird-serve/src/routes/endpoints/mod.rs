//! The ingestion endpoints: one of our own, and those that the clients of Seq, Elasticsearch, OpenTelemetry and Loki expect;
//! and the events of syslog, whose sockets are in `server`.
//!
//! Every endpoint checks access and the kind of the body, receives the body within limits and decompresses it, and puts
//! its events straight into a batch, which is appended before the response is sent. Anything that is not a valid event
//! is named in the response and set aside; the others are kept.

mod bulk;
mod grpc;
mod lines;
mod loki;
mod media;
mod members;
mod otlp;
mod outcome;
mod seq;
pub(crate) mod syslog;
mod time_key;
mod unpack;
mod wire;

use crate::base::problem::Problem;
use crate::base::settings::Limits;
use crate::events::intake::Intake;
use crate::http::body::{Body, pass_over, receive_from};
use crate::http::guard::Guard;
use crate::request::negotiation::text;
use crate::request::uri;
use crate::routes::state::{EventStore, State};
use hyper::body::Incoming;
use hyper::header::{
    ACCEPT, ALLOW, CONTENT_TYPE, EXPECT, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE,
};
use hyper::http::request::Parts;
use hyper::{Method, Response, StatusCode};
use jird_store::Batch;
use media::Form;
use otlp::Telemetry;
use outcome::BodyOutcome;
use std::sync::Arc;
use unpack::Packed;

/// An ingestion endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Endpoint {
    /// `/ingest`
    Ingest,
    /// `/ingest/clef`
    Clef,
    /// `/api/events/raw`, with `?clef` or without
    Raw,
    /// `/_bulk` and `/INDEX/_bulk`
    Bulk(Option<String>),
    /// `/INDEX/_doc`, `/INDEX/_doc/ID` and `/INDEX/_create/ID`
    Document(String, Option<String>),
    /// What Elasticsearch's clients ask besides: `/`, `/_cluster/health`, `/_refresh`
    Elastic(&'static str),
    /// `/v1/logs` and `/v1/traces`
    Telemetry(Telemetry),
    /// A call of gRPC: `/opentelemetry.proto.collector.logs.v1.LogsService/Export` and that of traces; `None`: another one
    Call(Option<Telemetry>),
    /// `/loki/api/v1/push`
    Loki,
}

/// Bodies up to this size are decoded by the thread that serves connections: it takes some 50 µs.
const SMALL_BYTES: usize = 16 << 10;

/// What Elasticsearch's clients look for before they believe an answer.
const PRODUCT: (HeaderName, HeaderValue) =
    (HeaderName::from_static("x-elastic-product"), HeaderValue::from_static("Elasticsearch"));

impl Endpoint {
    /// A status that its clients understand. Exporters of OpenTelemetry must throw away what gets a 507, and Elasticsearch's
    /// clients do; after a 503, both send it again.
    fn status(&self, status: StatusCode) -> StatusCode {
        match self {
            Self::Telemetry(_) | Self::Bulk(_) | Self::Document(..) if status == StatusCode::INSUFFICIENT_STORAGE => {
                StatusCode::SERVICE_UNAVAILABLE
            }
            _ => status,
        }
    }

    /// The endpoint at a path.
    pub(crate) fn of(segments: &[String], method: &Method, headers: &HeaderMap) -> Option<Self> {
        let segments: Vec<_> = segments.iter().map(String::as_str).collect();
        Some(match segments[..] {
            ["ingest"] => Self::Ingest,
            ["ingest", "clef"] => Self::Clef,
            ["api", "events", "raw"] => Self::Raw,
            ["_bulk"] => Self::Bulk(None),
            [index, "_bulk"] => Self::Bulk(Some(index.to_owned())),
            [index, "_doc"] => Self::Document(index.to_owned(), None),
            [index, "_doc" | "_create", id] => Self::Document(index.to_owned(), Some(id.to_owned())),
            ["_cluster", "health"] | ["_cluster", "health", _] => Self::Elastic(bulk::HEALTH),
            ["_refresh"] | [_, "_refresh"] => Self::Elastic(bulk::REFRESHED),
            ["loki", "api", "v1", "push"] => Self::Loki,
            ["v1", "logs"] => Self::Telemetry(Telemetry::Logs),
            ["v1", "traces"] => Self::Telemetry(Telemetry::Traces),
            [] if matches!(*method, Method::GET | Method::HEAD) && bulk::is_asked(text(headers, &ACCEPT)) => {
                Self::Elastic(bulk::GREETING)
            }
            [service, call] if media::is_call(headers) => Self::Call(Telemetry::of_call(service, call)),
            _ => return None,
        })
    }

    /// Its name in the file of refused events.
    fn name(&self) -> &'static str {
        match self {
            Self::Ingest => "/ingest",
            Self::Clef => "/ingest/clef",
            Self::Raw => "/api/events/raw",
            Self::Bulk(_) => "/_bulk",
            Self::Document(..) => "/_doc",
            Self::Telemetry(Telemetry::Logs) => "/v1/logs",
            Self::Telemetry(Telemetry::Traces) => "/v1/traces",
            Self::Call(_) => "gRPC",
            Self::Loki => "/loki/api/v1/push",
            Self::Elastic(_) => "/",
        }
    }

    fn allowed(&self) -> &'static str {
        match self {
            Self::Bulk(_) | Self::Document(..) => "POST, PUT",
            Self::Elastic(bulk::REFRESHED) => "GET, POST",
            Self::Elastic(_) => "GET, HEAD",
            _ => "POST",
        }
    }

    fn is_elastic(&self) -> bool {
        matches!(self, Self::Bulk(_) | Self::Document(..) | Self::Elastic(_))
    }
}

/// Answers a request that has passed the guard. Failures have the form that the endpoint's clients understand.
pub(crate) async fn answer(
    state: &State,
    guard: &Guard,
    endpoint: Endpoint,
    parts: &Parts,
    mut body: Incoming,
) -> Response<Body> {
    let mut response = match entered(state, guard, &endpoint, parts, &mut body).await {
        Ok(response) => response,
        Err(problem) => {
            // One that asked before it sends its body sends none.
            if !parts.headers.contains_key(EXPECT) {
                pass_over(&mut body, &state.limits).await;
            }
            told(&endpoint, &parts.headers, &problem)
        }
    };
    if endpoint.is_elastic() {
        response.headers_mut().insert(PRODUCT.0, PRODUCT.1);
    }
    response
}

/// The answer to a request that may not come in.
pub(crate) fn refuse(endpoint: &Endpoint, headers: &HeaderMap, problem: &Problem) -> Response<Body> {
    let mut response = told(endpoint, headers, problem);
    if endpoint.is_elastic() {
        response.headers_mut().insert(PRODUCT.0, PRODUCT.1);
    }
    response
}

async fn entered(
    state: &State,
    guard: &Guard,
    endpoint: &Endpoint,
    parts: &Parts,
    body: &mut Incoming,
) -> Result<Response<Body>, Problem> {
    let allowed = endpoint.allowed();
    if parts.method == Method::OPTIONS {
        let mut response = empty(StatusCode::NO_CONTENT);
        response.headers_mut().insert(ALLOW, HeaderValue::from_static(allowed));
        return Ok(response);
    }
    if !allowed.split(", ").any(|known| known == parts.method.as_str()) {
        return Err(Problem::method(allowed));
    }
    if *endpoint == Endpoint::Call(None) {
        let detail = "the calls of this server are those that export OpenTelemetry's logs and traces";
        return Err(Problem::new(StatusCode::NOT_FOUND, detail));
    }
    if let Endpoint::Elastic(answer) = *endpoint {
        return Ok(json(StatusCode::OK, answer.into()));
    }
    let Some(intake) = state.store.as_ref().and_then(|store| store.intake.clone()) else {
        return Err(Problem::new(StatusCode::FORBIDDEN, "this server only reads; --write lets events in"));
    };
    guard.origin(&parts.headers)?;
    let parameters = uri::parameters(parts.uri.query())?;
    let form = Form::of(endpoint, &parts.headers, &parameters)?;
    let packed = Packed::of(endpoint, form, &parts.headers)?;
    match endpoint {
        Endpoint::Bulk(index) => bulk::check(index.as_deref(), &parameters)?,
        Endpoint::Document(index, _) => bulk::check(Some(index), &parameters)?,
        _ => {}
    }
    let taken = let_in(state, &intake, endpoint, form, packed, body)
        .await
        .map_err(|problem| later(&intake, endpoint, problem))?;
    Ok(taken)
}

/// From a body to its answer.
async fn let_in(
    state: &State,
    intake: &Arc<Intake>,
    endpoint: &Endpoint,
    form: Form,
    packed: Packed,
    body: &mut Incoming,
) -> Result<Response<Body>, Problem> {
    let mut received = receive_from(body, &state.limits, &state.rooms).await?;
    let packed =
        if matches!(endpoint, Endpoint::Call(_)) { grpc::unframe(&mut received.bytes, packed)? } else { packed };
    let work = Work { intake: Arc::clone(intake), endpoint: endpoint.clone(), form, limits: state.limits };
    let is_small = packed == Packed::Plain && received.bytes.len() <= SMALL_BYTES;
    if is_small {
        work.on_one_line(&mut received.bytes);
        let taken = work.take(&received.bytes)?;
        // What is refused is written to a file, which may take its time.
        if taken.refused.is_empty() {
            let answer = work.answer(&taken);
            let batch = taken.batch;
            append(state, intake, batch).await?;
            return Ok(answer);
        }
    }
    let rooms = Arc::clone(&state.rooms);
    let hand = Arc::clone(&state.hands).acquire_owned().await;
    let job = move || {
        let _hand = hand;
        let body = std::mem::take(&mut received.bytes);
        let mut body = packed.unpack(body, work.limits.body_bytes, &rooms, &mut received)?;
        work.on_one_line(&mut body);
        let taken = work.take(&body)?;
        if !taken.refused.is_empty() {
            work.intake.quarantine.take(work.endpoint.name(), &taken.refused, taken.more);
        }
        let answer = work.answer(&taken);
        Ok((taken.batch, answer, received))
    };
    let failed = |_| Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "the events were not read to their end");
    // The room is free again when the events are in the store.
    let (batch, answer, _room) = tokio::task::spawn_blocking(job).await.map_err(failed)??;
    append(state, intake, batch).await?;
    Ok(answer)
}

/// Appends a batch, and tells the followers.
async fn append(state: &State, intake: &Intake, batch: Batch) -> Result<(), Problem> {
    intake.append(batch, state.limits.time).await?;
    state.store.iter().for_each(EventStore::appended);
    Ok(())
}

/// What is done with a body.
struct Work {
    intake: Arc<Intake>,
    endpoint: Endpoint,
    form: Form,
    limits: Limits,
}

impl Work {
    /// A document is an event, which has no line breaks. JSON has them only where it may have spaces.
    fn on_one_line(&self, body: &mut [u8]) {
        if matches!(self.endpoint, Endpoint::Document(..)) {
            body.iter_mut().filter(|byte| matches!(byte, b'\n' | b'\r')).for_each(|byte| *byte = b' ');
        }
    }

    /// The events of a body, and what is wrong with the others.
    ///
    /// # Errors
    /// Nothing of the body can be read, or it has too many events.
    fn take<'b>(&self, body: &'b [u8]) -> Result<BodyOutcome<'b>, Problem> {
        let (settings, limits) = (self.intake.settings(), &self.limits);
        match (self.form, &self.endpoint) {
            (Form::Lines, Endpoint::Bulk(index)) => bulk::take(body, index.as_deref(), settings, limits),
            (Form::Lines, endpoint) => lines::take(body, *endpoint != Endpoint::Ingest, settings, limits),
            (Form::Json, Endpoint::Document(index, id)) => {
                bulk::take_one(body, (index, id.as_deref()), settings, limits)
            }
            (form, Endpoint::Telemetry(sent) | Endpoint::Call(Some(sent))) => {
                otlp::take(body, (*sent, form), settings, limits)
            }
            (Form::Json, Endpoint::Loki) => loki::take_json(body, settings, limits),
            (Form::Protobuf, Endpoint::Loki) => loki::take_protobuf(body, settings, limits),
            (Form::Json, Endpoint::Raw) => seq::take(body, settings, limits),
            (Form::Json | Form::Protobuf, _) => lines::take_json(body, settings, limits),
        }
    }

    fn answer(&self, taken: &BodyOutcome<'_>) -> Response<Body> {
        let is_lost = taken.batch.is_empty() && !taken.refused.is_empty();
        let status = if is_lost { StatusCode::BAD_REQUEST } else { StatusCode::OK };
        match &self.endpoint {
            Endpoint::Ingest | Endpoint::Elastic(_) => json(status, taken.counted()),
            Endpoint::Clef | Endpoint::Raw => {
                json(if is_lost { status } else { StatusCode::CREATED }, seq::answer(taken, is_lost))
            }
            Endpoint::Bulk(_) => json(StatusCode::OK, bulk::answer(taken)),
            Endpoint::Document(..) => json(if is_lost { status } else { StatusCode::CREATED }, bulk::answer_one(taken)),
            Endpoint::Loki if taken.refused.is_empty() => empty(StatusCode::NO_CONTENT),
            Endpoint::Call(_) => grpc::answer(&otlp::answer_protobuf(taken)),
            Endpoint::Loki => bytes(StatusCode::BAD_REQUEST, media::TEXT, loki::answer(taken)),
            Endpoint::Telemetry(sent) if self.form == Form::Json => {
                json(StatusCode::OK, otlp::answer_json(*sent, taken))
            }
            Endpoint::Telemetry(_) => bytes(StatusCode::OK, media::PROTOBUF, otlp::answer_protobuf(taken)),
        }
    }
}

/// A problem with a status that the clients of an endpoint take as a reason to wait. For an overloaded server that is 429,
/// everywhere.
fn later(intake: &Intake, endpoint: &Endpoint, mut problem: Problem) -> Problem {
    if problem.is_busy {
        intake.note_busy();
        problem.status = StatusCode::TOO_MANY_REQUESTS;
    }
    problem.status = endpoint.status(problem.status);
    problem
}

fn empty(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Body::whole(Vec::new()));
    *response.status_mut() = status;
    response
}

fn json(status: StatusCode, text: Vec<u8>) -> Response<Body> {
    bytes(status, "application/json", text)
}

fn bytes(status: StatusCode, media: &'static str, bytes: Vec<u8>) -> Response<Body> {
    let mut response = Response::new(Body::whole(bytes));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media));
    *response.status_mut() = status;
    response
}

/// A problem as the clients of an endpoint understand it.
fn told(endpoint: &Endpoint, headers: &HeaderMap, problem: &Problem) -> Response<Body> {
    let status = problem.status;
    let mut response = match endpoint {
        Endpoint::Bulk(_) | Endpoint::Document(..) | Endpoint::Elastic(_) => json(status, bulk::failure(problem)),
        Endpoint::Telemetry(_) if media::is_protobuf(headers) => {
            bytes(status, media::PROTOBUF, otlp::failure_protobuf(problem))
        }
        Endpoint::Call(_) => return grpc::failure(problem),
        Endpoint::Loki => bytes(status, media::TEXT, format!("{problem}\n").into_bytes()),
        Endpoint::Telemetry(_) => json(status, otlp::failure_json(problem)),
        _ => bytes(status, "application/problem+json", problem.json()),
    };
    let headers = response.headers_mut();
    if let Some(seconds) = problem.retry_after {
        headers.insert(RETRY_AFTER, seconds.into());
    }
    if let Some(allow) = problem.allow {
        headers.insert(ALLOW, HeaderValue::from_static(allow));
    }
    if status == StatusCode::UNAUTHORIZED {
        headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_has_a_status_after_which_clients_send_again() {
        let full = Problem::full("the store takes no events").status;
        for (endpoint, status) in [
            (Endpoint::Ingest, 507),
            (Endpoint::Clef, 507),
            (Endpoint::Loki, 507),
            (Endpoint::Bulk(None), 503),
            (Endpoint::Document("logs".into(), None), 503),
            (Endpoint::Telemetry(Telemetry::Logs), 503),
        ] {
            assert_eq!(endpoint.status(full).as_u16(), status);
            assert_eq!(endpoint.status(StatusCode::TOO_MANY_REQUESTS).as_u16(), 429);
        }
    }
}

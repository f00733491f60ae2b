//! From a request to its answer.

use crate::body::Body;
use crate::change::change;
use crate::doors::{self, Door};
use crate::error::Error;
use crate::events;
use crate::guard::Guard;
use crate::intake::Intake;
use crate::journal::Journal;
use crate::openapi;
use crate::page::page;
use crate::problem::Problem;
use crate::read::{Wanted, get, kept};
use crate::served;
use crate::settings::{Limits, Settings};
use crate::state::State;
use crate::uri;
use hyper::body::Incoming;
use hyper::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_MAX_AGE, ALLOW, CONTENT_TYPE, HeaderMap,
    HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS,
};
use hyper::http::request::Parts;
use hyper::{Method, Request, Response, StatusCode};
use jird_formats::caught;
use std::future::{Future, poll_fn};
use std::net::{IpAddr, SocketAddr};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use tokio::sync::{Semaphore, watch};

/// Answers requests.
pub(crate) struct Service {
    state: State,
    guard: Guard,
    journal: Arc<Journal>,
    places: Arc<Semaphore>,
}

impl Service {
    pub(crate) fn new(settings: &Settings, address: SocketAddr, stopped: watch::Receiver<bool>) -> Result<Self, Error> {
        Ok(Self {
            state: State::new(settings, stopped)?,
            places: Arc::new(Semaphore::new(settings.limits.requests)),
            journal: Arc::new(Journal::new(settings.log)),
            guard: Guard::new(address, settings),
        })
    }

    pub(crate) fn limits(&self) -> Limits {
        self.state.limits
    }

    /// Looks whether events came, until it is dropped.
    pub(crate) async fn follow(&self) {
        if let Some(store) = &self.state.store {
            store.follow.look(&store.store).await;
        }
    }

    /// Ends what writes to the store.
    pub(crate) fn finish(&self) -> Result<(), Error> {
        self.intake().map_or(Ok(()), Intake::finish)
    }

    fn intake(&self) -> Option<&Intake> {
        self.state.store.as_ref().and_then(|store| store.intake.as_deref())
    }

    /// Looks whether the schema has changed.
    pub(crate) fn refresh(&self) {
        self.state.refresh();
    }

    /// Answers a request. Every failure is an answer, too.
    pub(crate) async fn respond(&self, peer: IpAddr, request: Request<Incoming>) -> Response<Body> {
        let is_head = request.method() == Method::HEAD;
        let target = request.uri().path_and_query().map_or("", |target| target.as_str());
        let sharing = self.guard.sharing(request.headers());
        let mut entry = self.journal.begin(peer, request.method(), target);
        let place = Arc::clone(&self.places).try_acquire_owned().ok();
        let answer = match &place {
            Some(_) => whole(self.answer(request)).await,
            None => Err(Problem::busy("there are as many requests as this server allows")),
        };
        let mut response = answer.unwrap_or_else(|problem| told(&problem));
        response.headers_mut().insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        sharing.tell(response.headers_mut());
        entry.status = response.status();
        let is_unsent = is_head || response.status() == StatusCode::NOT_MODIFIED;
        response.map(|body| body.entered(entry, place, is_unsent))
    }

    async fn answer(&self, request: Request<Incoming>) -> Result<Response<Body>, Problem> {
        let (parts, body) = request.into_parts();
        self.guard.host(&parts)?;
        if self.guard.is_preflight(&parts) {
            return Ok(preflight());
        }
        let segments = uri::segments(parts.uri.path())?;
        if self.state.store.is_some()
            && let Some(door) = Door::of(&segments, &parts.method, &parts.headers)
        {
            return Ok(doors::answer(&self.state, &self.guard, door, &parts, body).await);
        }
        if let Some(file) = page(&segments, &parts.headers) {
            only_get(&parts.method)?;
            return Ok(file);
        }
        let mut segments = segments.into_iter();
        match (segments.next(), segments.next(), segments.next()) {
            (Some(name), None, None) if name == "health" => {
                only_get(&parts.method)?;
                Ok(text("application/json", "{\"status\":\"ok\"}\n".into()))
            }
            (Some(name), id, None) => {
                self.guard.token(&parts.headers)?;
                self.resource(&name, id, &parts, body).await
            }
            _ => {
                self.guard.token(&parts.headers)?;
                let detail = "there are /TABLE and /TABLE/ID; /openapi.json has all of them";
                Err(Problem::new(StatusCode::NOT_FOUND, detail))
            }
        }
    }

    async fn resource(
        &self,
        name: &str,
        id: Option<String>,
        parts: &Parts,
        body: Incoming,
    ) -> Result<Response<Body>, Problem> {
        match (name, &id) {
            ("metrics", None) => {
                only_get(&parts.method)?;
                let mut metrics = self.journal.metrics() + &self.state.metrics();
                if let Some(intake) = self.intake() {
                    intake.metrics(&mut metrics);
                }
                return Ok(text("text/plain; version=0.0.4", metrics.into_bytes()));
            }
            ("openapi.json", None) => {
                only_get(&parts.method)?;
                let (tables, has_store) = (self.state.tables(), self.state.store.is_some());
                let rows_max = self.state.limits.rows;
                let document = openapi::document(&tables, self.state.writes_tables(), has_store, rows_max);
                return Ok(text("application/json", document));
            }
            #[cfg(feature = "query")]
            ("query", None) => {
                // A query takes time and memory, which no other page may have.
                self.guard.origin(&parts.headers)?;
                return crate::query::respond(&self.state, parts, body).await;
            }
            ("events", None) if let Some(store) = &self.state.store => {
                only_get(&parts.method)?;
                self.guard.origin(&parts.headers)?;
                return events::get(&self.state, store, parts).await;
            }
            ("sources", None) => {
                only_get(&parts.method)?;
                return Ok(text("application/json", served::list(&self.state)));
            }
            _ => {}
        }
        if matches!(parts.method, Method::GET | Method::HEAD)
            && let Some(database) = &self.state.database
            && let Some(answer) = kept(database, parts, id.is_some())
        {
            return Ok(answer);
        }
        let (database, table) = self.state.table(name)?;
        let wanted = Wanted { table, id, parameters: uri::parameters(parts.uri.query())? };
        let allowed = match (database.writer.is_some() && !wanted.table.info.is_view(), &wanted.id) {
            (false, _) => "GET, HEAD",
            (true, None) => "GET, HEAD, POST, PATCH, DELETE",
            (true, Some(_)) => "GET, HEAD, PUT, PATCH, DELETE",
        };
        match parts.method.as_str() {
            "GET" | "HEAD" => get((&self.state, database), wanted, parts).await,
            "OPTIONS" => {
                let mut response = Response::new(Body::whole(Vec::new()));
                response.headers_mut().insert(ALLOW, HeaderValue::from_static(allowed));
                *response.status_mut() = StatusCode::NO_CONTENT;
                Ok(response)
            }
            method if allowed.split(", ").any(|known| known == method) => {
                self.guard.origin(&parts.headers)?;
                change((&self.state, database), parts.method.clone(), wanted, &parts.headers, body).await
            }
            _ => Err(Problem::method(allowed)),
        }
    }
}

/// An answer, or that making it failed in a way that is a bug. The connection and all else go on.
async fn whole(answer: impl Future<Output = Result<Response<Body>, Problem>>) -> Result<Response<Body>, Problem> {
    let mut answer = pin!(answer);
    poll_fn(|cx| {
        caught(|| answer.as_mut().poll(cx)).unwrap_or_else(|words| {
            let detail = format!("answering failed in a way that is a bug: {words}");
            Poll::Ready(Err(Problem::new(StatusCode::INTERNAL_SERVER_ERROR, detail)))
        })
    })
    .await
}

/// Tells a browser what a page of an allowed origin may send. Browsers look up nothing else of it.
fn preflight() -> Response<Body> {
    let mut response = Response::new(Body::whole(Vec::new()));
    *response.status_mut() = StatusCode::NO_CONTENT;
    for (name, value) in [
        (ACCESS_CONTROL_ALLOW_METHODS, "GET, HEAD, POST, PUT, PATCH, DELETE"),
        (
            ACCESS_CONTROL_ALLOW_HEADERS,
            "accept, authorization, content-type, if-match, if-none-match, last-event-id, prefer",
        ),
        (ACCESS_CONTROL_MAX_AGE, "600"),
    ] {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

fn only_get(method: &Method) -> Result<(), Problem> {
    if matches!(*method, Method::GET | Method::HEAD) { Ok(()) } else { Err(Problem::method("GET, HEAD")) }
}

fn text(media: &'static str, text: Vec<u8>) -> Response<Body> {
    let mut response = Response::new(Body::whole(text));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media));
    response
}

/// A problem as an answer.
fn told(problem: &Problem) -> Response<Body> {
    let mut response = text("application/problem+json", problem.json());
    *response.status_mut() = problem.status;
    let headers: &mut HeaderMap = response.headers_mut();
    if let Some(seconds) = problem.retry_after {
        headers.insert(RETRY_AFTER, seconds.into());
    }
    if let Some(allow) = problem.allow {
        headers.insert(ALLOW, HeaderValue::from_static(allow));
    }
    if problem.status == StatusCode::UNAUTHORIZED {
        headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    response
}

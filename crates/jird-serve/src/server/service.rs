//! From a request to its answer.

use crate::base::error::Error;
use crate::base::place::{Listen, Peer};
use crate::base::problem::Problem;
use crate::base::settings::{Limits, Settings};
use crate::base::strangers::Stranger;
use crate::base::token::{Right, Rights, Token};
use crate::events::intake::Intake;
use crate::events::upkeep::Upkeep;
use crate::http::body::{Body, Outcome, pass_over};
use crate::http::forwarded::Forwarded;
use crate::http::guard::{Guard, needs};
use crate::http::journal::Journal;
use crate::request::uri;
use crate::routes::alerts;
use crate::routes::change::change;
use crate::routes::endpoints::{self, Endpoint};
use crate::routes::events;
use crate::routes::facets;
use crate::routes::openapi;
use crate::routes::page::page;
use crate::routes::read::{self, ReadRequest};
use crate::routes::served;
use crate::routes::state::{EventStore, State};
use crate::server::ready::Ready;
use crate::server::syslog;
use hyper::body::{Body as _, Incoming};
use hyper::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS,
    ALLOW, CONTENT_TYPE, EXPECT, HeaderMap, HeaderValue, LOCATION, RETRY_AFTER, VARY, WWW_AUTHENTICATE,
    X_CONTENT_TYPE_OPTIONS,
};
use hyper::http::request::Parts;
use hyper::{Method, Request, Response, StatusCode};
use jird_formats::caught;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{MissedTickBehavior, interval};

/// Answers requests.
pub(crate) struct Service {
    state: State,
    guard: Guard,
    forwarded: Forwarded,
    ready: Ready,
    journal: Arc<Journal>,
    places: Arc<Semaphore>,
    /// What came by syslog, if the server takes it.
    syslog: Option<Arc<syslog::Counts>>,
}

impl Service {
    pub(crate) fn new(
        settings: &Settings,
        address: &Listen,
        stopped: watch::Receiver<bool>,
        syslog: Option<Arc<syslog::Counts>>,
    ) -> Result<Self, Error> {
        let forwarded = Forwarded::new(settings)?;
        let state = State::new(settings, stopped)?;
        if syslog.is_some() && state.store.as_ref().is_none_or(|store| store.intake.is_none()) {
            let message = "syslog: messages become events of a store, and no store is served that may be written to";
            return Err(Error::new(message));
        }
        if let Some(store) = state.store.as_ref().filter(|_| syslog.is_some()) {
            endpoints::syslog::check(store.store.settings())?;
        }
        Ok(Self {
            ready: Ready::new(&state),
            state,
            forwarded,
            places: Arc::new(Semaphore::new(settings.limits.requests)),
            journal: Arc::new(Journal::new(settings.log)),
            guard: Guard::new(address.tcp(), settings),
            syslog,
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

    /// Checks alerts, until it is dropped.
    pub(crate) async fn watch_alerts(&self) {
        let (Some(own), Some(store)) = (&self.state.own, &self.state.store) else { return };
        let mut ticks = interval(self.state.limits.alerts);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            let (own, store) = (Arc::clone(own), store.store.clone());
            let changed = tokio::task::spawn_blocking(move || alerts::check(&own, &store)).await;
            for (alert, checked) in changed.into_iter().flatten() {
                self.journal.note(|object| alerts::tell(&alert, &checked, object));
            }
        }
    }

    /// Leave to keep a processor busy for a while.
    pub(crate) async fn hand(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.state.hands).acquire_owned().await.ok()
    }

    /// Notes that the store takes no messages of syslog, and why, or that it does again.
    pub(crate) fn note_syslog(&self, problem: Option<&str>) {
        self.journal.note(|object| match problem {
            Some(problem) => {
                object.member("syslog", "waits");
                object.member("problem", problem);
            }
            None => object.member("syslog", "goes on"),
        });
    }

    /// What the store needs from time to time, if the server writes to it.
    pub(crate) fn upkeep(&self) -> Option<Arc<Upkeep>> {
        self.state.store.as_ref().and_then(|store| store.upkeep.clone())
    }

    /// Ends queries that still run: nobody waits for them.
    #[cfg(feature = "query")]
    pub(crate) fn end_queries(&self) {
        if let Some(queries) = &self.state.queries {
            queries.end();
        }
    }

    /// Ends what writes to the store.
    pub(crate) fn finish(&self) -> Result<(), Error> {
        self.intake().map_or(Ok(()), Intake::finish)
    }

    /// The event store, if one is served.
    pub(crate) fn store(&self) -> Option<&EventStore> {
        self.state.store.as_ref()
    }

    fn intake(&self) -> Option<&Intake> {
        self.state.store.as_ref().and_then(|store| store.intake.as_deref())
    }

    /// From now on there are these tokens.
    pub(crate) fn set_tokens(&self, tokens: Vec<Token>) {
        self.guard.set_tokens(tokens);
    }

    /// Looks whether the schema has changed.
    pub(crate) fn refresh(&self) {
        self.state.refresh();
    }

    /// Answers a request. Every failure is an answer, too.
    ///
    /// Until it has passed the guard, a request takes no place and waits for nothing.
    pub(crate) async fn respond(&self, peer: Peer, request: Request<Incoming>, stranger: &Stranger) -> Response<Body> {
        let is_head = request.method() == Method::HEAD;
        let (mut parts, body) = request.into_parts();
        let meant = self.forwarded.meant(peer, &mut parts.headers);
        if !meant.prefix.0.is_empty() {
            parts.extensions.insert(meant.prefix.clone());
        }
        let sharing = self.guard.sharing(&parts.headers);
        let target = parts.uri.path_and_query().map_or("", |target| target.as_str());
        let mut entry = self.journal.begin(meant.peer, &parts.method, target);
        let (mut response, place) = match caught(|| self.admit(&mut parts)).unwrap_or_else(|words| Err(bug(&words))) {
            Ok(Admitted::Answered(response)) => {
                if matches!(outcome(&response), StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
                    discard(&parts, body, self.state.limits);
                }
                (*response, None)
            }
            Ok(Admitted::In(segments, way)) => {
                stranger.is_known();
                self.let_in(&parts, body, segments, way).await
            }
            Ok(Admitted::Ready) => (self.ready.answer(self.knows(&parts)).await, None),
            Err(problem) => {
                discard(&parts, body, self.state.limits);
                (told(&problem), None)
            }
        };
        meant.tell(response.headers_mut());
        response.headers_mut().insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        sharing.tell(response.headers_mut());
        entry.status = outcome(&response);
        let is_unsent = is_head || response.status() == StatusCode::NOT_MODIFIED;
        response.map(|body| body.entered(entry, place, is_unsent))
    }

    /// Answers what needs no token, and refuses what lacks it.
    fn admit(&self, parts: &mut Parts) -> Result<Admitted, Problem> {
        if let Some(probed) = Self::probed(parts)? {
            return Ok(probed);
        }
        self.guard.host(parts)?;
        if self.forwarded.lacks_slash(parts.uri.path()) {
            return Ok(Admitted::Answered(with_slash().into()));
        }
        parts.uri = self.forwarded.strip(std::mem::take(&mut parts.uri))?;
        // A proxy may pass them on below the prefix.
        if let Some(probed) = Self::probed(parts)? {
            return Ok(probed);
        }
        if self.guard.is_preflight(parts) {
            return Ok(Admitted::Answered(preflight(&parts.headers).into()));
        }
        let segments = uri::segments(parts.uri.path())?;
        let endpoint = self.state.store.as_ref().and_then(|_| Endpoint::of(&segments, &parts.method, &parts.headers));
        if let Some(endpoint) = endpoint {
            return Ok(match self.guard.shipper(parts) {
                Ok(()) => Admitted::In(segments, Way::Endpoint(endpoint)),
                Err(problem) => Admitted::Answered(endpoints::refuse(&endpoint, &parts.headers, &problem).into()),
            });
        }
        if let Some(file) = page(&segments, &parts.headers) {
            only_get(&parts.method)?;
            return Ok(Admitted::Answered(file.into()));
        }
        let rights = self.guard.token(&parts.headers)?;
        Ok(Admitted::In(segments, Way::Path(rights)))
    }

    /// What probes ask for. It tells next to nothing, and they know only an address.
    fn probed(parts: &Parts) -> Result<Option<Admitted>, Problem> {
        let admitted = match parts.uri.path() {
            "/health" => Admitted::Answered(text("application/json", "{\"status\":\"ok\"}\n".into()).into()),
            "/ready" => Admitted::Ready,
            _ => return Ok(None),
        };
        only_get(&parts.method)?;
        Ok(Some(admitted))
    }

    /// Whether a request passes the guard.
    fn knows(&self, parts: &Parts) -> bool {
        self.guard.host(parts).and_then(|()| self.guard.token(&parts.headers)).is_ok()
    }

    /// Answers a request that has passed the guard, if there is a place for it.
    async fn let_in(
        &self,
        parts: &Parts,
        body: Incoming,
        segments: Vec<String>,
        way: Way,
    ) -> (Response<Body>, Option<OwnedSemaphorePermit>) {
        let Ok(place) = Arc::clone(&self.places).try_acquire_owned() else {
            return (told(&Problem::busy("there are as many requests as this server allows")), None);
        };
        let at_once = caught(|| self.at_once(&segments, &way, parts));
        let at_once = at_once.unwrap_or_else(|words| Some(Err(bug(&words))));
        let answer = if let Some(answer) = at_once {
            answer
        } else {
            // Most requests end above. The state of the others takes kilobytes, which would be moved with each of them.
            let answer = Box::pin(async {
                match way {
                    Way::Endpoint(endpoint) => {
                        Ok(endpoints::answer(&self.state, &self.guard, endpoint, parts, body).await)
                    }
                    Way::Path(rights) => self.answer(segments, rights, parts, body).await,
                }
            });
            whole(answer).await
        };
        (answer.unwrap_or_else(|problem| told(&problem)), Some(place))
    }

    /// The answer to a request for rows of a table, if it can be made at once.
    fn at_once(&self, segments: &[String], way: &Way, parts: &Parts) -> Option<Result<Response<Body>, Problem>> {
        let (name, id) = match segments {
            [name] => (name, None),
            [name, id] => (name, Some(id.as_str())),
            _ => return None,
        };
        let Way::Path(rights) = way else { return None };
        needs(*rights, Right::Read).ok()?;
        if !matches!(parts.method, Method::GET | Method::HEAD) || self.resource(name, id) != Resource::Table {
            return None;
        }
        read::at_once(&self.state.database_of(name)?.last(), (name, id), parts)
    }

    /// What a path leads to.
    fn resource(&self, name: &str, id: Option<&str>) -> Resource {
        match (name, id) {
            ("metrics", None) => Resource::Metrics,
            ("openapi.json", None) => Resource::Description,
            #[cfg(feature = "query")]
            ("query", None) if self.state.has_queries => Resource::Query,
            ("events", None) if self.state.store.is_some() => Resource::Events,
            ("events", Some("facets")) if self.state.store.is_some() => Resource::Facets,
            ("sources", None) => Resource::Sources,
            _ => Resource::Table,
        }
    }

    async fn answer(
        &self,
        segments: Vec<String>,
        rights: Rights,
        parts: &Parts,
        body: Incoming,
    ) -> Result<Response<Body>, Problem> {
        let mut segments = segments.into_iter();
        let (Some(name), id, None) = (segments.next(), segments.next(), segments.next()) else {
            let detail = "there are /TABLE and /TABLE/ID; /openapi.json has all of them";
            return Err(Problem::new(StatusCode::NOT_FOUND, detail));
        };
        let is_read = matches!(parts.method, Method::GET | Method::HEAD | Method::OPTIONS);
        let resource = self.resource(&name, id.as_deref());
        let right = match resource {
            #[cfg(feature = "query")]
            Resource::Query => Right::Query,
            _ if is_read => Right::Read,
            _ => Right::Write,
        };
        needs(rights, right)?;
        match resource {
            Resource::Metrics => {
                only_get(&parts.method)?;
                let mut metrics = self.journal.metrics() + &self.state.metrics().await;
                if let Some(intake) = self.intake() {
                    intake.metrics(&mut metrics);
                }
                if let Some(upkeep) = self.upkeep() {
                    upkeep.metrics(&mut metrics);
                }
                if let Some(syslog) = &self.syslog {
                    syslog.metrics(&mut metrics);
                }
                Ok(text("text/plain; version=0.0.4", metrics.into_bytes()))
            }
            Resource::Description => {
                only_get(&parts.method)?;
                Ok(text("application/json", openapi::document(&self.state, parts.extensions.get())))
            }
            #[cfg(feature = "query")]
            Resource::Query if let Some(queries) = &self.state.queries => {
                // A query takes time and memory, which no other page may have.
                self.guard.origin(&parts.headers)?;
                crate::routes::query::respond(&self.state, queries, parts, body).await
            }
            Resource::Events if let Some(store) = &self.state.store => {
                only_get(&parts.method)?;
                self.guard.origin(&parts.headers)?;
                events::get(&self.state, store, parts).await
            }
            Resource::Facets if let Some(store) = &self.state.store => {
                only_get(&parts.method)?;
                self.guard.origin(&parts.headers)?;
                facets::get(&self.state, store, parts).await
            }
            Resource::Sources => {
                only_get(&parts.method)?;
                Ok(text("application/json", served::list(&self.state)))
            }
            _ => self.table((&name, id), parts, body).await,
        }
    }

    /// Answers a request for a table or a row.
    async fn table(
        &self,
        (name, id): (&str, Option<String>),
        parts: &Parts,
        body: Incoming,
    ) -> Result<Response<Body>, Problem> {
        let (database, table) = self.state.table(name)?;
        let wanted = ReadRequest { table, id, parameters: uri::parameters(parts.uri.query())? };
        let allowed = match (database.writer.is_some() && !wanted.table.info.is_view(), &wanted.id) {
            (false, _) => "GET, HEAD",
            (true, None) => "GET, HEAD, POST, PATCH, DELETE",
            (true, Some(_)) => "GET, HEAD, PUT, PATCH, DELETE",
        };
        match parts.method.as_str() {
            "GET" | "HEAD" => read::get((&self.state, &database), wanted, parts).await,
            "OPTIONS" => {
                let mut response = Response::new(Body::whole(Vec::new()));
                response.headers_mut().insert(ALLOW, HeaderValue::from_static(allowed));
                *response.status_mut() = StatusCode::NO_CONTENT;
                Ok(response)
            }
            method if allowed.split(", ").any(|known| known == method) => {
                self.guard.origin(&parts.headers)?;
                change((&self.state, &database), parts.method.clone(), wanted, &parts.headers, body).await
            }
            _ => Err(Problem::method(allowed)),
        }
    }
}

/// What became of a request.
fn outcome(response: &Response<Body>) -> StatusCode {
    response.extensions().get().map_or(response.status(), |Outcome(status)| *status)
}

/// What becomes of a request before its body is looked at.
enum Admitted {
    /// It has its answer.
    Answered(Box<Response<Body>>),
    /// It asks whether the server can do what it promises.
    Ready,
    /// It may go on: the segments of its path, and where it leads to.
    In(Vec<String>, Way),
}

/// What a path leads to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Resource {
    Metrics,
    /// `/openapi.json`
    Description,
    #[cfg(feature = "query")]
    Query,
    Events,
    /// `/events/facets`
    Facets,
    Sources,
    /// A table or a row, or nothing.
    Table,
}

/// Where a request leads to.
enum Way {
    /// An endpoint for events.
    Endpoint(Endpoint),
    /// Anything else, with what it may do.
    Path(Rights),
}

/// Takes the body of a request that has its answer already, while that is sent. One that asked before it sends its body
/// sends none.
fn discard(parts: &Parts, mut body: Incoming, limits: Limits) {
    if !parts.headers.contains_key(EXPECT) && !body.is_end_stream() {
        tokio::spawn(async move { pass_over(&mut body, &limits).await });
    }
}

/// An answer, or that making it failed in a way that is a bug. The connection and all else go on.
async fn whole(answer: impl Future<Output = Result<Response<Body>, Problem>>) -> Result<Response<Body>, Problem> {
    let mut answer = pin!(answer);
    poll_fn(|cx| caught(|| answer.as_mut().poll(cx)).unwrap_or_else(|words| Poll::Ready(Err(bug(&words))))).await
}

/// What a panic becomes.
fn bug(words: &str) -> Problem {
    let detail = format!("answering failed in a way that is a bug: {words}");
    Problem::new(StatusCode::INTERNAL_SERVER_ERROR, detail)
}

/// Tells a browser that a page of an allowed origin may send what it asks for.
fn preflight(asked: &HeaderMap) -> Response<Body> {
    let mut response = Response::new(Body::whole(Vec::new()));
    *response.status_mut() = StatusCode::NO_CONTENT;
    let headers = response.headers_mut();
    let methods = HeaderValue::from_static("GET, HEAD, POST, PUT, PATCH, DELETE");
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, methods);
    // Allowed pages may do all that the server does: there is no header that would be dangerous.
    if let Some(names) = asked.get(ACCESS_CONTROL_REQUEST_HEADERS) {
        headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, names.clone());
    }
    headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
    headers.append(VARY, HeaderValue::from_static("access-control-request-headers"));
    response
}

/// Leads to the page below a prefix, whose links are relative.
fn with_slash() -> Response<Body> {
    let mut response = Response::new(Body::whole(Vec::new()));
    *response.status_mut() = StatusCode::PERMANENT_REDIRECT;
    response.headers_mut().insert(LOCATION, HeaderValue::from_static("/"));
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

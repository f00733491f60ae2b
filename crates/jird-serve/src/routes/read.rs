//! `GET` of tables and rows.

use crate::base::problem::Problem;
use crate::cache::answers::{CachedAnswer, Question};
use crate::cache::readers::{LOCK_TIME, Plan, Reader, RowCounts};
use crate::http::body::{Body, GiveUp};
use crate::http::compress::packed;
use crate::http::etag::{Tag, Tags};
use crate::request::ask::{Ask, no_row};
use crate::request::catalog::Table;
use crate::request::negotiation::{self, Coding, Preferences};
use crate::request::rows::Stop;
use crate::request::uri;
use crate::routes::state::State;
use crate::tables::database::Opened;
use crate::tables::pace::Pace;
use crate::tables::stream::{Long, Running, Short};
use bytes::Bytes;
use hyper::header::{
    CACHE_CONTROL, CONTENT_ENCODING, CONTENT_RANGE, CONTENT_TYPE, ETAG, HeaderMap, HeaderValue, IF_NONE_MATCH, VARY,
};
use hyper::http::request::Parts;
use hyper::{Response, StatusCode};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::timeout;

/// The most thousands of SQLite's steps for an answer that is made at once, on the thread that serves connections, and the most
/// time and bytes. What takes more is started again on a thread of its own.
const SHORT_STEPS: u64 = 100;
const SHORT_TIME: Duration = Duration::from_millis(20);
const SHORT_BYTES: usize = 256 << 10;
/// The same time for conditions whose steps may be long, which are on another thread.
const PATTERN_TIME: Duration = Duration::from_millis(30);
/// Shorter answers are not compressed.
const PACKED_MIN: usize = 1024;
/// The headers that most answers have.
const HEADERS: usize = 6;
/// The most bytes that are compressed at once; it takes a millisecond or less.
const PACKED_MAX: usize = 64 << 10;

/// What a request asks for.
pub(crate) struct ReadRequest {
    pub(crate) table: Arc<Table>,
    pub(crate) id: Option<String>,
    pub(crate) parameters: Vec<(String, String)>,
}

impl ReadRequest {
    pub(crate) fn ask(&self) -> Result<Ask<'_>, Problem> {
        match &self.id {
            Some(id) => Ask::of_id(&self.table, id, &self.parameters),
            None => Ask::new(&self.table, &self.parameters),
        }
    }
}

/// The answer to a `GET`, if it can be made at once: it was given before and would be the same now, or it is short.
///
/// `None` says nothing about the request: [`get`] answers it.
pub(crate) fn at_once(
    database: &Opened,
    (name, id): (&str, Option<&str>),
    request: &Parts,
) -> Option<Result<Response<Body>, Problem>> {
    let (limits, catalog) = (&database.limits, database.catalog());
    let get = Get::new(request, id.is_some(), limits.rows).ok()?;
    let mut reader = database.readers.take().ok()?;
    reader.budget.grant_little(SHORT_TIME, SHORT_STEPS);
    let kept = reader.answers(catalog.version()).and_then(|answers| answers.find(&get.question).cloned());
    let made = match kept {
        Some(kept) => Some(Ok(kept)),
        None => catalog.table(name).and_then(|table| {
            let parameters = uri::parameters(request.uri.query()).ok()?;
            let wanted = ReadRequest { table: Arc::clone(table), id: id.map(str::to_owned), parameters };
            let ask = wanted.ask().ok()?;
            if !get.is_short(&ask) {
                return None;
            }
            get.short(&mut reader, catalog.version(), &wanted, &ask).transpose()
        }),
    };
    database.readers.give(reader);
    let made = made?;
    // If another file was put in its place meanwhile, the answer may be of the old one.
    database.check().ok()?;
    Some(made.map(|kept| kept.answer(&request.headers)))
}

/// Answers a `GET` that could not be answered [at once](at_once).
pub(crate) async fn get(
    (state, database): (&State, &Arc<Opened>),
    wanted: ReadRequest,
    request: &Parts,
) -> Result<Response<Body>, Problem> {
    let get = Get::new(request, wanted.id.is_some(), state.limits.rows)?;
    let (limit, offset, is_short) = {
        let ask = wanted.ask()?;
        if ask.on_conflict.is_some() || ask.columns.is_some() {
            return Err(Problem::bad("on_conflict and columns are for POST"));
        }
        (ask.limit(), ask.offset(), get.is_short(&ask))
    };
    let (wanted, get) = (Arc::new(wanted), Arc::new(get));
    if !is_short {
        // A count is one step of SQLite, which may take seconds and would be made again.
        let time = if get.plan.counts { state.limits.time } else { PATTERN_TIME };
        let (database, wanted, get) = (Arc::clone(database), Arc::clone(&wanted), Arc::clone(&get));
        let counts = if get.plan.counts {
            let counts = timeout(state.limits.time, Arc::clone(&state.counts).acquire_owned()).await;
            Some(counts.map_err(|_| Problem::busy("there are as many counts as this server allows"))?)
        } else {
            None
        };
        let made = tokio::task::spawn_blocking(move || {
            let _counts = counts;
            // What is locked now may not be later.
            let Ok(mut reader) = database.readers.take_within(LOCK_TIME.min(time)) else { return Ok(None) };
            reader.budget.grant(time);
            let made = get.short(&mut reader, database.catalog().version(), &wanted, &wanted.ask()?);
            database.readers.give(reader);
            database.check().and(made)
        });
        let failed = |_| Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "the answer was not made");
        if let Some(kept) = made.await.map_err(failed)?? {
            return Ok(kept.answer(&request.headers));
        }
    }
    let slot = Arc::clone(&state.streams).try_acquire_owned();
    let slot = slot.map_err(|_| Problem::busy("there are as many long answers as this server allows"))?;
    let (plan, coding) = (get.plan, get.question.coding);
    let running = long((state, database), wanted, plan, (coding, slot)).await?;
    let range = running.total.map(|total| {
        let rows = total.saturating_sub(offset).min(limit.unwrap_or(u64::MAX));
        Range { offset, rows, total }
    });
    let mut response = head(&plan, range)?;
    if let Some(coding) = coding {
        response.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static(coding.name()));
    }
    *response.body_mut() = Body::stream(running.chunks, running.give_up);
    Ok(response)
}

/// What a `GET` asks for besides the rows.
struct Get {
    question: Question,
    plan: Plan,
}

impl Get {
    /// # Errors
    /// 406 if no form of the answer is acceptable.
    fn new(request: &Parts, is_row: bool, rows_max: u64) -> Result<Self, Problem> {
        let headers = &request.headers;
        let question = Question {
            target: request.uri.path_and_query().map_or("", |target| target.as_str()).to_owned(),
            format: negotiation::format(headers, is_row)?,
            coding: negotiation::coding(headers),
            counts: Preferences::new(headers).counts && !is_row,
        };
        let is_one = !is_row && negotiation::wants_one(headers);
        let plan = Plan { format: question.format, counts: question.counts, rows_max, is_one };
        Ok(Self { question, plan })
    }

    /// Whether each step of it is short, so that the limit of time holds.
    fn is_short(&self, ask: &Ask<'_>) -> bool {
        ask.has_short_steps() && !self.plan.counts && ask.on_conflict.is_none() && ask.columns.is_none()
    }

    /// Makes a short answer in the time of the reader, and keeps it; `None` if it would not be short.
    fn short(
        &self,
        reader: &mut Reader,
        schema: i64,
        wanted: &ReadRequest,
        ask: &Ask<'_>,
    ) -> Result<Option<CachedAnswer>, Problem> {
        let Self { question, plan } = self;
        // What a view has may change by itself, as with the time in it.
        let keeps = wanted.table.info.is_ordinary() && reader.answers(schema).is_some();
        let mut out = Short::new(if question.coding.is_some() { PACKED_MAX } else { SHORT_BYTES });
        let found = match reader.answer(ask, plan, false, &mut out) {
            Ok(found) => found,
            Err(Stop::Later | Stop::Gone) => return Ok(None),
            // What fails because the time is over, or because of a lock, may go well with more time.
            Err(Stop::Problem(problem)) => {
                let is_late = reader.budget.is_over() || problem.status == StatusCode::SERVICE_UNAVAILABLE;
                return if is_late { Ok(None) } else { Err(problem) };
            }
        };
        if let Some(id) = wanted.id.as_deref().filter(|_| found.rows == 0) {
            return Err(no_row(&wanted.table, id));
        }
        let range = found.total.map(|total| Range { offset: ask.offset(), rows: found.rows, total });
        let kept = whole(out.text, plan, question.coding, range)?;
        if keeps {
            reader.keep(question.clone(), &kept);
        }
        Ok(Some(kept))
    }
}

/// Begins an answer of any length.
async fn long(
    (state, database): (&State, &Arc<Opened>),
    wanted: Arc<ReadRequest>,
    plan: Plan,
    (coding, slot): (Option<Coding>, OwnedSemaphorePermit),
) -> Result<Running, Problem> {
    let failed = |what: &str| Problem::new(StatusCode::INTERNAL_SERVER_ERROR, what);
    let (time, opened) = (state.limits.time, Arc::clone(database));
    let reader = tokio::task::spawn_blocking(move || opened.readers.take_within(LOCK_TIME.min(time)));
    let reader = reader.await.map_err(|_| failed("the answer was not made"))??;
    reader.budget.grant(time);
    let (budget, opened) = (Arc::clone(&reader.budget), Arc::clone(database));
    let give_up = GiveUp::new(move || budget.give_up());
    let pace = Pace::new(&state.turns, &reader.budget);
    let (mut out, begun, chunks) = Long::new(coding, Some(pace)).map_err(|_| failed("the packer does not start"))?;
    tokio::task::spawn_blocking(move || {
        let made = match wanted.ask() {
            Ok(ask) => {
                let made = reader.answer(&ask, &plan, true, &mut out);
                made.and_then(|found| Ok(opened.check().map(|()| found)?))
            }
            Err(problem) => Err(problem.into()),
        };
        let is_empty = matches!(made, Ok(RowCounts { rows: 0, .. }));
        match &wanted.id {
            Some(id) if is_empty => out.finish(Err(no_row(&wanted.table, id).into())),
            _ => out.finish(made),
        }
        // Its connection is not used again: its budget may be given up at any time from now on.
        drop((reader, slot));
    });
    let total = begun.await.map_err(|_| failed("the answer was not made"))??.total;
    Ok(Running { total, chunks, give_up })
}

/// Which rows of how many an answer has.
#[derive(Clone, Copy)]
struct Range {
    offset: u64,
    rows: u64,
    total: u64,
}

/// The head of an answer.
fn head(plan: &Plan, range: Option<Range>) -> Result<Response<Body>, Problem> {
    let mut response = Response::new(Body::whole(Bytes::new()));
    let headers = response.headers_mut();
    headers.reserve(HEADERS);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(plan.format.media_type()));
    headers.insert(VARY, HeaderValue::from_static("accept, accept-encoding, prefer, authorization"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    let Some(Range { offset, rows, total }) = range else { return Ok(response) };
    if offset > total {
        let detail = format!("offset is {offset}, and there are {total} rows");
        return Err(Problem::new(StatusCode::RANGE_NOT_SATISFIABLE, detail));
    }
    let range = match rows {
        0 => format!("*/{total}"),
        rows => format!("{offset}-{}/{total}", offset + rows - 1),
    };
    headers.insert(CONTENT_RANGE, HeaderValue::from_str(&range).expect("it has digits and signs"));
    if rows < total {
        *response.status_mut() = StatusCode::PARTIAL_CONTENT;
    }
    Ok(response)
}

/// An answer that is there.
fn whole(text: Vec<u8>, plan: &Plan, coding: Option<Coding>, range: Option<Range>) -> Result<CachedAnswer, Problem> {
    let (mut head, _) = head(plan, range)?.into_parts();
    let tag = Tag::of(&text);
    let tag = range.map_or(tag, |range| tag.with_total(range.total));
    let coding = coding.filter(|_| text.len() >= PACKED_MIN);
    let suffix = match coding {
        None => "",
        Some(Coding::Gzip) => "-gzip",
        Some(Coding::Zstd) => "-zstd",
    };
    head.headers.insert(ETAG, tag.header(suffix));
    let body = match coding {
        None => text,
        Some(coding) => {
            head.headers.insert(CONTENT_ENCODING, HeaderValue::from_static(coding.name()));
            let failed = |_| Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "packing the answer failed");
            packed(text, coding).map_err(failed)?
        }
    };
    Ok(CachedAnswer { status: head.status, headers: head.headers, body: body.into(), tag })
}

impl CachedAnswer {
    /// The answer to a request with these headers.
    fn answer(self, headers: &HeaderMap) -> Response<Body> {
        let Self { status, headers: ours, body, tag } = self;
        let is_known = negotiation::text(headers, &IF_NONE_MATCH).is_some_and(|tags| Tags::new(&tags).has(tag));
        let mut response = Response::new(Body::whole(if is_known { Bytes::new() } else { body }));
        *response.status_mut() = if is_known { StatusCode::NOT_MODIFIED } else { status };
        *response.headers_mut() = ours;
        if is_known {
            response.headers_mut().remove(CONTENT_TYPE);
            response.headers_mut().remove(CONTENT_ENCODING);
        }
        response
    }
}

//! `GET` of tables and rows.

use crate::base::problem::Problem;
use crate::cache::kept::{Kept, Question};
use crate::cache::readers::{Found, Plan};
use crate::http::body::{Body, GiveUp};
use crate::http::pack::packed;
use crate::http::tag::{Tag, Tags};
use crate::request::ask::{Ask, no_row};
use crate::request::catalog::Table;
use crate::request::choice::{self, Coding, Preferences};
use crate::request::rows::{Format, Stop};
use crate::routes::state::State;
use crate::tables::database::Opened;
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

/// The most time and bytes for an answer that is made at once, on the thread that serves connections. What takes more
/// is started again on a thread of its own.
const SHORT_TIME: Duration = Duration::from_millis(3);
const SHORT_BYTES: usize = 256 << 10;
/// The same time for conditions whose steps may be long, which are on another thread.
const PATTERN_TIME: Duration = Duration::from_millis(30);
/// How long an answer that a thread makes waits for the lock of another program.
const LOCK_TIME: Duration = Duration::from_secs(5);
/// Shorter answers are not compressed.
const PACKED_MIN: usize = 1024;
/// The most bytes that are compressed at once; it takes a millisecond or less.
const PACKED_MAX: usize = 64 << 10;

/// What a request asks for.
pub(crate) struct Wanted {
    pub(crate) table: Arc<Table>,
    pub(crate) id: Option<String>,
    pub(crate) parameters: Vec<(String, String)>,
}

impl Wanted {
    pub(crate) fn ask(&self) -> Result<Ask<'_>, Problem> {
        match &self.id {
            Some(id) => Ask::of_id(&self.table, id, &self.parameters),
            None => Ask::new(&self.table, &self.parameters),
        }
    }
}

/// The answer to a `GET` that was given before, if it would be the same now.
pub(crate) fn kept(database: &Opened, request: &Parts, is_one: bool) -> Option<Response<Body>> {
    if database.limits.kept_bytes == 0 {
        return None;
    }
    let question = question(request, choice::format(&request.headers, is_one).ok()?, is_one);
    let mut reader = database.readers.take().ok()?;
    reader.budget.grant(SHORT_TIME);
    let found = reader.answers(database.catalog().version()).and_then(|answers| answers.find(&question).cloned());
    database.readers.give(reader);
    Some(found?.answer(&request.headers))
}

fn question(request: &Parts, format: Format, is_one: bool) -> Question {
    Question {
        target: request.uri.path_and_query().map_or("", |target| target.as_str()).to_owned(),
        format,
        coding: choice::coding(&request.headers),
        counts: Preferences::new(&request.headers).counts && !is_one,
    }
}

/// Answers a `GET`.
pub(crate) async fn get(
    (state, database): (&State, &Arc<Opened>),
    wanted: Wanted,
    request: &Parts,
) -> Result<Response<Body>, Problem> {
    let wanted = Arc::new(wanted);
    let is_one = wanted.id.is_some();
    let question = question(request, choice::format(&request.headers, is_one)?, is_one);
    let coding = question.coding;
    let wants_one = !is_one && choice::wants_one(&request.headers);
    let plan =
        Plan { format: question.format, counts: question.counts, rows_max: state.limits.rows, is_one: wants_one };
    let (limit, offset, has_short_steps) = {
        let ask = wanted.ask()?;
        if ask.on_conflict.is_some() || ask.columns.is_some() {
            return Err(Problem::bad("on_conflict and columns are for POST"));
        }
        (ask.limit, ask.offset, ask.has_short_steps() && !plan.counts)
    };
    let kept = if has_short_steps {
        short(database, &wanted, &plan, question, SHORT_TIME)?
    } else {
        // A count is one step of SQLite, which may take seconds and would be made again.
        let time = if plan.counts { state.limits.time } else { PATTERN_TIME };
        let (database, wanted) = (Arc::clone(database), Arc::clone(&wanted));
        let made = tokio::task::spawn_blocking(move || short(&database, &wanted, &plan, question, time));
        let failed = |_| Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "the answer was not made");
        made.await.map_err(failed)??
    };
    if let Some(kept) = kept {
        return Ok(kept.answer(&request.headers));
    }
    let slot = Arc::clone(&state.streams).try_acquire_owned();
    let slot = slot.map_err(|_| Problem::busy("there are as many long answers as this server allows"))?;
    let running = long(database, state.limits.time, wanted, plan, (coding, slot)).await?;
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

/// Makes a short answer in this time, and keeps it; `None` if it would not be short.
fn short(
    database: &Opened,
    wanted: &Wanted,
    plan: &Plan,
    question: Question,
    time: Duration,
) -> Result<Option<Kept>, Problem> {
    let (coding, ask) = (question.coding, &wanted.ask()?);
    let mut reader = database.readers.take()?;
    reader.budget.grant(time);
    // What a view has may change by itself, as with the time in it.
    let keeps = wanted.table.info.is_ordinary() && reader.answers(database.catalog().version()).is_some();
    let mut out = Short::new(if coding.is_some() { PACKED_MAX } else { SHORT_BYTES });
    let made = reader.answer(ask, plan, false, &mut out);
    // What fails because the time is over may go well with more of it.
    let is_late = reader.budget.is_over();
    let made = match made.and_then(|found| Ok(database.check().map(|()| found)?)) {
        Ok(found) => {
            let made = match &wanted.id {
                Some(id) if found.rows == 0 => Err(no_row(&wanted.table, id)),
                _ => {
                    let range = found.total.map(|total| Range { offset: ask.offset, rows: found.rows, total });
                    whole(out.text, plan, coding, range)
                }
            };
            if let (true, Ok(kept)) = (keeps, &made) {
                reader.keep(question, kept);
            }
            made.map(Some)
        }
        Err(Stop::Later | Stop::Gone) => Ok(None),
        Err(Stop::Problem(problem)) if is_late || problem.status == StatusCode::SERVICE_UNAVAILABLE => {
            drop(problem);
            Ok(None)
        }
        Err(Stop::Problem(problem)) => Err(problem),
    };
    database.readers.give(reader);
    made
}

/// Begins an answer of any length.
async fn long(
    database: &Arc<Opened>,
    time: Duration,
    wanted: Arc<Wanted>,
    plan: Plan,
    (coding, slot): (Option<Coding>, OwnedSemaphorePermit),
) -> Result<Running, Problem> {
    let reader = database.readers.take()?;
    reader.budget.grant(time);
    reader.wait_for_locks(LOCK_TIME.min(time))?;
    let (budget, opened) = (Arc::clone(&reader.budget), Arc::clone(database));
    let give_up = GiveUp::new(move || budget.give_up());
    let failed = |what: &str| Problem::new(StatusCode::INTERNAL_SERVER_ERROR, what);
    let (mut out, begun, chunks) = Long::new(coding).map_err(|_| failed("the packer does not start"))?;
    tokio::task::spawn_blocking(move || {
        let made = match wanted.ask() {
            Ok(ask) => {
                let made = reader.answer(&ask, &plan, true, &mut out);
                made.and_then(|found| Ok(opened.check().map(|()| found)?))
            }
            Err(problem) => Err(problem.into()),
        };
        let is_empty = matches!(made, Ok(Found { rows: 0, .. }));
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
    let mut response = Response::new(Body::whole(Vec::new()));
    let headers = response.headers_mut();
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
fn whole(text: Vec<u8>, plan: &Plan, coding: Option<Coding>, range: Option<Range>) -> Result<Kept, Problem> {
    let (mut head, _) = head(plan, range)?.into_parts();
    let tag = Tag::of(&text);
    let tag = range.map_or(tag, |range| tag.with_total(range.total));
    let coding = coding.filter(|_| text.len() >= PACKED_MIN);
    let suffix = match coding {
        None => "",
        Some(Coding::Gzip) => "-gzip",
        Some(Coding::Zstd) => "-zstd",
    };
    let quoted = HeaderValue::from_str(&format!("\"{tag}{suffix}\"")).expect("it has digits and signs");
    head.headers.insert(ETAG, quoted);
    let body = match coding {
        None => text,
        Some(coding) => {
            head.headers.insert(CONTENT_ENCODING, HeaderValue::from_static(coding.name()));
            let failed = |_| Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "packing the answer failed");
            packed(text, coding).map_err(failed)?
        }
    };
    Ok(Kept { status: head.status, headers: head.headers, body: body.into(), tag })
}

impl Kept {
    /// The answer to a request with these headers.
    fn answer(self, headers: &HeaderMap) -> Response<Body> {
        let Self { status, headers: ours, body, tag } = self;
        let is_known = choice::text(headers, &IF_NONE_MATCH).is_some_and(|tags| Tags::new(&tags).has(tag));
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

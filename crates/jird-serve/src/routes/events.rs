//! `GET /events`: events of the store, the newest first, a page at a time.

use crate::base::problem::Problem;
use crate::cache::readers::{Budget, RowCounts};
use crate::http::body::{Body, GiveUp};
use crate::request::negotiation;
use crate::request::rows::{CHUNK, Out, Stop};
use crate::request::select::{Choice, Wish};
use crate::request::uri;
use crate::routes::state::{EventStore, State};
use crate::tables::pace::Pace;
use crate::tables::stream::Long;
use hyper::header::{CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LINK, VARY};
use hyper::http::request::Parts;
use hyper::{Response, StatusCode};
use jird_store::{BlockId, Key, Text};
use std::ops::{ControlFlow, Range};
use std::sync::Arc;

/// Events of a page, if the request does not say how many; and the most.
const LIMIT: u64 = 100;
const LIMIT_MAX: u64 = 10_000;

/// The number of the last event that a client has, and of the last one that an answer could have.
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// The form of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Array,
    Lines,
    Follow,
}

const FORMS: [(Form, &[&str]); 3] = [
    (Form::Array, &["application/json", "application/*", "*/*"]),
    (Form::Lines, &["application/x-ndjson", "application/ndjson", "application/jsonl"]),
    (Form::Follow, &["text/event-stream", "text/*"]),
];

/// What the query of a request says.
#[derive(Debug, Default)]
struct EventsRequest {
    choice: Choice,
    limit: Option<u64>,
    before: Option<Key>,
    follows: Option<bool>,
}

/// Answers a request.
pub(crate) async fn get(state: &State, store: &EventStore, parts: &Parts) -> Result<Response<Body>, Problem> {
    let asked = EventsRequest::new(parts.uri.query())?;
    let form = if asked.follows == Some(true) {
        Form::Follow
    } else {
        let detail = "events come as application/json, application/x-ndjson or text/event-stream";
        negotiation::best(&parts.headers, &FORMS, detail)?
    };
    let wish = Wish::new(&asked.choice)?;
    if form != Form::Follow {
        return page(state, store, asked, wish, form, &parts.headers).await;
    }
    if asked.limit.is_some() || asked.before.is_some() || asked.follows == Some(false) {
        return Err(Problem::bad("follow excludes limit and before"));
    }
    let last = negotiation::text(&parts.headers, &LAST_EVENT_ID);
    let last = last.map(|id| uri::count(&id).ok_or_else(|| Problem::bad("Last-Event-ID is none of this store")));
    let clock = (state.limits.heartbeat, state.stopped.clone());
    store.follow.begin(&store.store, wish, last.transpose()?, &state.turns, clock).await
}

impl EventsRequest {
    fn new(query: Option<&str>) -> Result<Self, Problem> {
        let mut asked = Self::default();
        for (name, value) in uri::parameters(query)? {
            if let Some(place) = asked.choice.parameter(&name) {
                only_once(place.replace(value).is_none(), &name)?;
                continue;
            }
            let is_new = match name.as_str() {
                "limit" => {
                    let limit = uri::count(&value).filter(|limit| *limit <= LIMIT_MAX);
                    let limit =
                        limit.ok_or_else(|| Problem::bad(format!("limit is an integer from 0 to {LIMIT_MAX}")))?;
                    asked.limit.replace(limit).is_none()
                }
                "before" => {
                    let key = key(&value)
                        .ok_or_else(|| Problem::bad("take before from the Link header of an earlier answer"))?;
                    asked.before.replace(key).is_none()
                }
                "follow" => {
                    let follows = match value.as_str() {
                        "true" | "" => true,
                        "false" => false,
                        _ => return Err(Problem::bad("follow is true or false")),
                    };
                    asked.follows.replace(follows).is_none()
                }
                _ => {
                    let detail = "there are where, search, since, until, limit, before and follow";
                    return Err(unknown(&name, detail));
                }
            };
            only_once(is_new, &name)?;
        }
        Ok(asked)
    }

    /// The request for the events before this one.
    fn next(&self, before: Key) -> String {
        let Key { time, arrival } = before;
        let mut target = format!("/events?before={time}.{arrival}");
        for (name, value) in self.choice.parameters() {
            target.extend(["&", name, "=", &uri::encoded(value)]);
        }
        if let Some(limit) = self.limit {
            target.extend(["&limit=", &limit.to_string()]);
        }
        target
    }
}

pub(crate) fn only_once(is_new: bool, name: &str) -> Result<(), Problem> {
    if is_new { Ok(()) } else { Err(Problem::bad(format!("the query has {name} twice"))) }
}

/// What is told of a parameter that there is not.
#[cold]
pub(crate) fn unknown(name: &str, detail: &str) -> Problem {
    let name: String = name.chars().take(80).collect();
    Problem::bad(format!("events have no {name:?}: {detail}"))
}

/// `TIME.ARRIVAL`
fn key(text: &str) -> Option<Key> {
    let (time, arrival) = text.split_once('.')?;
    Some(Key { time: time.parse().ok()?, arrival: uri::count(arrival)? })
}

async fn page(
    state: &State,
    store: &EventStore,
    asked: EventsRequest,
    wish: Wish,
    form: Form,
    headers: &HeaderMap,
) -> Result<Response<Body>, Problem> {
    let failed = |what: &str| Problem::new(StatusCode::INTERNAL_SERVER_ERROR, what);
    let slot = Arc::clone(&state.streams).try_acquire_owned();
    let slot = slot.map_err(|_| Problem::busy("there are as many long answers as this server allows"))?;
    let coding = negotiation::coding(headers);
    let budget = Arc::new(Budget::new(Arc::default()));
    budget.grant(state.limits.time);
    let (mut out, begun, chunks) =
        Long::new(coding, Some(Pace::new(&state.turns, &budget))).map_err(|_| failed("the packer does not start"))?;
    let watched = Arc::clone(&budget);
    let give_up = GiveUp::new(move || watched.give_up());
    let store = store.store.clone();
    tokio::task::spawn_blocking(move || {
        let next = || {
            out.pause();
            over(&budget).map(|()| true)
        };
        let made = Page::find(&store, &asked, &wish, next).and_then(|page| {
            out.page(page.next.map(|before| asked.next(before)), page.last);
            page.write(form, &budget, &mut out)
        });
        out.finish(made);
        drop(slot);
    });
    let told = begun.await.map_err(|_| failed("the answer was not made"))??;
    let mut response = Response::new(Body::stream(chunks, give_up));
    let headers = response.headers_mut();
    let media = FORMS.iter().find(|(known, _)| *known == form).map_or("", |(_, names)| names[0]);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(media));
    headers.insert(VARY, HeaderValue::from_static("accept, accept-encoding, authorization"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if let Some(coding) = coding {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static(coding.name()));
    }
    if let Some(target) = told.next {
        let link = HeaderValue::from_str(&format!("<{target}>; rel=\"next\""));
        headers.insert(LINK, link.map_err(|_| failed("the link is none"))?);
    }
    if let Some(last) = told.last {
        headers.insert(LAST_EVENT_ID, last.into());
    }
    Ok(response)
}

/// Where the events of a page are.
struct Page {
    text: Text,
    /// The newest first: blocks, and bytes of their lines.
    places: Vec<(BlockId, Range<usize>)>,
    /// If there are older ones: the oldest of these.
    next: Option<Key>,
    /// The arrival number of the last event in the store.
    last: Option<u64>,
}

impl Page {
    /// Finds the newest events that are wanted. Reads blocks from the end on until there are enough.
    fn find(
        store: &jird_store::Store,
        asked: &EventsRequest,
        wish: &Wish,
        next_block: impl FnMut() -> Result<bool, Stop>,
    ) -> Result<Self, Stop> {
        let snapshot = store.snapshot().map_err(|error| failed(&error))?;
        let text = match asked.before {
            Some(before) => snapshot.text_before(wish.window, before),
            None => snapshot.text(wish.window),
        };
        let text = text.map_err(|error| failed(&error))?;
        let limit = asked.limit.unwrap_or(LIMIT) as usize;
        let last = snapshot.arrivals().checked_sub(1);
        let (mut places, mut next) = (Vec::new(), None);
        let mut oldest = None;
        newest(&text, wish, next_block, |block| {
            for &number in block.numbers.iter().rev() {
                if places.len() == limit {
                    next = oldest;
                    return ControlFlow::Break(());
                }
                places.push((block.id, block.bytes(number)));
                oldest = block.keys.get(number).copied();
            }
            ControlFlow::Continue(())
        })?;
        Ok(Self { text, places, next, last })
    }

    fn write(&self, form: Form, budget: &Budget, out: &mut Long) -> Result<RowCounts, Stop> {
        let is_array = form == Form::Array;
        let (mut keys, mut lines, mut block) = (Vec::new(), Vec::new(), None);
        if is_array {
            out.text().push(b'[');
        }
        for (number, (id, bytes)) in self.places.iter().enumerate() {
            if block != Some(*id) {
                over(budget)?;
                self.text.read_keyed(*id, &mut keys, &mut lines).map_err(|error| failed(&error))?;
                block = Some(*id);
            }
            // What was there a moment ago is gone only if the disk is damaged.
            let event = lines.get(bytes.clone()).ok_or_else(|| failed(&"the store is damaged"))?;
            if is_array && number > 0 {
                out.text().extend_from_slice(b",\n");
            }
            out.text().extend_from_slice(event);
            if !is_array {
                out.text().push(b'\n');
            }
            if out.text().len() >= CHUNK {
                out.full()?;
            }
        }
        if is_array {
            out.text().extend_from_slice(b"]\n");
        }
        Ok(RowCounts { rows: self.places.len() as u64, total: None })
    }
}

/// Events of a block: those that are wanted, by the numbers of their lines.
pub(crate) struct Block<'b> {
    id: BlockId,
    keys: &'b [Key],
    lines: &'b [u8],
    ends: &'b [usize],
    /// In the order of their times.
    pub(crate) numbers: &'b [usize],
}

impl Block<'_> {
    fn bytes(&self, number: usize) -> Range<usize> {
        let begin = number.checked_sub(1).map_or(0, |before| self.ends[before] + 1);
        begin..self.ends[number]
    }

    /// The text of an event.
    pub(crate) fn event(&self, number: usize) -> &[u8] {
        &self.lines[self.bytes(number)]
    }
}

/// Calls `found` for the blocks that may have events that are wanted, from the newest on, until it breaks or `next` says
/// before a block that there shall be none any more.
///
/// # Errors
/// Those of `next`, and of the store.
pub(crate) fn newest(
    text: &Text,
    wish: &Wish,
    mut next: impl FnMut() -> Result<bool, Stop>,
    mut found: impl FnMut(&Block<'_>) -> ControlFlow<()>,
) -> Result<(), Stop> {
    let (condition, mut sieve) = (wish.for_index(), wish.sieve());
    let (mut keys, mut lines, mut ends) = (Vec::new(), Vec::new(), Vec::new());
    for section in (0..text.sections()).rev() {
        for id in text.select(section, condition.as_ref()).blocks.into_iter().rev() {
            if !next()? {
                return Ok(());
            }
            text.read_keyed(id, &mut keys, &mut lines).map_err(|error| failed(&error))?;
            ends.clear();
            ends.extend(memchr::memchr_iter(b'\n', &lines));
            let numbers = sieve.numbers(&lines, &ends);
            let block = Block { id, keys: &keys, lines: &lines, ends: &ends, numbers: &numbers };
            if found(&block).is_break() {
                return Ok(());
            }
        }
    }
    Ok(())
}

fn over(budget: &Budget) -> Result<(), Stop> {
    if budget.is_over() {
        return Err(Problem::busy("the events took longer than this server allows").into());
    }
    Ok(())
}

#[cold]
pub(crate) fn failed(error: &dyn core::fmt::Display) -> Stop {
    Problem::new(StatusCode::INTERNAL_SERVER_ERROR, format!("reading the events: {error}")).into()
}

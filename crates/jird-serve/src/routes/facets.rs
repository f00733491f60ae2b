//! `GET /events/facets`: the fields of the events that are wanted, and their most frequent values.
//!
//! The newest events are counted first. What is counted is exact, and the answer says of how many events: of all, or of
//! those that could be read in [`TIME`]. Values take a bounded memory: those that are met when it is full are not told
//! apart, and the answer says of how many events they are.

use crate::base::problem::Problem;
use crate::cache::readers::Budget;
use crate::http::body::{Body, GiveUp};
use crate::request::rows::Stop;
use crate::request::select::{Choice, Wish};
use crate::request::uri;
use crate::routes::events::{failed, newest, only_once, unknown};
use crate::routes::state::{EventStore, State};
use crate::tables::pace::Pace;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Response, StatusCode};
use jird::hooks::{ObjectWriter, quoted, write_object};
use jird::{Kind, Parser, Value};
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

/// How long events are counted. A person waits for the answer.
const TIME: Duration = Duration::from_secs(3);
/// Fields, values of each of them, and the bytes of a value and of all; others are not told apart.
const FIELDS_MAX: usize = 200;
const VALUES_MAX: usize = 1000;
const VALUE_BYTES_MAX: usize = 256;
const BYTES_MAX: usize = 16 << 20;
/// Nested objects below an event. Values in arrays have no fields of their own.
const DEPTH_MAX: usize = 5;
/// The values of a field that are told.
const TOLD: usize = 10;

/// Answers a request.
pub(crate) async fn get(state: &State, store: &EventStore, parts: &Parts) -> Result<Response<Body>, Problem> {
    let mut choice = Choice::default();
    for (name, value) in uri::parameters(parts.uri.query())? {
        let place = choice.parameter(&name);
        let place = place.ok_or_else(|| unknown(&name, "facets have where, search, since and until"))?;
        only_once(place.replace(value).is_none(), &name)?;
    }
    let wish = Wish::new(&choice)?;
    let slot = Arc::clone(&state.streams).try_acquire_owned();
    let slot = slot.map_err(|_| Problem::busy("there are as many long answers as this server allows"))?;
    let budget = Arc::new(Budget::new(Arc::default()));
    budget.grant(TIME.min(state.limits.time));
    let pace = Pace::new(&state.turns, &budget);
    // A client that goes away ends it.
    let watched = Arc::clone(&budget);
    let give_up = GiveUp::new(move || watched.give_up());
    let store = store.store.clone();
    let counted = tokio::task::spawn_blocking(move || {
        let _slot = slot;
        Counted::new(&store, &wish, &budget, pace)
    });
    let counted = counted.await;
    drop(give_up);
    let counted = counted.map_err(|error| Problem::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))?;
    let counted = counted.map_err(|stop| match stop {
        Stop::Problem(problem) => problem,
        Stop::Later | Stop::Gone => Problem::busy("the events were not counted"),
    })?;
    let mut response = Response::new(Body::whole(counted.json()));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}

/// What was counted.
#[derive(Default)]
struct Counted {
    events: u64,
    /// Whether these are all events that are wanted.
    is_all: bool,
    fields: Vec<Facet>,
    /// Places in `fields`, by JSON Pointer.
    places: HashMap<String, usize>,
    /// Bytes of names and values.
    bytes: usize,
}

/// A field, and how often it has which value.
struct Facet {
    pointer: String,
    events: u64,
    /// Values as they are written, except that strings have no needless escapes.
    values: HashMap<Box<str>, u64>,
    /// Events whose values were not told apart.
    others: u64,
}

impl Counted {
    fn new(store: &jird_store::Store, wish: &Wish, budget: &Budget, mut pace: Pace) -> Result<Self, Stop> {
        let snapshot = store.snapshot().map_err(|error| failed(&error))?;
        let text = snapshot.text(wish.window).map_err(|error| failed(&error))?;
        let (mut counted, mut parser, mut is_all) = (Self::default(), Parser::new(), true);
        // What is counted until the time is over is the answer.
        let next = || {
            pace.pause();
            is_all = !budget.is_over();
            Ok(is_all)
        };
        newest(&text, wish, next, |block| {
            for &number in block.numbers {
                if let Ok(event) = parser.parse(block.event(number)) {
                    counted.events += 1;
                    counted.add(event, &mut String::new(), 0);
                }
            }
            ControlFlow::Continue(())
        })?;
        Ok(Self { is_all, ..counted })
    }

    /// Counts the values of an object at this place.
    fn add(&mut self, object: Value<'_>, pointer: &mut String, depth: usize) {
        for (name, value) in object.entries() {
            let begin = pointer.len();
            let name = name.as_str().unwrap_or_default();
            pointer.push('/');
            pointer.push_str(&name.replace('~', "~0").replace('/', "~1"));
            match value.kind() {
                Kind::Object if depth < DEPTH_MAX => self.add(value, pointer, depth + 1),
                Kind::Object | Kind::Array => {}
                _ => self.count(pointer, value),
            }
            pointer.truncate(begin);
        }
    }

    fn count(&mut self, pointer: &str, value: Value<'_>) {
        let place = match self.places.get(pointer) {
            Some(place) => *place,
            None if self.fields.len() < FIELDS_MAX && self.bytes + pointer.len() < BYTES_MAX => {
                self.bytes += 2 * pointer.len();
                self.places.insert(pointer.to_owned(), self.fields.len());
                let pointer = pointer.to_owned();
                self.fields.push(Facet { pointer, events: 0, values: HashMap::new(), others: 0 });
                self.fields.len() - 1
            }
            None => return,
        };
        let field = &mut self.fields[place];
        field.events += 1;
        let raw = value.raw_str().unwrap_or_default();
        let decoded;
        let written = match value.as_str() {
            Some(text) if raw.contains('\\') && raw.len() <= 6 * VALUE_BYTES_MAX => {
                decoded = quoted(&text);
                &*decoded
            }
            _ => raw,
        };
        if let Some(events) = field.values.get_mut(written) {
            *events += 1;
        } else if field.values.len() < VALUES_MAX
            && written.len() <= VALUE_BYTES_MAX
            && self.bytes + written.len() < BYTES_MAX
        {
            self.bytes += written.len();
            field.values.insert(written.into(), 1);
        } else {
            field.others += 1;
        }
    }

    fn json(mut self) -> Vec<u8> {
        // Of fields in equally many events, those that were met first.
        self.fields.sort_by_key(|field| core::cmp::Reverse(field.events));
        let mut text = Vec::new();
        write_object(&mut text, |object| {
            object.member("events", self.events);
            object.member("all", self.is_all);
            object.array("fields", |fields| {
                for field in &self.fields {
                    fields.object(|object| field.write(object));
                }
            });
        });
        text.push(b'\n');
        text
    }
}

impl Facet {
    fn write(&self, object: &mut ObjectWriter<'_>) {
        object.member("field", &self.pointer);
        object.member("events", self.events);
        object.member("distinct", self.values.len() as u64);
        object.member("others", self.others);
        let mut values: Vec<_> = self.values.iter().collect();
        // The order is the same each time.
        values.sort_by(|one, other| other.1.cmp(one.1).then_with(|| one.0.cmp(other.0)));
        values.truncate(TOLD);
        object.array("values", |array| {
            for (value, events) in values {
                array.object(|object| {
                    object.raw("value", value.as_bytes());
                    object.member("events", *events);
                });
            }
        });
    }
}

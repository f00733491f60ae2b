//! Rust types as sources.

mod key;
mod ser;
mod stop;

use super::{Failure, KeyTable, Place, Sink, Source};
use crate::error::Error;
use ser::Events;
use serde_core::ser::Serialize;
use stop::Stop;

/// Sends the events of one value: what serde makes of it, and no text in between. Records are for the caller to mark.
///
/// It is what [`to_vec`](crate::to_vec) would write, with these differences: bytes are bytes, and fields that the sink skips are not
/// even looked at. Keys that are numbers become text, floats that are infinite or none `null`, integers of 128 bits are exact, and
/// an `f32` is the shortest text that reads back as the same. What is nested very deeply overflows the stack.
///
/// ```
/// use jird::event::{self, JsonSink};
/// let mut out = JsonSink::new(Vec::new());
/// event::send_value(&(1, "a", [None, Some(0.5)]), &mut out)?;
/// assert_eq!(out.so_far(), br#"[1,"a",[null,0.5]]"#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The value's own, or a key that is neither text nor a number, boolean or unit variant; and the sink's.
pub fn send_value<T: ?Sized + Serialize, S: Sink>(value: &T, sink: &mut S) -> Result<(), Failure<Error, S::Error>> {
    Names::default().send(value, sink, None)
}

/// Values of an iterator as a source, a record each. Fields of structs come with numbers.
///
/// ```
/// use jird::event::{self, JsonSink, Values};
/// #[derive(serde::Serialize)]
/// struct Task {
///     id: u32,
///     title: &'static str,
///     done: bool,
/// }
///
/// let tasks = [Task { id: 1, title: "Clean room", done: false }, Task { id: 2, title: "Check", done: true }];
/// let mut out = JsonSink::new(Vec::new());
/// event::copy(&mut Values::new(&tasks), &mut out)?;
/// assert_eq!(out.into_inner(), br#"{"id":1,"title":"Clean room","done":false}
/// {"id":2,"title":"Check","done":true}
/// "#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Values<I> {
    rest: I,
    sent: u64,
    names: Names,
}

impl<I: Iterator<Item: Serialize>> Values<I> {
    /// A record for each value.
    pub fn new(values: impl IntoIterator<IntoIter = I>) -> Self {
        Self { rest: values.into_iter(), sent: 0, names: Names::default() }
    }
}

impl<I: Iterator<Item: Serialize>> Source for Values<I> {
    type Error = Error;

    #[inline]
    fn send_record<S: Sink>(&mut self, sink: &mut S) -> Result<bool, Failure<Error, S::Error>> {
        let Some(value) = self.rest.next() else { return Ok(false) };
        let place = Place { record: self.sent, ..Place::default() };
        self.sent += 1;
        self.names.send(&value, sink, Some(place)).map(|()| true)
    }
}

/// What serializing keeps from value to value.
#[derive(Debug, Default)]
struct Names {
    /// Fields of structs, by number; and the same as they came, to be known again by where they are.
    table: KeyTable,
    known: Vec<&'static str>,
    /// What comes behind the field that came last.
    guess: usize,
    /// For what is displayed.
    scratch: String,
}

impl Names {
    /// Sends a value; as a record, if it has a place.
    #[inline]
    fn send<T: ?Sized + Serialize, S: Sink>(
        &mut self,
        value: &T,
        sink: &mut S,
        place: Option<Place>,
    ) -> Result<(), Failure<Error, S::Error>> {
        self.guess = 0;
        let mut send = || {
            if let Some(place) = place {
                sink.begin_record(place).map_err(Stop::Sink)?;
            }
            value.serialize(Events { sink: &mut *sink, names: &mut *self, numbers: place.is_some() })?;
            if place.is_some() { sink.end_record().map_err(Stop::Sink) } else { Ok(()) }
        };
        send().map_err(|stop| match stop {
            Stop::Sink(error) => Failure::Sink(error, place.unwrap_or_default()),
            Stop::Value(error) => Failure::Source(error),
        })
    }

    /// The number of a field.
    #[inline(always)]
    fn number(&mut self, name: &'static str) -> u32 {
        let number = match self.known.get(self.guess) {
            Some(known) if core::ptr::eq(*known, name) => self.guess,
            _ => self.find(name),
        };
        self.guess = number + 1;
        number as u32
    }

    #[inline(never)]
    fn find(&mut self, name: &'static str) -> usize {
        let number = self.table.insert(name) as usize;
        if number == self.known.len() {
            self.known.push(name);
        }
        // The same name of another type will come again.
        self.known[number] = name;
        number
    }
}

//! Rust types as sources.

mod key;
mod ser;
mod stop;

use super::{Failure, KeyTable, Place, Sink, Source};
use crate::error::Error;
use ser::Events;
use serde_core::ser::Serialize;
use stop::Stop;

/// Sends the events of one value, as serde describes it, with no text in between. The caller marks the records.
///
/// The events are those of the text that [`to_vec`](crate::to_vec) would write, except that bytes are sent as bytes,
/// and that fields which the sink skips are not serialized. Keys that are numbers become text. Floats that are infinite
/// or NaN become `null`. Integers of 128 bits are exact, and an `f32` becomes the shortest text that reads back as the
/// same. A very deeply nested value overflows the stack.
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
/// The value's own error, or a key that is neither text nor a number, boolean or unit variant; or the sink's error.
pub fn send_value<T: ?Sized + Serialize, S: Sink>(value: &T, sink: &mut S) -> Result<(), Failure<Error, S::Error>> {
    Names::default().send(value, sink, None)
}

/// The values of an iterator as a source, one record for each. The keys of struct fields have numbers.
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
    /// A source with one record for each value.
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

/// State that is kept from one value to the next.
#[derive(Debug, Default)]
struct Names {
    /// The fields of structs, by number; and in `known`, the same names as they were given, to recognize them by
    /// address.
    table: KeyTable,
    known: Vec<&'static str>,
    /// The number that is tried first: that of the field after the last one.
    guess: usize,
    /// A buffer for text written through `Display`.
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
        // The same name at another address belongs to another type, whose fields are likely to come again.
        self.known[number] = name;
        number
    }
}

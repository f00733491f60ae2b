//! Renames some keys.

use crate::event::protocol::{Scalar, forwards, scalars};
use crate::event::tracker::{Leads, Tracker};
use crate::event::{Interest, Key, Pattern, Place, Sink};

/// Forwards everything, and renames the keys that some patterns lead to. A renamed key is sent without the number that
/// its source has for it.
///
/// ```
/// use jird::event::{self, JsonSink, JsonSource, Pattern, filter::Rename};
/// let names = [(Pattern::dotted("@t"), "time"), ("/items/*/n".parse()?, "count")];
/// let mut out = Rename::new(JsonSink::new(Vec::new()), names);
/// event::copy(&mut JsonSource::from_slice(br#"{"@t":1,"items":[{"n":2}],"n":3}"#), &mut out)?;
/// assert_eq!(out.into_inner().into_inner(), b"{\"time\":1,\"items\":[{\"count\":2}],\"n\":3}\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Rename<S> {
    sink: S,
    tracker: Tracker,
    names: Vec<String>,
    /// Where the patterns lead that match up to the value of the current key.
    behind_key: Option<Leads>,
    /// The number of open arrays and objects that no pattern leads into.
    beside: usize,
}

impl<S: Sink> Rename<S> {
    /// Takes each pattern with the new name for the last key on its path. If several patterns match one key, the first
    /// counts.
    pub fn new<N: Into<String>>(sink: S, names: impl IntoIterator<Item = (Pattern, N)>) -> Self {
        let (patterns, names) = names.into_iter().map(|(pattern, name)| (pattern, name.into())).unzip();
        Self { sink, tracker: Tracker::new(patterns), names, behind_key: None, beside: 0 }
    }

    /// The sink.
    pub fn into_inner(self) -> S {
        self.sink
    }

    fn leads(&mut self) -> Leads {
        match self.behind_key.take() {
            Some(leads) => leads,
            None if self.tracker.is_in_array() => self.tracker.element(),
            None => self.tracker.root(),
        }
    }

    #[inline]
    fn scalar(&mut self, scalar: Scalar<'_>) -> Result<(), S::Error> {
        if self.beside == 0 {
            self.leads();
        }
        scalar.send(&mut self.sink)
    }

    #[inline]
    fn begin(&mut self, object: bool) {
        if self.beside == 0 && self.leads().further {
            self.tracker.enter(object);
        } else {
            self.beside += 1;
        }
    }

    #[inline]
    fn end(&mut self) {
        match self.beside.checked_sub(1) {
            Some(left) => self.beside = left,
            None => self.tracker.leave(),
        }
    }
}

impl<S: Sink> Sink for Rename<S> {
    type Error = S::Error;

    fn begin_record(&mut self, place: Place) -> Result<(), S::Error> {
        self.tracker.restart();
        (self.behind_key, self.beside) = (None, 0);
        self.sink.begin_record(place)
    }

    fn begin_object(&mut self) -> Result<(), S::Error> {
        self.begin(true);
        self.sink.begin_object()
    }

    #[inline]
    fn key(&mut self, key: Key<'_>) -> Result<Interest, S::Error> {
        if self.beside > 0 {
            return self.sink.key(key);
        }
        let leads = self.tracker.key(key.text());
        let interest = match leads.there {
            Some(number) => self.sink.key(Key::new(&self.names[number]))?,
            None => self.sink.key(key)?,
        };
        if interest == Interest::Take {
            self.behind_key = Some(leads);
        }
        Ok(interest)
    }

    fn end_object(&mut self) -> Result<(), S::Error> {
        self.end();
        self.sink.end_object()
    }

    fn begin_array(&mut self) -> Result<(), S::Error> {
        self.begin(false);
        self.sink.begin_array()
    }

    fn end_array(&mut self) -> Result<(), S::Error> {
        self.end();
        self.sink.end_array()
    }

    scalars!();

    forwards!(self => self.sink, Into::into; end_record wants_more finish);
}

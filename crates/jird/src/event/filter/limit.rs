//! The first `n` records.

use crate::event::protocol::{Scalar, forwards, scalars};
use crate::event::{Interest, Key, Place, Sink};

/// Forwards the given number of records, and then [wants no more](Sink::wants_more). The source stops there and reads
/// no further than it has.
///
/// ```
/// use jird::event::{self, JsonSink, JsonSource, filter::Limit};
/// let mut out = Limit::new(JsonSink::new(Vec::new()), 2);
/// event::copy(&mut JsonSource::from_slice(b"1 2 3 what is this"), &mut out)?;
/// assert_eq!(out.into_inner().into_inner(), b"1\n2\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Limit<S> {
    sink: S,
    left: u64,
    /// Ignores all events: the source sends more records than the sink wants.
    deaf: bool,
}

impl<S: Sink> Limit<S> {
    /// Forwards the first `records` records to `sink`.
    pub fn new(sink: S, records: u64) -> Self {
        Self { sink, left: records, deaf: false }
    }

    /// The sink.
    pub fn into_inner(self) -> S {
        self.sink
    }

    #[inline]
    fn hand_on(&mut self, send: impl FnOnce(&mut S) -> Result<(), S::Error>) -> Result<(), S::Error> {
        if self.deaf { Ok(()) } else { send(&mut self.sink) }
    }

    #[inline]
    fn scalar(&mut self, scalar: Scalar<'_>) -> Result<(), S::Error> {
        self.hand_on(|sink| scalar.send(sink))
    }
}

impl<S: Sink> Sink for Limit<S> {
    type Error = S::Error;

    fn begin_record(&mut self, place: Place) -> Result<(), S::Error> {
        self.deaf = self.left == 0;
        self.hand_on(|sink| sink.begin_record(place))
    }

    fn end_record(&mut self) -> Result<(), S::Error> {
        self.left = self.left.saturating_sub(1);
        self.hand_on(S::end_record)
    }

    fn begin_object(&mut self) -> Result<(), S::Error> {
        self.hand_on(S::begin_object)
    }

    #[inline]
    fn key(&mut self, key: Key<'_>) -> Result<Interest, S::Error> {
        if self.deaf { Ok(Interest::Skip) } else { self.sink.key(key) }
    }

    fn end_object(&mut self) -> Result<(), S::Error> {
        self.hand_on(S::end_object)
    }

    fn begin_array(&mut self) -> Result<(), S::Error> {
        self.hand_on(S::begin_array)
    }

    fn end_array(&mut self) -> Result<(), S::Error> {
        self.hand_on(S::end_array)
    }

    scalars!();

    fn wants_more(&self) -> bool {
        self.left > 0 && self.sink.wants_more()
    }

    forwards!(self => self.sink, Into::into; finish);
}

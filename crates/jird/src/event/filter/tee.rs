//! Forwards to two sinks.

use crate::event::protocol::{Scalar, scalars};
use crate::event::{Interest, Key, Place, Sink};
use core::fmt;

/// Forwards everything to two sinks. A value is taken if at least one of them takes it; a sink that skips it does not
/// receive it. The source sends records as long as at least one of the sinks wants more.
///
/// ```
/// use jird::event::{self, JsonSink, JsonSource, Pattern, filter::{Project, Tee}};
/// let ids = Project::new(JsonSink::new(Vec::new()), [Pattern::dotted("id")]);
/// let mut both = Tee::new(ids, JsonSink::new(Vec::new()).array());
/// event::copy(&mut JsonSource::from_slice(br#"{"id":1,"x":[2]} {"id":3}"#), &mut both)?;
/// let (ids, all) = both.into_inner();
/// assert_eq!(ids.into_inner().into_inner(), b"{\"id\":1}\n{\"id\":3}\n");
/// assert_eq!(all.into_inner(), b"[\n{\"id\":1,\"x\":[2]},\n{\"id\":3}\n]\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Tee<A, B> {
    first: A,
    second: B,
    /// For each sink, whether events are withheld from it at present.
    deaf: [bool; 2],
    /// The depth within the value that is withheld from one of the sinks, if a single value is.
    value: Option<usize>,
}

/// Which of the two sinks stopped, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TeeError<A, B> {
    /// The first.
    First(A),
    /// The second.
    Second(B),
}

impl<A: fmt::Display, B: fmt::Display> fmt::Display for TeeError<A, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::First(error) => error.fmt(f),
            Self::Second(error) => error.fmt(f),
        }
    }
}

impl<A: std::error::Error, B: std::error::Error> std::error::Error for TeeError<A, B> {}

impl<A: Sink, B: Sink> Tee<A, B> {
    /// Forwards to both sinks.
    pub fn new(first: A, second: B) -> Self {
        Self { first, second, deaf: [false; 2], value: None }
    }

    /// The sinks.
    pub fn into_inner(self) -> (A, B) {
        (self.first, self.second)
    }

    /// Sends an event to each sink that it is not withheld from.
    #[inline(always)]
    fn tell(
        &mut self,
        first: impl FnOnce(&mut A) -> Result<(), A::Error>,
        second: impl FnOnce(&mut B) -> Result<(), B::Error>,
    ) -> Result<(), TeeError<A::Error, B::Error>> {
        if !self.deaf[0] {
            first(&mut self.first).map_err(TeeError::First)?;
        }
        if !self.deaf[1] {
            second(&mut self.second).map_err(TeeError::Second)?;
        }
        Ok(())
    }

    /// An array or object begins.
    #[inline(always)]
    fn open(&mut self) {
        if let Some(depth) = &mut self.value {
            *depth += 1;
        }
    }

    /// A value ended, which may be the one that was withheld.
    #[inline(always)]
    fn close(&mut self, levels: usize) {
        if let Some(depth) = &mut self.value {
            *depth = depth.saturating_sub(levels);
            if *depth == 0 {
                self.value = None;
                self.deaf = [false; 2];
            }
        }
    }

    #[inline]
    fn scalar(&mut self, scalar: Scalar<'_>) -> Result<(), TeeError<A::Error, B::Error>> {
        self.tell(|sink| scalar.send(sink), |sink| scalar.send(sink))?;
        self.close(0);
        Ok(())
    }
}

impl<A: Sink, B: Sink> Sink for Tee<A, B> {
    type Error = TeeError<A::Error, B::Error>;

    fn begin_record(&mut self, place: Place) -> Result<(), Self::Error> {
        self.value = None;
        self.deaf = [!self.first.wants_more(), !self.second.wants_more()];
        self.tell(|sink| sink.begin_record(place), |sink| sink.begin_record(place))
    }

    fn end_record(&mut self) -> Result<(), Self::Error> {
        self.tell(A::end_record, B::end_record)
    }

    fn begin_object(&mut self) -> Result<(), Self::Error> {
        self.open();
        self.tell(A::begin_object, B::begin_object)
    }

    #[inline]
    fn key(&mut self, key: Key<'_>) -> Result<Interest, Self::Error> {
        let takes = [
            !self.deaf[0] && self.first.key(key).map_err(TeeError::First)? == Interest::Take,
            !self.deaf[1] && self.second.key(key).map_err(TeeError::Second)? == Interest::Take,
        ];
        if takes == [false; 2] {
            return Ok(Interest::Skip);
        }
        // Unless one of them is deaf already, up to the end of the record or of a value around this one.
        if takes != [true; 2] && self.deaf == [false; 2] {
            self.deaf = takes.map(|takes| !takes);
            self.value = Some(0);
        }
        Ok(Interest::Take)
    }

    fn end_object(&mut self) -> Result<(), Self::Error> {
        self.tell(A::end_object, B::end_object)?;
        self.close(1);
        Ok(())
    }

    fn begin_array(&mut self) -> Result<(), Self::Error> {
        self.open();
        self.tell(A::begin_array, B::begin_array)
    }

    fn end_array(&mut self) -> Result<(), Self::Error> {
        self.tell(A::end_array, B::end_array)?;
        self.close(1);
        Ok(())
    }

    scalars!();

    fn wants_more(&self) -> bool {
        self.first.wants_more() || self.second.wants_more()
    }

    fn finish(&mut self) -> Result<(), Self::Error> {
        self.first.finish().map_err(TeeError::First)?;
        self.second.finish().map_err(TeeError::Second)
    }
}

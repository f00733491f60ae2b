//! A sink that passes records on only when they are complete.

use anyhow::Error;
use jird::event::{Failure, Interest, JsonText, Key, Numeral, Place, Sink, Source, Timestamp};
use jird::hooks::event::Recording;

/// Passes each record on when it is complete, so no part of a bad record reaches the inner sink. It is for sources that
/// find a bad value only when they come to it, as those of tables do.
pub(super) struct Whole<'s, S> {
    sink: &'s mut S,
    record: Recording,
}

impl<'s, S: Sink> Whole<'s, S> {
    pub(super) fn new(sink: &'s mut S) -> Self {
        Self { sink, record: Recording::new() }
    }
}

impl<S: Sink<Error: Into<Error>>> Sink for Whole<'_, S> {
    type Error = Error;

    fn begin_record(&mut self, place: Place) -> Result<(), Error> {
        Ok(self.record.begin_record(place)?)
    }

    fn end_record(&mut self) -> Result<(), Error> {
        match self.record.source().send_record(self.sink) {
            Ok(_) => Ok(()),
            Err(Failure::Source(never)) => match never {},
            Err(Failure::Sink(error, _)) => Err(error.into()),
        }
    }

    fn begin_object(&mut self) -> Result<(), Error> {
        Ok(self.record.begin_object()?)
    }

    fn key(&mut self, key: Key<'_>) -> Result<Interest, Error> {
        Ok(self.record.key(key)?)
    }

    fn end_object(&mut self) -> Result<(), Error> {
        Ok(self.record.end_object()?)
    }

    fn begin_array(&mut self) -> Result<(), Error> {
        Ok(self.record.begin_array()?)
    }

    fn end_array(&mut self) -> Result<(), Error> {
        Ok(self.record.end_array()?)
    }

    fn null(&mut self) -> Result<(), Error> {
        Ok(self.record.null()?)
    }

    fn bool(&mut self, value: bool) -> Result<(), Error> {
        Ok(self.record.bool(value)?)
    }

    fn number(&mut self, number: Numeral<'_>) -> Result<(), Error> {
        Ok(self.record.number(number)?)
    }

    fn string(&mut self, text: &str) -> Result<(), Error> {
        Ok(self.record.string(text)?)
    }

    fn bytes(&mut self, bytes: &[u8]) -> Result<(), Error> {
        Ok(self.record.bytes(bytes)?)
    }

    fn timestamp(&mut self, time: Timestamp) -> Result<(), Error> {
        Ok(self.record.timestamp(time)?)
    }

    fn json(&mut self, text: JsonText<'_>) -> Result<(), Error> {
        Ok(self.record.json(text)?)
    }

    fn wants_more(&self) -> bool {
        self.sink.wants_more()
    }
}

//! Keys of maps, sent to a sink.

use super::stop::Stop;
use crate::data_model::MapKey;
use crate::error::{Category, Error};
use crate::event::{Interest, Key, Sink};
use core::fmt::{Display, Write};

/// Sends a key to the sink, and returns the sink's answer.
pub(super) struct SentKey<'s, S> {
    pub(super) sink: &'s mut S,
    pub(super) scratch: &'s mut String,
}

impl<S: Sink> MapKey for SentKey<'_, S> {
    type Ok = Interest;
    type Error = Stop<S::Error>;

    #[inline(always)]
    fn text(self, text: &str) -> Result<Interest, Self::Error> {
        self.sink.key(Key::new(text)).map_err(Stop::Sink)
    }

    fn displayed<T: ?Sized + Display>(self, value: &T) -> Result<Interest, Self::Error> {
        self.scratch.clear();
        match write!(self.scratch, "{value}") {
            Ok(()) => self.sink.key(Key::new(self.scratch)).map_err(Stop::Sink),
            Err(_) => Err(Stop::Value(Error::message(Category::Data, &"a key could not be displayed"))),
        }
    }
}

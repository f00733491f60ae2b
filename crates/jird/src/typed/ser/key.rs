//! Keys of maps, between quotes.

use super::Job;
use super::format::Format;
use crate::data_model::MapKey;
use crate::error::Error;
use crate::text::{Mark, Overflow, Writer};
use core::fmt::Display;
use serde_core::ser::{Serialize, Serializer};

impl<'o, S: Overflow, F: Format> MapKey for Writer<'o, Job<S, F>> {
    type Ok = Mark<'o>;
    type Error = Error;

    #[inline(always)]
    fn text(self, text: &str) -> Result<Mark<'o>, Error> {
        self.serialize_str(text)
    }

    fn displayed<T: ?Sized + Display>(self, value: &T) -> Result<Mark<'o>, Error> {
        self.collect_str(value)
    }

    #[inline]
    fn scalar<T: Display + Serialize>(self, value: T) -> Result<Mark<'o>, Error> {
        quoted(self, |writer| value.serialize(writer))
    }
}

/// Writes the output of `write` between quotes.
pub(super) fn quoted<'o, S: Overflow, F: Format>(
    mut writer: Writer<'o, Job<S, F>>,
    write: impl for<'p> FnOnce(Writer<'p, Job<S, F>>) -> Result<Mark<'p>, Error>,
) -> Result<Mark<'o>, Error> {
    writer.bytes([b'"'], 1)?;
    writer.with(write)?;
    writer.bytes([b'"'], 1)?;
    Ok(writer.mark())
}

//! Sequences, maps, structs, and variants that contain them.

use super::Job;
use super::format::Format;
use crate::data_model::{Container, KeySerializer, RAW_TEXT, Raw, RawField};
use crate::error::{Category, Error};
use crate::text::{Mark, Overflow, Writer};
use serde_core::ser::Serialize;

/// An open container.
pub(super) struct Compound<'o, S, F> {
    writer: Writer<'o, Job<S, F>>,
    first: bool,
    raw: RawField,
}

impl<'o, S: Overflow, F: Format> Compound<'o, S, F> {
    #[inline(always)]
    pub(super) fn open(mut writer: Writer<'o, Job<S, F>>, bracket: u8) -> Result<Self, Error> {
        F::open(&mut writer, bracket)?;
        writer.reach();
        Ok(Self { writer, first: true, raw: RawField::None })
    }

    /// Opens the struct whose one field is raw text: nothing is written around it.
    #[inline(always)]
    #[expect(clippy::unnecessary_wraps, reason = "as the other containers are opened")]
    pub(super) fn open_raw(writer: Writer<'o, Job<S, F>>) -> Result<Self, Error> {
        Ok(Self { writer, first: true, raw: RawField::Missing })
    }

    /// Opens the container inside a variant's object.
    #[inline(always)]
    pub(super) fn open_variant(mut writer: Writer<'o, Job<S, F>>, variant: &str, bracket: u8) -> Result<Self, Error> {
        F::open(&mut writer, b'{')?;
        F::member(&mut writer, true, variant)?;
        Self::open(writer, bracket)
    }

    #[inline(always)]
    pub(super) fn closed(mut self, bracket: u8) -> Result<Writer<'o, Job<S, F>>, Error> {
        // Only a struct can be raw, which the compiler knows.
        if bracket == b'}' && self.raw != RawField::None {
            // Nothing is written, which is an error if the writer has failed before.
            self.writer.bytes([b' '], 0)?;
            return if self.raw == RawField::Written && self.first { Ok(self.writer) } else { no_raw_text() };
        }
        F::close(&mut self.writer, bracket, self.first)?;
        Ok(self.writer)
    }

    /// Closes the variant's object too.
    #[inline(always)]
    pub(super) fn closed_variant(mut self, bracket: u8) -> Result<Writer<'o, Job<S, F>>, Error> {
        F::close(&mut self.writer, bracket, self.first)?;
        F::close(&mut self.writer, b'}', false)?;
        Ok(self.writer)
    }
}

impl<S: Overflow, F: Format> Compound<'_, S, F> {
    fn raw<T: ?Sized + Serialize>(&mut self, value: &T) -> Result<(), Error> {
        if core::mem::replace(&mut self.raw, RawField::Written) == RawField::Written {
            // Leaves the writer as after any other error.
            return self.writer.with(|_| no_raw_text());
        }
        self.writer.with(|writer| value.serialize(Raw::new(writer)))
    }
}

#[cold]
fn no_raw_text<T>() -> Result<T, Error> {
    Err(Error::message(Category::Data, &"raw JSON must be one string"))
}

impl<'o, S: Overflow, F: Format> Container for Compound<'o, S, F> {
    type Ok = Mark<'o>;
    type Error = Error;

    #[inline(always)]
    fn element<T: ?Sized + Serialize>(&mut self, value: &T) -> Result<(), Error> {
        F::separate(&mut self.writer, core::mem::take(&mut self.first))?;
        self.writer.with(|writer| value.serialize(writer))
    }

    #[inline(always)]
    fn member<T: ?Sized + Serialize>(&mut self, key: &'static str, value: &T) -> Result<(), Error> {
        // The first condition is known when an ordinary struct is compiled, and nothing is left of this.
        if key == RAW_TEXT && self.raw != RawField::None {
            return self.raw(value);
        }
        F::member(&mut self.writer, core::mem::take(&mut self.first), key)?;
        self.writer.with(|writer| value.serialize(writer))
    }

    #[inline(always)]
    fn key<T: ?Sized + Serialize>(&mut self, key: &T) -> Result<(), Error> {
        F::separate(&mut self.writer, core::mem::take(&mut self.first))?;
        self.writer.with(|writer| key.serialize(KeySerializer(writer)))
    }

    #[inline(always)]
    fn value<T: ?Sized + Serialize>(&mut self, value: &T) -> Result<(), Error> {
        F::colon(&mut self.writer)?;
        self.writer.with(|writer| value.serialize(writer))
    }

    #[inline(always)]
    fn close(self, bracket: u8) -> Result<Mark<'o>, Error> {
        Ok(self.closed(bracket)?.mark())
    }

    #[inline(always)]
    fn close_variant(self, bracket: u8) -> Result<Mark<'o>, Error> {
        Ok(self.closed_variant(bracket)?.mark())
    }
}

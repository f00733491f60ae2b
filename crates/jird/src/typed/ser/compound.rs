//! Sequences, maps, structs, and variants that contain them.

use super::Job;
use super::format::Format;
use super::key::KeySerializer;
use crate::error::Error;
use crate::text::{Mark, Sink, Writer};
use serde_core::ser::{
    Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant,
};

/// An open container.
pub(super) struct Compound<'o, S, F> {
    writer: Writer<'o, Job<S, F>>,
    first: bool,
}

impl<'o, S: Sink, F: Format> Compound<'o, S, F> {
    #[inline(always)]
    pub(super) fn open(mut writer: Writer<'o, Job<S, F>>, bracket: u8) -> Result<Self, Error> {
        F::open(&mut writer, bracket)?;
        Ok(Self { writer, first: true })
    }

    /// Opens the container inside a variant's object.
    #[inline(always)]
    pub(super) fn open_variant(mut writer: Writer<'o, Job<S, F>>, variant: &str, bracket: u8) -> Result<Self, Error> {
        F::open(&mut writer, b'{')?;
        F::member(&mut writer, true, variant)?;
        Self::open(writer, bracket)
    }

    #[inline(always)]
    fn element<T: ?Sized + Serialize>(&mut self, value: &T) -> Result<(), Error> {
        F::separate(&mut self.writer, core::mem::take(&mut self.first))?;
        self.writer.with(|writer| value.serialize(writer))
    }

    #[inline(always)]
    fn member<T: ?Sized + Serialize>(&mut self, key: &'static str, value: &T) -> Result<(), Error> {
        F::member(&mut self.writer, core::mem::take(&mut self.first), key)?;
        self.writer.with(|writer| value.serialize(writer))
    }

    #[inline(always)]
    pub(super) fn close(mut self, bracket: u8) -> Result<Writer<'o, Job<S, F>>, Error> {
        F::close(&mut self.writer, bracket, self.first)?;
        Ok(self.writer)
    }

    /// Closes the variant's object too.
    #[inline(always)]
    pub(super) fn close_variant(self, bracket: u8) -> Result<Writer<'o, Job<S, F>>, Error> {
        let mut writer = self.close(bracket)?;
        F::close(&mut writer, b'}', false)?;
        Ok(writer)
    }
}

/// Implements the traits that differ only in their names and in how they end.
macro_rules! sequences {
    ($($trait:ident: $add:ident, $close:ident);+) => {
        $(
            impl<'o, S: Sink, F: Format> $trait for Compound<'o, S, F> {
                type Ok = Mark<'o>;
                type Error = Error;

                #[inline(always)]
                fn $add<T: ?Sized + Serialize>(&mut self, value: &T) -> Result<(), Error> {
                    self.element(value)
                }

                #[inline(always)]
                fn end(self) -> Result<Self::Ok, Error> {
                    Ok(self.$close(b']')?.mark())
                }
            }
        )+
    };
}
sequences!(
    SerializeSeq: serialize_element, close;
    SerializeTuple: serialize_element, close;
    SerializeTupleStruct: serialize_field, close;
    SerializeTupleVariant: serialize_field, close_variant
);

/// As [`sequences`], for structs.
macro_rules! structs {
    ($($trait:ident: $close:ident);+) => {
        $(
            impl<'o, S: Sink, F: Format> $trait for Compound<'o, S, F> {
                type Ok = Mark<'o>;
                type Error = Error;

                #[inline(always)]
                fn serialize_field<T: ?Sized + Serialize>(
                    &mut self, key: &'static str, value: &T,
                ) -> Result<(), Error> {
                    self.member(key, value)
                }

                #[inline(always)]
                fn end(self) -> Result<Self::Ok, Error> {
                    Ok(self.$close(b'}')?.mark())
                }
            }
        )+
    };
}
structs!(SerializeStruct: close; SerializeStructVariant: close_variant);

impl<'o, S: Sink, F: Format> SerializeMap for Compound<'o, S, F> {
    type Ok = Mark<'o>;
    type Error = Error;

    #[inline(always)]
    fn serialize_key<T: ?Sized + Serialize>(&mut self, key: &T) -> Result<(), Error> {
        F::separate(&mut self.writer, core::mem::take(&mut self.first))?;
        self.writer.with(|writer| key.serialize(KeySerializer(writer)))
    }

    #[inline(always)]
    fn serialize_value<T: ?Sized + Serialize>(&mut self, value: &T) -> Result<(), Error> {
        F::colon(&mut self.writer)?;
        self.writer.with(|writer| value.serialize(writer))
    }

    #[inline(always)]
    fn end(self) -> Result<Self::Ok, Error> {
        Ok(self.close(b'}')?.mark())
    }
}

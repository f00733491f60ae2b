//! Sequences, maps, structs and variants with either.

use super::Job;
use super::format::Format;
use super::key::Key;
use crate::error::Error;
use crate::text::{Mark, Pen, Sink};
use serde_core::ser::{
    Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant,
};

/// A container that is open.
pub(super) struct Compound<'o, S, F> {
    pen: Pen<'o, Job<S, F>>,
    first: bool,
}

impl<'o, S: Sink, F: Format> Compound<'o, S, F> {
    #[inline(always)]
    pub(super) fn open(pen: Pen<'o, Job<S, F>>, bracket: u8) -> Result<Self, Error> {
        Ok(Self { pen: F::open(pen, bracket)?, first: true })
    }

    #[inline(always)]
    fn element<T: ?Sized + Serialize>(&mut self, value: &T) -> Result<(), Error> {
        let first = core::mem::take(&mut self.first);
        self.pen.with(|pen| value.serialize(F::separate(pen, first)?))
    }

    #[inline(always)]
    fn member<T: ?Sized + Serialize>(&mut self, key: &'static str, value: &T) -> Result<(), Error> {
        let first = core::mem::take(&mut self.first);
        self.pen.with(|pen| value.serialize(F::member(pen, first, key)?))
    }

    #[inline(always)]
    pub(super) fn close(self, bracket: u8) -> Result<Pen<'o, Job<S, F>>, Error> {
        F::close(self.pen, bracket, self.first)
    }

    /// Closes the variant's object too.
    #[inline(always)]
    pub(super) fn close_variant(self, bracket: u8) -> Result<Pen<'o, Job<S, F>>, Error> {
        F::close(self.close(bracket)?, b'}', false)
    }
}

/// The traits that differ in their names, and in how they end.
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

/// As [`sequences`].
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
        let first = core::mem::take(&mut self.first);
        self.pen.with(|pen| key.serialize(Key(F::separate(pen, first)?)))
    }

    #[inline(always)]
    fn serialize_value<T: ?Sized + Serialize>(&mut self, value: &T) -> Result<(), Error> {
        self.pen.with(|pen| value.serialize(F::colon(pen)?))
    }

    #[inline(always)]
    fn end(self) -> Result<Self::Ok, Error> {
        Ok(self.close(b'}')?.mark())
    }
}

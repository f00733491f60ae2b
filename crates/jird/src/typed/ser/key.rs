//! Serializes keys of maps: strings, and types that can be written as a string.

use super::Job;
use super::format::Format;
use crate::data_model::refusals;
use crate::error::{Category, Error};
use crate::text::{Mark, Sink, Writer};
use core::fmt;
use serde_core::ser::{Impossible, Serialize, Serializer};

/// The serializer for a key.
pub(super) struct KeySerializer<'o, S, F>(pub(super) Writer<'o, Job<S, F>>);

/// Writes the output of `write` between quotes.
pub(super) fn quoted<'o, S: Sink, F: Format>(
    mut writer: Writer<'o, Job<S, F>>,
    write: impl for<'p> FnOnce(Writer<'p, Job<S, F>>) -> Result<Mark<'p>, Error>,
) -> Result<Mark<'o>, Error> {
    writer.bytes([b'"'], 1)?;
    writer.with(write)?;
    writer.bytes([b'"'], 1)?;
    Ok(writer.mark())
}

#[cold]
fn no_key<T>() -> Result<T, Error> {
    Err(Error::message(Category::Syntax, &"key must be a string"))
}

#[cold]
fn non_finite<T>() -> Result<T, Error> {
    Err(Error::message(Category::Syntax, &"float key must be finite (got NaN or +/-inf)"))
}

/// Values that need no escapes are written between quotes.
macro_rules! scalars {
    ($($name:ident: $type:ty),+) => {
        $(
            #[inline]
            fn $name(self, value: $type) -> Result<Self::Ok, Error> {
                quoted(self.0, |writer| writer.$name(value))
            }
        )+
    };
}

impl<'o, S: Sink, F: Format> Serializer for KeySerializer<'o, S, F> {
    type Ok = Mark<'o>;
    type Error = Error;

    scalars!(
        serialize_bool: bool, serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64,
        serialize_i128: i128, serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64,
        serialize_u128: u128
    );

    fn serialize_f32(self, value: f32) -> Result<Self::Ok, Error> {
        if value.is_finite() { quoted(self.0, |writer| writer.serialize_f32(value)) } else { non_finite() }
    }

    fn serialize_f64(self, value: f64) -> Result<Self::Ok, Error> {
        if value.is_finite() { quoted(self.0, |writer| writer.serialize_f64(value)) } else { non_finite() }
    }

    fn serialize_char(self, value: char) -> Result<Self::Ok, Error> {
        self.0.serialize_char(value)
    }

    #[inline(always)]
    fn serialize_str(self, value: &str) -> Result<Self::Ok, Error> {
        self.0.serialize_str(value)
    }

    fn serialize_some<T: ?Sized + Serialize>(self, value: &T) -> Result<Self::Ok, Error> {
        value.serialize(self)
    }

    fn serialize_unit_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
    ) -> Result<Self::Ok, Error> {
        self.0.serialize_str(variant)
    }

    #[inline]
    fn serialize_newtype_struct<T: ?Sized + Serialize>(
        self,
        _name: &'static str,
        value: &T,
    ) -> Result<Self::Ok, Error> {
        value.serialize(self)
    }

    refusals!(no_key());

    fn collect_str<T: ?Sized + fmt::Display>(self, value: &T) -> Result<Self::Ok, Error> {
        self.0.collect_str(value)
    }
}

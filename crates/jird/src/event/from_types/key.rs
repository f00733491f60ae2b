//! Keys of maps: strings, and the types that can be written as a string.

use super::stop::Stop;
use crate::data_model::refusals;
use crate::error::{Category, Error};
use crate::event::{Interest, Key, Sink};
use core::fmt::{self, Write};
use serde_core::ser::{Impossible, Serialize, Serializer};

/// The serializer for a key: sends it to the sink, and returns the sink's answer.
pub(super) struct MapKey<'s, S> {
    pub(super) sink: &'s mut S,
    pub(super) scratch: &'s mut String,
}

#[cold]
fn no_key<T, E>() -> Result<T, Stop<E>> {
    Err(Stop::Value(Error::message(Category::Syntax, &"key must be a string")))
}

impl<S: Sink> MapKey<'_, S> {
    fn float(self, value: impl zmij::Float, is_finite: bool) -> Result<Interest, Stop<S::Error>> {
        if !is_finite {
            let message = "float key must be finite (got NaN or +/-inf)";
            return Err(Stop::Value(Error::message(Category::Syntax, &message)));
        }
        self.serialize_str(zmij::Buffer::new().format_finite(value))
    }
}

macro_rules! displayed {
    ($($name:ident: $type:ty),+) => {
        $(
            fn $name(self, value: $type) -> Result<Interest, Self::Error> {
                self.collect_str(&value)
            }
        )+
    };
}

impl<S: Sink> Serializer for MapKey<'_, S> {
    type Ok = Interest;
    type Error = Stop<S::Error>;

    displayed!(
        serialize_bool: bool, serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64,
        serialize_i128: i128, serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64,
        serialize_u128: u128
    );

    fn serialize_f32(self, value: f32) -> Result<Interest, Self::Error> {
        self.float(value, value.is_finite())
    }

    fn serialize_f64(self, value: f64) -> Result<Interest, Self::Error> {
        self.float(value, value.is_finite())
    }

    fn serialize_char(self, value: char) -> Result<Interest, Self::Error> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    #[inline(always)]
    fn serialize_str(self, value: &str) -> Result<Interest, Self::Error> {
        self.sink.key(Key::new(value)).map_err(Stop::Sink)
    }

    fn serialize_some<T: ?Sized + Serialize>(self, value: &T) -> Result<Interest, Self::Error> {
        value.serialize(self)
    }

    fn serialize_unit_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
    ) -> Result<Interest, Self::Error> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: ?Sized + Serialize>(
        self,
        _name: &'static str,
        value: &T,
    ) -> Result<Interest, Self::Error> {
        value.serialize(self)
    }

    refusals!(no_key());

    fn collect_str<T: ?Sized + fmt::Display>(self, value: &T) -> Result<Interest, Self::Error> {
        self.scratch.clear();
        match write!(self.scratch, "{value}") {
            Ok(()) => self.sink.key(Key::new(self.scratch)).map_err(Stop::Sink),
            Err(_) => Err(Stop::Value(Error::message(Category::Data, &"a key could not be displayed"))),
        }
    }
}

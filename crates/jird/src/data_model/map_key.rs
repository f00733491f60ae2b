//! Keys of maps, as serializers write them: strings, and types that can be written as a string.

use super::refusals;
use crate::error::{Category, Error};
use core::fmt::Display;
use serde_core::ser::{self, Impossible, Serialize, Serializer};

/// Receives the key of a map.
pub(crate) trait MapKey: Sized {
    type Ok;
    type Error: ser::Error + From<Error>;

    /// Takes the key's content.
    fn text(self, text: &str) -> Result<Self::Ok, Self::Error>;

    /// Takes content that is what `value` displays.
    fn displayed<T: ?Sized + Display>(self, value: &T) -> Result<Self::Ok, Self::Error>;

    /// Takes a number or a boolean, whose digits or letters are the content.
    fn scalar<T: Display + Serialize>(self, value: T) -> Result<Self::Ok, Self::Error> {
        self.displayed(&value)
    }
}

/// The serializer for a key.
pub(crate) struct KeySerializer<K>(pub(crate) K);

impl<K: MapKey> KeySerializer<K> {
    fn float(self, value: impl zmij::Float, is_finite: bool) -> Result<K::Ok, K::Error> {
        if is_finite {
            self.0.text(zmij::Buffer::new().format_finite(value))
        } else {
            refused("float key must be finite (got NaN or +/-inf)")
        }
    }
}

#[cold]
fn refused<T, E: From<Error>>(words: &str) -> Result<T, E> {
    Err(Error::message(Category::Syntax, &words).into())
}

macro_rules! scalars {
    ($($name:ident: $type:ty),+) => {
        $(
            #[inline]
            fn $name(self, value: $type) -> Result<K::Ok, K::Error> {
                self.0.scalar(value)
            }
        )+
    };
}

impl<K: MapKey> Serializer for KeySerializer<K> {
    type Ok = K::Ok;
    type Error = K::Error;

    scalars!(
        serialize_bool: bool, serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64,
        serialize_i128: i128, serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64,
        serialize_u128: u128
    );

    fn serialize_f32(self, value: f32) -> Result<K::Ok, K::Error> {
        self.float(value, value.is_finite())
    }

    fn serialize_f64(self, value: f64) -> Result<K::Ok, K::Error> {
        self.float(value, value.is_finite())
    }

    fn serialize_char(self, value: char) -> Result<K::Ok, K::Error> {
        self.0.text(value.encode_utf8(&mut [0; 4]))
    }

    #[inline(always)]
    fn serialize_str(self, value: &str) -> Result<K::Ok, K::Error> {
        self.0.text(value)
    }

    fn serialize_some<T: ?Sized + Serialize>(self, value: &T) -> Result<K::Ok, K::Error> {
        value.serialize(self)
    }

    fn serialize_unit_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
    ) -> Result<K::Ok, K::Error> {
        self.0.text(variant)
    }

    #[inline]
    fn serialize_newtype_struct<T: ?Sized + Serialize>(
        self,
        _name: &'static str,
        value: &T,
    ) -> Result<K::Ok, K::Error> {
        value.serialize(self)
    }

    refusals!(refused("key must be a string"));

    fn collect_str<T: ?Sized + Display>(self, value: &T) -> Result<K::Ok, K::Error> {
        self.0.displayed(value)
    }
}

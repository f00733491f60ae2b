//! Decodes keys, which are strings, into types that are not.

use super::{ALL_NUMBERS, EXACT_NUMBERS, Number, RAW_TEXT};
use crate::error::{Category, Error};
use crate::number;
use serde_core::de::{self, Deserializer, Unexpected, Visitor};
use std::borrow::Cow;

/// A key, or the name of a variant.
pub(crate) trait KeyText<'de> {
    /// Deserializes a key like any other string.
    type Value<'k>: Deserializer<'de, Error = Error>
    where
        Self: 'k;

    /// Passes the key's content to a visitor, with escapes decoded.
    fn visit<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Error>;

    /// Passes on what stands between the quotes.
    fn quoted<T>(&mut self, then: impl FnOnce(&str) -> Result<T, Error>) -> Result<T, Error>;

    fn value(&mut self) -> Self::Value<'_>;
}

/// A key of a tree.
pub(crate) trait TreeKey<'de>: KeyText<'de> {
    /// The key's content, for the path of an error.
    fn name(&self) -> Cow<'de, str>;

    /// Gives an error without a position the position of this key, if it has one.
    fn placed(&self, error: Error) -> Error {
        error
    }
}

/// Deserializes a key. Numbers and booleans are parsed from within the quotes.
pub(crate) struct KeyDeserializer<'k, K>(pub(crate) &'k mut K);

impl<'de, K: KeyText<'de>> KeyDeserializer<'_, K> {
    /// The number in the quotes.
    fn number<T>(self, read: impl FnOnce(&[u8]) -> Option<T>) -> Result<T, Error> {
        self.0.quoted(|content| {
            let content = content.as_bytes();
            let wrong = match content.first() {
                Some(b'0'..=b'9' | b'-') => match number::check(content) {
                    Ok(_) => match read(content) {
                        Some(value) => return Ok(value),
                        None => "the number is out of the allowed range",
                    },
                    Err(_) => "not a valid number",
                },
                _ => "invalid value: expected key to be a number in quotes",
            };
            Err(Error::message(Category::Syntax, &wrong))
        })
    }
}

macro_rules! numbers {
    ($($method:ident)*) => {
        $(
            fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
                self.number(|content| Number::of(content, 0, content.len()))?.visit(visitor)
            }
        )*
    };
}

impl<'de, K: KeyText<'de>> Deserializer<'de> for KeyDeserializer<'_, K> {
    type Error = Error;

    #[inline(always)]
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.0.visit(visitor)
    }

    numbers! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64
        deserialize_f64
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.number(Number::of_f32)?.visit(visitor)
    }

    fn deserialize_i128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.number(number::to_i128).and_then(|value| visitor.visit_i128(value))
    }

    fn deserialize_u128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.number(|content| if content[0] == b'-' { None } else { number::to_u128(content) })
            .and_then(|value| visitor.visit_u128(value))
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.0.quoted(|content| match content {
            "true" => visitor.visit_bool(true),
            "false" => visitor.visit_bool(false),
            other => Err(de::Error::invalid_type(Unexpected::Str(other), &visitor)),
        })
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        // A key cannot be null.
        visitor.visit_some(self)
    }

    #[inline]
    fn deserialize_newtype_struct<V: Visitor<'de>>(self, name: &'static str, visitor: V) -> Result<V::Value, Error> {
        if matches!(name, RAW_TEXT | EXACT_NUMBERS | ALL_NUMBERS) {
            return self.0.value().deserialize_newtype_struct(name, visitor);
        }
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.0.value().deserialize_enum(name, variants, visitor)
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.0.value().deserialize_bytes(visitor)
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.0.value().deserialize_bytes(visitor)
    }

    serde_core::forward_to_deserialize_any! {
        char str string unit unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

//! Decodes keys, which are strings, into types that are not.

use super::{Deserializer, Read, StringText};
use crate::data_model::{Number, RAW_TEXT};
use crate::error::{Category, Error};
use crate::number;
use crate::scan::{Content, Token};
use serde_core::de::{self, Unexpected, Visitor};

/// Deserializes the string that is the next token, as a key or the name of a variant. Numbers and booleans are parsed
/// from within the quotes.
pub(super) struct KeyDeserializer<'a, R> {
    pub(super) de: &'a mut Deserializer<R>,
    pub(super) token: Token,
}

impl<'de, R: Read<'de>> KeyDeserializer<'_, R> {
    /// The number in the quotes.
    fn number<T>(self, read: impl FnOnce(&[u8]) -> Option<T>) -> Result<T, Error> {
        let (Content::Borrowed(content) | Content::Passing(content)) = self.de.pull.string()?;
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
        Err(self.de.pull.place(Error::message(Category::Syntax, &wrong), self.token.start))
    }

    fn visit_number<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.number(|content| Number::of(content, 0, content.len()))?.visit(visitor)
    }
}

macro_rules! numeric_keys {
    ($($method:ident)*) => {
        $(
            fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
                self.visit_number(visitor)
            }
        )*
    };
}

impl<'de, R: Read<'de>> de::Deserializer<'de> for KeyDeserializer<'_, R> {
    type Error = Error;

    #[inline(always)]
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.de.with_string(|content| match content {
            StringText::Borrowed(content) => visitor.visit_borrowed_str(content),
            StringText::Passing(content) => visitor.visit_str(content),
        })
    }

    numeric_keys! {
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
        let (Content::Borrowed(content) | Content::Passing(content)) = self.de.pull.string()?;
        match content {
            "true" => visitor.visit_bool(true),
            "false" => visitor.visit_bool(false),
            other => Err(de::Error::invalid_type(Unexpected::Str(other), &visitor)),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        // A key cannot be null.
        visitor.visit_some(self)
    }

    #[inline]
    fn deserialize_newtype_struct<V: Visitor<'de>>(self, name: &'static str, visitor: V) -> Result<V::Value, Error> {
        if name == RAW_TEXT {
            return self.de.deserialize_newtype_struct(name, visitor);
        }
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.de.deserialize_enum(name, variants, visitor)
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.de.deserialize_bytes(visitor)
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.de.deserialize_bytes(visitor)
    }

    serde_core::forward_to_deserialize_any! {
        char str string unit unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

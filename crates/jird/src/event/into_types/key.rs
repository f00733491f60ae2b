//! Decodes keys, which are text, into types that are not; and the names of variants.

use super::decode::Decode;
use crate::data_model::Number;
use crate::error::{Category, Error};
use crate::number;
use serde_core::de::value::BorrowedStrDeserializer;
use serde_core::de::{self, DeserializeSeed, Deserializer, Unexpected, Visitor};
use serde_core::forward_to_deserialize_any;

/// Deserializes a key. Numbers and booleans are parsed from its text.
pub(super) struct KeyText<'a>(pub(super) &'a str);

impl KeyText<'_> {
    fn number<T>(self, read: impl FnOnce(&[u8]) -> Option<T>) -> Result<T, Error> {
        let content = self.0.as_bytes();
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
    }
}

macro_rules! numbers {
    ($($method:ident)*) => {
        $(
            fn $method<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Error> {
                self.number(|content| Number::of(content, 0, content.len()))?.visit(visitor)
            }
        )*
    };
}

impl<'a> Deserializer<'a> for KeyText<'a> {
    type Error = Error;

    #[inline(always)]
    fn deserialize_any<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_borrowed_str(self.0)
    }

    numbers! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64
        deserialize_f64
    }

    fn deserialize_f32<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Error> {
        self.number(Number::of_f32)?.visit(visitor)
    }

    fn deserialize_i128<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Error> {
        self.number(number::to_i128).and_then(|value| visitor.visit_i128(value))
    }

    fn deserialize_u128<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Error> {
        self.number(|content| if content[0] == b'-' { None } else { number::to_u128(content) })
            .and_then(|value| visitor.visit_u128(value))
    }

    fn deserialize_bool<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            "true" => visitor.visit_bool(true),
            "false" => visitor.visit_bool(false),
            other => Err(de::Error::invalid_type(Unexpected::Str(other), &visitor)),
        }
    }

    fn deserialize_option<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Error> {
        // A key cannot be null.
        visitor.visit_some(self)
    }

    #[inline]
    fn deserialize_newtype_struct<V: Visitor<'a>>(self, _: &'static str, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'a>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_enum::<BorrowedStrDeserializer<'_, Error>>(BorrowedStrDeserializer::new(self.0))
    }

    fn deserialize_bytes<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_borrowed_bytes(self.0.as_bytes())
    }

    fn deserialize_byte_buf<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_bytes(visitor)
    }

    forward_to_deserialize_any! {
        <V: Visitor<'a>>
        char str string unit unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

/// An enum written as an object: its one key is the variant's name, and the value is the variant's content.
pub(super) struct RecordedVariant<'d, 'a> {
    pub(super) name: &'a str,
    pub(super) decode: &'d mut Decode<'a>,
}

impl<'d, 'a> de::EnumAccess<'a> for RecordedVariant<'d, 'a> {
    type Error = Error;
    type Variant = &'d mut Decode<'a>;

    fn variant_seed<V: DeserializeSeed<'a>>(self, seed: V) -> Result<(V::Value, Self::Variant), Error> {
        Ok((seed.deserialize(KeyText(self.name))?, self.decode))
    }
}

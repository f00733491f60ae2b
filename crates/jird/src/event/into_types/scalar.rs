//! serde's `Deserializer` over a scalar.

use crate::data_model::{Number, RAW_TEXT};
use crate::error::{Category, Error};
use crate::event::{JsonSink, Numeral, Scalar};
use crate::fault::ErrorKind;
use crate::number;
use serde_core::de::value::{BorrowedStrDeserializer, SeqDeserializer};
use serde_core::de::{self, Deserializer, Unexpected, Visitor};

/// A scalar of a record.
pub(super) struct Value<'a>(pub(super) Scalar<'a>);

impl<'a> Value<'a> {
    #[cold]
    #[inline(never)]
    pub(super) fn wrong(&self, wanted: &dyn de::Expected) -> Error {
        let found = match self.0 {
            Scalar::Null => Unexpected::Unit,
            Scalar::Bool(value) => Unexpected::Bool(value),
            Scalar::Number(number) => match as_number(number) {
                Ok(number) => number.unexpected(),
                Err(error) => return error,
            },
            Scalar::String(text) => Unexpected::Str(text),
            Scalar::Bytes(bytes) => Unexpected::Bytes(bytes),
            Scalar::Timestamp(time) => {
                return de::Error::invalid_type(Unexpected::Str(&time.to_string()), wanted);
            }
        };
        de::Error::invalid_type(found, wanted)
    }

    /// Visits an integer of 128 bits.
    fn visit_wide<T, V: Visitor<'a>>(
        &self,
        narrow: fn(Numeral<'a>) -> Option<T>,
        read: fn(&[u8]) -> Option<T>,
        visitor: V,
        visit: fn(V, T) -> Result<V::Value, Error>,
    ) -> Result<V::Value, Error> {
        let Scalar::Number(number) = self.0 else { return Err(self.wrong(&visitor)) };
        let value = match number {
            Numeral::Text(number) if number.is_integer() => read(number.text().as_bytes()),
            Numeral::I64(_) | Numeral::U64(_) => narrow(number),
            Numeral::Text(_) | Numeral::F64(_) => return Err(self.wrong(&visitor)),
        };
        visit(visitor, value.ok_or_else(|| Error::new(ErrorKind::Range, 0))?)
    }
}

/// Checks that the value is of the requested kind, then visits it as it is.
macro_rules! gated {
    ($([$kind:pat => $($method:ident($($argument:ty),*))*])*) => {
        $($(
            #[inline(always)]
            fn $method<V: Visitor<'a>>(self, $(_: $argument,)* visitor: V) -> Result<V::Value, Error> {
                match self.0 {
                    $kind => self.deserialize_any(visitor),
                    _ => Err(self.wrong(&visitor)),
                }
            }
        )*)*
    };
}

impl<'a> Deserializer<'a> for Value<'a> {
    type Error = Error;

    #[inline(always)]
    fn deserialize_any<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Scalar::Null => visitor.visit_unit(),
            Scalar::Bool(value) => visitor.visit_bool(value),
            Scalar::Number(number) => as_number(number)?.visit(visitor),
            Scalar::String(text) => visitor.visit_borrowed_str(text),
            Scalar::Bytes(bytes) => visitor.visit_string(base64_simd::STANDARD.encode_to_string(bytes)),
            Scalar::Timestamp(time) => visitor.visit_string(time.to_string()),
        }
    }

    fn deserialize_f32<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Error> {
        let Scalar::Number(Numeral::Text(text)) = self.0 else { return self.deserialize_f64(visitor) };
        Number::of_f32(text.text().as_bytes()).ok_or_else(|| Error::new(ErrorKind::Range, 0))?.visit(visitor)
    }

    fn deserialize_i128<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Error> {
        let narrow = |number: Numeral<'_>| number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from));
        self.visit_wide(narrow, number::to_i128, visitor, V::visit_i128)
    }

    fn deserialize_u128<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Error> {
        let unsigned = |text: &[u8]| if text[0] == b'-' { None } else { number::to_u128(text) };
        self.visit_wide(|number| number.as_u64().map(u128::from), unsigned, visitor, V::visit_u128)
    }

    fn deserialize_bytes<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Scalar::Bytes(bytes) => visitor.visit_borrowed_bytes(bytes),
            Scalar::String(text) => visitor.visit_borrowed_bytes(text.as_bytes()),
            Scalar::Timestamp(time) => visitor.visit_byte_buf(time.to_string().into_bytes()),
            _ => Err(self.wrong(&visitor)),
        }
    }

    fn deserialize_byte_buf<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_bytes(visitor)
    }

    #[inline(always)]
    fn deserialize_option<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Error> {
        if matches!(self.0, Scalar::Null) { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    #[inline]
    fn deserialize_newtype_struct<V: Visitor<'a>>(self, name: &'static str, visitor: V) -> Result<V::Value, Error> {
        if name != RAW_TEXT {
            return visitor.visit_newtype_struct(self);
        }
        if let Scalar::Number(Numeral::Text(number)) = self.0 {
            return visitor.visit_borrowed_str(number.text());
        }
        let mut json = JsonSink::in_memory();
        self.0.send(&mut json)?;
        json.take_text(|text| visitor.visit_str(text))
    }

    fn deserialize_seq<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Error> {
        let Scalar::Bytes(bytes) = self.0 else { return Err(self.wrong(&visitor)) };
        let mut bytes = SeqDeserializer::<_, Error>::new(bytes.iter().copied());
        let value = visitor.visit_seq(&mut bytes)?;
        bytes.end()?;
        Ok(value)
    }

    fn deserialize_tuple<V: Visitor<'a>>(self, _: usize, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'a>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_map<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Error> {
        Err(self.wrong(&visitor))
    }

    fn deserialize_struct<V: Visitor<'a>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        Err(self.wrong(&visitor))
    }

    fn deserialize_enum<V: Visitor<'a>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self.0 {
            Scalar::String(text) => {
                visitor.visit_enum::<BorrowedStrDeserializer<'_, Error>>(BorrowedStrDeserializer::new(text))
            }
            _ => Err(no_variant()),
        }
    }

    #[inline]
    fn deserialize_ignored_any<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_unit()
    }

    gated! {
        [Scalar::Bool(_) => deserialize_bool()]
        [Scalar::Number(_) => deserialize_i8() deserialize_i16() deserialize_i32() deserialize_i64() deserialize_f64()]
        [Scalar::Number(_) => deserialize_u8() deserialize_u16() deserialize_u32() deserialize_u64()]
        [Scalar::String(_) | Scalar::Bytes(_) | Scalar::Timestamp(_) =>
            deserialize_char() deserialize_str() deserialize_string() deserialize_identifier()]
        [Scalar::Null => deserialize_unit() deserialize_unit_struct(&'static str)]
    }
}

/// The value is neither a string nor an object.
#[cold]
pub(super) fn no_variant() -> Error {
    Error::message(Category::Syntax, &"expected a variant: a string or an object")
}

/// The number in the form that a visitor receives.
#[inline(always)]
fn as_number(number: Numeral<'_>) -> Result<Number, Error> {
    let text = match number {
        Numeral::Text(text) => text,
        Numeral::U64(value) => return Ok(Number::U64(value)),
        Numeral::I64(value) => return Ok(u64::try_from(value).map_or(Number::I64(value), Number::U64)),
        Numeral::F64(value) => return Ok(Number::F64(value)),
    };
    let (text, start, end) = text.place();
    Number::of(text, start, end).ok_or_else(|| Error::new(ErrorKind::Range, 0))
}

//! A recording as something to decode: serde's `Deserializer`, over events.

use super::key::{KeyText, Variant};
use crate::error::{Category, Error, Step};
use crate::event::protocol::Scalar;
use crate::event::recording::{Item, Recording};
use crate::event::{JsonSink, Numeral};
use crate::fault::ErrorKind;
use crate::number;
use crate::typed::RAW_TEXT;
use crate::typed::de::TYPED_DEPTH_MAX;
use crate::typed::de::number::Number;
use serde_core::de::value::{BorrowedStrDeserializer, SeqDeserializer};
use serde_core::de::{self, Deserialize, DeserializeSeed, Deserializer, Unexpected, Visitor};

/// Where the decoding of a recording has come to.
pub(super) struct Decode<'a> {
    recording: &'a Recording,
    /// The next event.
    at: usize,
    depth_left: usize,
    /// The fields of the struct that the record is.
    fields: &'static [&'static str],
    /// The value that nobody wanted, last.
    ignored_at: usize,
    /// Keys of the record that are no fields and whose values nobody wants.
    pub(super) ignored: Vec<usize>,
}

impl<'a> Decode<'a> {
    pub(super) fn new(recording: &'a Recording) -> Result<Self, Error> {
        if !recording.is_complete() {
            return Err(Error::new(ErrorKind::Unclosed, 0));
        }
        let depth_left = TYPED_DEPTH_MAX;
        Ok(Self { recording, at: 0, depth_left, fields: &[], ignored_at: usize::MAX, ignored: Vec::new() })
    }

    #[inline]
    pub(super) fn value<T: Deserialize<'a>>(&mut self) -> Result<T, Error> {
        match T::deserialize(&mut *self) {
            Ok(value) => Ok(value),
            Err(error) if error.offset() == 0 && !error.is_placed() => {
                Err(error.placed(self.recording.place().offset, 0, 0))
            }
            Err(error) => Err(error),
        }
    }

    #[inline(always)]
    fn item(&self) -> Item<'a> {
        self.recording.item(self.at)
    }

    #[cold]
    #[inline(never)]
    fn wrong(&self, wanted: &dyn de::Expected) -> Error {
        let found = match self.item() {
            Item::Scalar(Scalar::Null) => Unexpected::Unit,
            Item::Scalar(Scalar::Bool(value)) => Unexpected::Bool(value),
            Item::Scalar(Scalar::Number(number)) => match as_number(number) {
                Ok(number) => number.unexpected(),
                Err(error) => return error,
            },
            Item::Scalar(Scalar::String(text)) => Unexpected::Str(text),
            Item::Scalar(Scalar::Bytes(bytes)) => Unexpected::Bytes(bytes),
            Item::Scalar(Scalar::Timestamp(time)) => {
                return de::Error::invalid_type(Unexpected::Str(&time.to_string()), wanted);
            }
            Item::Object(_) => Unexpected::Map,
            Item::Array(_) => Unexpected::Seq,
            Item::Key(_) | Item::End => return Error::new(ErrorKind::Value, 0),
        };
        de::Error::invalid_type(found, wanted)
    }

    fn enter(&mut self) -> Result<(), Error> {
        self.depth_left = self.depth_left.checked_sub(1).ok_or_else(|| Error::new(ErrorKind::Depth, 0))?;
        self.at += 1;
        Ok(())
    }

    /// Behind what a visitor took, the end must come.
    fn leave<T>(&mut self, value: Result<T, Error>) -> Result<T, Error> {
        let value = value?;
        self.depth_left += 1;
        if !matches!(self.item(), Item::End) {
            return Err(Error::new(ErrorKind::Trailing, 0));
        }
        self.at += 1;
        Ok(value)
    }

    fn visit_array<V: Visitor<'a>>(&mut self, visitor: V) -> Result<V::Value, Error> {
        self.enter()?;
        let visited = visitor.visit_seq(Seq { decode: self, index: 0 });
        self.leave(visited)
    }

    #[inline]
    fn visit_object<V: Visitor<'a>>(&mut self, is_record: bool, visitor: V) -> Result<V::Value, Error> {
        self.enter()?;
        let visited = visitor.visit_map(Map { decode: self, key: 0, is_record });
        self.leave(visited)
    }

    #[inline(always)]
    fn visit_number<V: Visitor<'a>>(&mut self, number: Numeral<'a>, visitor: V) -> Result<V::Value, Error> {
        self.at += 1;
        as_number(number)?.visit(visitor)
    }

    /// An integer of 128 bits.
    fn visit_wide<T, V: Visitor<'a>>(
        &mut self,
        narrow: fn(Numeral<'a>) -> Option<T>,
        read: fn(&[u8]) -> Option<T>,
        visitor: V,
        visit: fn(V, T) -> Result<V::Value, Error>,
    ) -> Result<V::Value, Error> {
        let Item::Scalar(Scalar::Number(number)) = self.item() else { return Err(self.wrong(&visitor)) };
        let value = match number {
            Numeral::Text(number) if number.is_integer() => read(number.text().as_bytes()),
            Numeral::I64(_) | Numeral::U64(_) => narrow(number),
            Numeral::Text(_) | Numeral::F64(_) => return Err(self.wrong(&visitor)),
        };
        self.at += 1;
        visit(visitor, value.ok_or_else(|| Error::new(ErrorKind::Range, 0))?)
    }
}

/// As a visitor gets it.
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

/// Whatever the value is, if it is of the kind that is asked for.
macro_rules! gated {
    ($([$kind:pat => $($method:ident($($argument:ty),*))*])*) => {
        $($(
            #[inline]
            fn $method<V: Visitor<'a>>(self, $(_: $argument,)* visitor: V) -> Result<V::Value, Error> {
                match self.item() {
                    $kind => self.deserialize_any(visitor),
                    _ => Err(self.wrong(&visitor)),
                }
            }
        )*)*
    };
}

impl<'a> Deserializer<'a> for &mut Decode<'a> {
    type Error = Error;

    #[inline]
    fn deserialize_any<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Error> {
        let scalar = match self.item() {
            Item::Object(_) => return self.visit_object(false, visitor),
            Item::Array(_) => return self.visit_array(visitor),
            Item::Key(_) | Item::End => return Err(Error::new(ErrorKind::Value, 0)),
            Item::Scalar(scalar) => scalar,
        };
        self.at += 1;
        match scalar {
            Scalar::Null => visitor.visit_unit(),
            Scalar::Bool(value) => visitor.visit_bool(value),
            Scalar::Number(number) => as_number(number)?.visit(visitor),
            Scalar::String(text) => visitor.visit_borrowed_str(text),
            Scalar::Bytes(bytes) => visitor.visit_string(base64_simd::STANDARD.encode_to_string(bytes)),
            Scalar::Timestamp(time) => visitor.visit_string(time.to_string()),
        }
    }

    #[inline]
    fn deserialize_f64<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Error> {
        let Item::Scalar(Scalar::Number(number)) = self.item() else { return Err(self.wrong(&visitor)) };
        self.visit_number(number, visitor)
    }

    fn deserialize_f32<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Error> {
        let Item::Scalar(Scalar::Number(number)) = self.item() else { return Err(self.wrong(&visitor)) };
        let Numeral::Text(text) = number else { return self.visit_number(number, visitor) };
        self.at += 1;
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
        match self.item() {
            Item::Scalar(Scalar::Bytes(bytes)) => {
                self.at += 1;
                visitor.visit_borrowed_bytes(bytes)
            }
            Item::Scalar(Scalar::String(text)) => {
                self.at += 1;
                visitor.visit_borrowed_bytes(text.as_bytes())
            }
            Item::Scalar(Scalar::Timestamp(time)) => {
                self.at += 1;
                visitor.visit_byte_buf(time.to_string().into_bytes())
            }
            Item::Array(_) => self.visit_array(visitor),
            _ => Err(self.wrong(&visitor)),
        }
    }

    fn deserialize_byte_buf<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_bytes(visitor)
    }

    #[inline]
    fn deserialize_option<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Error> {
        if matches!(self.item(), Item::Scalar(Scalar::Null)) {
            self.at += 1;
            visitor.visit_none()
        } else {
            visitor.visit_some(self)
        }
    }

    #[inline]
    fn deserialize_newtype_struct<V: Visitor<'a>>(self, name: &'static str, visitor: V) -> Result<V::Value, Error> {
        if name != RAW_TEXT {
            return visitor.visit_newtype_struct(self);
        }
        let start = self.at;
        self.at = self.recording.behind(start);
        if let Item::Scalar(Scalar::Number(Numeral::Text(number))) = self.recording.item(start) {
            return visitor.visit_borrowed_str(number.text());
        }
        let mut json = JsonSink::in_memory();
        self.recording.send_at(start, &mut json)?;
        json.take_text(|text| visitor.visit_str(text))
    }

    fn deserialize_seq<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.item() {
            Item::Array(_) => self.visit_array(visitor),
            Item::Scalar(Scalar::Bytes(bytes)) => {
                self.at += 1;
                let mut bytes = SeqDeserializer::<_, Error>::new(bytes.iter().copied());
                let value = visitor.visit_seq(&mut bytes)?;
                bytes.end()?;
                Ok(value)
            }
            _ => Err(self.wrong(&visitor)),
        }
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

    #[inline]
    fn deserialize_struct<V: Visitor<'a>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let is_record = self.at == 0;
        match self.item() {
            Item::Object(_) => {
                if is_record {
                    self.fields = fields;
                }
                self.visit_object(is_record, visitor)
            }
            Item::Array(_) => self.visit_array(visitor),
            _ => Err(self.wrong(&visitor)),
        }
    }

    fn deserialize_enum<V: Visitor<'a>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self.item() {
            Item::Scalar(Scalar::String(text)) => {
                self.at += 1;
                visitor.visit_enum::<BorrowedStrDeserializer<'_, Error>>(BorrowedStrDeserializer::new(text))
            }
            Item::Object(_) => {
                self.enter()?;
                let Item::Key(name) = self.item() else { return Err(Error::new(ErrorKind::Key, 0)) };
                self.at += 1;
                let visited = visitor.visit_enum(Variant { name: name.text(), decode: self });
                self.leave(visited)
            }
            _ => Err(Error::message(Category::Syntax, &"expected a variant: a string or an object")),
        }
    }

    #[inline]
    fn deserialize_ignored_any<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Error> {
        self.ignored_at = self.at;
        self.at = self.recording.behind(self.at);
        visitor.visit_unit()
    }

    gated! {
        [Item::Scalar(Scalar::Bool(_)) => deserialize_bool()]
        [Item::Scalar(Scalar::Number(_)) => deserialize_i8() deserialize_i16() deserialize_i32() deserialize_i64()]
        [Item::Scalar(Scalar::Number(_)) => deserialize_u8() deserialize_u16() deserialize_u32() deserialize_u64()]
        [Item::Scalar(Scalar::String(_) | Scalar::Bytes(_) | Scalar::Timestamp(_)) =>
            deserialize_char() deserialize_str() deserialize_string() deserialize_identifier()]
        [Item::Scalar(Scalar::Null) => deserialize_unit() deserialize_unit_struct(&'static str)]
        [Item::Object(_) => deserialize_map()]
    }
}

struct Seq<'d, 'a> {
    decode: &'d mut Decode<'a>,
    index: usize,
}

impl<'a> de::SeqAccess<'a> for Seq<'_, 'a> {
    type Error = Error;

    #[inline]
    fn next_element_seed<T: DeserializeSeed<'a>>(&mut self, seed: T) -> Result<Option<T::Value>, Error> {
        if matches!(self.decode.item(), Item::End) {
            return Ok(None);
        }
        self.index += 1;
        match seed.deserialize(&mut *self.decode) {
            Ok(value) => Ok(Some(value)),
            Err(error) => Err(error.inside(Step::Index(self.index - 1))),
        }
    }
}

struct Map<'d, 'a> {
    decode: &'d mut Decode<'a>,
    /// The event of the key that was asked for last.
    key: usize,
    is_record: bool,
}

impl Map<'_, '_> {
    fn key(&self) -> &str {
        if let Item::Key(key) = self.decode.recording.item(self.key) { key.text() } else { "" }
    }

    #[cold]
    fn inside(&self, error: Error) -> Error {
        error.inside(Step::key(self.key()))
    }

    /// The value was ignored; so will be those of other records, if a struct has no such field.
    #[cold]
    fn ignored(&mut self) {
        if !self.decode.fields.contains(&self.key()) {
            self.decode.ignored.push(self.key);
        }
    }
}

impl<'a> de::MapAccess<'a> for Map<'_, 'a> {
    type Error = Error;

    #[inline]
    fn next_key_seed<K: DeserializeSeed<'a>>(&mut self, seed: K) -> Result<Option<K::Value>, Error> {
        let Item::Key(key) = self.decode.item() else { return Ok(None) };
        self.key = self.decode.at;
        self.decode.at += 1;
        seed.deserialize(KeyText(key.text())).map(Some)
    }

    #[inline]
    fn next_value_seed<V: DeserializeSeed<'a>>(&mut self, seed: V) -> Result<V::Value, Error> {
        match seed.deserialize(&mut *self.decode) {
            Ok(value) => {
                if self.is_record && self.decode.ignored_at == self.key + 1 {
                    self.ignored();
                }
                Ok(value)
            }
            Err(error) => Err(self.inside(error)),
        }
    }
}

impl<'a> de::VariantAccess<'a> for &mut Decode<'a> {
    type Error = Error;

    fn unit_variant(self) -> Result<(), Error> {
        Deserialize::deserialize(self)
    }

    fn newtype_variant_seed<T: DeserializeSeed<'a>>(self, seed: T) -> Result<T::Value, Error> {
        seed.deserialize(self)
    }

    fn tuple_variant<V: Visitor<'a>>(self, _: usize, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_seq(visitor)
    }

    fn struct_variant<V: Visitor<'a>>(self, fields: &'static [&'static str], visitor: V) -> Result<V::Value, Error> {
        self.deserialize_struct("", fields, visitor)
    }
}

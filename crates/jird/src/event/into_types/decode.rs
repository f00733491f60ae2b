//! serde's `Deserializer` over the events of a recording.

use super::key::{KeyText, RecordedVariant};
use super::scalar::{Value, no_variant};
use crate::data_model::RAW_TEXT;
use crate::error::Error;
use crate::event::recording::{Item, Recording};
use crate::event::{JsonSink, Numeral, Scalar};
use crate::fault::ErrorKind;
use crate::path::Step;
use crate::policy::TYPED_DEPTH_MAX;
use serde_core::de::{self, Deserialize, DeserializeSeed, Deserializer, Unexpected, Visitor};

/// The state of decoding a recording.
pub(super) struct Decode<'a> {
    recording: &'a Recording,
    /// The next event.
    at: usize,
    depth_left: usize,
    /// The fields of the record's struct, if the record is decoded into one.
    fields: &'static [&'static str],
    /// The key event of the last value that was ignored.
    ignored_at: usize,
    /// Keys of the record that are not fields and whose values are ignored.
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
        match self.item() {
            Item::Scalar(scalar) => Value(scalar).wrong(wanted),
            Item::Object(_) => de::Error::invalid_type(Unexpected::Map, wanted),
            Item::Array(_) => de::Error::invalid_type(Unexpected::Seq, wanted),
            Item::Key(_) | Item::End => Error::new(ErrorKind::Value, 0),
        }
    }

    fn enter(&mut self) -> Result<(), Error> {
        self.depth_left = self.depth_left.checked_sub(1).ok_or_else(|| Error::new(ErrorKind::Depth, 0))?;
        self.at += 1;
        Ok(())
    }

    /// Returns `value` after checking that the visitor has consumed the container up to its end.
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
        let visited = visitor.visit_seq(RecordedElements { decode: self, index: 0 });
        self.leave(visited)
    }

    #[inline]
    fn visit_object<V: Visitor<'a>>(&mut self, is_record: bool, visitor: V) -> Result<V::Value, Error> {
        self.enter()?;
        let visited = visitor.visit_map(RecordedMembers { decode: self, key: 0, is_record });
        self.leave(visited)
    }
}

/// Forwards scalar-only methods to the scalar.
macro_rules! of_scalars {
    ($($method:ident($($argument:ident: $type:ty),*))*) => {
        $(
            #[inline]
            fn $method<V: Visitor<'a>>(self, $($argument: $type,)* visitor: V) -> Result<V::Value, Error> {
                let Item::Scalar(scalar) = self.item() else { return Err(self.wrong(&visitor)) };
                self.at += 1;
                Value(scalar).$method($($argument,)* visitor)
            }
        )*
    };
}

impl<'a> Deserializer<'a> for &mut Decode<'a> {
    type Error = Error;

    #[inline]
    fn deserialize_any<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.item() {
            Item::Object(_) => self.visit_object(false, visitor),
            Item::Array(_) => self.visit_array(visitor),
            Item::Key(_) | Item::End => Err(Error::new(ErrorKind::Value, 0)),
            Item::Scalar(scalar) => {
                self.at += 1;
                Value(scalar).deserialize_any(visitor)
            }
        }
    }

    fn deserialize_bytes<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.item() {
            Item::Array(_) => self.visit_array(visitor),
            Item::Scalar(scalar) => {
                self.at += 1;
                Value(scalar).deserialize_bytes(visitor)
            }
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
            Item::Scalar(scalar) => {
                self.at += 1;
                Value(scalar).deserialize_seq(visitor)
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
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self.item() {
            Item::Object(_) => {
                self.enter()?;
                let Item::Key(key) = self.item() else { return Err(Error::new(ErrorKind::Key, 0)) };
                self.at += 1;
                let visited = visitor.visit_enum(RecordedVariant { name: key.text(), decode: self });
                self.leave(visited)
            }
            Item::Scalar(scalar) => {
                self.at += 1;
                Value(scalar).deserialize_enum(name, variants, visitor)
            }
            _ => Err(no_variant()),
        }
    }

    #[inline]
    fn deserialize_ignored_any<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Error> {
        self.ignored_at = self.at;
        self.at = self.recording.behind(self.at);
        visitor.visit_unit()
    }

    fn deserialize_map<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.item() {
            Item::Object(_) => self.visit_object(false, visitor),
            _ => Err(self.wrong(&visitor)),
        }
    }

    of_scalars! {
        deserialize_bool() deserialize_i8() deserialize_i16() deserialize_i32() deserialize_i64() deserialize_i128()
        deserialize_u8() deserialize_u16() deserialize_u32() deserialize_u64() deserialize_u128()
        deserialize_f32() deserialize_f64() deserialize_char() deserialize_str() deserialize_string()
        deserialize_unit() deserialize_unit_struct(name: &'static str) deserialize_identifier()
    }
}

struct RecordedElements<'d, 'a> {
    decode: &'d mut Decode<'a>,
    index: usize,
}

impl<'a> de::SeqAccess<'a> for RecordedElements<'_, 'a> {
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

struct RecordedMembers<'d, 'a> {
    decode: &'d mut Decode<'a>,
    /// The event of the last key that was read.
    key: usize,
    is_record: bool,
}

impl RecordedMembers<'_, '_> {
    fn key(&self) -> &str {
        if let Item::Key(key) = self.decode.recording.item(self.key) { key.text() } else { "" }
    }

    #[cold]
    fn inside(&self, error: Error) -> Error {
        error.inside(Step::key(self.key()))
    }

    /// The value was ignored. If a struct has no such field, the key is remembered, so that the values of later records
    /// are not sent.
    #[cold]
    fn ignored(&mut self) {
        if !self.decode.fields.contains(&self.key()) {
            self.decode.ignored.push(self.key);
        }
    }
}

impl<'a> de::MapAccess<'a> for RecordedMembers<'_, 'a> {
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

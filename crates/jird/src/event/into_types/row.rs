//! serde's `Deserializer` over a row, without a recording.
//!
//! The result equals that of decoding a recording of the row. Errors made here are never shown: when one occurs, the
//! row is sent as events, and the recording reports the error.

use super::Ignored;
use crate::data_model::{KeyDeserializer, NodeDeserializer, RAW_TEXT};
use crate::error::Error;
use crate::event::recording::Recording;
use crate::event::{Key, Row};
use crate::fault::ErrorKind;
use serde_core::de::{self, DeserializeSeed, Deserializer, Visitor};

/// A row, as an object.
pub(super) struct RowObject<'a, 'd, R> {
    pub(super) row: &'a R,
    pub(super) ignored: &'d Ignored,
    pub(super) recording: &'d Recording,
    /// Newly found columns that are not fields and whose values are ignored.
    pub(super) found: &'d mut Vec<u32>,
}

#[cold]
fn unlike_a_row() -> Error {
    Error::new(ErrorKind::Value, 0)
}

impl<'a, R: Row> RowObject<'a, '_, R> {
    #[inline(always)]
    fn visit<V: Visitor<'a>>(self, fields: Option<&'static [&'static str]>, visitor: V) -> Result<V::Value, Error> {
        let skips = !self.ignored.is_empty();
        let columns = self.row.columns();
        let mut map = RowMembers { object: self, fields, skips, columns, at: 0, is_open: false };
        let value = visitor.visit_map(&mut map);
        // The visitor must have consumed every column.
        if map.is_open || map.advance() { Err(unlike_a_row()) } else { value }
    }
}

/// Refuses every type that an object cannot be decoded into.
macro_rules! refused {
    ($($method:ident($($argument:ty),*))*) => {
        $(
            fn $method<V: Visitor<'a>>(self, $(_: $argument,)* _: V) -> Result<V::Value, Error> {
                Err(unlike_a_row())
            }
        )*
    };
}

impl<'a, R: Row> Deserializer<'a> for RowObject<'a, '_, R> {
    type Error = Error;

    #[inline]
    fn deserialize_any<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Error> {
        self.visit(None, visitor)
    }

    #[inline]
    fn deserialize_map<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Error> {
        self.visit(None, visitor)
    }

    #[inline]
    fn deserialize_struct<V: Visitor<'a>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.visit(Some(fields), visitor)
    }

    #[inline]
    fn deserialize_option<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    #[inline]
    fn deserialize_newtype_struct<V: Visitor<'a>>(self, name: &'static str, visitor: V) -> Result<V::Value, Error> {
        if name == RAW_TEXT { Err(unlike_a_row()) } else { visitor.visit_newtype_struct(self) }
    }

    refused! {
        deserialize_bool() deserialize_i8() deserialize_i16() deserialize_i32() deserialize_i64() deserialize_i128()
        deserialize_u8() deserialize_u16() deserialize_u32() deserialize_u64() deserialize_u128()
        deserialize_f32() deserialize_f64() deserialize_char() deserialize_str() deserialize_string()
        deserialize_bytes() deserialize_byte_buf() deserialize_unit() deserialize_unit_struct(&'static str)
        deserialize_seq() deserialize_tuple(usize) deserialize_tuple_struct(&'static str, usize)
        deserialize_enum(&'static str, &'static [&'static str]) deserialize_identifier() deserialize_ignored_any()
    }
}

struct RowMembers<'a, 'd, R> {
    object: RowObject<'a, 'd, R>,
    /// The fields of the struct to decode, if it is one.
    fields: Option<&'static [&'static str]>,
    /// Some columns are skipped.
    skips: bool,
    columns: usize,
    /// The column whose key or value comes next.
    at: usize,
    is_open: bool,
}

impl<'a, R: Row> RowMembers<'a, '_, R> {
    #[inline(always)]
    fn name(&self) -> &'a str {
        self.object.row.name(self.at)
    }

    /// Goes to the next column that has a key; false if there is none.
    #[inline(always)]
    fn advance(&mut self) -> bool {
        while self.at < self.columns {
            let skipped = self.skips && {
                let key = Key::numbered(self.name(), self.at as u32);
                self.object.ignored.has(key, self.object.recording)
            };
            if !skipped && !self.object.row.is_missing(self.at) {
                return true;
            }
            self.at += 1;
        }
        false
    }
}

impl<'a, R: Row> de::MapAccess<'a> for &mut RowMembers<'a, '_, R> {
    type Error = Error;

    #[inline]
    fn next_key_seed<K: DeserializeSeed<'a>>(&mut self, seed: K) -> Result<Option<K::Value>, Error> {
        if self.is_open {
            return Err(unlike_a_row());
        }
        if !self.advance() {
            return Ok(None);
        }
        self.is_open = true;
        seed.deserialize(KeyDeserializer(&mut self.name())).map(Some)
    }

    #[inline]
    fn next_value_seed<V: DeserializeSeed<'a>>(&mut self, seed: V) -> Result<V::Value, Error> {
        if !self.is_open {
            return Err(unlike_a_row());
        }
        self.is_open = false;
        let value = seed.deserialize(&mut **self);
        self.at += 1;
        value
    }
}

/// Forwards each method to the scalar in the current column.
macro_rules! asked {
    ($($method:ident($($argument:ident: $type:ty),*))*) => {
        $(
            #[inline(always)]
            fn $method<V: Visitor<'a>>(self, $($argument: $type,)* visitor: V) -> Result<V::Value, Error> {
                match self.object.row.scalar(self.at) {
                    Some(scalar) => NodeDeserializer::new(scalar).$method($($argument,)* visitor),
                    None => Err(unlike_a_row()),
                }
            }
        )*
    };
}

/// The value in the current column.
impl<'a, R: Row> Deserializer<'a> for &mut RowMembers<'a, '_, R> {
    type Error = Error;

    /// If the target is a struct without this field, the value is skipped in later records too.
    fn deserialize_ignored_any<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.object.row.scalar(self.at).is_none() {
            return Err(unlike_a_row());
        }
        if self.fields.is_some_and(|fields| !fields.contains(&self.name())) {
            self.object.found.push(self.at as u32);
        }
        visitor.visit_unit()
    }

    asked! {
        deserialize_any() deserialize_bool()
        deserialize_i8() deserialize_i16() deserialize_i32() deserialize_i64() deserialize_i128()
        deserialize_u8() deserialize_u16() deserialize_u32() deserialize_u64() deserialize_u128()
        deserialize_f32() deserialize_f64() deserialize_char() deserialize_str() deserialize_string()
        deserialize_bytes() deserialize_byte_buf() deserialize_option()
        deserialize_unit() deserialize_unit_struct(name: &'static str) deserialize_newtype_struct(name: &'static str)
        deserialize_seq() deserialize_tuple(len: usize) deserialize_tuple_struct(name: &'static str, len: usize)
        deserialize_map() deserialize_struct(name: &'static str, fields: &'static [&'static str])
        deserialize_enum(name: &'static str, variants: &'static [&'static str]) deserialize_identifier()
    }
}

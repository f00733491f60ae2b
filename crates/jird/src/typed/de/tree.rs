//! Decodes values of a document that was parsed before.
//!
//! These values have no line and no column. Their errors have a path, and the offset of the value in the document's
//! text.

use crate::data_model::{Number, RAW_TEXT};
use crate::error::{Category, Error};
use crate::fault::ErrorKind;
use crate::number::{self, MachineNumber};
use crate::path::Step;
use crate::policy::TYPED_DEPTH_MAX;
use crate::record::Record;
use crate::tape::{Document, Elements, Halves, Kind, Value};
use serde_core::de::value::{BorrowedStrDeserializer, CowStrDeserializer};
use serde_core::de::{self, Deserialize, DeserializeSeed, Deserializer, IntoDeserializer, Unexpected, Visitor};
use serde_core::forward_to_deserialize_any;
use std::borrow::Cow;

impl<'a> Value<'a> {
    /// Decodes the value into a type, as [`from_slice`](crate::from_slice) would decode its text. Strings without
    /// escapes can be borrowed from the text. The depth limit is that of a [`Deserializer`](crate::Deserializer).
    ///
    /// The time is linear in what `T` asks for; values that `T` ignores are stepped over in constant time. Collections
    /// get their exact number of items in advance.
    ///
    /// ```
    /// let document = jird::parse(br#"{"users": [{"id": 7}, {"id": "8"}]}"#)?;
    /// let users = document.root().get("users").unwrap();
    /// let first: std::collections::BTreeMap<String, u8> = users.at(0).unwrap().decode()?;
    /// assert_eq!(first["id"], 7);
    /// let error = users.decode::<Vec<std::collections::BTreeMap<&str, u8>>>().unwrap_err();
    /// assert_eq!(error.to_string(), "invalid type: string \"8\", expected u8 (at /1/id)");
    /// # Ok::<(), jird::Error>(())
    /// ```
    ///
    /// # Errors
    /// The first value that does not fit `T`.
    pub fn decode<T: Deserialize<'a>>(self) -> Result<T, Error> {
        T::deserialize(self.into_deserializer()).map_err(|error| at(error, &self))
    }
}

impl Document<'_> {
    /// Decodes the root, as [`Value::decode`] does. What is borrowed lives as long as the document.
    ///
    /// ```
    /// let document = jird::parse(b"[\"a\", \"b\"]")?;
    /// assert_eq!(document.decode::<Vec<&str>>()?, ["a", "b"]);
    /// # Ok::<(), jird::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Value::decode`].
    pub fn decode<'a, T: Deserialize<'a>>(&'a self) -> Result<T, Error> {
        self.root().decode()
    }
}

impl<'a> Record<'a> {
    /// Decodes the record's value, as [`Value::decode`] does.
    ///
    /// ```
    /// let mut buffer = jird::record::RecordBuffer::new();
    /// let record = jird::record::Record::scan(b"{\"id\": 7}", &mut buffer)?;
    /// assert_eq!(record.decode::<std::collections::BTreeMap<&str, u8>>()?["id"], 7);
    /// # Ok::<(), jird::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Value::decode`]; also an error in the text of a record that was not validated, if decoding meets it.
    pub fn decode<T: Deserialize<'a>>(self) -> Result<T, Error> {
        self.root().decode()
    }
}

/// Gives an error without a position the position of this value. Like every rarely called function here, it takes the
/// value by reference: passing a copy would make the compiler build that copy on the hot path too, out of parts that
/// were stored just before, which is slow.
#[cold]
fn at(error: Error, value: &Value<'_>) -> Error {
    if error.offset() == 0 { error.placed(value.offset() as u64, 0, 0) } else { error }
}

impl<'a> Value<'a> {
    fn text(&self) -> Result<Cow<'a, str>, Error> {
        self.as_str().ok_or_else(|| at(ErrorKind::Utf8.into(), self))
    }

    fn token(&self) -> Result<&'a str, Error> {
        match self.as_number() {
            Some(number) => Ok(number.text()),
            None => Err(at(ErrorKind::Number.into(), self)),
        }
    }

    #[inline(never)]
    fn number(&self) -> Result<Number, Error> {
        let (text, start, end) = match self.plain_number() {
            Some(plain) => plain,
            None => self.token().map(|token| (token.as_bytes(), 0, token.len()))?,
        };
        Number::of(text, start, end).ok_or_else(|| at(ErrorKind::Range.into(), self))
    }

    #[cold]
    fn wrong(&self, wanted: &dyn de::Expected) -> Error {
        let found = match self.kind() {
            Kind::Null => Unexpected::Unit,
            Kind::Bool => Unexpected::Bool(self.as_bool() == Some(true)),
            Kind::Number => match self.number() {
                Ok(number) => number.unexpected(),
                Err(error) => return error,
            },
            Kind::String => {
                return at(
                    self.text()
                        .map_or_else(|error| error, |text| de::Error::invalid_type(Unexpected::Str(&text), wanted)),
                    self,
                );
            }
            Kind::Array => Unexpected::Seq,
            Kind::Object => Unexpected::Map,
        };
        at(de::Error::invalid_type(found, wanted), self)
    }

    fn wide<T>(&self, read: fn(number::Number<'a>) -> Option<T>, wanted: &dyn de::Expected) -> Result<T, Error> {
        match self.as_number() {
            Some(number) if self.kind() == Kind::Number => match read(number) {
                Some(value) => Ok(value),
                None if number.is_integer() => Err(at(ErrorKind::Range.into(), self)),
                None => Err(self.wrong(wanted)),
            },
            _ => Err(self.wrong(wanted)),
        }
    }
}

/// Passes a string to a visitor. Only for strings.
#[inline(always)]
fn visit_string<'a, V: Visitor<'a>>(value: &Value<'a>, visitor: V) -> Result<V::Value, Error> {
    let visited = match value.plain_str() {
        Some(text) => visitor.visit_borrowed_str(text),
        None => match value.text()? {
            Cow::Borrowed(text) => visitor.visit_borrowed_str(text),
            Cow::Owned(text) => visitor.visit_string(text),
        },
    };
    match visited {
        Ok(value) => Ok(value),
        Err(error) => Err(at(error, value)),
    }
}

impl From<ErrorKind> for Error {
    fn from(kind: ErrorKind) -> Self {
        Self::new(kind, 0)
    }
}

/// serde's `Deserializer` for a value.
#[derive(Clone, Copy, Debug)]
pub struct ValueDeserializer<'a> {
    value: Value<'a>,
    depth_left: usize,
}

impl<'a> IntoDeserializer<'a, Error> for Value<'a> {
    type Deserializer = ValueDeserializer<'a>;

    fn into_deserializer(self) -> ValueDeserializer<'a> {
        ValueDeserializer { value: self, depth_left: TYPED_DEPTH_MAX }
    }
}

impl<'a> ValueDeserializer<'a> {
    /// The remaining depth inside this container, or an error if it is too deep.
    #[inline(always)]
    fn enter(&self) -> Result<usize, Error> {
        self.depth_left.checked_sub(1).ok_or_else(|| at(ErrorKind::Depth.into(), &self.value))
    }

    /// The visitor's result; an error without a position gets that of this value.
    #[inline(always)]
    fn placed<T>(&self, visited: Result<T, Error>) -> Result<T, Error> {
        match visited {
            Ok(value) => Ok(value),
            Err(error) => Err(at(error, &self.value)),
        }
    }

    /// Only for numbers.
    #[inline(always)]
    fn visit_number<V: Visitor<'a>>(&self, visitor: V) -> Result<V::Value, Error> {
        let small = self.value.plain_number().and_then(|(text, start, end)| number::to_small_at(text, start, end));
        self.placed(match small {
            Some(value) => visitor.visit_u64(value),
            None => self.value.number()?.visit(visitor),
        })
    }

    /// Only for strings.
    #[inline(always)]
    fn visit_string<V: Visitor<'a>>(&self, visitor: V) -> Result<V::Value, Error> {
        visit_string(&self.value, visitor)
    }

    /// Only for arrays.
    #[inline(always)]
    fn visit_array<V: Visitor<'a>>(&self, visitor: V) -> Result<V::Value, Error> {
        let (elements, depth_left) = (self.value.elements(), self.enter()?);
        let mut seq = TreeElements { elements, len: self.value.len(), index: 0, depth_left };
        let value = self.placed(visitor.visit_seq(&mut seq))?;
        match seq.elements.next() {
            None => Ok(value),
            Some(left) => Err(at(ErrorKind::Trailing.into(), &left)),
        }
    }

    /// Only for objects.
    #[inline(always)]
    fn visit_object<V: Visitor<'a>>(&self, visitor: V) -> Result<V::Value, Error> {
        let (members, depth_left) = (Halves::new(self.value.entries()), self.enter()?);
        let mut map = TreeMembers { members, key: None, len: self.value.len(), index: 0, depth_left };
        let value = self.placed(visitor.visit_map(&mut map))?;
        match map.members.next_value().or_else(|| map.members.next_key()) {
            None => Ok(value),
            Some(left) => Err(at(ErrorKind::Trailing.into(), &left)),
        }
    }
}

/// Checks that the value is of the requested kind, then visits it.
macro_rules! gated {
    ($([$kind:ident $visit:ident: $($method:ident($($argument:ty),*))*])*) => {
        $($(
            #[inline]
            fn $method<V: Visitor<'a>>(self, $(_: $argument,)* visitor: V) -> Result<V::Value, Error> {
                match self.value.kind() {
                    Kind::$kind => self.$visit(visitor),
                    _ => Err(self.value.wrong(&visitor)),
                }
            }
        )*)*
    };
}

impl<'a> Deserializer<'a> for ValueDeserializer<'a> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.value.kind() {
            Kind::Null => self.placed(visitor.visit_unit()),
            Kind::Bool => self.placed(visitor.visit_bool(self.value.as_bool() == Some(true))),
            Kind::Number => self.visit_number(visitor),
            Kind::String => self.visit_string(visitor),
            Kind::Array => self.visit_array(visitor),
            Kind::Object => self.visit_object(visitor),
        }
    }

    gated! {
        [Bool deserialize_any: deserialize_bool()]
        [Number visit_number: deserialize_i8() deserialize_i16() deserialize_i32() deserialize_i64()]
        [Number visit_number: deserialize_u8() deserialize_u16() deserialize_u32() deserialize_u64()]
        [String visit_string: deserialize_char() deserialize_str() deserialize_string() deserialize_identifier()]
        [Null deserialize_any: deserialize_unit() deserialize_unit_struct(&'static str)]
        [Array visit_array: deserialize_seq() deserialize_tuple(usize) deserialize_tuple_struct(&'static str, usize)]
        [Object visit_object: deserialize_map()]
    }

    #[inline]
    fn deserialize_struct<V: Visitor<'a>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self.value.kind() {
            Kind::Object => self.visit_object(visitor),
            Kind::Array => self.visit_array(visitor),
            _ => Err(self.value.wrong(&visitor)),
        }
    }

    #[inline]
    fn deserialize_f64<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Error> {
        let machine = self.value.plain_number().and_then(|(text, start, end)| number::to_machine_at(text, start, end));
        match (machine, self.value.kind()) {
            (Some(MachineNumber::F64(value)), _) => self.placed(visitor.visit_f64(value)),
            (_, Kind::Number) => self.visit_number(visitor),
            _ => Err(self.value.wrong(&visitor)),
        }
    }

    fn deserialize_f32<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.value.kind() != Kind::Number {
            return Err(self.value.wrong(&visitor));
        }
        let number =
            Number::of_f32(self.value.token()?.as_bytes()).ok_or_else(|| at(ErrorKind::Range.into(), &self.value))?;
        number.visit(visitor).map_err(|error| at(error, &self.value))
    }

    fn deserialize_i128<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Error> {
        let value = self.value.wide(number::Number::as_i128, &visitor)?;
        visitor.visit_i128(value)
    }

    fn deserialize_u128<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Error> {
        let unsigned = |number: number::Number<'a>| number.as_u128().filter(|_| !number.text().starts_with('-'));
        let value = self.value.wide(unsigned, &visitor)?;
        visitor.visit_u128(value)
    }

    fn deserialize_bytes<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.value.kind() {
            Kind::String => match self.value.text()? {
                Cow::Borrowed(text) => visitor.visit_borrowed_bytes(text.as_bytes()),
                Cow::Owned(text) => visitor.visit_byte_buf(text.into_bytes()),
            },
            Kind::Array => self.deserialize_any(visitor),
            _ => Err(self.value.wrong(&visitor)),
        }
    }

    fn deserialize_byte_buf<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_bytes(visitor)
    }

    fn deserialize_option<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.value.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'a>>(self, name: &'static str, visitor: V) -> Result<V::Value, Error> {
        if name != RAW_TEXT {
            return visitor.visit_newtype_struct(self);
        }
        match self.value.raw_str() {
            Some(raw) => visitor.visit_borrowed_str(raw),
            None => Err(at(ErrorKind::Utf8.into(), &self.value)),
        }
    }

    fn deserialize_enum<V: Visitor<'a>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let visited = match self.value.kind() {
            Kind::String => match self.value.text()? {
                Cow::Borrowed(text) => {
                    visitor.visit_enum::<BorrowedStrDeserializer<'_, Error>>(BorrowedStrDeserializer::new(text))
                }
                Cow::Owned(text) => {
                    visitor.visit_enum::<CowStrDeserializer<'_, Error>>(Cow::<str>::Owned(text).into_deserializer())
                }
            },
            Kind::Object => {
                let mut members = self.value.entries();
                let Some((name, content)) = members.next() else {
                    return Err(at(ErrorKind::Key.into(), &self.value));
                };
                let value = visitor.visit_enum(TreeVariant { name, content, depth_left: self.enter()? });
                match (value, members.next()) {
                    (Ok(_), Some((left, _))) => Err(at(ErrorKind::Trailing.into(), &left)),
                    (value, _) => value,
                }
            }
            _ => Err(Error::message(Category::Syntax, &"expected a variant: a string or an object")),
        };
        visited.map_err(|error| at(error, &self.value))
    }

    fn deserialize_ignored_any<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_unit()
    }
}

struct TreeElements<'a> {
    elements: Elements<'a>,
    len: usize,
    index: usize,
    depth_left: usize,
}

impl<'a> de::SeqAccess<'a> for TreeElements<'a> {
    type Error = Error;

    #[inline]
    fn next_element_seed<T: DeserializeSeed<'a>>(&mut self, seed: T) -> Result<Option<T::Value>, Error> {
        let Some(element) = self.elements.next() else { return Ok(None) };
        self.index += 1;
        match seed.deserialize(ValueDeserializer { value: element, depth_left: self.depth_left }) {
            Ok(value) => Ok(Some(value)),
            Err(error) => Err(at(error, &element).inside(Step::Index(self.index - 1))),
        }
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.len.saturating_sub(self.index))
    }
}

struct TreeMembers<'a> {
    members: Halves<'a>,
    /// The last key that was read, for the path of an error.
    key: Option<Value<'a>>,
    len: usize,
    /// The number of keys that were requested.
    index: usize,
    depth_left: usize,
}

impl TreeMembers<'_> {
    #[cold]
    #[inline(never)]
    fn refused(&mut self, error: Error, value: &Value<'_>) -> Error {
        let key = self.key.take().and_then(Value::as_str).unwrap_or_default();
        at(error, value).inside(Step::key(&key))
    }
}

impl<'a> de::MapAccess<'a> for TreeMembers<'a> {
    type Error = Error;

    #[inline]
    fn next_key_seed<K: DeserializeSeed<'a>>(&mut self, seed: K) -> Result<Option<K::Value>, Error> {
        if self.members.is_behind_key() {
            return Err(de::Error::custom("a key was asked for before the value of the key before it"));
        }
        self.key = self.members.next_key();
        let Some(key) = &self.key else { return Ok(None) };
        self.index += 1;
        match seed.deserialize(TreeKey(key)) {
            Ok(key) => Ok(Some(key)),
            Err(error) => Err(at(error, key)),
        }
    }

    #[inline]
    fn next_value_seed<V: DeserializeSeed<'a>>(&mut self, seed: V) -> Result<V::Value, Error> {
        let Some(value) = self.members.next_value() else {
            return Err(de::Error::custom("a value was asked for before its key"));
        };
        match seed.deserialize(ValueDeserializer { value, depth_left: self.depth_left }) {
            Ok(value) => Ok(value),
            Err(error) => Err(self.refused(error, &value)),
        }
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.len.saturating_sub(self.index))
    }
}

macro_rules! quoted {
    ($($method:ident)*) => {
        $(
            fn $method<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Error> {
                // Decodes the key's content as JSON text of its own, without white space.
                let quoted = self.0.raw_str().unwrap_or_default();
                let content = quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default();
                let mut inner = super::Deserializer::from_str(content);
                if !content.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.')) {
                    return Err(at(de::Error::invalid_type(Unexpected::Str(content), &visitor), self.0));
                }
                let value = inner.$method(visitor).and_then(|value| inner.end().map(|()| value));
                value.map_err(|error| error.placed(self.0.offset() as u64, 0, 0))
            }
        )*
    };
}

/// Deserializes a key. Numbers and booleans are parsed from within the quotes, as when text is decoded.
struct TreeKey<'v, 'a>(&'v Value<'a>);

impl<'a> Deserializer<'a> for TreeKey<'_, 'a> {
    type Error = Error;

    #[inline]
    fn deserialize_any<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Error> {
        visit_string(self.0, visitor)
    }

    fn deserialize_option<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'a>>(self, _: &'static str, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'a>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.0.into_deserializer().deserialize_enum(name, variants, visitor)
    }

    fn deserialize_bytes<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Error> {
        self.0.into_deserializer().deserialize_bytes(visitor)
    }

    fn deserialize_byte_buf<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Error> {
        self.0.into_deserializer().deserialize_bytes(visitor)
    }

    quoted! {
        deserialize_bool deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128 deserialize_f32 deserialize_f64
    }

    forward_to_deserialize_any! {
        <V: Visitor<'a>>
        char str string unit unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

struct TreeVariant<'a> {
    name: Value<'a>,
    content: Value<'a>,
    depth_left: usize,
}

impl<'a> de::EnumAccess<'a> for TreeVariant<'a> {
    type Error = Error;
    type Variant = ValueDeserializer<'a>;

    fn variant_seed<V: DeserializeSeed<'a>>(self, seed: V) -> Result<(V::Value, ValueDeserializer<'a>), Error> {
        Ok((
            seed.deserialize(TreeKey(&self.name)).map_err(|error| at(error, &self.name))?,
            ValueDeserializer { value: self.content, depth_left: self.depth_left },
        ))
    }
}

impl<'a> de::VariantAccess<'a> for ValueDeserializer<'a> {
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

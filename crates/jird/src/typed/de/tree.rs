//! Values of a document that was parsed before, as something to decode.
//!
//! They have no line and no column: their errors have a path, and the offset of the value in the document's text.

use super::TYPED_DEPTH_MAX;
use super::number::Number;
use crate::error::{Category, Error, Step};
use crate::fault::ErrorKind;
use crate::record::Record;
use crate::tape::{Document, Elements, Entries, Kind, Value};
use crate::typed::RAW_TEXT;
use serde_core::de::value::{BorrowedStrDeserializer, CowStrDeserializer};
use serde_core::de::{self, Deserialize, DeserializeSeed, Deserializer, IntoDeserializer, Unexpected, Visitor};
use serde_core::forward_to_deserialize_any;
use std::borrow::Cow;

impl<'a> Value<'a> {
    /// Decodes the value into a type, as [`from_slice`](crate::from_slice) would its text. Strings without escapes can be
    /// borrowed from the text. Goes as deep as a [`Deserializer`](crate::Deserializer) does.
    ///
    /// ```
    /// let document = jird::parse(br#"{"users": [{"id": 7}, {"id": "8"}]}"#)?;
    /// let users = document.root().get("users").unwrap();
    /// let first: std::collections::BTreeMap<String, u8> = users.at(0).unwrap().decode()?;
    /// assert_eq!(first["id"], 7);
    /// let error = users.decode::<Vec<std::collections::BTreeMap<&str, u8>>>().unwrap_err();
    /// assert_eq!(error.to_string(), "[1].id: invalid type: string \"8\", expected u8");
    /// # Ok::<(), jird::Error>(())
    /// ```
    ///
    /// # Errors
    /// The first value that is not what `T` asks for.
    pub fn decode<T: Deserialize<'a>>(self) -> Result<T, Error> {
        T::deserialize(self.into_deserializer()).map_err(|error| at(error, self))
    }
}

impl Document<'_> {
    /// [`Value::decode`] of the root.
    ///
    /// # Errors
    /// As [`Value::decode`].
    pub fn decode<'a, T: Deserialize<'a>>(&'a self) -> Result<T, Error> {
        self.root().decode()
    }
}

impl<'a> Record<'a> {
    /// [`Value::decode`] of the record's value.
    ///
    /// # Errors
    /// As [`Value::decode`]; and where a record that was not validated shows to be wrong.
    pub fn decode<T: Deserialize<'a>>(self) -> Result<T, Error> {
        self.root().decode()
    }
}

/// An error that says nothing of where, is about this value.
#[cold]
fn at(error: Error, value: Value<'_>) -> Error {
    if error.offset() == 0 { error.placed(value.offset() as u64, 0, 0) } else { error }
}

impl<'a> Value<'a> {
    fn text(self) -> Result<Cow<'a, str>, Error> {
        self.as_str().ok_or_else(|| at(ErrorKind::Utf8.into(), self))
    }

    fn token(self) -> Result<&'a str, Error> {
        match self.as_number() {
            Some(number) => Ok(number.text()),
            None => Err(at(ErrorKind::Number.into(), self)),
        }
    }

    fn number(self) -> Result<Number, Error> {
        let token = self.token()?.as_bytes();
        Number::of(token, 0, token.len()).ok_or_else(|| at(ErrorKind::Range.into(), self))
    }

    #[cold]
    fn wrong(self, wanted: &dyn de::Expected) -> Error {
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

    fn wide<T>(self, read: fn(crate::number::Number<'a>) -> Option<T>, wanted: &dyn de::Expected) -> Result<T, Error> {
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

impl From<ErrorKind> for Error {
    fn from(kind: ErrorKind) -> Self {
        Self::new(kind, 0)
    }
}

/// A value that is decoded: serde's `Deserializer` for it.
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

impl ValueDeserializer<'_> {
    /// The way to what is inside.
    fn enter(self) -> Result<usize, Error> {
        self.depth_left.checked_sub(1).ok_or_else(|| at(ErrorKind::Depth.into(), self.value))
    }
}

/// Whatever the value is, if it is of the kind that is asked for.
macro_rules! gated {
    ($([$kind:pat => $($method:ident($($argument:ty),*))*])*) => {
        $($(
            fn $method<V: Visitor<'a>>(self, $(_: $argument,)* visitor: V) -> Result<V::Value, Error> {
                match self.value.kind() {
                    $kind => self.deserialize_any(visitor),
                    _ => Err(self.value.wrong(&visitor)),
                }
            }
        )*)*
    };
}

impl<'a> Deserializer<'a> for ValueDeserializer<'a> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Error> {
        let visited = match self.value.kind() {
            Kind::Null => visitor.visit_unit(),
            Kind::Bool => visitor.visit_bool(self.value.as_bool() == Some(true)),
            Kind::Number => self.value.number()?.visit(visitor),
            Kind::String => match self.value.text()? {
                Cow::Borrowed(text) => visitor.visit_borrowed_str(text),
                Cow::Owned(text) => visitor.visit_string(text),
            },
            Kind::Array => {
                let mut elements = Seq { elements: self.value.elements(), index: 0, depth_left: self.enter()? };
                let value = visitor.visit_seq(&mut elements).map_err(|error| at(error, self.value))?;
                return match elements.elements.next() {
                    None => Ok(value),
                    Some(left) => Err(at(ErrorKind::Trailing.into(), left)),
                };
            }
            Kind::Object => {
                let mut members = Map { entries: self.value.entries(), member: None, depth_left: self.enter()? };
                let value = visitor.visit_map(&mut members).map_err(|error| at(error, self.value))?;
                return match members.entries.next() {
                    None => Ok(value),
                    Some((left, _)) => Err(at(ErrorKind::Trailing.into(), left)),
                };
            }
        };
        visited.map_err(|error| at(error, self.value))
    }

    fn deserialize_f32<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.value.kind() != Kind::Number {
            return Err(self.value.wrong(&visitor));
        }
        let number =
            Number::of_f32(self.value.token()?.as_bytes()).ok_or_else(|| at(ErrorKind::Range.into(), self.value))?;
        number.visit(visitor).map_err(|error| at(error, self.value))
    }

    fn deserialize_i128<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Error> {
        let value = self.value.wide(crate::number::Number::as_i128, &visitor)?;
        visitor.visit_i128(value)
    }

    fn deserialize_u128<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Error> {
        let unsigned = |number: crate::number::Number<'a>| number.as_u128().filter(|_| !number.text().starts_with('-'));
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
            None => Err(at(ErrorKind::Utf8.into(), self.value)),
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
                    return Err(at(ErrorKind::Key.into(), self.value));
                };
                let value = visitor.visit_enum(Variant { name, content, depth_left: self.enter()? });
                match (value, members.next()) {
                    (Ok(_), Some((left, _))) => Err(at(ErrorKind::Trailing.into(), left)),
                    (value, _) => value,
                }
            }
            _ => Err(Error::message(Category::Syntax, &"expected a variant: a string or an object")),
        };
        visited.map_err(|error| at(error, self.value))
    }

    fn deserialize_ignored_any<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_unit()
    }

    gated! {
        [Kind::Bool => deserialize_bool()]
        [Kind::Number => deserialize_i8() deserialize_i16() deserialize_i32() deserialize_i64()]
        [Kind::Number => deserialize_u8() deserialize_u16() deserialize_u32() deserialize_u64() deserialize_f64()]
        [Kind::String => deserialize_char() deserialize_str() deserialize_string() deserialize_identifier()]
        [Kind::Null => deserialize_unit() deserialize_unit_struct(&'static str)]
        [Kind::Array => deserialize_seq() deserialize_tuple(usize) deserialize_tuple_struct(&'static str, usize)]
        [Kind::Object => deserialize_map()]
        [Kind::Object | Kind::Array => deserialize_struct(&'static str, &'static [&'static str])]
    }
}

struct Seq<'a> {
    elements: Elements<'a>,
    index: usize,
    depth_left: usize,
}

impl<'a> de::SeqAccess<'a> for Seq<'a> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'a>>(&mut self, seed: T) -> Result<Option<T::Value>, Error> {
        let Some(element) = self.elements.next() else { return Ok(None) };
        self.index += 1;
        match seed.deserialize(ValueDeserializer { value: element, depth_left: self.depth_left }) {
            Ok(value) => Ok(Some(value)),
            Err(error) => Err(at(error, element).inside(Step::Index(self.index - 1))),
        }
    }
}

struct Map<'a> {
    entries: Entries<'a>,
    member: Option<(Value<'a>, Value<'a>)>,
    depth_left: usize,
}

impl<'a> de::MapAccess<'a> for Map<'a> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'a>>(&mut self, seed: K) -> Result<Option<K::Value>, Error> {
        self.member = self.entries.next();
        let Some((key, _)) = self.member else { return Ok(None) };
        seed.deserialize(Key(key)).map(Some).map_err(|error| at(error, key))
    }

    fn next_value_seed<V: DeserializeSeed<'a>>(&mut self, seed: V) -> Result<V::Value, Error> {
        let Some((key, value)) = self.member.take() else {
            return Err(de::Error::custom("a value was asked for before its key"));
        };
        seed.deserialize(ValueDeserializer { value, depth_left: self.depth_left })
            .map_err(|error| at(error, value).inside(Step::key(&key.as_str().unwrap_or_default())))
    }
}

macro_rules! quoted {
    ($($method:ident)*) => {
        $(
            fn $method<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Error> {
                // As JSON of its own, without white space.
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

/// A key: numbers and booleans stand in quotes, as when text is decoded.
struct Key<'a>(Value<'a>);

impl<'a> Deserializer<'a> for Key<'a> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Error> {
        self.0.into_deserializer().deserialize_any(visitor)
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

struct Variant<'a> {
    name: Value<'a>,
    content: Value<'a>,
    depth_left: usize,
}

impl<'a> de::EnumAccess<'a> for Variant<'a> {
    type Error = Error;
    type Variant = ValueDeserializer<'a>;

    fn variant_seed<V: DeserializeSeed<'a>>(self, seed: V) -> Result<(V::Value, ValueDeserializer<'a>), Error> {
        Ok((
            seed.deserialize(Key(self.name)).map_err(|error| at(error, self.name))?,
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

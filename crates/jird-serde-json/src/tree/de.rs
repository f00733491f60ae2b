//! Trees from any deserializer, and as deserializers.

use super::{Value, grown};
use crate::error::Error;
use crate::plain;
use crate::tree::exact::{self, Route};
use crate::tree::map::{Map, members_of};
use crate::tree::number::Number;
use core::fmt;
use core::str::FromStr;
use jird::hooks::RAW_TEXT;
use serde_core::de::value::CowStrDeserializer;
use serde_core::de::{
    self, Deserialize, DeserializeSeed, Deserializer, EnumAccess, Expected, IntoDeserializer, MapAccess, SeqAccess,
    Unexpected, VariantAccess, Visitor,
};
use std::borrow::Cow;

impl<'de> Deserialize<'de> for Value {
    #[inline]
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match exact::route::<D::Error>() {
            Route::Engine => grown::tree(deserializer),
            Route::SerdeJson if !plain::is_plain() => {
                deserializer.deserialize_newtype_struct(RAW_TEXT, ValueVisitor(Form::Text))
            }
            Route::SerdeJson | Route::Other => deserializer.deserialize_any(ValueVisitor(Form::Any)),
        }
    }
}

/// The form in which a deserializer gives a value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// `serde_json`'s raw text: a map whose one member is the text of the value.
    Text,
    Any,
}

pub(super) struct ValueVisitor(pub(super) Form);

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any valid JSON value")
    }

    #[inline]
    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    #[inline]
    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_i128<E: de::Error>(self, value: i128) -> Result<Value, E> {
        Number::from_i128(value).map(Value::Number).ok_or_else(|| E::custom("JSON number out of range"))
    }

    #[inline]
    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u128<E: de::Error>(self, value: u128) -> Result<Value, E> {
        Number::from_u128(value).map(Value::Number).ok_or_else(|| E::custom("JSON number out of range"))
    }

    #[inline]
    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Value, E> {
        Ok(Number::of_visited(value)?.map_or(Value::Null, Value::Number))
    }

    #[inline]
    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::String(text.to_owned()))
    }

    #[inline]
    fn visit_string<E>(self, text: String) -> Result<Value, E> {
        Ok(Value::String(text))
    }

    #[inline]
    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    #[inline]
    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        Deserialize::deserialize(deserializer)
    }

    /// Called by a deserializer that does not know the name of the struct.
    #[inline]
    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(ValueVisitor(Form::Any))
    }

    #[inline]
    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    #[inline]
    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Value, A::Error> {
        /// A larger hint may be wrong.
        const HINT_MAX: usize = 1 << 16;
        let mut array = Vec::with_capacity(elements.size_hint().unwrap_or(0).min(HINT_MAX));
        while let Some(element) = elements.next_element()? {
            array.push(element);
        }
        Ok(Value::Array(array))
    }

    #[inline]
    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let Some(first) = members.next_key::<String>()? else { return Ok(Value::Object(Map::new())) };
        if self.0 == Form::Text && first == RAW_TEXT {
            let text: Cow<'_, str> = members.next_value_seed(TextSeed)?;
            return of_text(&text);
        }
        let value = if exact::is_number_key(&first) {
            // A number of `serde_json` with its feature `arbitrary_precision`.
            let value: Value = members.next_value()?;
            match value.as_str().and_then(Number::of_any_text) {
                Some(number) => return Ok(Value::Number(number)),
                None => value,
            }
        } else {
            members.next_value()?
        };
        members_of(members, vec![(first, value)]).map(Value::Object)
    }
}

/// The tree of a text that `serde_json` has read over.
fn of_text<E: de::Error>(text: &str) -> Result<Value, E> {
    // Not `crate::from_str`, which would read what the engine refuses as raw text again, and so on.
    jird::from_str(text).map_err(|refused| match plain::plainly(|| serde_json::from_str::<Value>(text)) {
        Err(error) => E::custom(Unplaced(&error)),
        Ok(_) => E::custom(refused),
    })
}

/// The message of an error without its place, which is one within a value.
struct Unplaced<'a>(&'a Error);

impl fmt::Display for Unplaced<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let message = self.0.to_string();
        let place = format!(" at line {} column {}", self.0.line(), self.0.column());
        f.write_str(message.strip_suffix(&place).unwrap_or(&message))
    }
}

/// A string, borrowed if it can be.
struct TextSeed;

impl<'de> DeserializeSeed<'de> for TextSeed {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for TextSeed {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("raw value")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(text))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<Self::Value, E> {
        Ok(Cow::Owned(text))
    }
}

impl FromStr for Value {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        crate::from_str(text)
    }
}

impl FromStr for Map<String, Value> {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        crate::from_str(text)
    }
}

impl Value {
    #[cold]
    fn invalid_type(&self, wanted: &dyn Expected) -> Error {
        de::Error::invalid_type(self.unexpected(), wanted)
    }

    fn unexpected(&self) -> Unexpected<'_> {
        match self {
            Value::Null => Unexpected::Unit,
            Value::Bool(value) => Unexpected::Bool(*value),
            Value::Number(number) => number.unexpected(),
            Value::String(text) => Unexpected::Str(text),
            Value::Array(_) => Unexpected::Seq,
            Value::Object(_) => Unexpected::Map,
        }
    }
}

/// Methods for values of some kinds; all others are of the wrong type.
macro_rules! gated {
    (@ [$($pattern:pat => $made:expr),+; $visitor:ident] $method:ident($($argument:ty),*)) => {
        fn $method<V: Visitor<'de>>(self, $(_: $argument,)* $visitor: V) -> Result<V::Value, Error> {
            match self {
                $($pattern => $made,)+
                other => Err(other.invalid_type(&$visitor)),
            }
        }
    };
    ($($arms:tt $($method:ident($($argument:ty),*))+;)*) => {
        $($(gated!(@ $arms $method($($argument),*));)+)*
    };
}

/// The same for a tree that is owned and for one that is borrowed.
macro_rules! deserializers {
    ($($value:ty, $map:ty, $visit_str:ident;)*) => {
        $(
            impl<'de> Deserializer<'de> for $value {
                type Error = Error;

                #[inline]
                fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
                    match self {
                        Value::Null => visitor.visit_unit(),
                        #[allow(clippy::clone_on_copy, reason = "a reference in one of the two")]
                        Value::Bool(value) => visitor.visit_bool(value.clone()),
                        Value::Number(number) => number.visit(visitor),
                        Value::String(text) => visitor.$visit_str(text),
                        Value::Array(elements) => visit_elements(elements.into_iter(), visitor),
                        Value::Object(members) => visit_members(members.into_iter(), visitor),
                    }
                }

                gated! {
                    [Value::Number(number) => number.visit(visitor); visitor]
                    deserialize_i8() deserialize_i16() deserialize_i32() deserialize_i64() deserialize_u8()
                    deserialize_u16() deserialize_u32() deserialize_u64() deserialize_f32() deserialize_f64();
                    [Value::Number(number) => number.deserialize_i128(visitor); visitor] deserialize_i128();
                    [Value::Number(number) => number.deserialize_u128(visitor); visitor] deserialize_u128();
                    [Value::Bool(value) => visitor.visit_bool(value.clone()); visitor] deserialize_bool();
                    [Value::String(text) => visitor.$visit_str(text); visitor]
                    deserialize_char() deserialize_str() deserialize_string() deserialize_identifier();
                    [
                        Value::String(text) => visitor.$visit_str(text),
                        Value::Array(elements) => visit_elements(elements.into_iter(), visitor);
                        visitor
                    ]
                    deserialize_bytes() deserialize_byte_buf();
                    [Value::Null => visitor.visit_unit(); visitor]
                    deserialize_unit() deserialize_unit_struct(&'static str);
                    [Value::Array(elements) => visit_elements(elements.into_iter(), visitor); visitor]
                    deserialize_seq() deserialize_tuple(usize) deserialize_tuple_struct(&'static str, usize);
                    [Value::Object(members) => visit_members(members.into_iter(), visitor); visitor]
                    deserialize_map();
                    [
                        Value::Array(elements) => visit_elements(elements.into_iter(), visitor),
                        Value::Object(members) => visit_members(members.into_iter(), visitor);
                        visitor
                    ]
                    deserialize_struct(&'static str, &'static [&'static str]);
                }

                #[inline]
                fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
                    match self {
                        Value::Null => visitor.visit_none(),
                        _ => visitor.visit_some(self),
                    }
                }

                #[inline]
                fn deserialize_newtype_struct<V: Visitor<'de>>(
                    self,
                    name: &'static str,
                    visitor: V,
                ) -> Result<V::Value, Error> {
                    // A tree takes a tree as it is, and only numbers as text.
                    let is_tree = core::any::type_name::<V::Value>() == core::any::type_name::<Value>();
                    match self {
                        Value::Number(number) if name == RAW_TEXT => {
                            number.with_text(|text| exact::visit_raw_text(text, visitor))
                        }
                        value if name == RAW_TEXT && !is_tree => {
                            exact::visit_raw_text(&crate::to_string(&value)?, visitor)
                        }
                        value => visitor.visit_newtype_struct(value),
                    }
                }

                #[inline]
                fn deserialize_enum<V: Visitor<'de>>(
                    self,
                    name: &'static str,
                    variants: &'static [&'static str],
                    visitor: V,
                ) -> Result<V::Value, Error> {
                    match self {
                        Value::Object(members) => members.deserialize_enum(name, variants, visitor),
                        Value::String(variant) => visitor.visit_enum(Variant::<$value> { variant: variant.into(), value: None }),
                        other => Err(de::Error::invalid_type(other.unexpected(), &"string or map")),
                    }
                }

                fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
                    visitor.visit_unit()
                }
            }

            impl<'de> Deserializer<'de> for $map {
                type Error = Error;

                fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
                    visit_members(self.into_iter(), visitor)
                }

                fn deserialize_enum<V: Visitor<'de>>(
                    self,
                    _name: &'static str,
                    _variants: &'static [&'static str],
                    visitor: V,
                ) -> Result<V::Value, Error> {
                    let mut members = self.into_iter();
                    match (members.next(), members.next()) {
                        (Some((variant, value)), None) => {
                            visitor.visit_enum(Variant { variant: variant.into(), value: Some(value) })
                        }
                        _ => Err(de::Error::invalid_value(Unexpected::Map, &"map with a single key")),
                    }
                }

                fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
                    visitor.visit_unit()
                }

                serde_core::forward_to_deserialize_any! {
                    bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit
                    unit_struct newtype_struct seq tuple tuple_struct map struct identifier
                }
            }

            impl<'de> IntoDeserializer<'de, Error> for $value {
                type Deserializer = Self;

                fn into_deserializer(self) -> Self {
                    self
                }
            }

            impl<'de> VariantAccess<'de> for VariantValue<$value> {
                type Error = Error;

                fn unit_variant(self) -> Result<(), Error> {
                    self.0.map_or(Ok(()), Deserialize::deserialize)
                }

                fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Error> {
                    match self.0 {
                        Some(value) => seed.deserialize(value),
                        None => Err(de::Error::invalid_type(Unexpected::UnitVariant, &"newtype variant")),
                    }
                }

                fn tuple_variant<V: Visitor<'de>>(self, _len: usize, visitor: V) -> Result<V::Value, Error> {
                    match self.0 {
                        Some(Value::Array(elements)) if elements.is_empty() => visitor.visit_unit(),
                        Some(Value::Array(elements)) => visit_elements(elements.into_iter(), visitor),
                        Some(other) => Err(de::Error::invalid_type(other.unexpected(), &"tuple variant")),
                        None => Err(de::Error::invalid_type(Unexpected::UnitVariant, &"tuple variant")),
                    }
                }

                fn struct_variant<V: Visitor<'de>>(
                    self,
                    _fields: &'static [&'static str],
                    visitor: V,
                ) -> Result<V::Value, Error> {
                    match self.0 {
                        Some(Value::Object(members)) => visit_members(members.into_iter(), visitor),
                        Some(other) => Err(de::Error::invalid_type(other.unexpected(), &"struct variant")),
                        None => Err(de::Error::invalid_type(Unexpected::UnitVariant, &"struct variant")),
                    }
                }
            }

            impl<'de> EnumAccess<'de> for Variant<'de, $value> {
                type Error = Error;
                type Variant = VariantValue<$value>;

                fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self::Variant), Error> {
                    let name: CowStrDeserializer<'_, Error> = CowStrDeserializer::new(self.variant);
                    Ok((seed.deserialize(name)?, VariantValue(self.value)))
                }
            }
        )*
    };
}
deserializers! {
    Value, Map<String, Value>, visit_string;
    &'de Value, &'de Map<String, Value>, visit_borrowed_str;
}

struct Variant<'de, T> {
    variant: Cow<'de, str>,
    value: Option<T>,
}

struct VariantValue<T>(Option<T>);

fn visit_elements<'de, I, V>(elements: I, visitor: V) -> Result<V::Value, Error>
where
    I: ExactSizeIterator<Item: Deserializer<'de, Error = Error>>,
    V: Visitor<'de>,
{
    let len = elements.len();
    let mut elements = Elements(elements);
    let value = visitor.visit_seq(&mut elements)?;
    if elements.0.len() == 0 { Ok(value) } else { Err(de::Error::invalid_length(len, &"fewer elements in array")) }
}

fn visit_members<'de, I, K, T, V>(members: I, visitor: V) -> Result<V::Value, Error>
where
    I: ExactSizeIterator<Item = (K, T)>,
    K: Into<Cow<'de, str>>,
    T: Deserializer<'de, Error = Error>,
    V: Visitor<'de>,
{
    let len = members.len();
    let mut members = Members { members, value: None };
    let value = visitor.visit_map(&mut members)?;
    if members.members.len() == 0 { Ok(value) } else { Err(de::Error::invalid_length(len, &"fewer elements in map")) }
}

struct Elements<I>(I);

impl<'de, I: ExactSizeIterator<Item: Deserializer<'de, Error = Error>>> SeqAccess<'de> for Elements<I> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Error> {
        self.0.next().map(|element| seed.deserialize(element)).transpose()
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.0.len())
    }
}

struct Members<I, T> {
    members: I,
    value: Option<T>,
}

impl<'de, I, K, T> MapAccess<'de> for Members<I, T>
where
    I: ExactSizeIterator<Item = (K, T)>,
    K: Into<Cow<'de, str>>,
    T: Deserializer<'de, Error = Error>,
{
    type Error = Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Error> {
        let Some((key, value)) = self.members.next() else { return Ok(None) };
        self.value = Some(value);
        seed.deserialize(KeyDeserializer(key.into())).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Error> {
        match self.value.take() {
            Some(value) => seed.deserialize(value),
            None => Err(de::Error::custom("value is missing")),
        }
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.members.len())
    }
}

/// A key, which may be a number or a boolean within its quotes.
struct KeyDeserializer<'de>(Cow<'de, str>);

impl KeyDeserializer<'_> {
    fn number(&self) -> Result<Number, Error> {
        match Number::of_any_text(&self.0) {
            Some(number) => Ok(number),
            None => Err(wrong_key(&self.0)),
        }
    }
}

/// `serde_json`'s error for a key that is not a number.
#[cold]
fn wrong_key(key: &str) -> Error {
    let map = serde_json::Value::Object([(key.to_owned(), serde_json::Value::Null)].into_iter().collect());
    match serde_json::from_value::<std::collections::BTreeMap<i64, Option<bool>>>(map) {
        Err(error) => error,
        Ok(_) => de::Error::custom("invalid value: expected key to be a number in quotes"),
    }
}

macro_rules! number_keys {
    ($($method:ident)*) => {
        $(
            fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
                self.number()?.$method(visitor)
            }
        )*
    };
}

impl<'de> Deserializer<'de> for KeyDeserializer<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Cow::Borrowed(key) => visitor.visit_borrowed_str(key),
            Cow::Owned(key) => visitor.visit_string(key),
        }
    }

    number_keys! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128
        deserialize_f32 deserialize_f64
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match &*self.0 {
            "true" => visitor.visit_bool(true),
            "false" => visitor.visit_bool(false),
            other => Err(de::Error::invalid_type(Unexpected::Str(other), &visitor)),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, name: &'static str, visitor: V) -> Result<V::Value, Error> {
        if name == RAW_TEXT {
            return exact::visit_raw_text(&crate::to_string(&*self.0)?, visitor);
        }
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        CowStrDeserializer::new(self.0).deserialize_enum(name, variants, visitor)
    }

    serde_core::forward_to_deserialize_any! {
        char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

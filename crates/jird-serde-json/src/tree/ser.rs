//! Trees to any serializer, and a serializer that makes trees.

use super::Value;
use crate::error::Error;
use crate::tree::exact;
use crate::tree::map::Map;
use crate::tree::number::{ANY_SIZE, Number};
use core::fmt::Display;
use jird::hooks::RAW_TEXT;
use serde_core::ser::{self, Impossible, Serialize};

type Result<T> = core::result::Result<T, Error>;

impl Serialize for Value {
    #[inline]
    fn serialize<S: serde_core::Serializer>(&self, serializer: S) -> core::result::Result<S::Ok, S::Error> {
        match self {
            Value::Null => serializer.serialize_unit(),
            Value::Bool(value) => serializer.serialize_bool(*value),
            Value::Number(number) => number.serialize(serializer),
            Value::String(text) => serializer.serialize_str(text),
            Value::Array(elements) => elements.serialize(serializer),
            Value::Object(members) => members.serialize(serializer),
        }
    }
}

/// Makes the tree of a value. [`to_value`](crate::to_value) uses it.
///
/// ```
/// use jird_serde_json::{json, value};
/// use serde::Serialize;
/// assert_eq!((1, "a").serialize(value::Serializer)?, json!([1, "a"]));
/// # Ok::<(), jird_serde_json::Error>(())
/// ```
pub struct Serializer;

/// Methods that make a value of one.
macro_rules! scalars {
    ($($method:ident($value:ident: $type:ty) => $made:expr;)*) => {
        $(
            #[inline]
            fn $method(self, $value: $type) -> Result<Value> {
                Ok($made)
            }
        )*
    };
}

impl serde_core::Serializer for Serializer {
    type Ok = Value;
    type Error = Error;

    type SerializeSeq = SerializeVec;
    type SerializeTuple = SerializeVec;
    type SerializeTupleStruct = SerializeVec;
    type SerializeTupleVariant = SerializeVariant<SerializeVec>;
    type SerializeMap = SerializeMap;
    type SerializeStruct = SerializeMap;
    type SerializeStructVariant = SerializeVariant<SerializeMap>;

    scalars! {
        serialize_bool(value: bool) => Value::Bool(value);
        serialize_i8(value: i8) => value.into();
        serialize_i16(value: i16) => value.into();
        serialize_i32(value: i32) => value.into();
        serialize_i64(value: i64) => value.into();
        serialize_i128(value: i128) => Number::from_i128(value).map_or(Value::Null, Value::Number);
        serialize_u8(value: u8) => value.into();
        serialize_u16(value: u16) => value.into();
        serialize_u32(value: u32) => value.into();
        serialize_u64(value: u64) => value.into();
        serialize_u128(value: u128) => Number::from_u128(value).map_or(Value::Null, Value::Number);
        serialize_f32(value: f32) => value.into();
        serialize_f64(value: f64) => value.into();
        serialize_char(value: char) => Value::String(value.to_string());
        serialize_str(value: &str) => Value::String(value.to_owned());
        serialize_bytes(value: &[u8]) => value.into();
        serialize_unit_struct(_name: &'static str) => Value::Null;
    }

    fn serialize_unit(self) -> Result<Value> {
        Ok(Value::Null)
    }

    fn serialize_none(self) -> Result<Value> {
        Ok(Value::Null)
    }

    fn serialize_some<T: ?Sized + Serialize>(self, value: &T) -> Result<Value> {
        value.serialize(self)
    }

    fn serialize_unit_variant(self, _name: &'static str, _index: u32, variant: &'static str) -> Result<Value> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: ?Sized + Serialize>(self, _name: &'static str, value: &T) -> Result<Value> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: ?Sized + Serialize>(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<Value> {
        Ok(variant_of(variant, value.serialize(self)?))
    }

    fn serialize_seq(self, len: Option<usize>) -> Result<SerializeVec> {
        /// A larger length may be wrong.
        const LEN_MAX: usize = 1 << 16;
        Ok(SerializeVec { elements: Vec::with_capacity(len.unwrap_or(0).min(LEN_MAX)) })
    }

    fn serialize_tuple(self, len: usize) -> Result<SerializeVec> {
        self.serialize_seq(Some(len))
    }

    fn serialize_tuple_struct(self, _name: &'static str, len: usize) -> Result<SerializeVec> {
        self.serialize_seq(Some(len))
    }

    fn serialize_tuple_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Self::SerializeTupleVariant> {
        Ok(SerializeVariant { variant, content: self.serialize_seq(Some(len))? })
    }

    fn serialize_map(self, _len: Option<usize>) -> Result<SerializeMap> {
        Ok(SerializeMap::Members { members: Vec::new(), key: None })
    }

    fn serialize_struct(self, name: &'static str, len: usize) -> Result<SerializeMap> {
        if name == RAW_TEXT || ANY_SIZE && exact::is_number_key(name) {
            Ok(SerializeMap::Raw(None))
        } else {
            self.serialize_map(Some(len))
        }
    }

    fn serialize_struct_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Self::SerializeStructVariant> {
        Ok(SerializeVariant { variant, content: self.serialize_map(Some(len))? })
    }

    fn collect_str<T: ?Sized + Display>(self, value: &T) -> Result<Value> {
        Ok(Value::String(value.to_string()))
    }
}

/// The object of a variant.
fn variant_of(variant: &str, content: Value) -> Value {
    let mut object = Map::new();
    object.insert(variant.to_owned(), content);
    Value::Object(object)
}

/// An array that is being made.
pub struct SerializeVec {
    elements: Vec<Value>,
}

/// An object that is being made, or the struct whose one field is the text of a value.
pub enum SerializeMap {
    /// An object.
    Members {
        /// The members so far.
        members: Vec<(String, Value)>,
        /// The key whose value comes next.
        key: Option<String>,
    },
    /// The value of a text.
    Raw(Option<Value>),
}

/// An array or an object within a variant.
pub struct SerializeVariant<C> {
    variant: &'static str,
    content: C,
}

macro_rules! sequences {
    ($($trait:ident $method:ident),*) => {
        $(
            impl ser::$trait for SerializeVec {
                type Ok = Value;
                type Error = Error;

                fn $method<T: ?Sized + Serialize>(&mut self, value: &T) -> Result<()> {
                    self.elements.push(value.serialize(Serializer)?);
                    Ok(())
                }

                fn end(self) -> Result<Value> {
                    Ok(Value::Array(self.elements))
                }
            }
        )*
    };
}
sequences!(SerializeSeq serialize_element, SerializeTuple serialize_element, SerializeTupleStruct serialize_field);

impl ser::SerializeTupleVariant for SerializeVariant<SerializeVec> {
    type Ok = Value;
    type Error = Error;

    fn serialize_field<T: ?Sized + Serialize>(&mut self, value: &T) -> Result<()> {
        ser::SerializeSeq::serialize_element(&mut self.content, value)
    }

    fn end(self) -> Result<Value> {
        Ok(variant_of(self.variant, ser::SerializeSeq::end(self.content)?))
    }
}

impl ser::SerializeMap for SerializeMap {
    type Ok = Value;
    type Error = Error;

    fn serialize_key<T: ?Sized + Serialize>(&mut self, key: &T) -> Result<()> {
        if let Self::Members { key: next, .. } = self {
            *next = Some(key.serialize(KeySerializer)?);
        }
        Ok(())
    }

    /// # Panics
    /// If there was no key.
    fn serialize_value<T: ?Sized + Serialize>(&mut self, value: &T) -> Result<()> {
        if let Self::Members { members, key } = self {
            let key = key.take().expect("serialize_value called before serialize_key");
            members.push((key, value.serialize(Serializer)?));
        }
        Ok(())
    }

    fn end(self) -> Result<Value> {
        match self {
            Self::Members { members, .. } => Ok(Value::Object(Map::of_members(members))),
            Self::Raw(Some(value)) => Ok(value),
            Self::Raw(None) => Err(ser::Error::custom("raw value was not emitted")),
        }
    }
}

impl ser::SerializeStruct for SerializeMap {
    type Ok = Value;
    type Error = Error;

    fn serialize_field<T: ?Sized + Serialize>(&mut self, key: &'static str, value: &T) -> Result<()> {
        match self {
            Self::Members { members, .. } => members.push((key.to_owned(), value.serialize(Serializer)?)),
            Self::Raw(raw) => {
                let text = value.serialize(Serializer)?;
                let text = text.as_str().filter(|_| exact::is_text_key(key));
                let text = text.ok_or_else(|| <Error as ser::Error>::custom("invalid raw value"))?;
                let is_number = ANY_SIZE && exact::is_number_key(key);
                *raw = Some(if is_number { Value::Number(text.parse()?) } else { crate::from_str(text)? });
            }
        }
        Ok(())
    }

    fn end(self) -> Result<Value> {
        ser::SerializeMap::end(self)
    }
}

impl ser::SerializeStructVariant for SerializeVariant<SerializeMap> {
    type Ok = Value;
    type Error = Error;

    fn serialize_field<T: ?Sized + Serialize>(&mut self, key: &'static str, value: &T) -> Result<()> {
        ser::SerializeStruct::serialize_field(&mut self.content, key, value)
    }

    fn end(self) -> Result<Value> {
        Ok(variant_of(self.variant, ser::SerializeMap::end(self.content)?))
    }
}

/// Makes a key.
struct KeySerializer;

/// `serde_json`'s error for a key that is none.
#[cold]
fn wrong_key<T: Serialize>(key: &T) -> Error {
    let refused = serde_core::Serializer::serialize_map(serde_json::value::Serializer, None)
        .and_then(|mut map| ser::SerializeMap::serialize_key(&mut map, key));
    refused.err().unwrap_or_else(|| ser::Error::custom("key must be a string"))
}

fn no_key<T>() -> Result<T> {
    Err(wrong_key(&()))
}

macro_rules! keys {
    ($($method:ident: $type:ty),*) => {
        $(
            fn $method(self, value: $type) -> Result<String> {
                Ok(value.to_string())
            }
        )*
    };
}

macro_rules! float_keys {
    ($($method:ident: $type:ty),*) => {
        $(
            fn $method(self, value: $type) -> Result<String> {
                if value.is_finite() {
                    Ok(zmij::Buffer::new().format_finite(value).to_owned())
                } else {
                    Err(wrong_key(&value))
                }
            }
        )*
    };
}

macro_rules! no_keys {
    ($($method:ident($($type:ty),*) -> $made:ident),* $(,)?) => {
        $(
            fn $method(self, $(_: $type),*) -> Result<Self::$made> {
                no_key()
            }
        )*
    };
}

impl serde_core::Serializer for KeySerializer {
    type Ok = String;
    type Error = Error;

    type SerializeSeq = Impossible<String, Error>;
    type SerializeTuple = Impossible<String, Error>;
    type SerializeTupleStruct = Impossible<String, Error>;
    type SerializeTupleVariant = Impossible<String, Error>;
    type SerializeMap = Impossible<String, Error>;
    type SerializeStruct = Impossible<String, Error>;
    type SerializeStructVariant = Impossible<String, Error>;

    keys!(
        serialize_bool: bool, serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64,
        serialize_i128: i128, serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64,
        serialize_u128: u128, serialize_char: char, serialize_str: &str
    );
    float_keys!(serialize_f32: f32, serialize_f64: f64);

    no_keys!(
        serialize_bytes(&[u8]) -> Ok,
        serialize_unit() -> Ok,
        serialize_unit_struct(&'static str) -> Ok,
        serialize_none() -> Ok,
        serialize_seq(Option<usize>) -> SerializeSeq,
        serialize_tuple(usize) -> SerializeTuple,
        serialize_tuple_struct(&'static str, usize) -> SerializeTupleStruct,
        serialize_tuple_variant(&'static str, u32, &'static str, usize) -> SerializeTupleVariant,
        serialize_map(Option<usize>) -> SerializeMap,
        serialize_struct(&'static str, usize) -> SerializeStruct,
        serialize_struct_variant(&'static str, u32, &'static str, usize) -> SerializeStructVariant,
    );

    fn serialize_some<T: ?Sized + Serialize>(self, _value: &T) -> Result<String> {
        no_key()
    }

    fn serialize_unit_variant(self, _name: &'static str, _index: u32, variant: &'static str) -> Result<String> {
        Ok(variant.to_owned())
    }

    fn serialize_newtype_struct<T: ?Sized + Serialize>(self, _name: &'static str, value: &T) -> Result<String> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: ?Sized + Serialize>(
        self,
        _name: &'static str,
        _index: u32,
        _variant: &'static str,
        _value: &T,
    ) -> Result<String> {
        no_key()
    }

    fn collect_str<T: ?Sized + Display>(self, value: &T) -> Result<String> {
        Ok(value.to_string())
    }
}

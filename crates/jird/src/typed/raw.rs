//! Values and numbers that keep their text, through serde. The types and this crate's serializers agree on the name of
//! a newtype struct, [`RAW_TEXT`]; any other format receives what serde makes of that struct.

use crate::data_model::{BufferedFloat, RAW_TEXT, buffered_float};
use crate::error::Error;
use crate::number::Number;
use crate::text::RawValue;
use core::fmt;
use core::marker::PhantomData;
use serde_core::de::{self, Deserialize, DeserializeSeed, Deserializer, MapAccess, Visitor};
use serde_core::ser::{Serialize, Serializer};

impl RawValue {
    /// Checks that `json` is one value, and keeps its text without the white space around it.
    ///
    /// ```
    /// let raw = jird::RawValue::from_string(" [1, 2] ".to_owned())?;
    /// assert_eq!(raw.get(), "[1, 2]");
    /// # Ok::<(), jird::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`validate`](crate::validate).
    pub fn from_string(json: String) -> Result<Box<Self>, Error> {
        let mut json = json;
        crate::validate(json.as_bytes())?;
        let space = |char: char| matches!(char, ' ' | '\t' | '\n' | '\r');
        json.truncate(json.trim_end_matches(space).len());
        let start = json.len() - json.trim_start_matches(space).len();
        json.drain(..start);
        Ok(Self::of_checked_box(json.into()))
    }
}

/// Converts raw text from a visitor into a type.
trait Raw<'de>: Sized {
    const WHAT: &'static str;

    fn borrowed(text: &'de str) -> Option<Self>;
    fn owned(text: String) -> Option<Self>;
}

impl<'de: 'a, 'a> Raw<'de> for &'a RawValue {
    const WHAT: &'static str = "any JSON value, borrowed";

    fn borrowed(text: &'de str) -> Option<Self> {
        Some(RawValue::of_checked(text))
    }

    fn owned(_: String) -> Option<Self> {
        None
    }
}

impl Raw<'_> for Box<RawValue> {
    const WHAT: &'static str = "any JSON value";

    fn borrowed(text: &str) -> Option<Self> {
        Self::owned(text.to_owned())
    }

    fn owned(text: String) -> Option<Self> {
        Some(RawValue::of_checked_box(text.into()))
    }
}

impl<'de: 'a, 'a> Raw<'de> for Number<'a> {
    const WHAT: &'static str = "a number, borrowed";

    fn borrowed(text: &'de str) -> Option<Self> {
        Number::new(text)
    }

    fn owned(_: String) -> Option<Self> {
        None
    }
}

impl Raw<'_> for NumberBuf {
    const WHAT: &'static str = "a number";

    fn borrowed(text: &str) -> Option<Self> {
        Number::new(text).map(Self::from)
    }

    fn owned(text: String) -> Option<Self> {
        Number::new(&text).is_some().then(|| Self(text.into()))
    }
}

struct RawVisitor<T>(PhantomData<T>);

impl<'de, T: Raw<'de>> Visitor<'de> for RawVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(T::WHAT)
    }

    fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<T, E> {
        T::borrowed(text).ok_or_else(|| wrong(text, &self))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        T::owned(text.to_owned()).ok_or_else(|| wrong(text, &self))
    }

    /// The form in which this crate and `serde_json` give raw text to a visitor.
    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<T, A::Error> {
        match members.next_key_seed(RawKey)? {
            Some(true) => members.next_value_seed(self),
            _ => Err(de::Error::invalid_type(de::Unexpected::Map, &self)),
        }
    }

    /// Called by another format, or for content that serde has buffered. Integers are exact there. The text of any other
    /// number is known if it comes from a text that this crate is decoding. A format of bytes has no text for its
    /// numbers. Elsewhere the text is lost, which is an error.
    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<T, D::Error> {
        let has_text = deserializer.is_human_readable();
        let number = deserializer.deserialize_any(AnyNumber { wanted: T::WHAT, has_text })?;
        T::owned(number).ok_or_else(|| de::Error::custom(format_args!("expected {}", T::WHAT)))
    }
}

#[cold]
fn wrong<E: de::Error>(text: &str, wanted: &dyn de::Expected) -> E {
    de::Error::custom(format_args!("invalid value: `{text:.40}`, expected {wanted}"))
}

impl<'de, T: Raw<'de>> DeserializeSeed<'de> for RawVisitor<T> {
    type Value = T;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<T, D::Error> {
        deserializer.deserialize_str(self)
    }
}

/// Reads a key, and returns whether it is the one of raw text.
struct RawKey;

impl<'de> DeserializeSeed<'de> for RawKey {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for RawKey {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: de::Error>(self, key: &str) -> Result<bool, E> {
        Ok(key == RAW_TEXT)
    }
}

/// Visits a number of any type, and returns it as JSON text.
struct AnyNumber {
    wanted: &'static str,
    /// Whether the number has a text, which an `f64` does not tell.
    has_text: bool,
}

impl Visitor<'_> for AnyNumber {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.wanted)
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<String, E> {
        Ok(value.to_string())
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<String, E> {
        Ok(value.to_string())
    }

    fn visit_u128<E: de::Error>(self, value: u128) -> Result<String, E> {
        Ok(value.to_string())
    }

    fn visit_i128<E: de::Error>(self, value: i128) -> Result<String, E> {
        Ok(value.to_string())
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<String, E> {
        match buffered_float::<E>(value) {
            BufferedFloat::Text(text) => Ok(text.into()),
            BufferedFloat::Unknown if !self.has_text && value.is_finite() => {
                Ok(zmij::Buffer::new().format(value).to_owned())
            }
            _ if !value.is_finite() => Err(wrong("NaN", &self)),
            _ => Err(E::custom(format_args!(
                "the text of the number {value} was lost on the way to {}; do not flatten the field, and give the enum \
                 that holds it its default form, or decode with jird directly",
                self.wanted
            ))),
        }
    }
}

macro_rules! raw {
    ($([$($generics:tt)*] $type:ty),*) => {
        $(
            impl<$($generics)*> Deserialize<'de> for $type {
                fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                    deserializer.deserialize_newtype_struct(RAW_TEXT, RawVisitor(PhantomData))
                }
            }
        )*
    };
}

raw!(['de: 'a, 'a] &'a RawValue, ['de] Box<RawValue>, ['de: 'a, 'a] Number<'a>, ['de] NumberBuf);

impl Serialize for RawValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if crate::data_model::is_serde_json::<S>() {
            return crate::data_model::serialize_raw_text(serializer, self.get());
        }
        serializer.serialize_newtype_struct(RAW_TEXT, self.get())
    }
}

impl Serialize for NumberBuf {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.number().serialize(serializer)
    }
}

/// A number that owns its text: every digit is kept, whatever its size. [`Number`] is the borrowed form.
///
/// ```
/// let numbers: Vec<jird::NumberBuf> = jird::from_str("[1.50, 123456789012345678901234567890]")?;
/// assert_eq!(numbers[0].number().text(), "1.50");
/// assert_eq!(numbers[1].number().as_u128(), Some(123_456_789_012_345_678_901_234_567_890));
/// # Ok::<(), jird::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct NumberBuf(Box<str>);

impl NumberBuf {
    /// The number, borrowing this text. O(1).
    pub fn number(&self) -> Number<'_> {
        Number::of_checked(&self.0)
    }
}

impl From<Number<'_>> for NumberBuf {
    fn from(number: Number<'_>) -> Self {
        Self(number.text().into())
    }
}

impl fmt::Display for NumberBuf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for NumberBuf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("NumberBuf").field(&format_args!("{}", self.0)).finish()
    }
}

macro_rules! decoded {
    ($($method:ident($($argument:ident: $of:ty),*))*) => {
        $(
            fn $method<V: Visitor<'de>>(self, $($argument: $of,)* visitor: V) -> Result<V::Value, Error> {
                let mut text = super::de::Deserializer::from_str(self.get());
                let visited = text.$method($($argument,)* visitor);
                text.leave_buffers();
                visited
            }
        )*
    };
}

/// Decodes the value. O(n) in its text.
///
/// ```
/// use serde::Deserialize;
/// let raw: &jird::RawValue = jird::from_str("[1, 2]")?;
/// assert_eq!(Vec::<u8>::deserialize(raw)?, [1, 2]);
/// # Ok::<(), jird::Error>(())
/// ```
impl<'de> Deserializer<'de> for &'de RawValue {
    type Error = Error;

    decoded! {
        deserialize_any() deserialize_bool() deserialize_i8() deserialize_i16() deserialize_i32() deserialize_i64()
        deserialize_i128() deserialize_u8() deserialize_u16() deserialize_u32() deserialize_u64() deserialize_u128()
        deserialize_f32() deserialize_f64() deserialize_char() deserialize_str() deserialize_string()
        deserialize_bytes() deserialize_byte_buf() deserialize_option() deserialize_unit()
        deserialize_unit_struct(name: &'static str) deserialize_newtype_struct(name: &'static str) deserialize_seq()
        deserialize_tuple(len: usize) deserialize_tuple_struct(name: &'static str, len: usize) deserialize_map()
        deserialize_struct(name: &'static str, fields: &'static [&'static str])
        deserialize_enum(name: &'static str, variants: &'static [&'static str]) deserialize_identifier()
        deserialize_ignored_any()
    }
}

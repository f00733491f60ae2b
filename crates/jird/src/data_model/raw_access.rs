//! Raw text in the forms of `serde_json`, so that both crates read and write each other's raw values: its visitors receive
//! a map with one member, whose key is [`RAW_TEXT`](super::RAW_TEXT), and its serializers a struct with one field of that
//! name.

use super::RAW_TEXT;
use core::fmt;
use core::marker::PhantomData;
use serde_core::de::value::{BorrowedStrDeserializer, StrDeserializer};
use serde_core::de::{self, DeserializeSeed, MapAccess, Visitor};
use serde_core::ser::{SerializeStruct, Serializer};

/// Visits a string, and passes its text on as raw text.
pub(crate) struct RawTextVisitor<V>(pub(crate) V);

impl<'de, V: Visitor<'de>> Visitor<'de> for RawTextVisitor<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.expecting(f)
    }

    #[inline]
    fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<V::Value, E> {
        self.0.visit_map(RawMember { text: Some(RawContent::Borrowed(text)), error: PhantomData })
    }

    #[inline]
    fn visit_str<E: de::Error>(self, text: &str) -> Result<V::Value, E> {
        self.0.visit_map(RawMember { text: Some(RawContent::Passing(text)), error: PhantomData })
    }
}

/// Visits the text of a number as a string, and passes it on as bytes.
pub(crate) struct NumberTextVisitor<V>(pub(crate) V);

impl<'de, V: Visitor<'de>> Visitor<'de> for NumberTextVisitor<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.expecting(f)
    }

    #[inline]
    fn visit_str<E: de::Error>(self, text: &str) -> Result<V::Value, E> {
        self.0.visit_bytes(text.as_bytes())
    }
}

/// What a serializer knows of the one field of a struct that holds raw text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum RawField {
    /// It is another struct.
    None,
    Missing,
    Written,
}

enum RawContent<'de, 's> {
    Borrowed(&'de str),
    Passing(&'s str),
}

/// The one member.
struct RawMember<'de, 's, E> {
    text: Option<RawContent<'de, 's>>,
    error: PhantomData<E>,
}

impl<'de, E: de::Error> MapAccess<'de> for RawMember<'de, '_, E> {
    type Error = E;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, E> {
        if self.text.is_none() {
            return Ok(None);
        }
        seed.deserialize(BorrowedStrDeserializer::new(RAW_TEXT)).map(Some)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, E> {
        match self.text.take() {
            Some(RawContent::Borrowed(text)) => seed.deserialize(BorrowedStrDeserializer::new(text)),
            Some(RawContent::Passing(text)) => seed.deserialize(StrDeserializer::new(text)),
            None => Err(E::custom("`next_value` was called without `next_key`")),
        }
    }
}

/// Whether a serializer is `serde_json`'s, by the name of its error.
pub(crate) fn is_serde_json<S: Serializer>() -> bool {
    core::any::type_name::<S::Error>() == "serde_json::error::Error"
}

/// Whether a serializer is `serde_json`'s, and is known to be compiled with its raw values.
pub(crate) fn keeps_raw_text<S: Serializer>() -> bool {
    cfg!(feature = "json") && is_serde_json::<S>()
}

/// Writes raw text as `serde_json` does.
pub(crate) fn serialize_raw_text<S: Serializer>(serializer: S, text: &str) -> Result<S::Ok, S::Error> {
    let mut raw = serializer.serialize_struct(RAW_TEXT, 1)?;
    raw.serialize_field(RAW_TEXT, text)?;
    raw.end()
}

//! Serializes this crate's documents, values and numbers into any format.

use crate::data_model::{Exact, RAW_TEXT};
use crate::fault::ErrorKind;
use crate::number::Number;
use crate::policy::Policy;
use crate::tape::{Document, Kind, Value};
use serde_core::ser::{Error, Serialize, SerializeMap, SerializeSeq, Serializer};
use std::borrow::Cow;

/// In JSON the number keeps its text. Other formats receive an `i64`, `u64` or `f64`, the first that can hold it; formats
/// of text also an `i128` or `u128`.
///
/// # Errors
/// In other formats, if the number is infinite as an `f64`; in other formats of text, also if it has more digits than an
/// `f64` keeps.
impl Serialize for Number<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let is_machine = self.text() != "-0" && (self.as_i64().is_some() || self.as_u64().is_some());
        if crate::data_model::keeps_raw_text::<S>() && !is_machine {
            return crate::data_model::serialize_raw_text(serializer, self.text());
        }
        serializer.serialize_newtype_struct(RAW_TEXT, &Exact(*self))
    }
}

/// Members keep their order, including repeated keys; numbers are serialized as [`Number`] is.
///
/// # Errors
/// As for numbers; for a string that is not UTF-8, in a record that was not validated; and for nesting beyond
/// [`Policy::DEPTH_MAX`] levels, since serde serializes nested values by nested calls.
impl Serialize for Value<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Levels { value: *self, left: Policy::DEPTH_MAX }.serialize(serializer)
    }
}

/// A value, and the number of levels of arrays and objects that it may have.
struct Levels<'a> {
    value: Value<'a>,
    left: usize,
}

impl<'a> Levels<'a> {
    /// A value within this one.
    fn inner(&self, value: Value<'a>) -> Self {
        Self { value, left: self.left - 1 }
    }

    fn scalar<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.value.kind() {
            Kind::Bool => serializer.serialize_bool(self.value.as_bool() == Some(true)),
            Kind::Number => match self.value.as_number() {
                Some(number) => number.serialize(serializer),
                None => Err(S::Error::custom("the text of a number is not a number")),
            },
            Kind::String => serializer.serialize_str(&text(self.value)?),
            Kind::Null | Kind::Array | Kind::Object => serializer.serialize_unit(),
        }
    }

    fn array<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut sequence = begin_array(serializer, self.value)?;
        let mut elements = self.value.elements();
        while let Some(element) = next(&mut elements) {
            sequence.serialize_element(&self.inner(element))?;
        }
        sequence.end()
    }

    fn object<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = begin_object(serializer, self.value)?;
        let mut members = self.value.entries();
        while let Some((key, value)) = next(&mut members) {
            write_key(&mut map, key)?;
            map.serialize_value(&self.inner(value))?;
        }
        map.end()
    }

    #[cold]
    fn too_deep<E: Error>(&self) -> E {
        E::custom(crate::error::Error::new(ErrorKind::Depth, self.value.offset() as u64))
    }
}

// There is one open call for each level of nesting. In an unoptimised build, every function inlined into it takes room
// on the stack, so parts of it are separate functions.

fn begin_array<S: Serializer>(serializer: S, value: Value<'_>) -> Result<S::SerializeSeq, S::Error> {
    serializer.serialize_seq(Some(value.len()))
}

fn begin_object<S: Serializer>(serializer: S, value: Value<'_>) -> Result<S::SerializeMap, S::Error> {
    serializer.serialize_map(Some(value.len()))
}

fn write_key<M: SerializeMap>(map: &mut M, key: Value<'_>) -> Result<(), M::Error> {
    map.serialize_key(&*text(key)?)
}

fn next<I: Iterator>(items: &mut I) -> Option<I::Item> {
    items.next()
}

/// The content of a string.
fn text<E: Error>(string: Value<'_>) -> Result<Cow<'_, str>, E> {
    string.as_str().ok_or_else(|| E::custom("a string that is not UTF-8"))
}

impl Serialize for Levels<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.value.kind() {
            Kind::Array | Kind::Object if self.left == 0 => Err(self.too_deep()),
            Kind::Array => self.array(serializer),
            Kind::Object => self.object(serializer),
            Kind::Null | Kind::Bool | Kind::Number | Kind::String => self.scalar(serializer),
        }
    }
}

/// Serializes the root.
impl Serialize for Document<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.root().serialize(serializer)
    }
}

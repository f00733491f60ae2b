//! Documents, values and numbers of ours as something to serialize, into any format.

use crate::data_model::{Exact, RAW_TEXT};
use crate::fault::ErrorKind;
use crate::number::Number;
use crate::policy::DEPTH_MAX;
use crate::tape::{Document, Kind, Value};
use serde_core::ser::{Error, Serialize, SerializeMap, SerializeSeq, Serializer};
use std::borrow::Cow;

/// As JSON the number keeps its text. Other formats get an `i64`, `u64` or `f64`, the first that takes it.
///
/// # Errors
/// In other formats, if it is infinite as an `f64`.
impl Serialize for Number<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_newtype_struct(RAW_TEXT, &Exact(*self))
    }
}

/// Members in their order, repeated keys included; numbers as [`Number`] does.
///
/// # Errors
/// As for numbers. For a string that is not UTF-8, in a record that was not validated. And for what is nested in more than
/// [`DEPTH_MAX`] levels, since serde serializes values in values by calls in calls.
impl Serialize for Value<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Levels { value: *self, left: DEPTH_MAX }.serialize(serializer)
    }
}

/// A value, and how many levels of arrays and objects it may have.
struct Levels<'a> {
    value: Value<'a>,
    left: usize,
}

impl<'a> Levels<'a> {
    /// A value within it.
    fn inner(&self, value: Value<'a>) -> Self {
        Self { value, left: self.left - 1 }
    }

    fn scalar<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.value.kind() {
            Kind::Bool => serializer.serialize_bool(self.value.as_bool() == Some(true)),
            Kind::Number => match self.value.as_number() {
                Some(number) => number.serialize(serializer),
                None => Err(S::Error::custom("a number that is none")),
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

// One call for each level of the text is open at a time. In a build that is not optimised, everything that is inlined into it
// takes room on the stack; so parts of it are calls there.

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

/// As its root.
impl Serialize for Document<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.root().serialize(serializer)
    }
}

//! Documents, values and numbers of ours as something to serialize, into any format.

use super::raw::Exact;
use crate::number::Number;
use crate::tape::{Document, Kind, Value};
use crate::typed::RAW_TEXT;
use serde_core::ser::{Error, Serialize, SerializeMap, SerializeSeq, Serializer};

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
/// As for numbers; and for a string that is not UTF-8, in a record that was not validated.
impl Serialize for Value<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let not_utf8 = || S::Error::custom("a string that is not UTF-8");
        match self.kind() {
            Kind::Null => serializer.serialize_unit(),
            Kind::Bool => serializer.serialize_bool(self.as_bool() == Some(true)),
            Kind::Number => match self.as_number() {
                Some(number) => number.serialize(serializer),
                None => Err(S::Error::custom("a number that is none")),
            },
            Kind::String => serializer.serialize_str(&self.as_str().ok_or_else(not_utf8)?),
            Kind::Array => {
                let mut elements = serializer.serialize_seq(Some(self.len()))?;
                self.elements().try_for_each(|element| elements.serialize_element(&element))?;
                elements.end()
            }
            Kind::Object => {
                let mut members = serializer.serialize_map(Some(self.len()))?;
                for (key, value) in self.entries() {
                    members.serialize_entry(&*key.as_str().ok_or_else(not_utf8)?, &value)?;
                }
                members.end()
            }
        }
    }
}

/// As its root.
impl Serialize for Document<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.root().serialize(serializer)
    }
}

//! New values of edited documents from Rust types, and edited values into any format.

use super::{Compact, Job, write};
use crate::edit::{DocumentMut, EditError, EditErrorKind, EditedValue};
use crate::text::Out;
use serde_core::ser::{self, Serialize};

impl DocumentMut<'_> {
    /// Gives the value at a JSON Pointer another value; or adds it to its object, or at the end of its array if the last step
    /// is `-`. The value may be of any type that serde can serialize: a number, a string, a struct, another
    /// [`Value`](crate::Value), a tree. [`DocumentMut::set_json`] takes a JSON text.
    ///
    /// ```
    /// let mut document = jird::edit::DocumentMut::parse(br#"{"sizes": [1.0, 2.0]}"#)?;
    /// document.set("/name", "a \"table\"")?;
    /// document.set("/sizes/1", 3)?;
    /// document.set("/sizes/-", [4, 5])?;
    /// assert_eq!(document.to_string()?, r#"{"sizes": [1.0, 3, [4,5]], "name": "a \"table\""}"#);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the pointer is not one, if nothing can be set there, or if the value cannot be written as JSON: if its `Serialize`
    /// fails, or a number is infinite or NaN.
    pub fn set<T: Serialize>(&mut self, pointer: &str, value: T) -> Result<(), EditError> {
        let json = json(&value).map_err(|error| error.at("set", pointer))?;
        self.set_json(pointer, &json)
    }

    /// Inserts a value before the element of an array that a JSON Pointer leads to, or at the end if the last step is `-`; as
    /// `add` of RFC 6902 §4.1. In an object it is the same as [`DocumentMut::set`].
    ///
    /// ```
    /// let mut document = jird::edit::DocumentMut::parse(br#"["a", "c"]"#)?;
    /// document.insert("/1", "b")?;
    /// document.insert("/-", "d")?;
    /// assert_eq!(document.to_string()?, r#"["a", "b", "c", "d"]"#);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`DocumentMut::set`].
    pub fn insert<T: Serialize>(&mut self, pointer: &str, value: T) -> Result<(), EditError> {
        let json = json(&value).map_err(|error| error.at("insert", pointer))?;
        self.insert_json(pointer, &json)
    }
}

/// A value's text.
fn json<T: Serialize>(value: &T) -> Result<String, EditError> {
    let mut out = Out::new(Vec::new(), Job { refuses_non_finite: true, ..Job::new((), Compact) });
    write(value, &mut out).map_err(|error| EditError::text(EditErrorKind::Patch, error))?;
    Ok(out.into_string())
}

/// Serializes the value as the edits so far have left it, as [`Value`](crate::Value) is serialized.
impl Serialize for EditedValue<'_> {
    fn serialize<S: ser::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.as_value() {
            Some(value) => value.serialize(serializer),
            None => self.to_document().map_err(ser::Error::custom)?.serialize(serializer),
        }
    }
}

/// Serializes the root.
impl Serialize for DocumentMut<'_> {
    fn serialize<S: ser::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.root().serialize(serializer)
    }
}

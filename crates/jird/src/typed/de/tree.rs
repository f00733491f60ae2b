//! Decodes values of a document that was parsed before.
//!
//! These values have no line and no column. Their errors have a path, and the offset of the value in the document's
//! text.

use crate::data_model::{Children, Digits, KeyText, Leaf, Node, NodeDeserializer, Number, TreeKey, TreeScope};
use crate::error::Error;
use crate::fault::ErrorKind;
use crate::number::{self, MachineNumber};
use crate::record::Record;
use crate::tape::{Document, Elements, Halves, Kind, Value};
use serde_core::de::{Deserialize, IntoDeserializer, Visitor};
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
        let _scope = TreeScope::enter();
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

/// serde's `Deserializer` for a value.
pub type ValueDeserializer<'a> = NodeDeserializer<Value<'a>>;

impl<'a> IntoDeserializer<'a, Error> for Value<'a> {
    type Deserializer = ValueDeserializer<'a>;

    fn into_deserializer(self) -> ValueDeserializer<'a> {
        NodeDeserializer::new(self)
    }
}

/// Gives an error without a position the position of this value. It takes the value by reference: passing a copy would
/// make the compiler build that copy on the hot path too, out of parts that were stored just before, which is slow.
#[cold]
fn at(error: Error, value: &Value<'_>) -> Error {
    if error.offset() == 0 { error.placed(value.offset() as u64, 0, 0) } else { error }
}

impl<'a> Node<'a> for Value<'a> {
    type Leaf = Self;
    type Elements = Elements<'a>;
    type Members = Halves<'a>;

    #[inline(always)]
    fn kind(&self) -> Kind {
        Value::kind(*self)
    }

    #[inline(always)]
    fn is_null(&self) -> bool {
        Value::is_null(*self)
    }

    #[inline(always)]
    fn leaf(&self) -> Self {
        *self
    }

    #[inline(always)]
    fn elements(&self) -> Elements<'a> {
        Value::elements(*self)
    }

    #[inline(always)]
    fn members(&self) -> Halves<'a> {
        Halves::new(self.entries())
    }

    fn visit_raw<V: Visitor<'a>>(&self, visitor: V) -> Result<V::Value, Error> {
        match self.raw_str() {
            Some(raw) => visitor.visit_borrowed_str(raw),
            None => Err(at(ErrorKind::Utf8.into(), self)),
        }
    }

    #[inline(always)]
    fn len(&self) -> Option<usize> {
        Some(Value::len(*self))
    }

    #[inline(always)]
    fn placed(&self, error: Error) -> Error {
        at(error, self)
    }
}

impl<'a> Leaf<'a> for Value<'a> {
    fn is_true(&self) -> bool {
        self.as_bool() == Some(true)
    }

    #[inline(never)]
    fn digits(&self) -> Result<Digits<'a>, Error> {
        self.as_number().map(Digits::Text).ok_or_else(|| ErrorKind::Number.into())
    }

    fn text(&self) -> Result<Cow<'a, str>, Error> {
        self.as_str().ok_or_else(|| ErrorKind::Utf8.into())
    }

    #[inline(always)]
    fn visit_string<V: Visitor<'a>>(&self, visitor: V) -> Result<V::Value, Error> {
        match self.plain_str() {
            Some(text) => visitor.visit_borrowed_str(text),
            None => match self.text()? {
                Cow::Borrowed(text) => visitor.visit_borrowed_str(text),
                Cow::Owned(text) => visitor.visit_string(text),
            },
        }
    }

    #[inline(always)]
    fn visit_number<V: Visitor<'a>>(&self, visitor: V) -> Result<V::Value, Error> {
        match self.plain_number().and_then(|(text, start, end)| number::to_small_at(text, start, end)) {
            Some(value) => visitor.visit_u64(value),
            None => any_number(self)?.visit(visitor),
        }
    }

    #[inline(always)]
    fn visit_f64<V: Visitor<'a>>(&self, visitor: V) -> Result<V::Value, Error> {
        match self.plain_number().and_then(|(text, start, end)| number::to_machine_at(text, start, end)) {
            Some(MachineNumber::F64(value)) => visitor.visit_f64(value),
            _ => any_number(self)?.visit(visitor),
        }
    }
}

/// The number in the form that a visitor receives. Only for numbers.
#[inline(never)]
fn any_number(value: &Value<'_>) -> Result<Number, Error> {
    match value.plain_number() {
        Some((text, start, end)) => Number::of(text, start, end).ok_or_else(|| ErrorKind::Range.into()),
        None => value.digits()?.number(),
    }
}

impl<'a> Children<'a> for Elements<'a> {
    type Key = Value<'a>;
    type Value = Value<'a>;

    #[inline(always)]
    fn next_value(&mut self) -> Option<Value<'a>> {
        self.next()
    }

    #[inline(always)]
    fn left(&mut self) -> Option<Error> {
        self.next().map(|left| at(ErrorKind::Trailing.into(), &left))
    }
}

impl<'a> Children<'a> for Halves<'a> {
    type Key = Value<'a>;
    type Value = Value<'a>;

    #[inline(always)]
    fn next_key(&mut self) -> Option<Value<'a>> {
        Halves::next_key(self)
    }

    #[inline(always)]
    fn next_value(&mut self) -> Option<Value<'a>> {
        Halves::next_value(self)
    }

    #[inline(always)]
    fn is_behind_key(&self) -> bool {
        Halves::is_behind_key(self)
    }

    #[inline(always)]
    fn left(&mut self) -> Option<Error> {
        let left = Halves::next_value(self).or_else(|| Halves::next_key(self));
        left.map(|left| at(ErrorKind::Trailing.into(), &left))
    }
}

impl<'a> KeyText<'a> for Value<'a> {
    type Value<'k>
        = ValueDeserializer<'a>
    where
        Self: 'k;

    #[inline(always)]
    fn visit<V: Visitor<'a>>(&mut self, visitor: V) -> Result<V::Value, Error> {
        self.into_deserializer().visit_string(visitor)
    }

    fn quoted<T>(&mut self, then: impl FnOnce(&str) -> Result<T, Error>) -> Result<T, Error> {
        let quoted = self.raw_str().unwrap_or_default();
        then(quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default())
    }

    fn value(&mut self) -> ValueDeserializer<'a> {
        self.into_deserializer()
    }
}

impl<'a> TreeKey<'a> for Value<'a> {
    fn name(&self) -> Cow<'a, str> {
        self.as_str().unwrap_or_default()
    }

    fn placed(&self, error: Error) -> Error {
        at(error, self)
    }
}

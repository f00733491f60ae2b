//! Values of an edited document.

use super::children::{EditedElements, EditedEntries};
use super::content::Content;
use super::error::EditError;
use super::overlay::{Edits, Overlay};
use super::texts::{Leaf, utf8};
use crate::number::Number;
use crate::tape::{Document, Kind, Value, pointer_index, pointer_key};
use core::fmt;
use std::borrow::Cow;

/// A value of a [`DocumentMut`](super::DocumentMut), as the edits so far have left it: a cursor, cheap to copy. The methods are those of
/// [`Value`].
///
/// ```
/// use jird::edit::DocumentMut;
/// let mut document = DocumentMut::parse(br#"{"name": "jird", "legs": [1, 2, 3.50]}"#)?;
/// document.set_json("/legs/-", "4")?;
/// document.remove("/legs/0")?;
/// let legs: Vec<_> = document.root().get("legs").into_iter().flat_map(|legs| legs.elements()).collect();
/// assert_eq!(legs.iter().filter_map(|leg| leg.as_f64()).sum::<f64>(), 9.5);
/// assert_eq!(legs[1].as_number().map(|leg| leg.text()), Some("3.50"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy)]
pub struct EditedValue<'d> {
    overlay: &'d Overlay<'d>,
    content: Content,
}

impl<'d> EditedValue<'d> {
    pub(super) fn new(overlay: &'d Overlay<'_>, content: Content) -> Self {
        Self { overlay, content }
    }

    /// The value as it stands in a text; `None` if it is an object or array in which something was edited, or may have been.
    /// Free.
    pub fn as_value(self) -> Option<Value<'d>> {
        match self.content {
            Content::Plain(leaf) => Some(self.overlay.texts.value(leaf)),
            Content::Open(_) => None,
        }
    }

    /// The value's kind. Free.
    pub fn kind(self) -> Kind {
        match self.edits() {
            Ok(Edits::Object(_)) => Kind::Object,
            Ok(Edits::Array(_)) => Kind::Array,
            Err((_, value)) => value.kind(),
        }
    }

    /// Whether it is `null`.
    pub fn is_null(self) -> bool {
        self.kind() == Kind::Null
    }

    /// The boolean, if it is one.
    pub fn as_bool(self) -> Option<bool> {
        self.as_value()?.as_bool()
    }

    /// The number with its text and exact value, if it is a number.
    pub fn as_number(self) -> Option<Number<'d>> {
        self.as_value()?.as_number()
    }

    /// As [`Value::as_i64`].
    pub fn as_i64(self) -> Option<i64> {
        self.as_value()?.as_i64()
    }

    /// As [`Value::as_u64`].
    pub fn as_u64(self) -> Option<u64> {
        self.as_value()?.as_u64()
    }

    /// As [`Value::as_f64`].
    pub fn as_f64(self) -> Option<f64> {
        self.as_value()?.as_f64()
    }

    /// The content of a string; borrowed if it has no escapes.
    pub fn as_str(self) -> Option<Cow<'d, str>> {
        self.as_value()?.as_str()
    }

    /// The number of members or elements; 0 for a scalar. Free.
    pub fn len(self) -> usize {
        match self.edits() {
            Ok(Edits::Object(object)) => object.len(),
            Ok(Edits::Array(array)) => array.len(),
            Err((_, value)) => value.len(),
        }
    }

    /// Whether it has no members or elements.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The value of the first member with this key, if it is an object that has one. In an object that was edited the cost
    /// does not depend on the number of members, on average; in others their keys are compared one by one.
    pub fn get(self, key: &str) -> Option<Self> {
        let texts = &self.overlay.texts;
        let content = match self.edits() {
            Ok(Edits::Object(object)) => object.content(texts, object.find(texts, key)?),
            Ok(Edits::Array(_)) => return None,
            Err((leaf, value)) => self.plain(leaf, value.get(key)?),
        };
        Some(Self { content, ..self })
    }

    /// The element at this zero-based index, if it is an array with that many elements. In an array that was edited it is
    /// found in logarithmic time; in others the elements before it are skipped.
    pub fn at(self, index: usize) -> Option<Self> {
        let content = match self.edits() {
            Ok(Edits::Array(array)) if index < array.len() => array.content(&self.overlay.texts, index),
            Ok(_) => return None,
            Err((leaf, value)) => self.plain(leaf, value.at(index)?),
        };
        Some(Self { content, ..self })
    }

    /// The value that a JSON Pointer (RFC 6901) leads to. `""` is this value.
    pub fn pointer(self, pointer: &str) -> Option<Self> {
        if pointer.is_empty() {
            return Some(self);
        }
        pointer.strip_prefix('/')?.split('/').try_fold(self, |value, step| match value.kind() {
            Kind::Object => value.get(&pointer_key(step)?),
            Kind::Array => value.at(pointer_index(step)?),
            _ => None,
        })
    }

    /// The members in the order in which they are written, each with its key; none if it is not an object.
    pub fn entries(self) -> EditedEntries<'d> {
        EditedEntries::of(self.overlay, self.content)
    }

    /// The elements in order; none if it is not an array. Making the iterator of an array that was edited costs as many steps as
    /// it has edits; [`at`](Self::at) finds a single element.
    pub fn elements(self) -> EditedElements<'d> {
        EditedElements::of(self.overlay, self.content)
    }

    /// The value's text, as [`DocumentMut::to_vec`](super::DocumentMut::to_vec) would write it, without what stands around it.
    ///
    /// # Errors
    /// As [`DocumentMut::to_vec`](super::DocumentMut::to_vec).
    pub fn to_vec(self) -> Result<Vec<u8>, EditError> {
        self.overlay.write(self.content, Vec::new())
    }

    /// As [`EditedValue::to_vec`].
    ///
    /// # Errors
    /// As [`DocumentMut::to_vec`](super::DocumentMut::to_vec).
    pub fn to_string(self) -> Result<String, EditError> {
        self.to_vec().map(utf8)
    }

    /// The value as a document of its own, for everything that reads documents: types through serde's traits, queries,
    /// comparisons and differences. Costs as much as writing and parsing it.
    ///
    /// ```
    /// let mut document = jird::edit::DocumentMut::parse(br#"{"point": [1, 2]}"#)?;
    /// document.set_json("/point/1", "2.0")?;
    /// let point = document.pointer("/point").ok_or("no point")?.to_document()?;
    /// assert!(jird::patch::are_equal(point.root(), jird::parse(b"[1, 2]")?.root()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`DocumentMut::to_vec`](super::DocumentMut::to_vec).
    pub fn to_document(self) -> Result<Document<'static>, EditError> {
        self.overlay.parse_written(&self.to_vec()?)
    }

    /// The edits of a container; or the place of what was not edited, and the value there.
    fn edits(self) -> Result<&'d Edits, (Leaf, Value<'d>)> {
        let overlay = self.overlay;
        match self.content {
            Content::Open(at) => Ok(&overlay.open[at]),
            Content::Plain(leaf) => Err((leaf, overlay.texts.value(leaf))),
        }
    }

    /// A value of the same text as a leaf.
    fn plain(self, leaf: Leaf, value: Value<'_>) -> Content {
        Content::Plain(Leaf { place: self.overlay.texts.document(leaf.text).place_of(value), ..leaf })
    }
}

/// The value's text.
impl fmt::Debug for EditedValue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_string().map_err(|_| fmt::Error)?)
    }
}

//! Documents that can be edited.

use super::content::Content;
use super::error::{EditError, EditErrorKind, named};
use super::overlay::{Location, Overlay, Placing};
use super::pointer::Pointer;
use super::read::EditedValue;
use super::style::depth;
use super::texts::{Leaf, Texts, end, utf8};
use super::write::{too_deep, too_large};
use crate::error::Error;
use crate::fault::ErrorKind;
use crate::policy::Policy;
use crate::tape::Document;

/// By default, copies may add this many bytes and the length of the document.
const GROWTH_MAX: usize = 64 << 20;

/// A document that can be edited, and is written with everything that was not edited as it was, byte for byte: white space,
/// the spelling of numbers, escapes, the order of members.
///
/// No tree is made: edits are laid over the tape of the [`Document`]. So an edit costs its path and its value, however large
/// the document is, plus once the number of members and elements of each object and array that its path goes through.
/// Writing costs a copy of the text. Values are read as those of a `Document`, whether they were edited or not; numbers keep
/// every digit. [`DocumentMut::clone`] copies the edits, and shares the text.
///
/// Places are named by JSON Pointers (RFC 6901): `/items/0/name`. New members come after the others, and new members and
/// elements get the white space of their neighbours. A new value is written as it is given; if it has line breaks, it gets
/// the indentation of the container that it comes into, or one line if that has one line.
///
/// If a key occurs twice in an object, paths lead to the first member with this key, as everywhere in jird. Edits of
/// such a member, and of what is in it, are refused, because other readers would still see the other one.
///
/// An edit that fails changes nothing.
#[cfg_attr(feature = "serde", doc = "```")]
#[cfg_attr(not(feature = "serde"), doc = "```ignore")]
/// use jird::edit::DocumentMut;
/// let mut document = DocumentMut::parse(b"{\n  \"size\": 1.50,\n  \"tags\": [\"a\", \"b\"]\n}")?;
/// document.set("/name", "table")?;
/// document.insert("/tags/0", "new")?;
/// document.rename("/size", "length")?;
/// assert_eq!(document.root().get("tags").map(|tags| tags.len()), Some(3));
/// document.remove("/tags/1")?;
/// let wanted = "{\n  \"length\": 1.50,\n  \"tags\": [\"new\", \"b\"],\n  \"name\": \"table\"\n}";
/// assert_eq!(document.to_string()?, wanted);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct DocumentMut<'a> {
    pub(crate) overlay: Overlay<'a>,
    /// The bytes of all copies together.
    copied: usize,
    /// Whether a container was moved or copied to a deeper place.
    is_deepened: bool,
}

/// Begins to edit a document. Free.
impl<'a> From<Document<'a>> for DocumentMut<'a> {
    fn from(document: Document<'a>) -> Self {
        let given = document.text().len();
        let mut texts = Texts::default();
        texts.own(document, false);
        Self::of_texts(texts, given)
    }
}

/// Begins to edit a document that is borrowed. Free.
impl<'a> From<&'a Document<'a>> for DocumentMut<'a> {
    fn from(document: &'a Document<'a>) -> Self {
        let mut texts = Texts::default();
        texts.lend(document, false);
        Self::of_texts(texts, document.text().len())
    }
}

/// Reading and writing.
impl<'a> DocumentMut<'a> {
    /// Parses a text, as [`parse`](crate::parse) does. The text is borrowed; [`DocumentMut::into_owned`] copies it.
    ///
    /// # Errors
    /// As [`parse`](crate::parse).
    pub fn parse(text: &'a [u8]) -> Result<Self, Error> {
        crate::parse(text).map(Self::from)
    }

    fn of_texts(texts: Texts<'a>, given: usize) -> Self {
        let root = Content::Plain(Leaf { text: 0, place: 0 });
        let growth_max = GROWTH_MAX.saturating_add(given);
        let overlay = Overlay { texts, open: Vec::new(), root, given, growth_max };
        Self { overlay, copied: 0, is_deepened: false }
    }

    /// Sets how many bytes all copies together may have, and by how much the result may be longer than the document and
    /// everything that was given together. Without a limit, a short patch that copies a document into itself again and
    /// again would double it each time. By default 64 MiB and the length of the document.
    #[must_use]
    pub fn with_growth_max(mut self, bytes: usize) -> Self {
        self.overlay.growth_max = bytes;
        self
    }

    /// The value of the whole document.
    pub fn root(&self) -> EditedValue<'_> {
        EditedValue::new(&self.overlay, self.overlay.root)
    }

    /// The value that a JSON Pointer leads to.
    ///
    /// ```
    /// let mut document = jird::edit::DocumentMut::parse(br#"{"sizes": [1.50, 2]}"#)?;
    /// document.remove("/sizes/0")?;
    /// assert_eq!(document.pointer("/sizes/0").and_then(|size| size.as_u64()), Some(2));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn pointer(&self, pointer: &str) -> Option<EditedValue<'_>> {
        self.root().pointer(pointer)
    }

    /// The edited text, with the white space around the document. Without white space between tokens, it is
    /// `jird::minify(&document.to_vec()?)`.
    ///
    /// # Errors
    /// [`EditErrorKind::Size`] if it would exceed the limit, [`EditErrorKind::Depth`] if it would be nested more deeply
    /// than [`Policy::DEPTH_MAX`].
    pub fn to_vec(&self) -> Result<Vec<u8>, EditError> {
        let texts = &self.overlay.texts;
        let (text, root) = (texts.bytes(0), texts.document(0).root());
        let mut edited = Vec::with_capacity(self.overlay.given);
        edited.extend_from_slice(&text[..root.offset()]);
        let mut edited = self.overlay.write(self.overlay.root, edited)?;
        edited.extend_from_slice(&text[end(root)..]);
        if self.is_deepened && crate::validate(&edited).is_err_and(|error| error.kind() == ErrorKind::Depth) {
            return Err(too_deep());
        }
        Ok(edited)
    }

    /// The edited text, as [`DocumentMut::to_vec`] gives it.
    ///
    /// # Errors
    /// As [`DocumentMut::to_vec`].
    pub fn to_string(&self) -> Result<String, EditError> {
        self.to_vec().map(utf8)
    }

    /// Writes the edited text and begins again from there: the memory of the old text, of all edits, and of values that were
    /// replaced or removed is free then. For a document that lives long. Costs as much as writing and parsing it.
    ///
    /// # Errors
    /// As [`DocumentMut::to_vec`]. The document stays as it was.
    pub fn settle(&mut self) -> Result<(), EditError> {
        let settled = self.overlay.parse_written(&self.to_vec()?)?;
        *self = Self::from(settled).with_growth_max(self.overlay.growth_max);
        Ok(())
    }

    /// The same document, which owns all of its texts. Copies those that were borrowed.
    #[must_use]
    pub fn into_owned(self) -> DocumentMut<'static> {
        let Overlay { texts, open, root, given, growth_max } = self.overlay;
        let overlay = Overlay { texts: texts.into_owned(), open, root, given, growth_max };
        DocumentMut { overlay, copied: self.copied, is_deepened: self.is_deepened }
    }
}

/// Edits.
impl DocumentMut<'_> {
    /// As `DocumentMut::set`, for a value that is given as a JSON text, whose spelling is kept.
    ///
    /// ```
    /// let mut document = jird::edit::DocumentMut::parse(br#"{"sizes": [1, 2]}"#)?;
    /// document.set_json("/sizes/1", "2.50")?;
    /// document.set_json("/sizes/-", "[]")?;
    /// assert_eq!(document.to_string()?, r#"{"sizes": [1, 2.50, []]}"#);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If `json` is not JSON, if the pointer is not one, or if nothing can be set there.
    pub fn set_json(&mut self, pointer: &str, json: &str) -> Result<(), EditError> {
        self.place_text(pointer, json.as_bytes(), Placing::Replace).map_err(|error| error.at("set", pointer))
    }

    /// As `DocumentMut::insert`, for a value that is given as a JSON text, whose spelling is kept.
    ///
    /// # Errors
    /// As [`DocumentMut::set_json`].
    pub fn insert_json(&mut self, pointer: &str, json: &str) -> Result<(), EditError> {
        self.place_text(pointer, json.as_bytes(), Placing::Insert).map_err(|error| error.at("insert", pointer))
    }

    /// Removes the value that a JSON Pointer leads to.
    ///
    /// # Errors
    /// If there is none.
    pub fn remove(&mut self, pointer: &str) -> Result<(), EditError> {
        let removed = Pointer::new(pointer.into()).and_then(|pointer| self.remove_at(&pointer));
        removed.map_err(|error| error.at("remove", pointer))
    }

    /// Gives the member that a JSON Pointer leads to another key. It stays where it is among the others.
    ///
    /// ```
    /// let mut document = jird::edit::DocumentMut::parse(br#"{"a": 1.0, "b": 2}"#)?;
    /// document.rename("/a", "first")?;
    /// assert_eq!(document.to_string()?, r#"{"first": 1.0, "b": 2}"#);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If there is no such member, or if its object has the new key already.
    pub fn rename(&mut self, pointer: &str, key: &str) -> Result<(), EditError> {
        let renamed = Pointer::new(pointer.into()).and_then(|pointer| self.overlay.rename(&pointer, key));
        renamed.map_err(|error| error.at("rename", pointer))
    }

    /// Moves a value to another place, with everything in it; as `move` of RFC 6902 §4.4. Costs no more than moving a scalar.
    ///
    /// ```
    /// let mut document = jird::edit::DocumentMut::parse(br#"{"a": {"x": 1.0}, "b": [2]}"#)?;
    /// document.move_to("/a", "/b/0")?;
    /// assert_eq!(document.to_string()?, r#"{"b": [{"x": 1.0}, 2]}"#);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If there is nothing at `from`, if nothing can be inserted at `to`, or if that is in what is moved.
    pub fn move_to(&mut self, from: &str, to: &str) -> Result<(), EditError> {
        let mut moved = || self.move_at(&Pointer::new(from.into())?, &Pointer::new(to.into())?);
        moved().map_err(|error: EditError| error.at("move", from))
    }

    /// Inserts a copy of a value at another place; as `copy` of RFC 6902 §4.5. Costs as much as writing the value, if it was
    /// edited.
    ///
    /// # Errors
    /// If there is nothing at `from`, if nothing can be inserted at `to`, or if copies exceed
    /// [their limit](DocumentMut::with_growth_max).
    pub fn copy_to(&mut self, from: &str, to: &str) -> Result<(), EditError> {
        let mut copied = || self.copy_at(&Pointer::new(from.into())?, &Pointer::new(to.into())?);
        copied().map_err(|error: EditError| error.at("copy", from))
    }

    pub(crate) fn remove_at(&mut self, pointer: &Pointer<'_>) -> Result<(), EditError> {
        self.overlay.take(pointer).map(drop)
    }

    fn place_text(&mut self, pointer: &str, text: &[u8], placing: Placing) -> Result<(), EditError> {
        let pointer = Pointer::new(pointer.into())?;
        let document = crate::parse(text).map_err(|error| EditError::text(EditErrorKind::Patch, error))?;
        check_depth(&pointer, depth(document.root()))?;
        let target = self.overlay.target(&pointer, placing)?;
        self.overlay.given += text.len();
        let leaf = self.overlay.texts.own(document.into_owned(), true);
        self.overlay.place(target, Content::Plain(leaf));
        Ok(())
    }

    /// Adds a value of one of the texts as RFC 6902 §4.1 says.
    pub(crate) fn add_at(&mut self, path: &Pointer<'_>, leaf: Leaf) -> Result<(), EditError> {
        check_depth(path, depth(self.overlay.texts.value(leaf)))?;
        let target = self.overlay.target(path, Placing::Insert)?;
        self.overlay.place(target, Content::Plain(leaf));
        Ok(())
    }

    /// Gives the place that a path leads to a value of one of the texts.
    pub(crate) fn replace_at(&mut self, path: &Pointer<'_>, leaf: Leaf) -> Result<(), EditError> {
        check_depth(path, depth(self.overlay.texts.value(leaf)))?;
        let found = self.overlay.find(path, true)?;
        self.overlay.put(found, Content::Plain(leaf));
        Ok(())
    }

    pub(crate) fn move_at(&mut self, from: &Pointer<'_>, path: &Pointer<'_>) -> Result<(), EditError> {
        if from.is_above(path) {
            let words = format!("the value at {} cannot be moved into a part of itself", named(from.text()));
            return Err(EditError::new(EditErrorKind::IntoItself, words));
        }
        if from.text() == path.text() {
            return self.overlay.find(from, true).map(drop);
        }
        let removal = self.overlay.take(from)?;
        match self.overlay.target(path, Placing::Insert) {
            Ok(target) => {
                self.overlay.place(target, removal.content);
                self.deepen(from, path, removal.content);
                Ok(())
            }
            Err(error) => {
                self.overlay.put_back(removal);
                Err(error)
            }
        }
    }

    pub(crate) fn copy_at(&mut self, from: &Pointer<'_>, path: &Pointer<'_>) -> Result<(), EditError> {
        let found = self.overlay.find(from, false)?;
        // A copy that fails settles nothing. What is settled may be around the target, which is found again then.
        self.overlay.target(path, Placing::Insert)?;
        let leaf = self.settle_at(found)?;
        let target = self.overlay.target(path, Placing::Insert)?;
        self.charge(self.overlay.texts.value(leaf).raw().len())?;
        self.overlay.place(target, Content::Plain(leaf));
        self.deepen(from, path, Content::Plain(leaf));
        Ok(())
    }

    /// Counts bytes that were copied.
    pub(crate) fn charge(&mut self, bytes: usize) -> Result<(), EditError> {
        self.copied = self.copied.saturating_add(bytes);
        if self.copied > self.overlay.growth_max { Err(too_large(self.overlay.size_max())) } else { Ok(()) }
    }

    /// A value that is to be copied or compared. If it was edited, its text is written and parsed, and takes its place, so
    /// that edits are never copied.
    pub(crate) fn settle_at(&mut self, place: Location) -> Result<Leaf, EditError> {
        let content = self.overlay.content(place);
        let at = match content {
            Content::Plain(leaf) => return Ok(leaf),
            Content::Open(at) => at,
        };
        let is_new = self.overlay.texts.is_new(self.overlay.open[at].source().text);
        let leaf = self.settled(content, is_new)?;
        self.charge(self.overlay.texts.bytes(leaf.text).len())?;
        self.overlay.put(place, Content::Plain(leaf));
        Ok(leaf)
    }

    /// What was edited, as a text of its own.
    pub(crate) fn settled(&mut self, content: Content, is_new: bool) -> Result<Leaf, EditError> {
        let document = self.overlay.parse_written(&self.overlay.write(content, Vec::new())?)?;
        Ok(self.overlay.texts.own(document, is_new))
    }

    /// Notes that a value comes to another place: the depth of the result is checked if it can have grown.
    fn deepen(&mut self, from: &Pointer<'_>, to: &Pointer<'_>, content: Content) {
        let is_scalar =
            matches!(content, Content::Plain(leaf) if !self.overlay.texts.value(leaf).kind().is_container());
        self.is_deepened |= !is_scalar && to.depth() > from.depth();
    }
}

/// Refuses a new value that would make the document too deep to be read again.
fn check_depth(path: &Pointer<'_>, levels: usize) -> Result<(), EditError> {
    if path.depth() + levels > Policy::DEPTH_MAX { Err(too_deep()) } else { Ok(()) }
}

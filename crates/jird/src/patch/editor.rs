//! Edits of a document, laid over its tape.

use super::array::ArrayEdits;
use super::content::Content;
use super::equal::are_equal;
use super::error::{PatchError, PatchErrorKind, shown};
use super::object::{Member, ObjectEdits};
use super::operation::{Operation, Patch, Verb};
use super::pointer::{Pointer, PointerStep};
use super::style::depth;
use super::texts::{Leaf, Texts, end, utf8};
use super::write::{Edits, Overlay, too_large, write};
use crate::fault::ErrorKind;
use crate::policy::Policy;
use crate::tape::{Document, Kind};

/// By default, copies may add this many bytes and the length of the document.
const GROWTH_MAX: usize = 64 << 20;

/// A `test` may compare this many times the bytes of its own value before it counts as copying.
const TEST_RATIO: usize = 16;

/// Edits a document, and writes it with everything that was not edited as it was, byte for byte: white space, the spelling
/// of numbers, escapes.
///
/// The document is not copied and no tree is made: edits are laid over its tape. So an edit costs its path and its value,
/// however large the document is, plus once the number of members and elements of each object and array that its path
/// goes through. Writing costs a copy of the text.
///
/// New members come after the others, and new members and elements get the white space of their neighbours. A new value is
/// written as it is given; if it has line breaks, it gets the indentation of the container that it comes into, or one line
/// if that has one line.
///
/// If a key occurs twice in an object, paths lead to the first member with this key, as everywhere in jird. Edits of
/// such a member, and of what is in it, are refused, because other readers would still see the other one.
///
/// ```
/// use jird::patch::Editor;
/// let document = jird::parse(b"{\n  \"size\": 1.50,\n  \"tags\": [\"a\", \"b\"]\n}")?;
/// let mut editor = Editor::new(&document);
/// editor.set("/tags/-", "\"c\"")?;
/// editor.set("/name", "\"jird\"")?;
/// editor.remove("/tags/0")?;
/// assert_eq!(editor.to_string()?, "{\n  \"size\": 1.50,\n  \"tags\": [\"b\", \"c\"],\n  \"name\": \"jird\"\n}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Editor<'a> {
    pub(super) texts: Texts<'a>,
    pub(super) open: Vec<Edits>,
    pub(super) root: Content,
    /// The bytes of the document and of all patches and values.
    pub(super) given: usize,
    growth_max: usize,
    copied: usize,
    /// Whether a container was moved or copied to a deeper place.
    is_deepened: bool,
}

/// Where a value is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Location {
    Root,
    Member(usize, Member),
    Element(usize, usize),
}

impl<'a> Editor<'a> {
    /// Begins to edit a document. Free.
    pub fn new(document: &'a Document<'a>) -> Self {
        let mut texts = Texts::default();
        let text = texts.lend(document, false);
        let given = document.text().len();
        Self {
            texts,
            open: Vec::new(),
            root: Content::Plain(Leaf { text, place: 0 }),
            given,
            growth_max: GROWTH_MAX.saturating_add(given),
            copied: 0,
            is_deepened: false,
        }
    }

    /// Sets how many bytes all `copy` operations together may copy, and by how much the result may be longer than the
    /// document and everything that was given together. Without a limit, a short patch that copies a document into itself
    /// again and again would double it each time. By default 64 MiB and the length of the document.
    #[must_use]
    pub fn with_growth_max(self, bytes: usize) -> Self {
        Self { growth_max: bytes, ..self }
    }

    /// Gives the value at a JSON Pointer another value, which is a JSON text; or adds it to its object or array. As `add`
    /// of RFC 6902 §4.1, but the element at an index gets another value, and only `-` inserts one, at the end.
    ///
    /// # Errors
    /// If `value` is not JSON, if the pointer is not one, or if nothing can be set there. The document stays as it was.
    pub fn set(&mut self, pointer: &str, value: &str) -> Result<(), PatchError> {
        let mut set = || {
            let pointer = Pointer::new(pointer.into())?;
            let document =
                crate::parse(value.as_bytes()).map_err(|error| PatchError::text(PatchErrorKind::Patch, error))?;
            self.given += value.len();
            let leaf = self.texts.own(document.into_owned(), true);
            self.check_depth(&pointer, leaf)?;
            match self.find(&pointer, true) {
                Ok(place) => self.put(place, Content::Plain(leaf)),
                Err(_) => self.add(&pointer, Content::Plain(leaf))?,
            }
            Ok(())
        };
        set().map_err(|error: PatchError| error.at("set", pointer))
    }

    /// Removes the value that a JSON Pointer leads to.
    ///
    /// # Errors
    /// If there is none. The document stays as it was.
    pub fn remove(&mut self, pointer: &str) -> Result<(), PatchError> {
        let removed = Pointer::new(pointer.into()).and_then(|pointer| self.take(&pointer));
        removed.map(drop).map_err(|error| error.at("remove", pointer))
    }

    /// Applies a patch: all of its operations, one after the other. Each sees what those before it have done.
    ///
    /// # Errors
    /// The first operation that cannot be applied, or whose `test` fails. The editor is gone then, so that no part of a
    /// patch is ever applied.
    pub fn apply(mut self, patch: &'a Patch<'a>) -> Result<Self, PatchError> {
        let text = self.texts.lend(&patch.document, true);
        self.given += patch.document.text().len();
        for (index, operation) in patch.operations.iter().enumerate() {
            self.operate(operation, text)
                .map_err(|error| error.of_operation(index).at(operation.verb.name(), operation.path.text()))?;
        }
        Ok(self)
    }

    /// The edited text, with the white space around the document.
    ///
    /// # Errors
    /// [`PatchErrorKind::Size`] if it would exceed the limit, [`PatchErrorKind::Depth`] if it would be nested more deeply
    /// than [`Policy::DEPTH_MAX`].
    pub fn to_vec(&self) -> Result<Vec<u8>, PatchError> {
        let (text, root) = (self.texts.bytes(0), self.texts.document(0).root());
        let limit = self.given.saturating_add(self.growth_max);
        let mut edited = Vec::with_capacity(self.given);
        edited.extend_from_slice(&text[..root.offset()]);
        let mut edited = self.write(self.root, edited, limit)?;
        edited.extend_from_slice(&text[end(root)..]);
        if self.is_deepened && crate::validate(&edited).is_err_and(|error| error.kind() == ErrorKind::Depth) {
            return Err(too_deep());
        }
        Ok(edited)
    }

    /// The edited text, as [`Editor::to_vec`] gives it.
    ///
    /// # Errors
    /// As [`Editor::to_vec`].
    pub fn to_string(&self) -> Result<String, PatchError> {
        self.to_vec().map(utf8)
    }

    fn operate(&mut self, operation: &Operation, patch: usize) -> Result<(), PatchError> {
        let path = &operation.path;
        match &operation.verb {
            Verb::Add(place) => {
                let leaf = Leaf { text: patch, place: *place };
                self.check_depth(path, leaf)?;
                self.add(path, Content::Plain(leaf))
            }
            Verb::Remove => self.take(path).map(drop),
            Verb::Replace(place) => {
                let leaf = Leaf { text: patch, place: *place };
                self.check_depth(path, leaf)?;
                let found = self.find(path, true)?;
                self.put(found, Content::Plain(leaf));
                Ok(())
            }
            Verb::Move(from) => self.move_from(from, path),
            Verb::Copy(from) => self.copy_from(from, path),
            Verb::Test(place) => self.test(path, Leaf { text: patch, place: *place }),
        }
    }

    fn move_from(&mut self, from: &Pointer<'_>, path: &Pointer<'_>) -> Result<(), PatchError> {
        if from.is_above(path) {
            let words = format!("the value at {} cannot be moved into a part of itself", named(from.text()));
            return Err(PatchError::new(PatchErrorKind::IntoItself, words));
        }
        if from.text() == path.text() {
            return self.find(from, true).map(drop);
        }
        let content = self.take(from)?;
        self.deepen(from, path, content);
        self.add(path, content)
    }

    fn copy_from(&mut self, from: &Pointer<'_>, path: &Pointer<'_>) -> Result<(), PatchError> {
        let found = self.find(from, false)?;
        let leaf = self.settle(found)?;
        self.charge(self.texts.value(leaf).raw().len())?;
        self.deepen(from, path, Content::Plain(leaf));
        self.add(path, Content::Plain(leaf))
    }

    fn test(&mut self, path: &Pointer<'_>, wanted: Leaf) -> Result<(), PatchError> {
        let found = self.find(path, false)?;
        let found = self.settle(found)?;
        let [value, wanted] = [found, wanted].map(|leaf| self.texts.value(leaf));
        let is_worth_it = value.kind() == wanted.kind() && value.len() == wanted.len();
        let excess = value.raw().len().saturating_sub(TEST_RATIO * wanted.raw().len());
        if is_worth_it && are_equal(value, wanted) {
            // Otherwise white space and zeros could make each of many short tests read megabytes.
            return self.charge(excess);
        }
        let [value, wanted] = [value, wanted].map(|value| shown(value.raw_str().unwrap_or_default()));
        Err(PatchError::new(PatchErrorKind::Test, format!("the value is {value}, and the test wants {wanted}")))
    }

    /// Counts bytes that were copied.
    fn charge(&mut self, bytes: usize) -> Result<(), PatchError> {
        self.copied = self.copied.saturating_add(bytes);
        if self.copied > self.growth_max {
            return Err(too_large(self.given.saturating_add(self.growth_max)));
        }
        Ok(())
    }

    /// A value that is to be copied or compared. If it was edited, its text is written and parsed, and takes its place, so
    /// that edits are never copied.
    fn settle(&mut self, place: Location) -> Result<Leaf, PatchError> {
        let content = self.content(place);
        if let Content::Plain(leaf) = content {
            return Ok(leaf);
        }
        let leaf = self.settled(content, false)?;
        self.charge(self.texts.bytes(leaf.text).len())?;
        self.put(place, Content::Plain(leaf));
        Ok(leaf)
    }

    /// What was edited, as a text of its own.
    pub(super) fn settled(&mut self, content: Content, is_new: bool) -> Result<Leaf, PatchError> {
        let written = self.write(content, Vec::new(), self.given.saturating_add(self.growth_max))?;
        let document = crate::parse(&written).map_err(|error| match error.kind() {
            ErrorKind::Size => too_large(self.given.saturating_add(self.growth_max)),
            _ => too_deep(),
        })?;
        Ok(self.texts.own(document.into_owned(), is_new))
    }

    fn write(&self, content: Content, out: Vec<u8>, limit: usize) -> Result<Vec<u8>, PatchError> {
        write(Overlay { texts: &self.texts, open: &self.open }, content, out, limit)
    }

    /// Refuses a new value that would make the document too deep to be read again.
    fn check_depth(&self, path: &Pointer<'_>, leaf: Leaf) -> Result<(), PatchError> {
        if path.depth() + depth(self.texts.value(leaf)) > Policy::DEPTH_MAX { Err(too_deep()) } else { Ok(()) }
    }

    /// Notes that a value comes to another place: the depth of the result is checked if it can have grown.
    fn deepen(&mut self, from: &Pointer<'_>, to: &Pointer<'_>, content: Content) {
        let is_scalar = matches!(content, Content::Plain(leaf) if !self.texts.value(leaf).kind().is_container());
        self.is_deepened |= !is_scalar && to.depth() > from.depth();
    }
}

/// Values by their places.
impl Editor<'_> {
    /// The place of the value that a pointer leads to. If it is to change, no key on the way may be repeated.
    fn find(&mut self, pointer: &Pointer<'_>, changes: bool) -> Result<Location, PatchError> {
        let Some((before, last)) = pointer.split_last() else { return Ok(Location::Root) };
        let mut place = Location::Root;
        for step in before.chain([last]) {
            let container = self.open_at(place).ok_or_else(|| scalar(step))?;
            place = self.step(container, step, changes)?;
        }
        Ok(place)
    }

    /// The place of a child.
    fn step(&mut self, container: usize, step: PointerStep<'_>, changes: bool) -> Result<Location, PatchError> {
        match &mut self.open[container] {
            Edits::Array(array) => step.index(array.len()).map(|index| Location::Element(container, index)),
            Edits::Object(object) => match object.find(&self.texts, &step.key()) {
                Some(Member::Origin { is_repeated: true, .. }) if changes => Err(repeated(step)),
                Some(member) => Ok(Location::Member(container, member)),
                None => Err(PatchError::new(PatchErrorKind::Missing, format!("nothing at {}", shown(step.pointer)))),
            },
        }
    }

    pub(super) fn content(&mut self, place: Location) -> Content {
        match place {
            Location::Root => self.root,
            Location::Member(at, member) => match &self.open[at] {
                Edits::Object(object) => object.content(&self.texts, member),
                Edits::Array(_) => unreachable!("members are of objects"),
            },
            Location::Element(at, index) => match &mut self.open[at] {
                Edits::Array(array) => array.content(&self.texts, index),
                Edits::Object(_) => unreachable!("elements are of arrays"),
            },
        }
    }

    pub(super) fn put(&mut self, place: Location, content: Content) {
        match place {
            Location::Root => self.root = content,
            Location::Member(at, member) => {
                if let Edits::Object(object) = &mut self.open[at] {
                    object.put(member, content);
                }
            }
            Location::Element(at, index) => {
                if let Edits::Array(array) = &mut self.open[at] {
                    array.put(&self.texts, index, content);
                }
            }
        }
    }

    /// The edits of the container at a place; `None` if there is a scalar.
    pub(super) fn open_at(&mut self, place: Location) -> Option<usize> {
        match self.content(place) {
            Content::Open(at) => Some(at),
            Content::Plain(leaf) => {
                let at = self.open_leaf(leaf)?;
                self.put(place, Content::Open(at));
                Some(at)
            }
        }
    }

    /// New edits of a container, which nothing leads to yet.
    pub(super) fn open_leaf(&mut self, leaf: Leaf) -> Option<usize> {
        self.open.push(match self.texts.value(leaf).kind() {
            Kind::Object => Edits::Object(ObjectEdits::new(leaf)),
            Kind::Array => Edits::Array(ArrayEdits::new(leaf, &self.texts)),
            _ => return None,
        });
        Some(self.open.len() - 1)
    }

    /// Adds a value as RFC 6902 §4.1 says.
    fn add(&mut self, pointer: &Pointer<'_>, content: Content) -> Result<(), PatchError> {
        let Some((before, last)) = pointer.split_last() else {
            self.root = content;
            return Ok(());
        };
        let mut place = Location::Root;
        for step in before {
            let container = self.open_at(place).ok_or_else(|| scalar(step))?;
            place = self.step(container, step, true)?;
        }
        let container = self.open_at(place).ok_or_else(|| scalar(last))?;
        match &mut self.open[container] {
            Edits::Array(array) => {
                let index = last.new_index(array.len())?;
                array.insert(&self.texts, index, content);
            }
            Edits::Object(object) => {
                let key = last.key();
                match object.find(&self.texts, &key) {
                    Some(Member::Origin { is_repeated: true, .. }) => return Err(repeated(last)),
                    Some(member) => object.put(member, content),
                    None => object.add(&key, content),
                }
            }
        }
        Ok(())
    }

    /// Removes a value from its place.
    fn take(&mut self, pointer: &Pointer<'_>) -> Result<Content, PatchError> {
        if pointer.is_root() {
            return Err(PatchError::new(
                PatchErrorKind::Root,
                "the whole document cannot be removed; it can be replaced",
            ));
        }
        let place = self.find(pointer, true)?;
        let content = self.content(place);
        match place {
            Location::Root => {}
            Location::Member(at, member) => {
                if let Edits::Object(object) = &mut self.open[at] {
                    object.remove(member);
                }
            }
            Location::Element(at, index) => {
                if let Edits::Array(array) = &mut self.open[at] {
                    array.remove(&self.texts, index);
                }
            }
        }
        Ok(content)
    }
}

/// How messages name a place.
fn named(pointer: &str) -> String {
    if pointer.is_empty() { "the root".to_owned() } else { shown(pointer) }
}

#[cold]
fn scalar(step: PointerStep<'_>) -> PatchError {
    let above = step.pointer.rfind('/').map_or("", |at| &step.pointer[..at]);
    let words = format!("the value at {} is neither an object nor an array", named(above));
    PatchError::new(PatchErrorKind::Scalar, words)
}

#[cold]
fn repeated(step: PointerStep<'_>) -> PatchError {
    let words = format!(
        "the key of {} occurs twice in its object, so readers differ on which member it means; remove one of them first",
        shown(step.pointer)
    );
    PatchError::new(PatchErrorKind::Repeated, words)
}

/// As [`repeated`], where a merge patch leads.
#[cold]
pub(super) fn repeated_key(key: &str) -> PatchError {
    let words = format!(
        "the key {:?} occurs twice in its object, so readers differ on which member it means; remove one of them first",
        shown(key)
    );
    PatchError::new(PatchErrorKind::Repeated, words)
}

#[cold]
fn too_deep() -> PatchError {
    let words = format!("the result would be nested more than {} levels deep", Policy::DEPTH_MAX);
    PatchError::new(PatchErrorKind::Depth, words)
}

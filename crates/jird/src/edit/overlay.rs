//! Edits laid over the tapes of documents: values by their places.

use super::array::ArrayEdits;
use super::content::Content;
use super::error::{EditError, EditErrorKind, named, shown};
use super::object::{Member, ObjectEdits, RemovedMember};
use super::pointer::{Pointer, PointerStep};
use super::sequence::Stretch;
use super::texts::{Leaf, Texts};
use crate::tape::Kind;
use std::borrow::Cow;

/// The edited document.
#[derive(Clone, Debug)]
pub(crate) struct Overlay<'a> {
    pub(crate) texts: Texts<'a>,
    pub(crate) open: Vec<Edits>,
    pub(crate) root: Content,
    /// The bytes of the document and of all patches and values.
    pub(crate) given: usize,
    /// By how much the result may be longer.
    pub(super) growth_max: usize,
}

/// What is edited in a container.
#[derive(Clone, Debug)]
pub(crate) enum Edits {
    Object(ObjectEdits),
    Array(ArrayEdits),
}

impl Edits {
    /// The container as it was.
    pub(super) fn source(&self) -> Leaf {
        match self {
            Self::Object(object) => object.source,
            Self::Array(array) => array.source,
        }
    }
}

/// Where a value is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Location {
    Root,
    Member(usize, Member),
    Element(usize, usize),
}

/// Where a value will be.
#[derive(Debug)]
pub(super) enum Target<'p> {
    /// In place of another one.
    Put(Location),
    /// Before an element of an array, or at its end.
    Insert(usize, usize),
    /// In an object that does not have the key.
    Add(usize, Cow<'p, str>),
}

/// What happens to the elements of an array if a pointer leads to one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Placing {
    /// The element gets another value.
    Replace,
    /// The value is inserted before it.
    Insert,
}

/// A value that was removed from its place.
#[derive(Debug)]
pub(super) struct Removal {
    pub(super) content: Content,
    from: Origin,
}

#[derive(Debug)]
enum Origin {
    Member(usize, RemovedMember),
    Element(usize, usize, Stretch<Content>),
}

impl Overlay<'_> {
    /// The most bytes that the result may have.
    pub(super) fn size_max(&self) -> usize {
        self.given.saturating_add(self.growth_max)
    }

    /// The place of the value that a pointer leads to. If it is to change, no key on the way may be repeated.
    pub(crate) fn find(&mut self, pointer: &Pointer<'_>, changes: bool) -> Result<Location, EditError> {
        let Some((before, last)) = pointer.split_last() else { return Ok(Location::Root) };
        let mut place = Location::Root;
        for step in before.chain([last]) {
            let container = self.open_at(place).ok_or_else(|| scalar(step))?;
            place = self.step(container, step, changes)?;
        }
        Ok(place)
    }

    /// Where a pointer leads for a value that comes there: RFC 6902 §4.1.
    pub(super) fn target<'p>(&mut self, pointer: &'p Pointer<'_>, placing: Placing) -> Result<Target<'p>, EditError> {
        let Some((before, last)) = pointer.split_last() else { return Ok(Target::Put(Location::Root)) };
        let mut place = Location::Root;
        for step in before {
            let container = self.open_at(place).ok_or_else(|| scalar(step))?;
            place = self.step(container, step, true)?;
        }
        let container = self.open_at(place).ok_or_else(|| scalar(last))?;
        match &self.open[container] {
            Edits::Array(array) => Ok(match placing {
                Placing::Insert => Target::Insert(container, last.new_index(array.len())?),
                Placing::Replace if last.is_end() => Target::Insert(container, array.len()),
                Placing::Replace => {
                    let index = last.index(array.len()).map_err(|error| no_element(last, &error))?;
                    Target::Put(Location::Element(container, index))
                }
            }),
            Edits::Object(object) => {
                let key = last.key();
                match object.find(&self.texts, &key) {
                    Some(Member::Origin { is_repeated: true, .. }) => Err(repeated(last)),
                    Some(member) => Ok(Target::Put(Location::Member(container, member))),
                    None => Ok(Target::Add(container, key)),
                }
            }
        }
    }

    pub(super) fn place(&mut self, target: Target<'_>, content: Content) {
        match target {
            Target::Put(place) => self.put(place, content),
            Target::Insert(array, index) => self.array(array).insert(index, content),
            Target::Add(object, key) => self.object(object).add(&key, content),
        }
    }

    /// The place of a child.
    fn step(&self, container: usize, step: PointerStep<'_>, changes: bool) -> Result<Location, EditError> {
        match &self.open[container] {
            Edits::Array(array) => step.index(array.len()).map(|index| Location::Element(container, index)),
            Edits::Object(object) => match object.find(&self.texts, &step.key()) {
                Some(Member::Origin { is_repeated: true, .. }) if changes => Err(repeated(step)),
                Some(member) => Ok(Location::Member(container, member)),
                None => Err(EditError::new(EditErrorKind::Missing, format!("nothing at {}", shown(step.pointer)))),
            },
        }
    }

    pub(crate) fn content(&self, place: Location) -> Content {
        match place {
            Location::Root => self.root,
            Location::Member(at, member) => match &self.open[at] {
                Edits::Object(object) => object.content(&self.texts, member),
                Edits::Array(_) => unreachable!("members are of objects"),
            },
            Location::Element(at, index) => match &self.open[at] {
                Edits::Array(array) => array.content(&self.texts, index),
                Edits::Object(_) => unreachable!("elements are of arrays"),
            },
        }
    }

    pub(crate) fn put(&mut self, place: Location, content: Content) {
        match place {
            Location::Root => self.root = content,
            Location::Member(at, member) => self.object(at).put(member, content),
            Location::Element(at, index) => self.array(at).put(index, content),
        }
    }

    /// The edits of the container at a place; `None` if there is a scalar.
    pub(crate) fn open_at(&mut self, place: Location) -> Option<usize> {
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
    pub(crate) fn open_leaf(&mut self, leaf: Leaf) -> Option<usize> {
        self.open.push(match self.texts.value(leaf).kind() {
            Kind::Object => Edits::Object(ObjectEdits::new(leaf, &self.texts)),
            Kind::Array => Edits::Array(ArrayEdits::new(leaf, &self.texts)),
            _ => return None,
        });
        Some(self.open.len() - 1)
    }

    /// Removes a value from its place.
    pub(super) fn take(&mut self, pointer: &Pointer<'_>) -> Result<Removal, EditError> {
        let place = self.find(pointer, true)?;
        let content = self.content(place);
        let from = match place {
            Location::Root => {
                let words = "the whole document cannot be removed; it can be replaced";
                return Err(EditError::new(EditErrorKind::Root, words));
            }
            Location::Member(at, member) => Origin::Member(at, self.object(at).remove(member)),
            Location::Element(at, index) => Origin::Element(at, index, self.array(at).remove(index)),
        };
        Ok(Removal { content, from })
    }

    /// Undoes [`take`](Self::take). Nothing may have been edited in between.
    pub(super) fn put_back(&mut self, removal: Removal) {
        match removal.from {
            Origin::Member(at, removed) => self.object(at).put_back(removed),
            Origin::Element(at, index, removed) => self.array(at).put_back(index, removed),
        }
    }

    /// Gives the member that a pointer leads to another key.
    pub(super) fn rename(&mut self, pointer: &Pointer<'_>, key: &str) -> Result<(), EditError> {
        let place = self.find(pointer, true)?;
        let (Location::Member(at, member), Some((_, last))) = (place, pointer.split_last()) else {
            let words = format!("{} is not a member of an object, so it has no key", named(pointer.text()));
            return Err(EditError::new(EditErrorKind::Index, words));
        };
        let (old, Edits::Object(object)) = (last.key(), &mut self.open[at]) else {
            unreachable!("members are of objects")
        };
        if old == key {
            return Ok(());
        }
        if object.find(&self.texts, key).is_some() {
            let words = format!("the object has a member with the key {:?} already", shown(key));
            return Err(EditError::new(EditErrorKind::Exists, words));
        }
        object.rename(member, &old, key);
        Ok(())
    }

    fn object(&mut self, at: usize) -> &mut ObjectEdits {
        match &mut self.open[at] {
            Edits::Object(object) => object,
            Edits::Array(_) => unreachable!("members are of objects"),
        }
    }

    fn array(&mut self, at: usize) -> &mut ArrayEdits {
        match &mut self.open[at] {
            Edits::Array(array) => array,
            Edits::Object(_) => unreachable!("elements are of arrays"),
        }
    }
}

#[cold]
fn scalar(step: PointerStep<'_>) -> EditError {
    let above = step.pointer.rfind('/').map_or("", |at| &step.pointer[..at]);
    let words = format!("the value at {} is neither an object nor an array", named(above));
    EditError::new(EditErrorKind::Scalar, words)
}

/// Why no element can be set there, and where a new one comes.
#[cold]
fn no_element(step: PointerStep<'_>, error: &EditError) -> EditError {
    let above = step.pointer.rfind('/').map_or("", |at| &step.pointer[..at]);
    EditError::new(error.kind(), format!("{error}; {}/- is the place of a new one", shown(above)))
}

#[cold]
fn repeated(step: PointerStep<'_>) -> EditError {
    let words = format!(
        "the key of {} occurs twice in its object, so readers differ on which member it means; remove one of them first",
        shown(step.pointer)
    );
    EditError::new(EditErrorKind::Repeated, words)
}

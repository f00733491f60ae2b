//! The members and elements of a value of an edited document.

use super::array::ArrayEdits;
use super::content::Content;
use super::object::{Added, Change, ObjectEdits};
use super::overlay::{Edits, Overlay};
use super::read::EditedValue;
use super::sequence::Stretch;
use super::texts::Leaf;
use crate::tape::{Entries, Value};
use std::borrow::Cow;

/// The members of an object: key and value. [`EditedValue::entries`] makes it.
#[derive(Clone)]
pub struct EditedEntries<'d> {
    overlay: &'d Overlay<'d>,
    /// The text of the members that were there.
    text: usize,
    were: Option<Entries<'d>>,
    edits: Option<&'d ObjectEdits>,
    added: Added<'d>,
}

impl<'d> EditedEntries<'d> {
    pub(super) fn of(overlay: &'d Overlay<'_>, content: Content) -> Self {
        let none = [].iter().flatten();
        match content {
            Content::Plain(leaf) => {
                let were = Some(overlay.texts.value(leaf).entries());
                Self { overlay, text: leaf.text, were, edits: None, added: none }
            }
            Content::Open(at) => match &overlay.open[at] {
                Edits::Object(object) => {
                    let were = Some(overlay.texts.value(object.source).entries());
                    Self { overlay, text: object.source.text, were, edits: Some(object), added: object.added() }
                }
                Edits::Array(_) => Self { overlay, text: 0, were: None, edits: None, added: none },
            },
        }
    }

    /// A member that was there; `None` if it was removed.
    fn member(&self, key: Value<'d>, value: Value<'d>) -> Option<(Cow<'d, str>, Content)> {
        let texts = self.overlay.texts.document(self.text);
        let plain = || Content::Plain(Leaf { text: self.text, place: texts.place_of(value) });
        let name = || key.as_str().unwrap_or_default();
        match self.edits.and_then(|edits| edits.change(texts.place_of(key))) {
            None => Some((name(), plain())),
            Some(Change::Removed) => None,
            Some(Change::Put { key, content }) => {
                Some((key.as_deref().map_or_else(name, Cow::Borrowed), content.unwrap_or_else(plain)))
            }
        }
    }
}

impl<'d> Iterator for EditedEntries<'d> {
    type Item = (Cow<'d, str>, EditedValue<'d>);

    fn next(&mut self) -> Option<Self::Item> {
        while let Some((key, value)) = self.were.as_mut().and_then(Iterator::next) {
            if let Some((key, content)) = self.member(key, value) {
                return Some((key, EditedValue::new(self.overlay, content)));
            }
        }
        let (key, content) = self.added.next()?;
        Some((Cow::Borrowed(key), EditedValue::new(self.overlay, *content)))
    }
}

/// The elements of an array. [`EditedValue::elements`] makes it.
#[derive(Clone)]
pub struct EditedElements<'d> {
    overlay: &'d Overlay<'d>,
    edits: Option<&'d ArrayEdits>,
    /// The next of the elements that follow each other as they were, and how many are left of these.
    next: Leaf,
    left: usize,
    pieces: std::vec::IntoIter<Stretch<Content>>,
}

impl<'d> EditedElements<'d> {
    pub(super) fn of(overlay: &'d Overlay<'_>, content: Content) -> Self {
        let texts = &overlay.texts;
        let (edits, source) = match content {
            Content::Plain(leaf) => (None, leaf),
            Content::Open(at) => match &overlay.open[at] {
                Edits::Array(array) => (Some(array), array.source),
                Edits::Object(object) => (None, object.source),
            },
        };
        let pieces = edits.map(ArrayEdits::pieces).unwrap_or_default().into_iter();
        let mut all = Self { overlay, edits, next: source, left: 0, pieces };
        let array = texts.value(source);
        if let Some(first) = array.elements().next().filter(|_| edits.is_none()) {
            all.next.place = texts.document(source.text).place_of(first);
            all.left = array.len();
        }
        all
    }
}

impl<'d> Iterator for EditedElements<'d> {
    type Item = EditedValue<'d>;

    fn next(&mut self) -> Option<EditedValue<'d>> {
        let texts = &self.overlay.texts;
        while self.left == 0 {
            match self.pieces.next()? {
                Stretch::New { value, .. } => return Some(EditedValue::new(self.overlay, value)),
                Stretch::Run { from, to } => {
                    self.next = self.edits?.leaf(texts, from);
                    self.left = to - from;
                }
            }
        }
        self.left -= 1;
        let leaf = self.next;
        self.next.place = texts.document(leaf.text).place_behind(texts.value(leaf));
        Some(EditedValue::new(self.overlay, Content::Plain(leaf)))
    }
}

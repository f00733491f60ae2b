//! Merge patches (RFC 7396).

use super::equal::name;
use crate::edit::{Content, DocumentMut, EditError, EditErrorKind, Edits, Leaf, Location, Member, shown};
use crate::policy::{Duplicates, Policy};
use crate::tape::{Document, Kind, Parser, Value, parse};

/// A JSON Merge Patch (RFC 7396): an object whose members are set in a document, object by object; `null` removes a member.
/// Any other value replaces the document. It is read once, and applied to any number of documents by
/// [`DocumentMut::merge`].
#[derive(Debug)]
pub struct MergePatch<'p> {
    document: Document<'p>,
}

impl<'p> MergePatch<'p> {
    /// Reads a merge patch. Any JSON text is one, unless a key is repeated in one of its objects.
    ///
    /// # Errors
    /// [`EditErrorKind::Patch`] if it is not JSON, or repeats a key.
    pub fn parse(text: &'p [u8]) -> Result<Self, EditError> {
        let policy = Policy { duplicates: Duplicates::Refuse, ..Policy::default() };
        let checked = Parser::with_policy(policy).validate(text).and_then(|()| parse(text));
        checked.map(|document| Self { document }).map_err(|error| EditError::text(EditErrorKind::Patch, error))
    }
}

/// Applies a merge patch (RFC 7396) to a document, and returns the edited text. Everything that is not edited keeps its
/// bytes; [`DocumentMut`] says how the rest is written.
///
/// ```
/// let edited = jird::patch::merge(br#"{"a": {"b": 1.0, "c": 2}}"#, br#"{"a": {"c": null, "d": 3}}"#)?;
/// assert_eq!(edited, br#"{"a": {"b": 1.0, "d": 3}}"#);
/// # Ok::<(), jird::edit::EditError>(())
/// ```
///
/// # Errors
/// If one of the texts is not JSON, and as [`DocumentMut::merge`].
pub fn merge(document: &[u8], patch: &[u8]) -> Result<Vec<u8>, EditError> {
    let document = parse(document).map_err(|error| EditError::text(EditErrorKind::Document, error))?;
    let patch = MergePatch::parse(patch)?;
    DocumentMut::from(document).merge(&patch)?.to_vec()
}

impl<'a> DocumentMut<'a> {
    /// Applies a merge patch (RFC 7396 §2). Costs as much as the patch, plus once the number of members of each object that
    /// is changed.
    ///
    /// # Errors
    /// If a key that is to be changed occurs twice in its object. The document is gone then, so that no part of a
    /// patch is ever applied; a [clone](DocumentMut::clone) from before costs little.
    pub fn merge(mut self, patch: &'a MergePatch<'a>) -> Result<Self, EditError> {
        let document = &patch.document;
        let text = self.overlay.texts.lend(document, true);
        self.overlay.given += document.text().len();
        let mut pairs = Vec::new();
        self.merge_at(Location::Root, text, document, document.root(), &mut pairs)?;
        while let Some((object, patch)) = pairs.pop() {
            for (key, value) in patch.entries() {
                self.merge_member(object, &name(key), text, document, value, &mut pairs)?;
            }
        }
        Ok(self)
    }

    /// Merges a value into the one at a place. A pair of objects is left for later, so that nothing recurses.
    fn merge_at(
        &mut self,
        place: Location,
        text: usize,
        document: &'a Document<'a>,
        patch: Value<'a>,
        pairs: &mut Vec<(usize, Value<'a>)>,
    ) -> Result<(), EditError> {
        if patch.kind() == Kind::Object && self.is_object(place) {
            pairs.extend(self.overlay.open_at(place).map(|object| (object, patch)));
        } else {
            let content = self.without_nulls(Leaf { text, place: document.place_of(patch) }, document, patch)?;
            self.overlay.put(place, content);
        }
        Ok(())
    }

    fn merge_member(
        &mut self,
        object: usize,
        key: &str,
        text: usize,
        document: &'a Document<'a>,
        patch: Value<'a>,
        pairs: &mut Vec<(usize, Value<'a>)>,
    ) -> Result<(), EditError> {
        let Edits::Object(edits) = &mut self.overlay.open[object] else { unreachable!("only objects are merged") };
        match edits.find(&self.overlay.texts, key) {
            Some(Member::Origin { is_repeated: true, .. }) => Err(repeated_key(key)),
            Some(member) if patch.is_null() => {
                edits.remove(member);
                Ok(())
            }
            None if patch.is_null() => Ok(()),
            Some(member) => self.merge_at(Location::Member(object, member), text, document, patch, pairs),
            None => {
                let content = self.without_nulls(Leaf { text, place: document.place_of(patch) }, document, patch)?;
                if let Edits::Object(edits) = &mut self.overlay.open[object] {
                    edits.add(key, content);
                }
                Ok(())
            }
        }
    }

    fn is_object(&self, place: Location) -> bool {
        match self.overlay.content(place) {
            Content::Plain(leaf) => self.overlay.texts.value(leaf).kind() == Kind::Object,
            Content::Open(at) => matches!(self.overlay.open[at], Edits::Object(_)),
        }
    }

    /// A value of a merge patch that comes where no object was: without the members that are `null`, at any depth, but not
    /// in arrays.
    fn without_nulls(&mut self, leaf: Leaf, document: &Document<'_>, value: Value<'_>) -> Result<Content, EditError> {
        if value.kind() != Kind::Object || !value.descendants().any(Value::is_null) {
            return Ok(Content::Plain(leaf));
        }
        let Some(root) = self.overlay.open_leaf(leaf) else { return Ok(Content::Plain(leaf)) };
        let mut objects = vec![(root, value)];
        while let Some((at, object)) = objects.pop() {
            for (key, value) in object.entries() {
                let member = Member::Origin { place: document.place_of(key), is_repeated: false };
                let child = Leaf { place: document.place_of(value), ..leaf };
                let child = if value.kind() == Kind::Object { self.overlay.open_leaf(child) } else { None };
                let Edits::Object(edits) = &mut self.overlay.open[at] else { unreachable!("only objects are merged") };
                match child {
                    _ if value.is_null() => drop(edits.remove(member)),
                    Some(child) => {
                        edits.put(member, Content::Open(child));
                        objects.push((child, value));
                    }
                    None => {}
                }
            }
        }
        // As a text, it takes the layout of its place.
        self.settled(Content::Open(root), true).map(Content::Plain)
    }
}

#[cold]
fn repeated_key(key: &str) -> EditError {
    let words = format!(
        "the key {:?} occurs twice in its object, so readers differ on which member it means; remove one of them first",
        shown(key)
    );
    EditError::new(EditErrorKind::Repeated, words)
}

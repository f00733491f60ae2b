//! An object that is edited: its members as they were, those that were changed or removed, and new ones after them.

use super::content::Content;
use super::texts::{Leaf, Texts};
use std::collections::HashMap;

/// After this many lookups member by member, an index of the keys is made.
const LOOKUPS_MAX: usize = 4;

/// Objects with up to this many members have no index.
const FEW: usize = 16;

/// The edits of an object. Its text stays as it is.
#[derive(Debug)]
pub(super) struct ObjectEdits {
    pub(super) source: Leaf,
    /// By the place of a member's key: its new value, or `None` if the member was removed.
    changed: HashMap<usize, Option<Content>>,
    /// New members; `None` if it was removed again.
    added: Vec<Option<(Box<str>, Content)>>,
    /// By key, the index in `added`.
    added_at: HashMap<Box<str>, usize>,
    lookups: usize,
    index: Option<HashMap<Box<str>, Member>>,
}

/// A member of the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Member {
    /// One that was there: the place of the first with this key, and whether others have the key too.
    Origin { place: usize, is_repeated: bool },
    /// A new one, by its index.
    Added(usize),
}

impl ObjectEdits {
    pub(super) fn new(source: Leaf) -> Self {
        Self { source, changed: HashMap::new(), added: Vec::new(), added_at: HashMap::new(), lookups: 0, index: None }
    }

    /// The first member with this key. On average the cost does not depend on the number of members, if there are many
    /// lookups.
    pub(super) fn find(&mut self, texts: &Texts<'_>, key: &str) -> Option<Member> {
        if let Some(at) = self.added_at.get(key) {
            return Some(Member::Added(*at));
        }
        let member = self.origin(texts, key)?;
        let Member::Origin { place, .. } = member else { return Some(member) };
        (self.changed.get(&place) != Some(&None)).then_some(member)
    }

    fn origin(&mut self, texts: &Texts<'_>, key: &str) -> Option<Member> {
        let object = texts.value(self.source);
        self.lookups += 1;
        if self.lookups > LOOKUPS_MAX && object.len() > FEW {
            return self.index.get_or_insert_with(|| index(texts, self.source)).get(key).copied();
        }
        let mut found = object.entries().filter(|(name, _)| name.is_str(key));
        let (first, _) = found.next()?;
        let place = texts.document(self.source.text).place_of(first);
        Some(Member::Origin { place, is_repeated: found.next().is_some() })
    }

    pub(super) fn content(&self, texts: &Texts<'_>, member: Member) -> Content {
        match member {
            Member::Added(at) => self.added[at].as_ref().expect("a member that was found").1,
            Member::Origin { place, .. } => self.changed.get(&place).copied().flatten().unwrap_or_else(|| {
                let document = texts.document(self.source.text);
                let place = document.at_place(place).map_or(place, |key| document.place_behind(key));
                Content::Plain(Leaf { place, ..self.source })
            }),
        }
    }

    /// Gives a member another value.
    pub(super) fn put(&mut self, member: Member, content: Content) {
        match member {
            Member::Added(at) => self.added[at].as_mut().expect("a member that was found").1 = content,
            Member::Origin { place, .. } => _ = self.changed.insert(place, Some(content)),
        }
    }

    pub(super) fn remove(&mut self, member: Member) {
        match member {
            Member::Origin { place, .. } => _ = self.changed.insert(place, None),
            Member::Added(at) => {
                if let Some((key, _)) = self.added[at].take() {
                    self.added_at.remove(&key);
                }
            }
        }
    }

    /// Adds a member whose key the object does not have.
    pub(super) fn add(&mut self, key: &str, content: Content) {
        self.added_at.insert(key.into(), self.added.len());
        self.added.push(Some((key.into(), content)));
    }

    /// The members that were changed or removed, in document order, by the places of their keys.
    pub(super) fn changed(&self) -> Vec<(usize, Option<Content>)> {
        let mut changed: Vec<_> = self.changed.iter().map(|(place, content)| (*place, *content)).collect();
        changed.sort_unstable_by_key(|(place, _)| *place);
        changed
    }

    /// The new members.
    pub(super) fn added(&self) -> impl Iterator<Item = (&str, Content)> {
        self.added.iter().flatten().map(|(key, content)| (&**key, *content))
    }
}

/// The members of an object by their keys.
fn index(texts: &Texts<'_>, object: Leaf) -> HashMap<Box<str>, Member> {
    let (document, value) = (texts.document(object.text), texts.value(object));
    let mut index: HashMap<Box<str>, Member> = HashMap::with_capacity(value.len());
    for (key, _) in value.entries() {
        let place = document.place_of(key);
        let again = |member: &mut Member| {
            if let Member::Origin { is_repeated, .. } = member {
                *is_repeated = true;
            }
        };
        let name = key.as_str().unwrap_or_default();
        index.entry((*name).into()).and_modify(again).or_insert(Member::Origin { place, is_repeated: false });
    }
    index
}

//! An object that is edited: its members as they were, those that were changed or removed, and new ones after them.

use super::content::Content;
use super::texts::{Leaf, Texts};
use crate::tape::Document;
use core::hash::{BuildHasher, BuildHasherDefault, Hasher};
use core::sync::atomic::{AtomicUsize, Ordering};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::RandomState;
use std::sync::OnceLock;

/// After this many lookups member by member, an index of the keys is made.
const LOOKUPS_MAX: usize = 4;

/// Objects with up to this many members have no index.
const FEW: usize = 16;

/// The edits of an object. Its text stays as it is.
#[derive(Clone, Debug)]
pub(crate) struct ObjectEdits {
    pub(super) source: Leaf,
    /// By the place of a member's key.
    changed: HashMap<usize, Change>,
    /// New members; `None` if it was removed again.
    added: Vec<Option<(Box<str>, Content)>>,
    /// New members, and members with new keys.
    named: HashMap<Box<str>, Member>,
    len: usize,
    lookups: Lookups,
    index: OnceLock<Index>,
}

/// The new members of an object: key and value.
pub(super) type Added<'o> = core::iter::Flatten<core::slice::Iter<'o, Option<(Box<str>, Content)>>>;

/// What was done to a member of the source.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    Removed,
    Put {
        /// Its new key, if it has one.
        key: Option<Box<str>>,
        /// Its new value, if it has one.
        content: Option<Content>,
    },
}

/// A member of the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Member {
    /// One that was there: the place of the first with this key, and whether others have the key too.
    Origin { place: usize, is_repeated: bool },
    /// A new one, by its index.
    Added(usize),
}

/// A member that was removed, for [`ObjectEdits::put_back`].
#[derive(Debug)]
pub(crate) enum RemovedMember {
    Origin { place: usize, change: Option<Change> },
    Added { at: usize, key: Box<str>, content: Content },
}

/// How often members were looked up one by one.
#[derive(Debug, Default)]
struct Lookups(AtomicUsize);

impl ObjectEdits {
    pub(super) fn new(source: Leaf, texts: &Texts<'_>) -> Self {
        Self {
            source,
            changed: HashMap::new(),
            added: Vec::new(),
            named: HashMap::new(),
            len: texts.value(source).len(),
            lookups: Lookups::default(),
            index: OnceLock::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The first member with this key. On average the cost does not depend on the number of members, if there are many
    /// lookups.
    pub(crate) fn find(&self, texts: &Texts<'_>, key: &str) -> Option<Member> {
        if let Some(member) = self.named.get(key) {
            return Some(*member);
        }
        let member = self.origin(texts, key)?;
        let Member::Origin { place, .. } = member else { return Some(member) };
        // One with another key now would have been found above, if it had this key again.
        let is_gone = |change: &Change| matches!(change, Change::Removed | Change::Put { key: Some(_), .. });
        (!self.changed.get(&place).is_some_and(is_gone)).then_some(member)
    }

    fn origin(&self, texts: &Texts<'_>, key: &str) -> Option<Member> {
        let object = texts.value(self.source);
        if object.len() > FEW && self.lookups.is_many() {
            let index = self.index.get_or_init(|| Index::of(texts, self.source));
            if !index.is_ambiguous {
                return index.find(texts.document(self.source.text), key);
            }
        }
        let mut found = object.entries().filter(|(name, _)| name.is_str(key));
        let (first, _) = found.next()?;
        let place = texts.document(self.source.text).place_of(first);
        Some(Member::Origin { place, is_repeated: found.next().is_some() })
    }

    pub(super) fn content(&self, texts: &Texts<'_>, member: Member) -> Content {
        match member {
            Member::Added(at) => self.added[at].as_ref().expect("a member that was found").1,
            Member::Origin { place, .. } => {
                if let Some(Change::Put { content: Some(content), .. }) = self.changed.get(&place) {
                    return *content;
                }
                let document = texts.document(self.source.text);
                let place = document.at_place(place).map_or(place, |key| document.place_behind(key));
                Content::Plain(Leaf { place, ..self.source })
            }
        }
    }

    /// Gives a member another value.
    pub(crate) fn put(&mut self, member: Member, content: Content) {
        match member {
            Member::Added(at) => self.added[at].as_mut().expect("a member that was found").1 = content,
            Member::Origin { place, .. } => match self.changed.get_mut(&place) {
                Some(Change::Put { content: old, .. }) => *old = Some(content),
                _ => _ = self.changed.insert(place, Change::Put { key: None, content: Some(content) }),
            },
        }
    }

    /// Gives a member, which has the key `old`, a key that no other member has.
    pub(super) fn rename(&mut self, member: Member, old: &str, new: &str) {
        self.named.remove(old);
        self.named.insert(new.into(), member);
        match member {
            Member::Added(at) => self.added[at].as_mut().expect("a member that was found").0 = new.into(),
            Member::Origin { place, .. } => match self.changed.get_mut(&place) {
                Some(Change::Put { key, .. }) => *key = Some(new.into()),
                _ => _ = self.changed.insert(place, Change::Put { key: Some(new.into()), content: None }),
            },
        }
    }

    pub(crate) fn remove(&mut self, member: Member) -> RemovedMember {
        self.len -= 1;
        match member {
            Member::Origin { place, .. } => {
                let change = self.changed.insert(place, Change::Removed);
                if let Some(Change::Put { key: Some(key), .. }) = &change {
                    self.named.remove(key);
                }
                RemovedMember::Origin { place, change }
            }
            Member::Added(at) => {
                let (key, content) = self.added[at].take().expect("a member that was found");
                self.named.remove(&key);
                RemovedMember::Added { at, key, content }
            }
        }
    }

    /// Undoes a removal. Nothing may have happened to the object in between.
    pub(super) fn put_back(&mut self, removed: RemovedMember) {
        self.len += 1;
        match removed {
            RemovedMember::Origin { place, change: Some(change) } => {
                if let Change::Put { key: Some(key), .. } = &change {
                    self.named.insert(key.clone(), Member::Origin { place, is_repeated: false });
                }
                self.changed.insert(place, change);
            }
            RemovedMember::Origin { place, change: None } => _ = self.changed.remove(&place),
            RemovedMember::Added { at, key, content } => {
                self.named.insert(key.clone(), Member::Added(at));
                self.added[at] = Some((key, content));
            }
        }
    }

    /// Adds a member whose key the object does not have.
    pub(crate) fn add(&mut self, key: &str, content: Content) {
        self.len += 1;
        self.named.insert(key.into(), Member::Added(self.added.len()));
        self.added.push(Some((key.into(), content)));
    }

    /// What was done to the member whose key is at a place.
    pub(super) fn change(&self, place: usize) -> Option<&Change> {
        // Most objects are read more than they are edited.
        if self.changed.is_empty() { None } else { self.changed.get(&place) }
    }

    /// The members that were changed or removed, in document order, by the places of their keys.
    pub(super) fn changed(&self) -> Vec<(usize, &Change)> {
        let mut changed: Vec<_> = self.changed.iter().map(|(place, change)| (*place, change)).collect();
        changed.sort_unstable_by_key(|(place, _)| *place);
        changed
    }

    /// The new members.
    pub(super) fn added(&self) -> Added<'_> {
        self.added.iter().flatten()
    }
}

impl Lookups {
    /// Counts a lookup.
    fn is_many(&self) -> bool {
        self.0.fetch_add(1, Ordering::Relaxed) >= LOOKUPS_MAX
    }
}

impl Clone for Lookups {
    fn clone(&self) -> Self {
        Self(AtomicUsize::new(self.0.load(Ordering::Relaxed)))
    }
}

/// The members of an object by the hashes of their keys, so that no key is copied.
#[derive(Clone, Debug)]
struct Index {
    random: RandomState,
    members: HashMap<u64, Member, BuildHasherDefault<Hashed>>,
    /// Whether two keys have the same hash, which is hardly possible: an input cannot know the hashes.
    is_ambiguous: bool,
}

impl Index {
    fn of(texts: &Texts<'_>, object: Leaf) -> Self {
        let (document, value) = (texts.document(object.text), texts.value(object));
        let members = HashMap::with_capacity_and_hasher(value.len(), BuildHasherDefault::default());
        let mut index = Self { random: RandomState::new(), members, is_ambiguous: false };
        for (key, _) in value.entries() {
            let name = key.as_str().unwrap_or_default();
            let new = Member::Origin { place: document.place_of(key), is_repeated: false };
            match index.members.entry(index.random.hash_one(&*name)) {
                Entry::Vacant(entry) => _ = entry.insert(new),
                Entry::Occupied(mut entry) => {
                    if let Member::Origin { place, is_repeated } = entry.get_mut() {
                        *is_repeated = true;
                        index.is_ambiguous |= !document.at_place(*place).is_some_and(|first| first.is_str(&name));
                    }
                }
            }
        }
        index
    }

    fn find(&self, document: &Document<'_>, key: &str) -> Option<Member> {
        let member = *self.members.get(&self.random.hash_one(key))?;
        let Member::Origin { place, .. } = member else { return Some(member) };
        document.at_place(place).is_some_and(|name| name.is_str(key)).then_some(member)
    }
}

/// What is hashed is a hash already.
#[derive(Clone, Debug, Default)]
struct Hashed(u64);

impl Hasher for Hashed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.0 = self.0.rotate_left(8) ^ u64::from(*byte));
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

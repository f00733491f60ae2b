//! What is known of each path, block by block: kinds and ranges.
//!
//! The paths of a span are a tree: each field has a parent and a key. There are at most [`FIELDS_MAX`] of them; when
//! there is no room for one more, the blocks that have other paths say so, and nothing is known of those paths there.

use super::hash;
use super::kinds::FieldKinds;
use super::number::{Canonical, Extremes};

/// The maximum number of paths in a span.
pub(crate) const FIELDS_MAX: usize = 1024;

/// Longer keys are not indexed.
pub(crate) const KEY_MAX: usize = 256;

/// No field: the root, as a parent; or a path that has no room.
pub(crate) const NO_FIELD: u32 = u32::MAX;

/// The number of places of the table: a power of two.
const PLACES: usize = 4 * FIELDS_MAX;

/// One path, and what was found there.
pub(crate) struct FieldFacts {
    pub(crate) parent: u32,
    pub(crate) key: Box<[u8]>,
    /// Of each block that has ended since the path was first seen, from `first_block` on.
    pub(crate) kinds: Vec<u8>,
    pub(crate) first_block: usize,
    /// Two bounds for each such block that has a number, each with its length before it.
    pub(crate) ranges: Vec<u8>,
    hash: u64,
    now: FieldKinds,
    numbers: Extremes,
    /// The number of events of this block that have the path.
    events: u32,
    last_event: u64,
    /// The block in which the key was last spelled out for the index of words, plus one.
    last_spelled: usize,
}

/// All paths of a span.
pub(crate) struct Facts {
    pub(crate) fields: Vec<FieldFacts>,
    /// Field numbers plus one.
    table: Box<[u32]>,
    block: usize,
    event: u64,
    events: u32,
    has_no_room: bool,
    /// In this block some path has no field.
    pub(crate) has_others: bool,
    /// In this block some object has a key twice: a path may be found where a query misses it.
    repeats: bool,
}

impl Facts {
    pub(crate) fn new() -> Self {
        Self {
            fields: Vec::new(),
            table: vec![0; PLACES].into(),
            block: 0,
            event: 0,
            events: 0,
            has_no_room: false,
            has_others: false,
            repeats: false,
        }
    }

    pub(crate) fn begin_event(&mut self) {
        self.event += 1;
        self.events = self.events.saturating_add(1);
    }

    /// The field of a key below a parent, whose hash is `hash`; [`NO_FIELD`] if there is no room for it. `None` if
    /// another path has this hash: the block is to be given up then.
    #[inline]
    pub(crate) fn field(&mut self, parent: u32, key: &[u8], hash: u64) -> Option<u32> {
        let mut place = (hash >> 32) as usize % PLACES;
        loop {
            match self.table[place] {
                0 => break,
                number => {
                    let field = &self.fields[number as usize - 1];
                    if field.hash == hash {
                        return (field.parent == parent && *field.key == *key).then_some(number - 1);
                    }
                }
            }
            place = (place + 1) % PLACES;
        }
        Some(self.new_field(place, parent, key, hash))
    }

    #[cold]
    fn new_field(&mut self, place: usize, parent: u32, key: &[u8], hash: u64) -> u32 {
        // A child of a path without a field has none either: its parent would be the root.
        self.has_no_room |= self.fields.len() == FIELDS_MAX;
        if self.has_no_room || key.len() > KEY_MAX {
            self.has_others = true;
            return NO_FIELD;
        }
        let number = self.fields.len() as u32;
        self.fields.push(FieldFacts {
            parent,
            key: key.into(),
            kinds: Vec::new(),
            first_block: self.block,
            ranges: Vec::new(),
            hash,
            now: FieldKinds::NONE,
            numbers: Extremes::default(),
            events: 0,
            last_event: 0,
            last_spelled: 0,
        });
        self.table[place] = number + 1;
        number
    }

    /// The path of a child has no field, because its parent has none.
    #[inline]
    pub(crate) fn no_field(&mut self) -> u32 {
        self.has_others = true;
        NO_FIELD
    }

    /// Whether this is the first time in this block that the field's key is spelled out.
    #[inline]
    pub(crate) fn is_spelled_first(&mut self, field: u32) -> bool {
        let Some(field) = self.fields.get_mut(field as usize) else { return true };
        let first = field.last_spelled != self.block + 1;
        field.last_spelled = self.block + 1;
        first
    }

    /// The event has a value of this kind.
    #[inline]
    pub(crate) fn add(&mut self, field: u32, kind: FieldKinds) {
        let Some(field) = self.fields.get_mut(field as usize) else { return };
        field.now = field.now.with(kind);
        if field.last_event == self.event {
            self.repeats = true;
        } else {
            field.last_event = self.event;
            field.events += 1;
        }
    }

    /// The event has this number. False if it is none.
    #[inline]
    pub(crate) fn add_number(&mut self, field: u32, token: &[u8], canonical: Option<Canonical>) -> bool {
        self.add(field, FieldKinds::NUMBER);
        self.fields.get_mut(field as usize).is_none_or(|field| field.numbers.add(token, canonical))
    }

    pub(crate) fn end_block(&mut self) {
        for field in &mut self.fields {
            if field.events < self.events || self.repeats {
                field.now = field.now.with(FieldKinds::MISSING);
            }
            field.kinds.push(field.now.bits());
            if field.now.has(FieldKinds::NUMBER) {
                for bound in field.numbers.bounds() {
                    field.ranges.push(bound.len() as u8);
                    field.ranges.extend_from_slice(&bound);
                }
                field.numbers.clear();
            }
            field.now = FieldKinds::NONE;
            field.events = 0;
        }
        self.block += 1;
        self.events = 0;
        (self.has_others, self.repeats) = (false, false);
    }
}

/// The hash of a path of keys.
pub(crate) fn hash_of<'a>(keys: impl IntoIterator<Item = &'a str>) -> u64 {
    keys.into_iter().fold(hash::ROOT, |path, key| hash::child(path, key.as_bytes()))
}

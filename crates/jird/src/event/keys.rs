//! Keys → small numbers.

use core::hash::Hasher as _;
use std::hash::{BuildHasher, RandomState};

/// A table of keys, each of which has a number: 0, 1, 2, … in the order in which they were put in.
///
/// Made for short keys that come again and again, in much the same order: what was found last says where to look first, which
/// costs a comparison and no hash. A lookup by hash reads the key's first and last bytes as words, and allocates nothing.
/// Keys that somebody chose to collide find a slower table, and no slower than linear in the keys' text: when a lookup has to step
/// too far, all keys are hashed anew by the standard library's keyed hash.
///
/// ```
/// let mut keys = jird::event::KeyTable::new();
/// assert_eq!([keys.insert("id"), keys.insert("name"), keys.insert("id")], [0, 1, 0]);
/// assert_eq!((keys.get("name"), keys.get("age"), keys.name(0)), (Some(1), None, "id"));
/// ```
#[derive(Clone, Debug, Default)]
pub struct KeyTable {
    /// All keys, one behind the other.
    text: Vec<u8>,
    /// Where each key ends.
    ends: Vec<u32>,
    /// Open addressing: a key's number and one, and the upper half of its hash. Zero is free. A power of two, at least twice as many as keys.
    slots: Vec<Slot>,
    /// The keyed hash, once it was needed.
    keyed: Option<RandomState>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    number: u32,
    tag: u32,
}

/// So many steps are no accident.
const STEPS_MAX: usize = 32;

impl KeyTable {
    /// Without keys.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Takes all keys out, and keeps the memory.
    pub fn clear(&mut self) {
        // What is emptied again and again is no larger than what it held.
        if self.slots.len() > 8 * self.ends.len().max(8) {
            self.slots = Vec::new();
        }
        self.slots.fill(Slot::default());
        self.text.clear();
        self.ends.clear();
    }

    /// The key with this number.
    ///
    /// # Panics
    /// If there is none.
    #[inline]
    pub fn name(&self, number: u32) -> &str {
        let number = number as usize;
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        core::str::from_utf8(&self.text[start..self.ends[number] as usize]).expect("keys are put in as text")
    }

    /// All keys, by number.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        (0..self.len() as u32).map(|number| self.name(number))
    }

    /// The number of a key, which is put in if it is new.
    ///
    /// # Panics
    /// If there are 2^32 bytes of keys.
    #[inline]
    pub fn insert(&mut self, key: &str) -> u32 {
        match self.get(key) {
            Some(number) => number,
            None => self.put(key),
        }
    }

    /// The number of a key.
    #[inline]
    pub fn get(&self, key: &str) -> Option<u32> {
        let mask = self.slots.len().checked_sub(1)?;
        let hash = self.hash(key.as_bytes());
        let mut at = hash as usize & mask;
        loop {
            let slot = self.slots[at & mask];
            if slot.number == 0 {
                return None;
            }
            if slot.tag == (hash >> 32) as u32 && self.is(slot.number - 1, key) {
                return Some(slot.number - 1);
            }
            at += 1;
        }
    }

    /// [`get`](Self::get), looking at `guess` first: what came behind the key before, say.
    #[inline]
    pub fn get_near(&self, key: &str, guess: u32) -> Option<u32> {
        if (guess as usize) < self.len() && self.is(guess, key) { Some(guess) } else { self.get(key) }
    }

    #[inline(always)]
    fn is(&self, number: u32, key: &str) -> bool {
        let number = number as usize;
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        let end = self.ends[number] as usize;
        end - start == key.len() && same(&self.text[start..end], key.as_bytes())
    }

    #[cold]
    #[inline(never)]
    fn put(&mut self, key: &str) -> u32 {
        let number = self.ends.len() as u32;
        self.text.extend_from_slice(key.as_bytes());
        self.ends.push(u32::try_from(self.text.len()).expect("less than 4 GiB of keys"));
        if self.slots.len() < 2 * self.ends.len() {
            self.rehash((4 * self.ends.len()).next_power_of_two().max(16));
        } else if self.place(number) > STEPS_MAX && self.keyed.is_none() {
            self.keyed = Some(RandomState::new());
            self.rehash(self.slots.len());
        }
        number
    }

    fn rehash(&mut self, len: usize) {
        self.slots.clear();
        self.slots.resize(len, Slot::default());
        for number in 0..self.ends.len() as u32 {
            if self.place(number) > STEPS_MAX && self.keyed.is_none() {
                self.keyed = Some(RandomState::new());
                return self.rehash(len);
            }
        }
    }

    /// Puts a key into its slot. Returns how many were taken before.
    fn place(&mut self, number: u32) -> usize {
        let hash = self.hash(self.name(number).as_bytes());
        let mask = self.slots.len() - 1;
        let steps = (0..).find(|step| self.slots[(hash as usize + step) & mask].number == 0).unwrap_or(0);
        self.slots[(hash as usize + steps) & mask] = Slot { number: number + 1, tag: (hash >> 32) as u32 };
        steps
    }

    #[inline(always)]
    fn hash(&self, key: &[u8]) -> u64 {
        if let Some(keyed) = &self.keyed {
            let mut hasher = keyed.build_hasher();
            hasher.write(key);
            return hasher.finish();
        }
        let (low, high) = ends(key);
        // Multiplied to twice the width, and folded: every bit of the words has a say in both halves.
        let product =
            u128::from(low ^ 0x9E37_79B9_7F4A_7C15) * u128::from(high ^ 0xE703_7ED1_A0B4_28DB ^ key.len() as u64);
        product as u64 ^ (product >> 64) as u64
    }
}

/// Two words of a key: its first and its last eight bytes, or all of a shorter one.
#[inline(always)]
fn ends(key: &[u8]) -> (u64, u64) {
    let len = key.len();
    if let (Some(&low), Some(&high)) = (key.first_chunk(), key.last_chunk()) {
        return (u64::from_le_bytes(low), u64::from_le_bytes(high));
    }
    if let (Some(&low), Some(&high)) = (key.first_chunk(), key.last_chunk()) {
        return (u64::from(u32::from_le_bytes(low)), u64::from(u32::from_le_bytes(high)));
    }
    if len == 0 {
        return (0, 0);
    }
    (u64::from(key[0]) | u64::from(key[len / 2]) << 8, u64::from(key[len - 1]))
}

/// Whether two slices of the same length are equal: short ones by overlapping words, without a call.
#[inline(always)]
fn same(one: &[u8], other: &[u8]) -> bool {
    if one.len() <= 16 { ends(one) == ends(other) } else { one == other }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn a_table_is_a_map_whatever_the_keys() {
        let mut keys = KeyTable::new();
        let mut model = HashMap::new();
        let mut random = 1_u64;
        for _ in 0..20_000 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let len = (random >> 60) as usize * 3;
            let key: String = (0..len).map(|at| char::from(b'a' + (random >> (33 + at % 20) & 1) as u8)).collect();
            let next = model.len() as u32;
            assert_eq!(keys.get(&key), model.get(&key).copied());
            let number = *model.entry(key.clone()).or_insert(next);
            assert_eq!(keys.insert(&key), number);
            assert_eq!(keys.get_near(&key, (random >> 20) as u32 % 7), Some(number));
            assert_eq!(keys.name(number), key);
        }
        assert_eq!(keys.len(), model.len());
    }

    #[test]
    fn keys_that_collide_are_found_in_time() {
        let mut keys = KeyTable::new();
        // The hash looks at both ends only: these have all the same.
        let key = |index: u32| format!("beginning{index:08}ending..");
        (0..50_000).for_each(|index| assert_eq!(keys.insert(&key(index)), index));
        (0..50_000).for_each(|index| assert_eq!(keys.get(&key(index)), Some(index)));
        assert!(keys.keyed.is_some());
    }
}

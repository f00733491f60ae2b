//! A table from keys to small numbers.

use crate::text::{self, SHORT};
use core::hash::Hasher as _;
use std::hash::{BuildHasher, RandomState};

/// A table that numbers its keys 0, 1, 2, … in the order of insertion.
///
/// It is made for short keys that repeat often. A key of up to 16 bytes is hashed and compared as two words, without a
/// branch on its length, in some 3 ns. Where keys come in much the same order each time, the previous key tells [where
/// to look first](Self::get_near), which needs no hash. Only new keys allocate.
///
/// Keys chosen to collide make the table slower, but no slower than linear in the keys' text: when a lookup takes too
/// many steps, all keys are rehashed with the standard library's keyed hash.
///
/// ```
/// let mut keys = jird::hooks::event::KeyTable::new();
/// assert_eq!([keys.insert("id"), keys.insert("name"), keys.insert("id")], [0, 1, 0]);
/// assert_eq!((keys.get("name"), keys.get("age"), keys.name(0)), (Some(1), None, "id"));
/// ```
#[derive(Clone, Debug)]
pub struct KeyTable {
    /// All keys, concatenated.
    text: String,
    keys: Vec<KnownKey>,
    /// Open addressing: a slot holds a key's number, or [`FREE`]. The length is zero, or a power of two and at least
    /// [`SLOTS_PER_KEY`] times the number of keys.
    slots: Vec<u32>,
    /// Keys of 1 to `short_max` bytes are looked up by their words. Zero if there are no slots or the hash is keyed.
    short_max: usize,
    /// The hash's multiplier, chosen so that few keys collide. Odd.
    seed: u64,
    /// How many more times a better seed may be searched for.
    searches_left: u32,
    /// The keyed hash, once collisions have made it necessary.
    keyed: Option<RandomState>,
}

#[derive(Clone, Copy, Debug)]
struct KnownKey {
    words: [u64; 2],
    /// Where the key begins in the table's text.
    start: u32,
    len: u32,
}

/// Marks a free slot.
const FREE: u32 = u32::MAX;

/// More steps than this are taken as an attack, not chance.
const STEPS_MAX: usize = 32;

/// At most one slot in this number is taken.
const SLOTS_PER_KEY: usize = 8;

/// In a table of at most this number of keys, it is worth searching for a good seed when a key finds its slot taken.
const SOUGHT_MAX: usize = 64;

/// The number of seeds that a search tries, and the maximum number of searches.
const SEEDS: u64 = 32;
const SEARCHES_MAX: u32 = 100;

/// The first seed: the fraction of the golden ratio.
const SEED: u64 = 0x9E37_79B9_7F4A_7C15;

impl KeyTable {
    /// A table without keys.
    pub fn new() -> Self {
        Self {
            text: String::new(),
            keys: Vec::new(),
            slots: Vec::new(),
            short_max: 0,
            seed: SEED,
            searches_left: SEARCHES_MAX,
            keyed: None,
        }
    }

    /// The number of keys.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether there are no keys.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Removes all keys, and keeps the memory.
    pub fn clear(&mut self) {
        // Shrinks a table much larger than its contents, so that repeated clearing costs no more than the keys it held.
        if self.slots.len() > 4 * SLOTS_PER_KEY * self.keys.len().max(8) {
            self.slots = Vec::new();
            self.short_max = 0;
        }
        self.slots.fill(FREE);
        self.text.clear();
        self.keys.clear();
    }

    /// The key with this number.
    ///
    /// # Panics
    /// If no key has this number.
    #[inline]
    pub fn name(&self, number: u32) -> &str {
        let KnownKey { start, len, .. } = self.keys[number as usize];
        &self.text[start as usize..start as usize + len as usize]
    }

    /// All keys, by number.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        (0..self.len() as u32).map(|number| self.name(number))
    }

    /// The number of a key, which is inserted if it is new.
    ///
    /// # Panics
    /// If the keys reach 2^32 bytes in total.
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
        let len = key.len();
        if len.wrapping_sub(1) >= self.short_max {
            return self.get_far(key);
        }
        let words = text::words(key.as_bytes());
        let slot = hash(words, len, self.seed) as usize & self.slots.len().wrapping_sub(1);
        // The key is nearly always in this slot, or not in the table.
        let number = *self.slots.get(slot)?;
        match self.keys.get(number as usize) {
            None => None,
            Some(known)
                if known.words == words
                    && known.len as usize == len
                    && (len <= SHORT || text::same(self.bytes(known), key.as_bytes())) =>
            {
                Some(number)
            }
            Some(_) => self.get_far(key),
        }
    }

    /// As [`get`](Self::get), for a key of any length and in any slot.
    #[inline(never)]
    fn get_far(&self, key: &str) -> Option<u32> {
        let mask = self.slots.len().checked_sub(1)?;
        let mut at = self.hash(key) as usize;
        loop {
            let number = self.slots[at & mask];
            let known = self.keys.get(number as usize)?;
            if text::same(self.bytes(known), key.as_bytes()) {
                return Some(number);
            }
            at = at.wrapping_add(1);
        }
    }

    /// As [`get`](Self::get), but looks at `guess` first: for example, the key that followed the previous key last
    /// time.
    #[inline]
    pub fn get_near(&self, key: &str, guess: u32) -> Option<u32> {
        // When keys come in order, the branches on their lengths are predictable.
        match self.keys.get(guess as usize) {
            Some(known) if text::same(self.bytes(known), key.as_bytes()) => Some(guess),
            _ => self.get(key),
        }
    }

    #[inline(always)]
    fn bytes(&self, known: &KnownKey) -> &[u8] {
        &self.text.as_bytes()[known.start as usize..known.start as usize + known.len as usize]
    }

    #[cold]
    #[inline(never)]
    fn put(&mut self, key: &str) -> u32 {
        let number = self.keys.len() as u32;
        let start = self.text.len();
        self.text.push_str(key);
        assert!(u32::try_from(self.text.len()).is_ok(), "less than 4 GiB of keys");
        self.keys.push(KnownKey { words: text::words(key.as_bytes()), start: start as u32, len: key.len() as u32 });
        if self.slots.len() < SLOTS_PER_KEY * self.keys.len() {
            let len = (2 * SLOTS_PER_KEY * self.keys.len()).next_power_of_two().max(64);
            self.slots.resize(len, FREE);
            self.rehash();
        } else {
            let steps = self.place(number);
            let seeks = self.keys.len() <= SOUGHT_MAX && self.searches_left > 0;
            if steps > 0 && seeks || steps > STEPS_MAX {
                self.rehash();
            }
        }
        number
    }

    /// Puts all keys into slots, with a seed for which lookups take few steps.
    fn rehash(&mut self) {
        if self.keyed.is_some() {
            self.place_all();
            return;
        }
        let mut best = (usize::MAX, usize::MAX, self.seed);
        let mut seeds = 1;
        for index in 0.. {
            let (displaced, steps) = self.place_all();
            best = best.min((displaced, steps, self.seed));
            if index == 0 && displaced > 0 && self.keys.len() <= SOUGHT_MAX && self.searches_left > 0 {
                self.searches_left -= 1;
                seeds = SEEDS;
            }
            if displaced == 0 || index + 1 == seeds {
                break;
            }
            self.seed = self.seed.wrapping_add(SEED << 1);
        }
        let (_, steps, seed) = best;
        self.seed = seed;
        self.short_max = usize::MAX - 1;
        if steps > STEPS_MAX {
            self.keyed = Some(RandomState::new());
            self.short_max = 0;
        }
        self.place_all();
    }

    /// Returns how many keys found their slot taken, and the largest number of steps for one key.
    fn place_all(&mut self) -> (usize, usize) {
        self.slots.fill(FREE);
        let (mut displaced, mut most) = (0, 0);
        for number in 0..self.keys.len() as u32 {
            let steps = self.place(number);
            displaced += usize::from(steps > 0);
            most = most.max(steps);
            if most > STEPS_MAX && self.keyed.is_none() {
                return (usize::MAX, most);
            }
        }
        (displaced, most)
    }

    /// Puts a key into its slot. Returns the number of taken slots that it stepped over.
    fn place(&mut self, number: u32) -> usize {
        let hash = self.hash(self.name(number)) as usize;
        let mask = self.slots.len() - 1;
        // Most slots are free, so the loop rarely runs.
        let mut steps = 0;
        while self.slots[hash.wrapping_add(steps) & mask] != FREE {
            steps += 1;
        }
        self.slots[hash.wrapping_add(steps) & mask] = number;
        steps
    }

    fn hash(&self, key: &str) -> u64 {
        let Some(keyed) = &self.keyed else { return hash(text::words(key.as_bytes()), key.len(), self.seed) };
        let mut hasher = keyed.build_hasher();
        hasher.write(key.as_bytes());
        hasher.finish()
    }
}

/// The upper bits of a product, which depend on every bit of the words.
#[inline(always)]
fn hash([low, high]: [u64; 2], len: usize, seed: u64) -> u64 {
    (low ^ high.rotate_left(29) ^ len as u64).wrapping_mul(seed) >> 32
}

impl Default for KeyTable {
    fn default() -> Self {
        Self::new()
    }
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
        // The hash covers only both ends of a key, and these keys have the same ends.
        let key = |index: u32| format!("beginning{index:08}ending..");
        (0..50_000).for_each(|index| assert_eq!(keys.insert(&key(index)), index));
        (0..50_000).for_each(|index| assert_eq!(keys.get(&key(index)), Some(index)));
        assert!(keys.keyed.is_some());
    }
}

//! The hashes that a block had already, so that a value that repeats costs one look.

/// The number of places of the table.
const PLACES: usize = 1 << 15;

/// More hashes than this are not kept: the block then says nothing about pairs.
pub(crate) const SEEN_MAX: usize = PLACES / 4 * 3;

/// A set of hashes.
pub(crate) struct HashSet64 {
    /// 0 is a free place.
    table: Box<[u64]>,
    len: usize,
}

impl HashSet64 {
    pub(crate) fn new() -> Self {
        Self { table: vec![0; PLACES].into(), len: 0 }
    }

    /// Whether the hash is new. If the set is full, each hash that it does not have is new.
    #[inline]
    pub(crate) fn insert(&mut self, hash: u64) -> bool {
        let hash = hash | u64::from(hash == 0);
        let mut place = (hash >> 32) as usize % PLACES;
        loop {
            match self.table[place] {
                0 => break,
                other if other == hash => return false,
                _ => place = (place + 1) % PLACES,
            }
        }
        if self.len < SEEN_MAX {
            self.table[place] = hash;
            self.len += 1;
        }
        true
    }

    pub(crate) fn is_full(&self) -> bool {
        self.len == SEEN_MAX
    }

    pub(crate) fn clear(&mut self) {
        self.table.fill(0);
        self.len = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::super::hash;
    use super::*;

    #[test]
    fn a_full_set_still_ends_and_forgets_nothing_that_it_has() {
        let mut seen = HashSet64::new();
        for round in 0..2 {
            for value in 0..40_000 {
                let new = seen.insert(hash::word(value));
                assert_eq!(new, round == 0 || value >= SEEN_MAX as u64, "{value}");
            }
        }
        assert!(seen.is_full());
        seen.clear();
        assert!(seen.insert(hash::word(1)) && !seen.insert(hash::word(1)) && !seen.is_full());
    }
}

//! Which fields of an object a text has.

/// Which fields have a value.
#[derive(Default)]
pub(super) struct FieldSet {
    first: u64,
    others: Vec<u64>,
}

impl FieldSet {
    #[inline(always)]
    pub(super) fn add(&mut self, index: usize) {
        if index < 64 {
            self.first |= 1 << index;
        } else {
            self.others.resize(self.others.len().max(index / 64), 0);
            self.others[index / 64 - 1] |= 1 << (index % 64);
        }
    }

    #[inline(always)]
    pub(super) fn has(&self, index: usize) -> bool {
        let word = if index < 64 { self.first } else { self.others.get(index / 64 - 1).copied().unwrap_or(0) };
        word >> (index % 64) & 1 == 1
    }

    /// Whether all of the first `len` are there.
    #[inline(always)]
    pub(super) fn is_full(&self, len: usize) -> bool {
        len < 64 && self.first == (1 << len) - 1
    }
}

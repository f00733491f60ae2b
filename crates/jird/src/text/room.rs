//! Appending by whole words.
//!
//! Copying "at most eight bytes" is cheapest as one store of eight, of which only some count. That needs room behind the
//! end, which is kept here in one place.

#![allow(unsafe_code, reason = "stores into a vector's spare capacity")]

/// A vector being appended to. What is stored counts only when [`finish`](Self::finish) is called.
pub(super) struct Room<'a> {
    out: &'a mut Vec<u8>,
    /// How much is written: `out.len() <= len <= out.capacity()`.
    len: usize,
}

impl<'a> Room<'a> {
    /// How many bytes may be stored beyond those that count.
    const SLACK: usize = 8;

    /// Room for `len` bytes.
    pub(super) fn new(out: &'a mut Vec<u8>, len: usize) -> Self {
        out.reserve(len + Self::SLACK);
        let start = out.len();
        Self { out, len: start }
    }

    /// Makes room for `len` bytes from here on.
    #[inline(always)]
    pub(super) fn ensure(&mut self, len: usize) {
        if self.out.capacity() - self.len < len + Self::SLACK {
            self.grow(len);
        }
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, len: usize) {
        // SAFETY: all up to `self.len` is written, and no more than the capacity.
        unsafe { self.out.set_len(self.len) };
        self.out.reserve(len + Self::SLACK);
    }

    /// Appends the first `len` (0..=8) bytes of `word`, lowest first.
    ///
    /// # Safety
    ///
    /// There is room for `len` bytes. Checked in debug builds.
    #[inline(always)]
    pub(super) unsafe fn word(&mut self, word: u64, len: usize) {
        debug_assert!(len <= 8 && self.len + len + Self::SLACK <= self.out.capacity(), "there is room");
        // SAFETY: room for `len` bytes is room for `SLACK`, that is eight, more; so the store stays within the capacity.
        unsafe { self.out.as_mut_ptr().add(self.len).cast::<[u8; 8]>().write(word.to_le_bytes()) };
        self.len += len;
    }

    /// Appends a block.
    ///
    /// # Safety
    ///
    /// There is room for it. Checked in debug builds.
    #[inline(always)]
    pub(super) unsafe fn block<const LEN: usize>(&mut self, block: &[u8; LEN]) {
        debug_assert!(self.len + LEN <= self.out.capacity(), "there is room");
        // SAFETY: within the capacity, as the caller has seen to.
        unsafe { self.out.as_mut_ptr().add(self.len).cast::<[u8; LEN]>().write(*block) };
        self.len += LEN;
    }

    /// Makes what was appended count.
    pub(super) fn finish(self) {
        // SAFETY: all up to `self.len` is written, and no more than the capacity.
        unsafe { self.out.set_len(self.len) };
    }
}

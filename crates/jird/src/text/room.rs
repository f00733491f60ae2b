//! Appending by whole words and blocks.
//!
//! Copying "at most 32 bytes" is cheapest as one store of 32, of which only some count. That needs room behind the end,
//! which is kept here in one place.

#![allow(unsafe_code, reason = "stores into a vector's spare capacity")]

/// A vector being appended to. What is stored counts only when [`finish`](Self::finish) is called.
pub(super) struct Room<'a> {
    out: &'a mut Vec<u8>,
    /// Where the next byte goes: behind what the vector held and what was appended since, all of it written, and no further
    /// than its capacity. A pointer of its own, since the compiler would read the vector's anew after each store.
    end: *mut u8,
}

impl<'a> Room<'a> {
    /// How many bytes may be stored beyond those that count.
    const SLACK: usize = 32;

    /// Room for `len` bytes.
    #[inline(always)]
    pub(super) fn new(out: &'a mut Vec<u8>, len: usize) -> Self {
        out.reserve(len + Self::SLACK);
        let end = out.spare_capacity_mut().as_mut_ptr().cast();
        Self { out, end }
    }

    /// How many bytes the vector will hold.
    #[inline(always)]
    fn len(&self) -> usize {
        self.end.addr() - self.out.as_ptr().addr()
    }

    /// Makes room for `len` bytes from here on.
    #[inline(always)]
    pub(super) fn ensure(&mut self, len: usize) {
        if self.out.capacity() - self.len() < len + Self::SLACK {
            // Not a method: it would take the address of `self`, and the loops around want that in registers.
            self.end = grow(self.out, self.len(), len + Self::SLACK);
        }
    }

    /// Appends the first `len` (0..=`LEN`) of `bytes`, which are at most `SLACK`.
    ///
    /// # Safety
    ///
    /// There is room for `len` bytes, and `len <= LEN`. Checked in debug builds.
    #[inline(always)]
    pub(super) unsafe fn bytes<const LEN: usize>(&mut self, bytes: &[u8; LEN], len: usize) {
        const { assert!(LEN <= Self::SLACK, "room for what does not count") };
        debug_assert!(len <= LEN && self.len() + len + Self::SLACK <= self.out.capacity(), "there is room");
        // SAFETY: room for `len` bytes is room for `SLACK` more; so the store, and the new end, stay within the capacity.
        unsafe {
            self.end.cast::<[u8; LEN]>().write(*bytes);
            self.end = self.end.add(len);
        }
    }

    /// Takes back the last `len` of the bytes appended.
    ///
    /// # Safety
    ///
    /// So many were.
    #[inline(always)]
    pub(super) unsafe fn take_back(&mut self, len: usize) {
        debug_assert!(len <= self.len() - self.out.len(), "what is taken back was appended");
        // SAFETY: what was appended is behind the vector's own.
        self.end = unsafe { self.end.sub(len) };
    }

    /// Makes what was appended count.
    #[inline(always)]
    pub(super) fn finish(self) {
        // SAFETY: all up to `self.end` is written, and no more than the capacity.
        unsafe { self.out.set_len(self.len()) };
    }
}

/// Makes room for `more` bytes behind the first `len` (all of them written); returns where that room is.
#[cold]
#[inline(never)]
fn grow(out: &mut Vec<u8>, len: usize, more: usize) -> *mut u8 {
    debug_assert!(len <= out.capacity());
    // SAFETY: the caller has written so many.
    unsafe { out.set_len(len) };
    out.reserve(more);
    out.spare_capacity_mut().as_mut_ptr().cast()
}

//! Appends whole words and blocks.
//!
//! The cheapest way to copy at most 32 bytes is to store 32 bytes, although only some count. That needs room after the
//! end of the output. This module keeps track of that room.

#![allow(unsafe_code, reason = "stores into a vector's spare capacity")]

/// A vector that is being appended to. The stored bytes count only once [`finish`](Self::finish) is called.
pub(super) struct Room<'a> {
    out: &'a mut Vec<u8>,
    /// Where the next byte goes: just after the bytes that the vector held and those appended since. All bytes before
    /// it are written, and it is within the capacity. It is a pointer of its own, since the compiler would reload the
    /// vector's pointer after each store.
    end: *mut u8,
}

impl<'a> Room<'a> {
    /// The number of bytes that may be stored beyond those that count.
    const SLACK: usize = 32;

    /// Makes room for `len` bytes.
    #[inline(always)]
    pub(super) fn new(out: &'a mut Vec<u8>, len: usize) -> Self {
        out.reserve(len + Self::SLACK);
        let end = out.spare_capacity_mut().as_mut_ptr().cast();
        Self { out, end }
    }

    /// The length that the vector will have.
    #[inline(always)]
    fn len(&self) -> usize {
        self.end.addr() - self.out.as_ptr().addr()
    }

    /// Makes room for `len` bytes from here on.
    #[inline(always)]
    pub(super) fn ensure(&mut self, len: usize) {
        if self.out.capacity() - self.len() < len + Self::SLACK {
            // This is not a method: a method would take the address of `self`, and the loops around it need that in
            // registers.
            self.end = grow(self.out, self.len(), len + Self::SLACK);
        }
    }

    /// Appends the first `len` (0..=`LEN`) of `bytes`; `LEN` is at most `SLACK`.
    ///
    /// # Safety
    ///
    /// There is room for `len` bytes, and `len <= LEN`. Checked in debug builds.
    #[inline(always)]
    pub(super) unsafe fn bytes<const LEN: usize>(&mut self, bytes: &[u8; LEN], len: usize) {
        const { assert!(LEN <= Self::SLACK, "room for what does not count") };
        debug_assert!(len <= LEN && self.len() + len + Self::SLACK <= self.out.capacity(), "there is room");
        // SAFETY: room for `len` bytes includes `SLACK` bytes more; so the store and the new end stay within the
        // capacity.
        unsafe {
            self.end.cast::<[u8; LEN]>().write(*bytes);
            self.end = self.end.add(len);
        }
    }

    /// Removes the last `len` of the appended bytes.
    ///
    /// # Safety
    ///
    /// At least `len` bytes were appended.
    #[inline(always)]
    pub(super) unsafe fn take_back(&mut self, len: usize) {
        debug_assert!(len <= self.len() - self.out.len(), "what is taken back was appended");
        // SAFETY: the appended bytes are after the vector's own, so the new end is not before those.
        self.end = unsafe { self.end.sub(len) };
    }

    /// Makes the appended bytes count.
    #[inline(always)]
    pub(super) fn finish(self) {
        // SAFETY: all bytes up to `self.end` are written, and it is within the capacity.
        unsafe { self.out.set_len(self.len()) };
    }
}

/// Makes room for `more` bytes after the first `len` (all of them written); returns a pointer to that room.
#[cold]
#[inline(never)]
fn grow(out: &mut Vec<u8>, len: usize, more: usize) -> *mut u8 {
    debug_assert!(len <= out.capacity());
    // SAFETY: the caller has written the first `len` bytes.
    unsafe { out.set_len(len) };
    out.reserve(more);
    out.spare_capacity_mut().as_mut_ptr().cast()
}

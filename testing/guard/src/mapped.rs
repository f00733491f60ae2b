//! Pages of Unix.

use std::ptr::NonNull;

/// A readable and writable range of whole pages between two pages that can be neither read nor written.
pub struct Guarded {
    /// The first guard page.
    mapping: NonNull<u8>,
    page_bytes: usize,
    len: usize,
}

impl Guarded {
    /// Room for at least `len` bytes between two guard pages.
    ///
    /// # Panics
    /// If the system provides no memory.
    pub fn new(len: usize) -> Self {
        // SAFETY: asks for a number.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        let page_bytes = usize::try_from(page).expect("a page has a size");
        let len = len.max(1).next_multiple_of(page_bytes);
        let all = len + 2 * page_bytes;
        // SAFETY: a new private mapping at an address of the system's choice touches no memory of ours.
        let mapping = unsafe {
            libc::mmap(std::ptr::null_mut(), all, libc::PROT_NONE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0)
        };
        assert!(mapping != libc::MAP_FAILED, "no memory to be mapped");
        let mapping = NonNull::new(mapping.cast::<u8>()).expect("the system maps nothing at address 0");
        let guarded = Self { mapping, page_bytes, len };
        // SAFETY: the range is inside the mapping made above, past its first page and short of its last.
        let done = unsafe { libc::mprotect(guarded.readable().cast(), len, libc::PROT_READ | libc::PROT_WRITE) };
        assert_eq!(done, 0, "pages that were mapped can be made readable");
        guarded
    }

    /// A copy of `bytes` that ends where the second guard page begins.
    ///
    /// # Panics
    /// If there is no room for `bytes`.
    pub fn at_end(&mut self, bytes: &[u8]) -> &[u8] {
        let from = self.len.checked_sub(bytes.len()).expect("room for the bytes");
        self.copy(bytes, from)
    }

    /// A copy of `bytes` that begins where the first guard page ends.
    ///
    /// # Panics
    /// If there is no room for `bytes`.
    pub fn at_start(&mut self, bytes: &[u8]) -> &[u8] {
        self.copy(bytes, 0)
    }

    fn readable(&self) -> *mut u8 {
        // SAFETY: the mapping has `page_bytes` bytes before the readable ones.
        unsafe { self.mapping.as_ptr().add(self.page_bytes) }
    }

    fn copy(&mut self, bytes: &[u8], from: usize) -> &[u8] {
        assert!(from + bytes.len() <= self.len, "room for the bytes");
        // SAFETY: `from + bytes.len()` was compared with the length of the readable pages. These are zeroed at first,
        // and nothing else reads them while `self` is mutably borrowed.
        let room = unsafe { std::slice::from_raw_parts_mut(self.readable().add(from), bytes.len()) };
        room.copy_from_slice(bytes);
        room
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // SAFETY: exactly the range that `new` mapped; no slice of it outlives `self`.
        unsafe { libc::munmap(self.mapping.as_ptr().cast(), self.len + 2 * self.page_bytes) };
    }
}

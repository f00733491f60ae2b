//! Memory next to pages that cannot be accessed: code that reads one byte too many, or one before the start, crashes.
//!
//! ```text
//! | guard | readable ........................ | guard |
//!         ^ at_start                  at_end ^
//! ```
//!
//! This is the only test-support crate with unsafe code. It works on Linux only, like the tests that need it.

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

#[cfg(test)]
mod tests {
    use super::Guarded;

    #[test]
    fn bytes_are_what_was_put_there_and_stand_at_the_edge() {
        let mut guarded = Guarded::new(5000);
        assert_eq!(guarded.at_start(b"abc"), b"abc");
        let bytes = guarded.at_end(b"defg");
        assert_eq!(bytes, b"defg");
        assert_eq!(bytes.as_ptr_range().end as usize % 4096, 0);
    }

    #[test]
    fn one_byte_past_the_end_or_before_the_start_is_death() {
        for at_end in [true, false] {
            // SAFETY: the child touches nothing but its own stack and the mapping, and leaves without cleaning up.
            let child = unsafe { libc::fork() };
            if child == 0 {
                let mut guarded = Guarded::new(10);
                let beyond = if at_end {
                    guarded.at_end(b"x").as_ptr_range().end
                } else {
                    guarded.at_start(b"x").as_ptr().wrapping_sub(1)
                };
                // SAFETY: this access is invalid on purpose. The page exists and cannot be read, so the system kills
                // the process.
                let byte = unsafe { std::ptr::read_volatile(beyond) };
                // SAFETY: exits at once.
                unsafe { libc::_exit(i32::from(byte) & 1) };
            }
            let mut status = 0;
            // SAFETY: `child` is ours, and `status` is a place for an answer.
            assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
            assert!(libc::WIFSIGNALED(status), "the child was not killed: status {status}");
        }
    }
}

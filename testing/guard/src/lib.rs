//! Memory next to pages that cannot be accessed: code that reads one byte too many, or one before the start, crashes.
//!
//! ```text
//! | guard | readable ........................ | guard |
//!         ^ at_start                  at_end ^
//! ```
//!
//! This is the only test-support crate with unsafe code. Where the system is not Unix, the memory is ordinary, and only what
//! is read from it is tested.

#[cfg(unix)]
mod mapped;
#[cfg(not(unix))]
mod ordinary;

#[cfg(unix)]
pub use mapped::Guarded;
#[cfg(not(unix))]
pub use ordinary::Guarded;

#[cfg(all(test, unix))]
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

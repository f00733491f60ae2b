//! Turns panics of the Parquet reader into errors.
//!
//! The decoders of pages trust them in places: a level that ends early, or a number of 200 bits, makes them panic. This
//! module catches such a panic, and the reader is not used again. The process's panic hook prints the panic's message
//! before it is caught. The hook belongs to the program, so a library must not replace it. Instead, a program can ask
//! [`is_panic_caught`] which panics its hook should ignore.

use crate::arrow::{ArrowError, check};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    /// Whether this thread is within [`guard`].
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Whether this crate catches a panic on this thread at this moment, and turns it into an error. A program's panic hook
/// can use it, because it would otherwise print the Parquet reader's panics about a damaged file:
///
/// ```
/// let hook = std::panic::take_hook();
/// std::panic::set_hook(Box::new(move |panic| {
///     if !jird_formats::is_panic_caught() {
///         hook(panic);
///     }
/// }));
/// ```
pub fn is_panic_caught() -> bool {
    // A thread that is ending is not within the guard.
    GUARDED.try_with(Cell::get).unwrap_or(false)
}

/// Runs code that decodes pages, and turns its panics into errors.
pub(super) fn guard<T>(read: impl FnOnce() -> Result<T, ArrowError>) -> Result<T, ArrowError> {
    let _guarded = Guarded(GUARDED.replace(true));
    catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|_| Err(check::malformed("a page cannot be decoded")))
}

/// Restores the earlier state when the guard ends, also by a panic.
struct Guarded(bool);

impl Drop for Guarded {
    fn drop(&mut self) {
        GUARDED.set(self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error_and_the_hook_can_tell_it() {
        assert!(!is_panic_caught());
        let told = guard(|| Ok(is_panic_caught()));
        assert!(told.unwrap());
        let caught = guard(|| -> Result<(), _> {
            // This does not call the panic hook, which the whole process shares.
            std::panic::resume_unwind(Box::new("a number of 200 bits"))
        });
        assert!(matches!(caught, Err(ArrowError::Malformed(_))));
        assert!(!is_panic_caught());
    }
}

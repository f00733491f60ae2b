//! Panics of the Parquet reader, which are errors here.
//!
//! The decoders of pages trust them in places: a level that ends early, or a number of 200 bits, is a panic there. Such a panic is
//! caught, and what was reading is not used again. What a panic says on its way is printed by the process's panic hook, which
//! belongs to the program: a library must not replace it. So the program is told, by [`is_panic_caught`], which panics are none of
//! its business.

use crate::arrow::{ArrowError, check};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    /// Whether this thread is in [`guard`].
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Whether a panic on this thread, now, is caught by this crate and becomes an error. For the panic hook of a program, which would
/// otherwise print what the Parquet reader says of a damaged file:
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
    // A thread that is ending has no guard around it.
    GUARDED.try_with(Cell::get).unwrap_or(false)
}

/// Runs what decodes pages; a panic of it is an error.
pub(super) fn guard<T>(read: impl FnOnce() -> Result<T, ArrowError>) -> Result<T, ArrowError> {
    let _guarded = Guarded(GUARDED.replace(true));
    catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|_| Err(check::malformed("a page that cannot be decoded")))
}

/// Ends the guard, also by a panic: what was before holds again.
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
            // Without the hook, which is everybody's.
            std::panic::resume_unwind(Box::new("a number of 200 bits"))
        });
        assert!(matches!(caught, Err(ArrowError::Malformed(_))));
        assert!(!is_panic_caught());
    }
}

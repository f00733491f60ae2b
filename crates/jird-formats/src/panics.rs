//! Turns panics of libraries into errors.
//!
//! The decoders of Parquet pages trust them in places: a level that ends early, or a number of 200 bits, makes them
//! panic. This module catches such a panic, and what panicked is not used again. The process's panic hook prints the
//! panic's message before it is caught. The hook belongs to the program, so a library must not replace it. Instead, a
//! program can ask [`is_panic_caught`] which panics its hook should ignore.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    /// Whether this thread is within [`caught`].
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Whether jird catches a panic on this thread at this moment, and turns it into an error. A program's panic hook
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
    // A thread that is ending is within nothing.
    GUARDED.try_with(Cell::get).unwrap_or(false)
}

/// Does work whose panics are errors: the words of the panic.
///
/// # Errors
/// If it panics.
pub fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    let _guarded = Guarded(GUARDED.replace(true));
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        let words = panic.downcast_ref::<&str>().map(ToString::to_string);
        words.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a panic".to_owned())
    })
}

/// Says that every panic of this thread is caught from now on, as a runtime does for its threads.
pub fn catches_panics_of_this_thread() {
    GUARDED.set(true);
}

/// Restores the earlier state when [`caught`] ends, also by a panic.
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
        assert_eq!(caught(is_panic_caught), Ok(true));
        // This does not call the panic hook, which the whole process shares.
        let panicked = caught(|| std::panic::resume_unwind(Box::new("a number of 200 bits")));
        assert_eq!(panicked, Err::<(), _>("a number of 200 bits".to_owned()));
        assert!(!is_panic_caught());
    }
}

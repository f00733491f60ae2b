//! What is kept from one call to the next.

use core::cell::UnsafeCell;
use pyo3::Python;

/// Something that is taken for a call and put back after it. A call that comes meanwhile, from code of Python or
/// another thread, finds nothing, and makes its own.
pub(crate) struct Spare<T>(UnsafeCell<Option<Box<T>>>);

// SAFETY: it is reached only by threads that are attached to the interpreter, as their tokens show: one at a time, since
// `jird` is imported into interpreters with a lock only, and into one of them. `take` and `put` run no code of others
// and keep the lock.
unsafe impl<T: Send> Sync for Spare<T> {}

impl<T> Spare<T> {
    pub(crate) const fn new() -> Self {
        Self(UnsafeCell::new(None))
    }

    /// What is there.
    #[inline]
    pub(crate) fn take(&self, _attached: Python<'_>) -> Option<Box<T>> {
        // SAFETY: no other thread is here, and no reference leaves this function.
        unsafe { (*self.0.get()).take() }
    }

    /// Keeps this one. What was there is dropped.
    #[inline]
    pub(crate) fn put(&self, _attached: Python<'_>, spare: Box<T>) {
        // SAFETY: as in `take`. What was there leaves the cell before it is dropped.
        let before = unsafe { (*self.0.get()).replace(spare) };
        drop(before);
    }
}

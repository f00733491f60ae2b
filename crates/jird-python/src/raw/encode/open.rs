//! The containers that are open, and the way to Python's code.

use super::DEPTH_MAX;
use crate::raw::spare::Spare;
use core::mem::{ManuallyDrop, MaybeUninit};
use pyo3::ffi::{self, PyObject};
use pyo3::prelude::*;

/// They are not on the stack, because `default` may call `dumps` again and again.
struct Objects([MaybeUninit<*mut PyObject>; DEPTH_MAX]);

// SAFETY: its pointers are dead when it is not in use.
unsafe impl Send for Objects {}

static SPARE: Spare<Objects> = Spare::new();

/// The containers that are open, and which of them are held.
///
/// The token is the only one that the walk can get, by [`hold`](Self::hold).
pub(super) struct Open<'py> {
    /// The lists, tuples and dicts among the open containers; null for others. The first `depth` are initialised.
    objects: ManuallyDrop<Box<Objects>>,
    depth: usize,
    /// How many of the open containers have a reference, from the outermost on. Invariant: at most `depth`.
    held: usize,
    py: Python<'py>,
}

impl<'py> Open<'py> {
    /// None is open.
    #[inline]
    pub(super) fn new(py: Python<'py>) -> Self {
        // SAFETY: it is made of pointers that need not be initialised.
        let objects = SPARE.take(py).unwrap_or_else(|| unsafe { Box::new_uninit().assume_init() });
        Self { objects: ManuallyDrop::new(objects), depth: 0, held: 0, py }
    }

    #[inline(always)]
    pub(super) fn depth(&self) -> usize {
        self.depth
    }

    /// Opens a container.
    ///
    /// # Panics
    /// If `DEPTH_MAX` are open.
    ///
    /// # Safety
    /// `object` is null, or lives at least until code of Python runs.
    #[inline(always)]
    pub(super) unsafe fn push(&mut self, object: *mut PyObject) {
        self.objects.0[self.depth].write(object);
        self.depth += 1;
    }

    /// Closes the innermost container. If it was held, that may run code of Python, which then finds all others held.
    #[inline(always)]
    pub(super) fn pop(&mut self) {
        self.depth -= 1;
        if self.held > self.depth {
            self.release(self.depth);
        }
    }

    /// Closes all but the first `depth` containers.
    pub(super) fn cut(&mut self, depth: usize) {
        self.depth = depth;
        self.release(depth);
    }

    /// Takes references to all open containers. Code of Python may run until another one is opened.
    #[inline(never)]
    pub(super) fn hold(&mut self) -> Python<'py> {
        for object in &self.objects.0[self.held..self.depth] {
            // SAFETY: the first `depth` are initialised. Those to which there is no reference live, because no code of
            // Python has run since they were opened: before any does, this function is called.
            unsafe { ffi::Py_XINCREF(object.assume_init()) };
        }
        self.held = self.depth;
        self.py
    }

    /// Gives the references back to all containers but the first `kept`.
    #[cold]
    #[inline(never)]
    fn release(&mut self, kept: usize) {
        while self.held > kept {
            self.held -= 1;
            // SAFETY: the first `held` were initialised, and a reference to each was ours, which is forgotten before code
            // of Python can run.
            unsafe { ffi::Py_XDECREF(self.objects.0[self.held].assume_init()) };
        }
    }
}

impl Drop for Open<'_> {
    #[inline]
    fn drop(&mut self) {
        // After a failure containers are still open.
        self.cut(0);
        // SAFETY: nothing uses it after this.
        SPARE.put(self.py, unsafe { ManuallyDrop::take(&mut self.objects) });
    }
}

//! In which process something was begun.
//!
//! A child of `fork` has a copy of all objects, and none of the threads that work for them. It shares the files, the
//! locks and the programs of its parent. So what has threads, a lock or a program remembers its process. In a child its
//! methods raise RuntimeError, where they would wait for ever; and it is forgotten, not dropped, because a drop would end
//! the parent's lock or program, or wait for a thread.

use core::ops::{Deref, DerefMut};
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// How often Python has forked on the way to this process.
static FORKS: AtomicU32 = AtomicU32::new(0);

/// Counts the forks from now on.
///
/// # Errors
/// If `os` refuses it.
pub(crate) fn watch(py: Python<'_>) -> PyResult<()> {
    #[pyfunction]
    fn forked() {
        FORKS.fetch_add(1, Relaxed);
    }
    let hooks = PyDict::new(py);
    hooks.set_item("after_in_child", wrap_pyfunction!(forked, py)?)?;
    // Windows has none, because processes do not fork there.
    let register = py.import("os")?.getattr_opt("register_at_fork")?;
    register.map_or(Ok(()), |register| register.call((), Some(&hooks)).map(drop))
}

/// A process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Process {
    id: u32,
    forks: u32,
}

impl Process {
    /// The process that runs this.
    pub(crate) fn this() -> Self {
        Self { id: std::process::id(), forks: FORKS.load(Relaxed) }
    }

    /// Whether this process is the one. It asks the system, so it also notices a fork that Python does not know of.
    pub(crate) fn is_this(self) -> bool {
        self == Self::this()
    }

    /// Fails in another process.
    ///
    /// # Errors
    /// RuntimeError, with [`words`].
    pub(crate) fn check(self, what: &str) -> PyResult<()> {
        if self.is_this() { Ok(()) } else { Err(elsewhere(what)) }
    }

    /// Fails in a child that Python has forked. It asks nothing of the system, for what is called a million times a
    /// second.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    #[inline(always)]
    pub(crate) fn check_quickly(self, what: &str) -> PyResult<()> {
        if self.forks == FORKS.load(Relaxed) { Ok(()) } else { Err(elsewhere(what)) }
    }
}

/// What is wrong in a child that goes on with `what`.
pub(crate) fn words(what: &str) -> String {
    format!("{what} belongs to the process that began it, and this process is a fork of that one; begin it here again")
}

#[cold]
fn elsewhere(what: &str) -> PyErr {
    PyRuntimeError::new_err(words(what))
}

/// A value that is forgotten, not dropped, in another process than the one that made it.
#[derive(Debug)]
pub(crate) struct Owned<T> {
    /// The process that made it.
    pub(crate) process: Process,
    /// `None` only while it is dropped.
    value: Option<T>,
}

impl<T> Owned<T> {
    pub(crate) fn new(value: T) -> Self {
        Self { process: Process::this(), value: Some(value) }
    }
}

impl<T> Deref for Owned<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        self.value.as_ref().expect("it is not being dropped")
    }
}

impl<T> DerefMut for Owned<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        self.value.as_mut().expect("it is not being dropped")
    }
}

impl<T> Drop for Owned<T> {
    fn drop(&mut self) {
        if !self.process.is_this() {
            core::mem::forget(self.value.take());
        }
    }
}

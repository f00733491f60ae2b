//! Which interpreter of the process this is, and whether it was interrupted.

use pyo3::{Python, ffi};
use std::thread::{self, ThreadId};

/// Whether it is the main interpreter, and no sub-interpreter.
pub(crate) fn is_main(_attached: Python<'_>) -> bool {
    // SAFETY: this thread is attached, as the token shows; the pointers are only compared.
    unsafe { core::ptr::eq(ffi::PyInterpreterState_Get(), ffi::PyInterpreterState_Main()) }
}

/// The thread that has begun something, and may be waiting for it.
pub(crate) struct Caller(ThreadId);

impl Caller {
    /// This thread.
    pub(crate) fn here(_attached: Python<'_>) -> Self {
        Self(thread::current().id())
    }

    /// Runs this with the interpreter, if this is the thread that has begun. Other threads do not: the caller may be
    /// waiting for them with the interpreter's lock.
    pub(crate) fn attached<T>(&self, run: impl FnOnce(Python<'_>) -> T) -> Option<T> {
        if thread::current().id() == self.0 { Python::try_attach(run) } else { None }
    }

    /// Whether Ctrl-C was pressed, if this is the thread that has begun. The interpreter is notified once more, so that
    /// it raises the exception when the caller's code runs again.
    pub(crate) fn is_interrupted(&self) -> bool {
        let is_interrupted = self.attached(|py| py.check_signals().is_err()) == Some(true);
        if is_interrupted {
            // SAFETY: it may be called by any thread, attached or not.
            unsafe { ffi::PyErr_SetInterrupt() };
        }
        is_interrupted
    }
}

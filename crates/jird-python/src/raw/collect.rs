//! A pause of the cyclic garbage collector.

use pyo3::{Python, ffi};

/// As long as this lives, Python 3.10 and 3.11 do not look for cycles. Newer Pythons look only between instructions of
/// Python code, so it changes nothing for them.
///
/// Values of JSON have no cycles, and while they are made no code of Python runs that could make some. The collector
/// would look at them once per 700 containers, and at all of them again each time its older generations are due.
pub(crate) struct Pause<'py> {
    was_on: bool,
    _attached: Python<'py>,
}

impl<'py> Pause<'py> {
    pub(crate) fn new(py: Python<'py>) -> Self {
        // SAFETY: this thread is attached, as the token shows.
        Self { was_on: unsafe { ffi::PyGC_Disable() } == 1, _attached: py }
    }
}

impl Drop for Pause<'_> {
    fn drop(&mut self) {
        if self.was_on {
            // SAFETY: this thread is still attached: the token lives.
            unsafe { ffi::PyGC_Enable() };
        }
    }
}

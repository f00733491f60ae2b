//! A callback that is told how much of a scan is done.

use super::files::Files;
use core::time::Duration;
use pyo3::prelude::*;
use std::time::Instant;

/// The callback is called no more often than this, and once more at the end.
const EVERY: Duration = Duration::from_millis(100);

/// How much of a scan is done, and the callback to tell.
pub(super) struct Progress {
    callback: Py<PyAny>,
    /// The bytes of all files; `None` if they cannot be known before.
    all: Option<u64>,
    done: u64,
    told: Instant,
}

impl Progress {
    pub(super) fn new(callback: Py<PyAny>, files: &Files) -> Self {
        Self { callback, all: files.bytes(), done: 0, told: Instant::now() }
    }

    /// This many more bytes are done.
    ///
    /// # Errors
    /// What the callback raises.
    pub(super) fn add(&mut self, py: Python<'_>, bytes: u64) -> PyResult<()> {
        self.done += bytes;
        if self.told.elapsed() < EVERY {
            return Ok(());
        }
        self.told = Instant::now();
        self.tell(py)
    }

    /// All is done.
    ///
    /// # Errors
    /// What the callback raises.
    pub(super) fn end(mut self, py: Python<'_>) -> PyResult<()> {
        self.done = self.all.unwrap_or(self.done);
        self.tell(py)
    }

    fn tell(&self, py: Python<'_>) -> PyResult<()> {
        self.callback.call1(py, (self.done, self.all)).map(drop)
    }
}

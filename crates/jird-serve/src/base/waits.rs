//! How many wait for something.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A count of those that wait.
#[derive(Debug, Default)]
pub(crate) struct Waiting(AtomicU64);

/// One of them, until it is dropped, also if its client goes meanwhile.
#[derive(Debug)]
pub(crate) struct Waits<'w>(&'w Waiting);

impl Waiting {
    pub(crate) fn one(&self) -> Waits<'_> {
        self.0.fetch_add(1, Relaxed);
        Waits(self)
    }

    pub(crate) fn count(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Relaxed);
    }
}

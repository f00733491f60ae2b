//! How much of the inputs was read.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// How much was read. Other threads can show it while a query runs.
#[derive(Debug, Default)]
pub struct Progress {
    read: AtomicU64,
    total: AtomicU64,
}

impl Progress {
    /// The number of bytes read so far, before decompression.
    pub fn read(&self) -> u64 {
        self.read.load(Relaxed)
    }

    /// The number of bytes that will be read, once it is known. A file that is read twice counts twice. Zero if the
    /// total is unknown.
    pub fn total(&self) -> u64 {
        self.total.load(Relaxed)
    }

    pub(crate) fn add(&self, bytes: u64) {
        self.read.fetch_add(bytes, Relaxed);
    }

    pub(crate) fn expect(&self, bytes: u64) {
        self.total.fetch_add(bytes, Relaxed);
    }
}

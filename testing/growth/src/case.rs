//! What is measured: an entry point, on one shape of input.

use crate::judge::Bar;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// An entry point and a shape of input.
pub struct Case {
    /// Both names, with ` · ` between them. Unique.
    pub name: String,
    /// The bar for the growth of the cost.
    pub bar: Bar,
    /// The smallest of the three sizes, in bytes of input.
    pub bytes: usize,
    /// Makes an input of about this many bytes.
    pub prepare: Box<dyn Fn(usize) -> Prepared>,
}

/// An input that is ready, and the work to do on it.
pub struct Prepared {
    /// The input's length, in bytes.
    pub bytes: usize,
    /// Reads the input. Called once.
    pub work: Box<dyn FnOnce()>,
}

impl Prepared {
    /// Work on `bytes` bytes of input.
    pub fn new(bytes: usize, work: impl FnOnce() + 'static) -> Self {
        Self { bytes, work: Box::new(work) }
    }

    /// Runs the work, so that it is counted. Returns false if it panicked.
    pub fn run(self) -> bool {
        let mut work = Some(self.work);
        let mut ended = false;
        measured(&mut || {
            if let Some(work) = work.take() {
                ended = catch_unwind(AssertUnwindSafe(work)).is_ok();
            }
        });
        ended
    }
}

/// The function whose instructions are counted. Callgrind zeroes its counters when the function is entered, and writes
/// a dump when it returns. It must stay a single function, so it is neither generic nor inlined.
#[inline(never)]
pub fn measured(work: &mut dyn FnMut()) {
    work();
}

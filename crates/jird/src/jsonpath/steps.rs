//! A limit of the work of one evaluation.

use core::cell::Cell;

/// How many steps may still be taken.
pub(super) struct Steps(Cell<u64>);

impl Steps {
    pub(super) fn new(steps_max: u64) -> Self {
        Self(Cell::new(steps_max.saturating_add(1)))
    }

    /// Takes steps. False if too few are left; then the evaluation ends, and its results so far are of no use.
    #[inline]
    pub(super) fn may_step(&self, steps: u64) -> bool {
        self.0.set(self.0.get().saturating_sub(steps));
        !self.is_exhausted()
    }

    /// Whether the steps did not suffice.
    #[inline]
    pub(super) fn is_exhausted(&self) -> bool {
        self.0.get() == 0
    }
}

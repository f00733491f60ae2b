//! Which of the names that a user has typed occur in the records: those that do not are probably misspelled.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// The names of `--select` and of `--where`, and which of them were met. Threads share it.
#[derive(Debug, Default)]
pub(super) struct Met {
    select: Vec<(String, AtomicBool)>,
    condition: Vec<(String, AtomicBool)>,
    /// Whether there was a record that can have any keys.
    any: AtomicBool,
}

impl Met {
    pub(super) fn new(select: impl IntoIterator<Item = String>, condition: impl IntoIterator<Item = String>) -> Self {
        let unmet = |name| (name, AtomicBool::new(false));
        let (select, condition) = (select.into_iter().map(unmet).collect(), condition.into_iter().map(unmet).collect());
        Self { select, condition, any: AtomicBool::new(false) }
    }

    /// Notes which of the selected names, in their order, were met.
    pub(super) fn selected(&self, met: &[bool]) {
        note(&self.select, met);
    }

    /// Notes which of the names of the condition, in their order, were met.
    pub(super) fn of_condition(&self, met: &[bool]) {
        note(&self.condition, met);
    }

    /// The name of `--select` with this number was met.
    #[inline]
    pub(super) fn meet(&self, number: usize) {
        if let Some((_, flag)) = self.select.get(number)
            && !flag.load(Relaxed)
        {
            flag.store(true, Relaxed);
        }
    }

    /// There was a record that can have any keys.
    pub(super) fn record(&self) {
        if !self.any.load(Relaxed) {
            self.any.store(true, Relaxed);
        }
    }

    /// The names that no record had, if there were records.
    pub(super) fn unmet(&self) -> Vec<&str> {
        let all = || self.select.iter().chain(&self.condition);
        let is_met = |name: &str| all().any(|(other, met)| other == name && met.load(Relaxed));
        let mut names: Vec<_> = all().map(|(name, _)| name.as_str()).filter(|name| !is_met(name)).collect();
        names.dedup();
        if self.any.load(Relaxed) { names } else { Vec::new() }
    }
}

fn note(names: &[(String, AtomicBool)], met: &[bool]) {
    names.iter().zip(met).filter(|(_, met)| **met).for_each(|((_, flag), _)| flag.store(true, Relaxed));
}

//! Which of several patterns lead to where a stream is.

use crate::event::Pattern;

/// Follows a stream down to where no pattern leads any more: whoever asks counts the levels below himself.
#[derive(Clone, Debug)]
pub(super) struct Tracker {
    patterns: Vec<Pattern>,
    /// The patterns that lead into each level, and behind them those that lead to the next value.
    active: Vec<u32>,
    levels: Vec<Level>,
}

#[derive(Clone, Copy, Debug)]
struct Level {
    /// Of its patterns.
    start: usize,
    end: usize,
    object: bool,
    /// Of the next element.
    index: u64,
}

/// Where the patterns lead that lead to a value.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Leads {
    /// The first that ends there.
    pub(super) there: Option<usize>,
    /// Whether one goes on.
    pub(super) further: bool,
}

impl Tracker {
    pub(super) fn new(patterns: Vec<Pattern>) -> Self {
        Self { patterns, active: Vec::new(), levels: Vec::new() }
    }

    /// A record begins.
    pub(super) fn restart(&mut self) {
        self.levels.clear();
        self.active.clear();
        self.active.extend(0..self.patterns.len() as u32);
    }

    /// The record's value.
    pub(super) fn root(&self) -> Leads {
        self.leads(0)
    }

    /// The value is an array or object, and somebody looks inside.
    pub(super) fn enter(&mut self, object: bool) {
        let start = self.levels.last().map_or(0, |level| level.end);
        self.levels.push(Level { start, end: self.active.len(), object, index: 0 });
    }

    pub(super) fn leave(&mut self) {
        if let Some(level) = self.levels.pop() {
            self.active.truncate(level.start);
        }
    }

    /// Whether the innermost of what was entered is an array.
    #[inline]
    pub(super) fn is_in_array(&self) -> bool {
        self.levels.last().is_some_and(|level| !level.object)
    }

    /// Whether nothing was entered.
    pub(super) fn is_at_root(&self) -> bool {
        self.levels.is_empty()
    }

    /// The value behind a key.
    pub(super) fn key(&mut self, key: &str) -> Leads {
        self.step(|pattern, depth| pattern.segments()[depth].is_key(key))
    }

    /// The next element.
    pub(super) fn element(&mut self) -> Leads {
        let Some(level) = self.levels.last_mut() else { return Leads::default() };
        let index = level.index;
        level.index += 1;
        self.step(|pattern, depth| pattern.segments()[depth].is_index(index))
    }

    fn step(&mut self, leads: impl Fn(&Pattern, usize) -> bool) -> Leads {
        let Some(&Level { start, end, .. }) = self.levels.last() else { return Leads::default() };
        let depth = self.levels.len() - 1;
        self.active.truncate(end);
        for at in start..end {
            let number = self.active[at];
            let pattern = &self.patterns[number as usize];
            if pattern.segments().len() > depth && leads(pattern, depth) {
                self.active.push(number);
            }
        }
        self.leads(end)
    }

    /// Of the patterns from here on, which lead to a value in what was entered.
    fn leads(&self, start: usize) -> Leads {
        let depth = self.levels.len();
        let mut leads = Leads::default();
        for &number in &self.active[start..] {
            if self.patterns[number as usize].segments().len() > depth {
                leads.further = true;
            } else if leads.there.is_none() {
                leads.there = Some(number as usize);
            }
        }
        leads
    }
}

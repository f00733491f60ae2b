//! Which of several patterns lead to where a stream is.

use crate::event::{KeyTable, Pattern};

/// Follows a stream down to where no pattern leads any more: whoever asks counts the levels below himself.
///
/// An automaton, made as it is needed: a state is a set of patterns that lead to a value, and a key is looked up once however many
/// patterns there are.
#[derive(Clone, Debug)]
pub(super) struct Tracker {
    patterns: Vec<Pattern>,
    /// The first is the record's value's.
    states: Vec<State>,
    levels: Vec<Level>,
    /// The state of the value that comes next.
    next: u32,
    /// A key that comes again in its object leads nowhere.
    first_only: bool,
    /// By level, a bit for each key that came, where that is asked for.
    seen: Vec<u64>,
}

/// The patterns that lead to a value.
#[derive(Clone, Debug)]
struct State {
    patterns: Vec<u32>,
    /// How many steps below the record it is.
    depth: usize,
    leads: Leads,
    /// The keys by which some lead on.
    keys: KeyTable,
    /// By key, the state behind it, if it is known.
    behind: Vec<u32>,
    /// The same by index.
    elements: Vec<(u64, u32)>,
    /// The state behind all other keys and indices.
    other: u32,
}

/// No state yet.
const UNKNOWN: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Level {
    state: u32,
    object: bool,
    /// Of the next element.
    index: u64,
    /// Where its keys' bits begin.
    seen_at: usize,
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
        let all = (0..patterns.len() as u32).collect();
        let mut tracker =
            Self { patterns, states: Vec::new(), levels: Vec::new(), next: 0, first_only: false, seen: Vec::new() };
        tracker.state(all, 0);
        tracker
    }

    /// A key that comes again in its object leads nowhere.
    pub(super) fn first_only(mut self) -> Self {
        self.first_only = true;
        self
    }

    /// A record begins.
    pub(super) fn restart(&mut self) {
        self.levels.clear();
        self.seen.clear();
        self.next = 0;
    }

    /// The record's value.
    pub(super) fn root(&self) -> Leads {
        self.states[0].leads
    }

    /// The value is an array or object, and somebody looks inside.
    pub(super) fn enter(&mut self, object: bool) {
        let seen_at = self.seen.len();
        self.levels.push(Level { state: self.next, object, index: 0, seen_at });
        if self.first_only && object {
            let keys = self.states[self.next as usize].keys.len();
            self.seen.resize(seen_at + keys.div_ceil(64), 0);
        }
    }

    pub(super) fn leave(&mut self) {
        if let Some(level) = self.levels.pop() {
            self.seen.truncate(level.seen_at);
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
    #[inline]
    pub(super) fn key(&mut self, key: &str) -> Leads {
        let Some(level) = self.levels.last() else { return Leads::default() };
        let state = &self.states[level.state as usize];
        self.next = match state.keys.get(key) {
            Some(number) => {
                if self.first_only {
                    let (seen, bit) = (&mut self.seen[level.seen_at + number as usize / 64], 1 << (number % 64));
                    if *seen & bit != 0 {
                        return Leads::default();
                    }
                    *seen |= bit;
                }
                state.behind[number as usize]
            }
            None => state.other,
        };
        if self.next == UNKNOWN {
            self.find_key(key);
        }
        self.states[self.next as usize].leads
    }

    /// The next element.
    pub(super) fn element(&mut self) -> Leads {
        let Some(level) = self.levels.last_mut() else { return Leads::default() };
        let index = level.index;
        level.index += 1;
        let state = &self.states[level.state as usize];
        let known = state.elements.iter().find(|(known, _)| *known == index);
        self.next = known.map_or(state.other, |(_, next)| *next);
        if self.next == UNKNOWN {
            self.find_element(index);
        }
        self.states[self.next as usize].leads
    }

    #[cold]
    fn find_key(&mut self, key: &str) {
        let Some(&Level { state, .. }) = self.levels.last() else { return };
        self.next = self.step(state, |pattern, depth| pattern.segments()[depth].is_key(key));
        let state = &mut self.states[state as usize];
        match state.keys.get(key) {
            Some(number) => state.behind[number as usize] = self.next,
            None => state.other = self.next,
        }
    }

    #[cold]
    fn find_element(&mut self, index: u64) {
        let Some(&Level { state, .. }) = self.levels.last() else { return };
        self.next = self.step(state, |pattern, depth| pattern.segments()[depth].is_index(index));
        let state = &mut self.states[state as usize];
        match state.elements.iter_mut().find(|(known, _)| *known == index) {
            Some((_, next)) => *next = self.next,
            None => state.other = self.next,
        }
    }

    fn step(&mut self, state: u32, leads: impl Fn(&Pattern, usize) -> bool) -> u32 {
        let State { patterns, depth, .. } = &self.states[state as usize];
        let depth = *depth;
        let leads = |number: &u32| {
            let pattern = &self.patterns[*number as usize];
            pattern.segments().len() > depth && leads(pattern, depth)
        };
        let patterns = patterns.iter().copied().filter(leads).collect();
        self.state(patterns, depth + 1)
    }

    /// The state of these patterns, which is made if there is none.
    fn state(&mut self, patterns: Vec<u32>, depth: usize) -> u32 {
        let known = self.states.iter().position(|state| state.depth == depth && state.patterns == patterns);
        if let Some(known) = known {
            return known as u32;
        }
        let mut state = State {
            patterns,
            depth,
            leads: Leads::default(),
            keys: KeyTable::new(),
            behind: Vec::new(),
            elements: Vec::new(),
            other: UNKNOWN,
        };
        for &number in &state.patterns {
            let segments = self.patterns[number as usize].segments();
            let Some(segment) = segments.get(depth) else {
                state.leads.there.get_or_insert(number as usize);
                continue;
            };
            state.leads.further = true;
            let Some((key, index)) = segment.name() else { continue };
            state.keys.insert(key);
            if let Some(index) = index
                && !state.elements.iter().any(|(known, _)| *known == index)
            {
                state.elements.push((index, UNKNOWN));
            }
        }
        state.behind = vec![UNKNOWN; state.keys.len()];
        self.states.push(state);
        self.states.len() as u32 - 1
    }
}

//! Tracks which of several patterns lead to the current position in a stream.

use crate::event::{KeyTable, Pattern};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// Follows a stream down to the levels where a pattern still leads further. The caller counts the levels below that.
///
/// It is a lazily built automaton: a state is the set of patterns that lead to a value. A key is looked up once,
/// whatever the number of patterns.
#[derive(Clone, Debug)]
pub(super) struct Tracker {
    patterns: Vec<Pattern>,
    /// All states; the first is that of the record's value.
    states: Vec<TrackerState>,
    /// A state's number, by its depth and its patterns.
    known: HashMap<(usize, Vec<u32>), u32>,
    levels: Vec<Level>,
    /// The state of the value that comes next.
    next: u32,
    /// Only the first occurrence of a key in its object matches.
    first_only: bool,
    /// For each level, one bit for each key that has occurred; used only with `first_only`.
    seen: Vec<u64>,
}

/// The patterns that lead to a value.
#[derive(Clone, Debug)]
struct TrackerState {
    /// The number of steps from the record to the value.
    depth: usize,
    leads: Leads,
    /// The names by which some patterns lead on. A name is a key, and also an index if it can be one.
    names: KeyTable,
    /// By name: the patterns that lead on by that name alone, and the next state, if it is known.
    behind: Vec<(Vec<u32>, u32)>,
    /// The names that can be an index, sorted by index.
    indices: Vec<(u64, u32)>,
    /// The patterns that lead on by any key or index.
    any: Vec<u32>,
    /// The next state for all other keys and indices.
    other: u32,
}

/// The state is not made yet.
const UNKNOWN: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Level {
    state: u32,
    object: bool,
    /// Index of the next element.
    index: u64,
    /// Where the bits of its keys begin in `seen`.
    seen_at: usize,
}

/// Where the patterns lead that match up to a value.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Leads {
    /// The first pattern that ends at the value.
    pub(super) there: Option<usize>,
    /// Whether a pattern leads further.
    pub(super) further: bool,
}

#[cfg_attr(not(feature = "serde"), allow(dead_code, reason = "only types count elements and name paths"))]
impl Tracker {
    pub(super) fn new(patterns: Vec<Pattern>) -> Self {
        let all = (0..patterns.len() as u32).collect();
        let mut tracker = Self {
            patterns,
            states: Vec::new(),
            known: HashMap::new(),
            levels: Vec::new(),
            next: 0,
            first_only: false,
            seen: Vec::new(),
        };
        tracker.state(all, 0);
        tracker
    }

    /// Only the first occurrence of a key in its object matches.
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

    /// Where the patterns lead from the record's value.
    pub(super) fn root(&self) -> Leads {
        self.states[0].leads
    }

    /// Where the patterns lead from the value that comes next.
    pub(super) fn here(&self) -> Leads {
        self.states[self.next as usize].leads
    }

    /// The value is an array or object, and the caller follows its contents.
    pub(super) fn enter(&mut self, object: bool) {
        let seen_at = self.seen.len();
        self.levels.push(Level { state: self.next, object, index: 0, seen_at });
        if self.first_only && object {
            let keys = self.states[self.next as usize].names.len();
            self.seen.resize(seen_at + keys.div_ceil(64), 0);
        }
    }

    pub(super) fn leave(&mut self) {
        if let Some(level) = self.levels.pop() {
            self.seen.truncate(level.seen_at);
        }
    }

    /// Whether the innermost container that was entered is an array.
    #[inline]
    pub(super) fn is_in_array(&self) -> bool {
        self.levels.last().is_some_and(|level| !level.object)
    }

    /// From the outermost container that was entered to the innermost: the index of its last element, or none if it is an
    /// object.
    pub(super) fn indices(&self) -> impl DoubleEndedIterator<Item = Option<u64>> + ExactSizeIterator {
        self.levels.iter().map(|level| (!level.object).then(|| level.index.saturating_sub(1)))
    }

    /// The number of containers that were entered.
    #[inline]
    pub(super) fn depth(&self) -> usize {
        self.levels.len()
    }

    /// Whether no container was entered.
    pub(super) fn is_at_root(&self) -> bool {
        self.levels.is_empty()
    }

    /// Goes to the value of a key.
    #[inline]
    pub(super) fn key(&mut self, key: &str) -> Leads {
        // A source that breaks the protocol may send a key in an array, which has no bits for its keys.
        let Some(level) = self.levels.last().filter(|level| level.object) else { return Leads::default() };
        let (at, seen_at) = (level.state, level.seen_at);
        let name = self.states[at as usize].names.get(key);
        if let Some(name) = name
            && self.first_only
        {
            let (seen, bit) = (&mut self.seen[seen_at + name as usize / 64], 1 << (name % 64));
            if *seen & bit != 0 {
                return Leads::default();
            }
            *seen |= bit;
        }
        self.go(at, name)
    }

    /// Goes to the next element.
    pub(super) fn element(&mut self) -> Leads {
        let Some(level) = self.levels.last_mut() else { return Leads::default() };
        let (at, index) = (level.state, level.index);
        level.index += 1;
        let indices = &self.states[at as usize].indices;
        let name = indices.binary_search_by_key(&index, |(index, _)| *index).ok().map(|found| indices[found].1);
        self.go(at, name)
    }

    /// Counts an element of an array without going to it.
    #[inline]
    pub(super) fn count_element(&mut self) {
        if let Some(level) = self.levels.last_mut() {
            level.index += 1;
        }
    }

    /// Goes from a state to the next one, by one of its names or by none of them.
    #[inline]
    fn go(&mut self, at: u32, name: Option<u32>) -> Leads {
        let state = &self.states[at as usize];
        self.next = name.map_or(state.other, |name| state.behind[name as usize].1);
        if self.next == UNKNOWN {
            self.next = self.find(at, name);
        }
        self.states[self.next as usize].leads
    }

    #[cold]
    fn find(&mut self, at: u32, name: Option<u32>) -> u32 {
        let state = &self.states[at as usize];
        let named = name.map_or(&[][..], |name| &state.behind[name as usize].0);
        let mut patterns = [&state.any[..], named].concat();
        patterns.sort_unstable();
        let next = self.state(patterns, state.depth + 1);
        let state = &mut self.states[at as usize];
        match name {
            Some(name) => state.behind[name as usize].1 = next,
            None => state.other = next,
        }
        next
    }

    /// The state of these patterns, which is made if it does not exist.
    fn state(&mut self, patterns: Vec<u32>, depth: usize) -> u32 {
        let fresh = self.states.len() as u32;
        let known = match self.known.entry((depth, patterns)) {
            Entry::Occupied(known) => return *known.get(),
            Entry::Vacant(vacant) => vacant,
        };
        let mut state = TrackerState {
            depth,
            leads: Leads::default(),
            names: KeyTable::new(),
            behind: Vec::new(),
            indices: Vec::new(),
            any: Vec::new(),
            other: UNKNOWN,
        };
        for &number in &known.key().1 {
            let Some(segment) = self.patterns[number as usize].segments().get(depth) else {
                state.leads.there.get_or_insert(number as usize);
                continue;
            };
            state.leads.further = true;
            let Some((key, index)) = segment.name() else {
                state.any.push(number);
                continue;
            };
            let name = state.names.insert(key);
            if name as usize == state.behind.len() {
                state.behind.push((Vec::new(), UNKNOWN));
                state.indices.extend(index.map(|index| (index, name)));
            }
            state.behind[name as usize].0.push(number);
        }
        state.indices.sort_unstable();
        self.states.push(state);
        *known.insert(fresh)
    }
}

//! Which of several patterns lead to where a stream is.

use crate::event::pattern::Segment;
use crate::event::{KeyTable, Pattern};

/// Follows a stream down to where no pattern leads any more: whoever asks counts the levels below himself.
#[derive(Clone, Debug)]
pub(super) struct Tracker {
    /// The patterns as a tree; the first is its root.
    nodes: Vec<Node>,
    /// The nodes that lead into each level, and behind them those that the next value is at. One each, where no pattern has a `*`.
    active: Vec<u32>,
    levels: Vec<Level>,
}

/// Where patterns go on that have begun alike.
#[derive(Clone, Debug, Default)]
struct Node {
    /// The names that they go on with, and their nodes.
    names: KeyTable,
    children: Vec<u32>,
    /// Those of the names that may be indexes.
    indexes: Vec<(u64, u32)>,
    /// Behind `*`.
    any: Option<u32>,
    /// Which pattern ends here first, and whether one goes on.
    leads: Leads,
    /// The name that comes next if keys come in the same order again.
    guess: u32,
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
        let mut nodes = vec![Node::default()];
        for (number, pattern) in patterns.iter().enumerate() {
            let mut at = 0;
            for segment in pattern.segments() {
                let new = nodes.len() as u32;
                at = nodes[at].grow(segment, new) as usize;
                if at == nodes.len() {
                    nodes.push(Node::default());
                }
            }
            nodes[at].leads.there.get_or_insert(number);
        }
        Self { nodes, active: Vec::new(), levels: Vec::new() }
    }

    /// A record begins.
    pub(super) fn restart(&mut self) {
        self.levels.clear();
        self.active.clear();
        self.active.push(0);
    }

    /// The record's value.
    pub(super) fn root(&self) -> Leads {
        self.nodes[0].leads
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
    #[inline]
    pub(super) fn key(&mut self, key: &str) -> Leads {
        self.step(|node| node.member(key))
    }

    /// The next element.
    pub(super) fn element(&mut self) -> Leads {
        let Some(level) = self.levels.last_mut() else { return Leads::default() };
        let index = level.index;
        level.index += 1;
        self.step(|node| node.indexes.iter().find(|(other, _)| *other == index).map(|(_, child)| *child))
    }

    #[inline]
    fn step(&mut self, child: impl Fn(&mut Node) -> Option<u32>) -> Leads {
        let Some(&Level { start, end, .. }) = self.levels.last() else { return Leads::default() };
        self.active.truncate(end);
        let mut leads = Leads::default();
        for at in start..end {
            let node = &mut self.nodes[self.active[at] as usize];
            let (named, any) = (child(node), node.any);
            for next in [named, any] {
                let Some(next) = next else { continue };
                leads = leads.and(self.nodes[next as usize].leads);
                self.active.push(next);
            }
        }
        leads
    }
}

impl Leads {
    /// Of the patterns of both.
    #[inline]
    fn and(self, other: Self) -> Self {
        let there = match (self.there, other.there) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        Self { there, further: self.further | other.further }
    }
}

impl Node {
    /// The node behind this segment, which is `new` if there is none yet.
    fn grow(&mut self, segment: &Segment, new: u32) -> u32 {
        self.leads.further = true;
        let Segment::Name(name, index) = segment else { return *self.any.get_or_insert(new) };
        let number = self.names.insert(name) as usize;
        if number == self.children.len() {
            self.children.push(new);
            self.indexes.extend(index.map(|index| (index, new)));
        }
        self.children[number]
    }

    /// The node behind a key.
    #[inline]
    fn member(&mut self, key: &str) -> Option<u32> {
        let number = self.names.get_near(key, self.guess)?;
        self.guess = number + 1;
        self.children.get(number as usize).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leads(leads: Leads) -> (Option<usize>, bool) {
        (leads.there, leads.further)
    }

    #[test]
    fn patterns_that_begin_alike_are_followed_together() {
        let patterns = ["/a/b", "/*/c", "/a/*/d", "/a", "/b/0", "/b/00", "/a/b"];
        let patterns = patterns.map(|pattern| pattern.parse().expect("a pattern"));
        let mut tracker = Tracker::new(patterns.into());
        for _ in 0..2 {
            tracker.restart();
            assert_eq!(leads(tracker.root()), (None, true));
            tracker.enter(true);
            assert_eq!(leads(tracker.key("x")), (None, true));
            assert_eq!(leads(tracker.key("a")), (Some(3), true));
            tracker.enter(true);
            assert_eq!(leads(tracker.key("c")), (Some(1), true));
            assert_eq!(leads(tracker.key("b")), (Some(0), true));
            tracker.enter(true);
            assert_eq!(leads(tracker.key("e")), (None, false));
            assert_eq!(leads(tracker.key("d")), (Some(2), false));
            tracker.leave();
            assert_eq!(leads(tracker.key("e")), (None, true));
            tracker.leave();
            assert_eq!(leads(tracker.key("b")), (None, true));
            tracker.enter(false);
            assert!(tracker.is_in_array());
            assert_eq!(leads(tracker.element()), (Some(4), false));
            assert_eq!(leads(tracker.element()), (None, false));
            tracker.leave();
            tracker.leave();
            assert!(tracker.is_at_root());
        }
    }
}

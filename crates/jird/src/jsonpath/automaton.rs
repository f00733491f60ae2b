//! Queries in document order: which segments a node has passed.
//!
//! A node has *passed* `n` segments if it is in the nodelist of the first `n`. That depends on what its parent has
//! passed and on the step from there alone, so one walk over a document decides on every node once, whatever is nested in
//! what. The numbers of passed segments are the states of a nondeterministic automaton; a node that has passed all is a
//! result. How *often* RFC 9535 would list a node is lost, and so is its order of nodes.

use super::nodes::ChildStep;
use super::syntax::{Segment, Selector, normal_index};

/// The states of the open containers, each container's in ascending order.
#[derive(Debug, Default)]
pub(super) struct States {
    all: Vec<u32>,
}

/// The states of one node: a range in [`States`].
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct NodeStates {
    from: usize,
    to: usize,
}

/// A child, as far as selectors look at it.
#[derive(Clone, Copy)]
pub(super) struct Child<'s> {
    pub(super) step: StepText<'s>,
    /// The number of elements of the array; 0 if it is not known, or of no use.
    pub(super) len: usize,
}

/// The step to a child, decoded or on the tape.
#[derive(Clone, Copy)]
pub(super) enum StepText<'s> {
    Key(&'s str),
    Tape(ChildStep<'s>),
    Index(usize),
}

impl StepText<'_> {
    fn is_key(self, name: &str) -> bool {
        match self {
            Self::Key(key) => key == name,
            Self::Tape(ChildStep::Key(key)) => key.is_str(name),
            _ => false,
        }
    }

    fn index(self) -> Option<usize> {
        match self {
            Self::Index(index) | Self::Tape(ChildStep::Index(index)) => Some(index),
            _ => None,
        }
    }
}

/// Which names of an object's segments were met: of members with one key, only the first is selected.
pub(super) type Met = Vec<(u32, u32)>;

impl States {
    /// Forgets everything, and returns the states of the root.
    pub(super) fn begin(&mut self) -> NodeStates {
        self.all.clear();
        self.all.push(0);
        NodeStates { from: 0, to: 1 }
    }

    /// The same for a node with these states.
    pub(super) fn begin_with(&mut self, states: &[u32]) -> NodeStates {
        self.all.clear();
        self.all.extend_from_slice(states);
        NodeStates { from: 0, to: states.len() }
    }

    pub(super) fn of(&self, node: NodeStates) -> &[u32] {
        &self.all[node.from..node.to]
    }

    /// Adds the states of a child of `parent`, and forgets those that came after the parent's. `passes` says whether
    /// the child passes a filter.
    #[inline]
    pub(super) fn child(
        &mut self,
        segments: &[Segment],
        parent: NodeStates,
        child: Child<'_>,
        met: &mut Met,
        mut passes: impl FnMut(&super::syntax::Test) -> bool,
    ) -> NodeStates {
        self.all.truncate(parent.to);
        for at in parent.from..parent.to {
            let state = self.all[at];
            let Some(segment) = segments.get(state as usize) else { continue };
            if segment.descends && self.all[parent.to..].last() != Some(&state) {
                self.all.push(state);
            }
            if selects(segment, state, child, met, &mut passes) {
                self.all.push(state + 1);
            }
        }
        NodeStates { from: parent.to, to: self.all.len() }
    }
}

impl NodeStates {
    pub(super) fn is_empty(self) -> bool {
        self.from == self.to
    }

    /// Whether the node is a result; then its last state is taken away.
    pub(super) fn take_result(&mut self, states: &States, segments: &[Segment]) -> bool {
        let is_result = states.of(*self).last().is_some_and(|&state| state as usize == segments.len());
        self.to -= usize::from(is_result);
        is_result
    }
}

/// Whether a segment selects a child of a node that has passed the segments before it.
#[inline]
fn selects(
    segment: &Segment,
    state: u32,
    child: Child<'_>,
    met: &mut Met,
    passes: &mut impl FnMut(&super::syntax::Test) -> bool,
) -> bool {
    let mut is_selected = false;
    for (number, selector) in segment.selectors.iter().enumerate() {
        is_selected |= match selector {
            Selector::Name(name) => {
                child.step.is_key(name) && {
                    let name = (state, number as u32);
                    let is_first = !met.contains(&name);
                    met.push(name);
                    is_first
                }
            }
            Selector::Wildcard => true,
            Selector::Index(index) if *index >= 0 => {
                child.step.index().is_some_and(|found| u64::try_from(*index) == Ok(found as u64))
            }
            Selector::Index(index) => {
                child.step.index().is_some_and(|found| normal_index(*index, child.len) == Some(found))
            }
            Selector::Slice(slice) if slice.counts_from_end() => {
                child.step.index().is_some_and(|index| slice.has(index, child.len))
            }
            Selector::Slice(slice) => child.step.index().is_some_and(|index| slice.has(index, index.saturating_add(1))),
            Selector::Filter(test) => !is_selected && passes(test),
        };
    }
    is_selected
}

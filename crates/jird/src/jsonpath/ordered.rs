//! Nodes of a parsed value in document order, each once.

use super::automaton::{Child, Met, NodeStates, States, StepText};
use super::evaluation::Evaluation;
use super::nodes::{ChildStep, Children};
use super::syntax::Segment;
use crate::path::Path;
use crate::tape::Value;

/// A walk over a value: visits each node that can lead to a result once.
pub(super) struct OrderedWalk<'p, 'a> {
    segments: &'p [Segment],
    states: States,
    /// The containers around the next node, outermost first.
    levels: Vec<OpenNode<'a>>,
    /// The node that comes first, if it was not looked at.
    start: Option<(Value<'a>, NodeStates)>,
    /// The step to the last node, if that is not a level.
    last: Option<ChildStep<'a>>,
}

struct OpenNode<'a> {
    children: Children<'a>,
    len: usize,
    states: NodeStates,
    met: Met,
    /// The step to the child that is open.
    step: ChildStep<'a>,
}

impl<'p, 'a> OrderedWalk<'p, 'a> {
    /// A walk that begins at the root of a query.
    pub(super) fn new(segments: &'p [Segment], root: Value<'a>) -> Self {
        let mut states = States::default();
        let start = states.begin();
        Self { segments, states, levels: Vec::new(), start: Some((root, start)), last: None }
    }

    /// A walk that begins at a node that has passed segments before.
    pub(super) fn from_states(segments: &'p [Segment], node: Value<'a>, passed: &[u32]) -> Self {
        let mut states = States::default();
        let start = states.begin_with(passed);
        Self { segments, states, levels: Vec::new(), start: Some((node, start)), last: None }
    }

    /// The next node.
    pub(super) fn next(&mut self, run: &Evaluation<'a>) -> Option<Value<'a>> {
        self.last = None;
        if let Some((root, states)) = self.start.take()
            && self.enters(root, states)
        {
            return Some(root);
        }
        loop {
            let level = self.levels.last_mut()?;
            let Some((step, child)) = level.children.next().filter(|_| run.may_step(1)) else {
                self.levels.pop();
                continue;
            };
            level.step = step;
            let look = Child { step: StepText::Tape(step), len: level.len };
            let states =
                self.states.child(self.segments, level.states, look, &mut level.met, |test| run.passes(test, child));
            let depth = self.levels.len();
            if self.enters(child, states) {
                self.last = (self.levels.len() == depth).then_some(step);
                return Some(child);
            }
        }
    }

    /// Opens the node if something in it may be selected. Returns whether it is a result.
    fn enters(&mut self, node: Value<'a>, mut states: NodeStates) -> bool {
        let is_result = states.take_result(&self.states, self.segments);
        if !states.is_empty() && node.kind().is_container() {
            let (children, len, step) = (Children::of(node), node.len(), ChildStep::Index(0));
            self.levels.push(OpenNode { children, len, states, met: Met::new(), step });
        }
        is_result
    }

    /// The path from the start to the last node, after `before`.
    pub(super) fn path(&self, before: Path) -> Path {
        // The innermost level is the node itself, if it was opened.
        let around = self.levels.len().saturating_sub(usize::from(self.last.is_none()));
        let steps = self.levels[..around].iter().map(|level| level.step);
        match self.last {
            Some(_) => self.levels.iter().map(|level| level.step).fold(before, |path, step| step.add_to(path)),
            None => steps.fold(before, |path, step| step.add_to(path)),
        }
    }
}

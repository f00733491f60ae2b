//! The nodes of a query in the order of RFC 9535, one by one.
//!
//! The nodelist of a segment is the concatenation of what it selects from each node of the segment before (§2.5). So the
//! first node of the whole query is found by going into the first node of each segment, and the next one by going on in
//! the innermost segment that has more: no nodelist is kept, only a place in each segment.

use super::evaluation::Evaluation;
use super::syntax::{Segment, Selector, normal_index};
use crate::path::Path;
use crate::tape::{Elements, Entries, Kind, Value};

/// The step from a container to a child.
#[derive(Clone, Copy, Debug)]
pub(super) enum ChildStep<'a> {
    Key(Value<'a>),
    Index(usize),
}

impl ChildStep<'_> {
    /// The path with this step.
    pub(super) fn add_to(self, path: Path) -> Path {
        match self {
            Self::Key(key) => path.key(key.as_str().unwrap_or_default()),
            Self::Index(index) => path.index(index),
        }
    }
}

/// The children of a container.
#[derive(Clone)]
pub(super) enum Children<'a> {
    Members(Entries<'a>),
    Elements(Elements<'a>, usize),
    None,
}

impl<'a> Children<'a> {
    pub(super) fn of(value: Value<'a>) -> Self {
        match value.kind() {
            Kind::Object => Self::Members(value.entries()),
            Kind::Array => Self::Elements(value.elements(), 0),
            _ => Self::None,
        }
    }
}

impl<'a> Iterator for Children<'a> {
    type Item = (ChildStep<'a>, Value<'a>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Members(entries) => entries.next().map(|(key, value)| (ChildStep::Key(key), value)),
            Self::Elements(elements, index) => {
                let value = elements.next()?;
                *index += 1;
                Some((ChildStep::Index(*index - 1), value))
            }
            Self::None => None,
        }
    }
}

/// A walk over the nodes that segments select.
pub(super) struct NodeWalk<'p, 'a> {
    segments: &'p [Segment],
    start: Option<Value<'a>>,
    /// The place in each segment, as far as the walk has gone into them.
    stages: Vec<Stage<'p, 'a>>,
}

/// The place in a segment: what comes next of what it selects from one node.
struct Stage<'p, 'a> {
    segment: &'p Segment,
    /// For `..`: the containers around `container`, from the node on; what comes next in each, and the step that was
    /// taken last.
    around: Vec<(Children<'a>, ChildStep<'a>)>,
    /// The container whose children are selected.
    container: Value<'a>,
    /// The selectors that were not begun.
    selectors: &'p [Selector],
    selected: Selected<'p, 'a>,
    /// The step to the last child.
    step: ChildStep<'a>,
}

/// What is left of what a selector selects.
enum Selected<'p, 'a> {
    Nothing,
    One(ChildStep<'a>, Value<'a>),
    All(Children<'a>),
    Passing(Children<'a>, &'p super::syntax::Test),
    /// Every `step`-th element, and how many of them are left.
    Slice {
        elements: Elements<'a>,
        index: usize,
        step: usize,
        left: usize,
    },
    /// Elements in the opposite order, the next one last.
    Backwards(Vec<(usize, Value<'a>)>),
}

impl<'p, 'a> NodeWalk<'p, 'a> {
    pub(super) fn new(segments: &'p [Segment], start: Value<'a>) -> Self {
        Self { segments, start: Some(start), stages: Vec::new() }
    }

    /// The next node.
    pub(super) fn next(&mut self, run: &Evaluation<'a>) -> Option<Value<'a>> {
        let mut node = self.start.take();
        loop {
            if let Some(value) = node {
                let Some(segment) = self.segments.get(self.stages.len()) else { return Some(value) };
                self.stages.push(Stage::new(segment, value));
            }
            node = self.stages.last_mut()?.next(run);
            if node.is_none() {
                self.stages.pop();
            }
        }
    }

    /// The path from the start to the last node.
    pub(super) fn path(&self) -> Path {
        let steps = self.stages.iter().flat_map(|stage| stage.around.iter().map(|(_, step)| *step).chain([stage.step]));
        steps.fold(Path::root(), |path, step| step.add_to(path))
    }
}

impl<'p, 'a> Stage<'p, 'a> {
    fn new(segment: &'p Segment, node: Value<'a>) -> Self {
        Self {
            segment,
            around: Vec::new(),
            container: node,
            selectors: &segment.selectors,
            selected: Selected::Nothing,
            step: ChildStep::Index(0),
        }
    }

    fn next(&mut self, run: &Evaluation<'a>) -> Option<Value<'a>> {
        loop {
            if let Some((step, value)) = self.selected.next(run) {
                self.step = step;
                return Some(value);
            }
            if run.is_exhausted() {
                return None;
            }
            if let Some((selector, rest)) = self.selectors.split_first() {
                self.selectors = rest;
                self.selected = Selected::new(selector, self.container, run);
            } else {
                self.container = self.next_container(run)?;
                self.selectors = &self.segment.selectors;
            }
        }
    }

    /// For `..`: the next container below the node, in document order.
    fn next_container(&mut self, run: &Evaluation<'a>) -> Option<Value<'a>> {
        if !self.segment.descends {
            return None;
        }
        self.around.push((Children::of(self.container), ChildStep::Index(0)));
        while let Some((children, last)) = self.around.last_mut() {
            for (step, child) in children {
                if !run.may_step(1) {
                    return None;
                }
                if child.kind().is_container() {
                    *last = step;
                    return Some(child);
                }
            }
            self.around.pop();
        }
        None
    }
}

impl<'p, 'a> Selected<'p, 'a> {
    fn new(selector: &'p Selector, node: Value<'a>, run: &Evaluation<'a>) -> Self {
        match selector {
            Selector::Wildcard => Self::All(Children::of(node)),
            Selector::Filter(test) => Self::Passing(Children::of(node), test),
            _ if !run.may_step(1 + node.len() as u64) => Self::Nothing,
            Selector::Name(name) => match node.entries().find(|(key, _)| key.is_str(name)) {
                Some((key, value)) => Self::One(ChildStep::Key(key), value),
                None => Self::Nothing,
            },
            Selector::Index(index) => {
                let found = normal_index(*index, node.len()).and_then(|index| Some((index, node.at(index)?)));
                found.map_or(Self::Nothing, |(index, value)| Self::One(ChildStep::Index(index), value))
            }
            Selector::Slice(slice) if node.kind() == Kind::Array => {
                let elements = node.elements();
                match slice.bounds(node.len()) {
                    (from, to, step @ 1..) => Self::slice(elements, from, to, step),
                    (from, to, _) => {
                        let has = |(index, _): &(usize, _)| slice.has(*index, node.len());
                        let from = usize::try_from(from + 1).unwrap_or(0);
                        let range = elements.enumerate().take(from).skip(usize::try_from(to + 1).unwrap_or(0));
                        Self::Backwards(range.filter(has).collect())
                    }
                }
            }
            Selector::Slice(_) => Self::Nothing,
        }
    }

    fn slice(mut elements: Elements<'a>, from: i64, to: i64, step: i64) -> Self {
        let number = |number: i64| usize::try_from(number).unwrap_or(0);
        let (index, step) = (number(from), number(step));
        if index > 0 {
            elements.nth(index - 1);
        }
        Self::Slice { elements, index, step, left: number(to - from).div_ceil(step) }
    }

    #[inline]
    fn next(&mut self, run: &Evaluation<'a>) -> Option<(ChildStep<'a>, Value<'a>)> {
        match self {
            Self::Nothing => None,
            Self::One(step, value) => {
                let one = (*step, *value);
                *self = Self::Nothing;
                Some(one)
            }
            Self::All(children) => children.next().filter(|_| run.may_step(1)),
            Self::Passing(children, test) => {
                children.take_while(|_| run.may_step(1)).find(|(_, child)| run.passes(test, *child))
            }
            Self::Slice { elements, index, step, left } => {
                *left = left.checked_sub(1)?;
                let value = elements.next()?;
                let at = *index;
                *index += *step;
                if *left > 0 && *step > 1 {
                    elements.nth(*step - 2);
                }
                Some((ChildStep::Index(at), value))
            }
            Self::Backwards(left) => left.pop().map(|(index, value)| (ChildStep::Index(index), value)),
        }
    }
}

//! Filters at work: tests of a node (RFC 9535 §2.3.5 and §2.4), and what a run over one document remembers.

use super::compare::Comparable;
use super::nodes::NodeWalk;
use super::pattern::{Pattern, PatternSource, compile};
use super::steps::Steps;
use super::syntax::{Operand, Start, Subquery, Test};
use crate::tape::Value;
use core::cell::RefCell;
use regex::Regex;

/// One run of a query over one document.
pub(super) struct Evaluation<'a> {
    /// The document's root, which `$` stands for.
    root: Value<'a>,
    memos: RefCell<Vec<Memo<'a>>>,
    steps: Steps,
}

/// What is computed once for all nodes, or kept from the node before.
#[derive(Clone, Debug, Default)]
enum Memo<'a> {
    #[default]
    Empty,
    /// What an absolute query has found.
    Nodes(Findings<'a>),
    /// A pattern that is not a literal, compiled; `None` if it is not an I-Regexp.
    Pattern(Box<str>, Option<Regex>),
}

/// How many nodes a query has found, and the first.
#[derive(Clone, Copy, Debug)]
struct Findings<'a> {
    count: usize,
    first: Option<Value<'a>>,
}

impl<'a> Evaluation<'a> {
    pub(super) fn new(root: Value<'a>, memos: usize, steps_max: u64) -> Self {
        Self { root, memos: RefCell::new(vec![Memo::Empty; memos]), steps: Steps::new(steps_max) }
    }

    /// As [`Steps::may_step`].
    #[inline]
    pub(super) fn may_step(&self, steps: u64) -> bool {
        self.steps.may_step(steps)
    }

    /// As [`Steps::is_exhausted`].
    #[inline]
    pub(super) fn is_exhausted(&self) -> bool {
        self.steps.is_exhausted()
    }

    /// Whether a node passes a test.
    pub(super) fn passes(&self, test: &Test, node: Value<'a>) -> bool {
        match test {
            Test::Any(tests) => tests.iter().any(|test| self.passes(test, node)),
            Test::All(tests) => tests.iter().all(|test| self.passes(test, node)),
            Test::Not(test) => !self.passes(test, node),
            Test::Compare(left, comparison, right) => {
                self.operand(left, node).compare(*comparison, &self.operand(right, node), &self.steps)
            }
            Test::Exists(query) => self.found(query, node, 1).count > 0,
            Test::Matches(text, pattern) => match self.operand(text, node) {
                Comparable::String(text) => self.matches(&text, pattern, node),
                _ => false,
            },
        }
    }

    fn operand<'v>(&self, operand: &'v Operand, node: Value<'a>) -> Comparable<'v>
    where
        'a: 'v,
    {
        match operand {
            Operand::Null => Comparable::Null,
            Operand::Bool(value) => Comparable::Bool(*value),
            Operand::Number(text) => Comparable::Number(crate::number::Number::of_checked(text)),
            Operand::String(text) => Comparable::String((&**text).into()),
            Operand::Singular(query) => self.found(query, node, 1).first.map_or(Comparable::Nothing, Comparable::of),
            Operand::Length(operand) => self.operand(operand, node).length(),
            Operand::Count(query) => Comparable::Count(self.found(query, node, usize::MAX).count),
            Operand::Value(query) => match self.found(query, node, 2) {
                Findings { count: 1, first: Some(value) } => Comparable::of(value),
                _ => Comparable::Nothing,
            },
        }
    }

    /// What a query finds, looking for at most `enough` nodes.
    fn found(&self, query: &Subquery, node: Value<'a>, enough: usize) -> Findings<'a> {
        let Start::Root(memo) = query.start else { return self.find(query, node, enough) };
        if let Memo::Nodes(found) = self.memos.borrow()[memo] {
            return found;
        }
        let found = self.find(query, self.root, enough);
        self.memos.borrow_mut()[memo] = Memo::Nodes(found);
        found
    }

    fn find(&self, query: &Subquery, start: Value<'a>, enough: usize) -> Findings<'a> {
        let mut found = Findings { count: 0, first: None };
        let mut walk = NodeWalk::new(&query.query.segments, start);
        while found.count < enough
            && let Some(value) = walk.next(self)
        {
            found.count += 1;
            found.first.get_or_insert(value);
        }
        found
    }

    fn matches(&self, text: &str, pattern: &Pattern, node: Value<'a>) -> bool {
        match &pattern.source {
            PatternSource::Literal(_, regex) => regex.as_ref().is_ok_and(|regex| regex.is_match(text)),
            PatternSource::Computed(operand, memo) => {
                let Comparable::String(source) = self.operand(operand, node) else { return false };
                let mut memos = self.memos.borrow_mut();
                let is_kept = matches!(&memos[*memo], Memo::Pattern(kept, _) if **kept == *source);
                if !is_kept {
                    let compiled = compile(&source, pattern.whole).ok();
                    memos[*memo] = Memo::Pattern((&*source).into(), compiled);
                }
                matches!(&memos[*memo], Memo::Pattern(_, Some(regex)) if regex.is_match(text))
            }
        }
    }
}

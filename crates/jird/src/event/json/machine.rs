//! The grammar, token by token: sends values to a sink, or looks for records. It can stop before any token and go on
//! later.

use super::Failing;
use super::steps::{Steps, Turn};
use crate::error::Error;
use crate::event::{Failure, Interest, Sink};
use crate::scan::{OpenBrackets, Pull, TextSource};
use core::convert::Infallible;

/// What is open, and what must come next.
#[derive(Debug, Default)]
pub(super) struct Machine {
    open: OpenBrackets,
    expect: Expect,
    /// If a value is being skipped: the number of arrays and objects around it.
    skipping: Option<usize>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Expect {
    #[default]
    Value,
    /// The first key of an object, or its end.
    FirstMember,
    /// A key, after a comma.
    Member,
    Colon(Interest),
    /// The first element of an array, or its end.
    FirstElement,
    /// An element, after a comma.
    Element,
    /// A comma, or the end of what is open.
    Next,
}

/// How far it came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Went {
    /// The value is complete.
    Through,
    /// There are no more tokens for now.
    Dry,
}

/// How far to go, and what the sink receives.
#[derive(Clone, Copy)]
pub(super) enum Walk {
    /// To the end of a value that stands in this many arrays and objects, or to what the sink skips.
    Tells { around: usize },
    /// The same, and the sink receives nothing.
    Skips { around: usize },
    /// To before the next value that the sink does not skip, or to the end of the document. If a value comes next, goes into
    /// it first.
    Seeks,
}

/// Receives nothing.
struct Nobody;

impl Sink for Nobody {
    type Error = Infallible;
}

impl Machine {
    /// Forgets what is open.
    pub(super) fn reset(&mut self) {
        *self = Self::default();
    }

    /// Whether nothing is open.
    #[inline]
    pub(super) fn is_outside(&self) -> bool {
        self.open.depth() == 0
    }

    /// Whether a value must come next.
    #[inline]
    pub(super) fn is_before_value(&self) -> bool {
        self.expect == Expect::Value && self.skipping.is_none()
    }

    /// The value that comes next is to be skipped.
    pub(super) fn skip_next(&mut self) {
        self.skipping = Some(self.open.depth());
    }

    /// A value comes next.
    #[inline]
    pub(super) fn expect_value(&mut self) {
        self.expect = Expect::Value;
    }

    /// A value has ended: a comma or a closing bracket comes next, or the next document.
    #[inline]
    pub(super) fn value_ended(&mut self) {
        self.expect = if self.is_outside() { Expect::Value } else { Expect::Next };
    }

    /// Goes on, or begins, as far as `walk` says.
    pub(super) fn run<'de, R: TextSource<'de>, S: Sink>(
        &mut self,
        pull: &mut Pull<R>,
        scratch: &mut String,
        depth_max: usize,
        walk: Walk,
        sink: &mut S,
    ) -> Result<Went, Failing<S::Error>> {
        loop {
            if self.skip(pull, scratch, depth_max).map_err(Failure::Source)? == Went::Dry {
                return Ok(Went::Dry);
            }
            match self.walk(pull, scratch, depth_max, walk, sink)? {
                Turn::Dry => return Ok(Went::Dry),
                Turn::Skip => self.skip_next(),
                Turn::On | Turn::Out => return Ok(Went::Through),
            }
        }
    }

    /// Skips the rest of what is being skipped, if there is something.
    pub(super) fn skip<'de, R: TextSource<'de>>(
        &mut self,
        pull: &mut Pull<R>,
        scratch: &mut String,
        depth_max: usize,
    ) -> Result<Went, Error> {
        let Some(around) = self.skipping else { return Ok(Went::Through) };
        if R::TRUSTED {
            pull.skip_trusted()?;
            self.value_ended();
        } else {
            match self.walk(pull, scratch, depth_max, Walk::Skips { around }, &mut Nobody) {
                Ok(Turn::Dry) => return Ok(Went::Dry),
                Ok(_) => {}
                Err(failure) => return Err(of_source(failure)),
            }
        }
        self.skipping = None;
        Ok(Went::Through)
    }

    /// Steps through the text as far as `walk` says. The turn is not `On`, except before a value that is sought.
    #[inline(always)]
    fn walk<'de, R: TextSource<'de>, S: Sink>(
        &mut self,
        pull: &mut Pull<R>,
        scratch: &mut String,
        depth_max: usize,
        walk: Walk,
        sink: &mut S,
    ) -> Result<Turn, Failing<S::Error>> {
        let (stop_at, skips_all, seeks) = match walk {
            Walk::Tells { around } => (around, false, false),
            Walk::Skips { around } => (around, true, false),
            Walk::Seeks => (0, false, true),
        };
        let mut steps = Steps {
            pull,
            scratch,
            sink,
            open: &mut self.open,
            expect: self.expect,
            depth_max,
            stop_at,
            skips_all,
            seeks,
        };
        let turn = loop {
            let turn = match steps.expect {
                first @ (Expect::FirstMember | Expect::Member) => steps.members(first == Expect::FirstMember),
                first @ (Expect::FirstElement | Expect::Element) => steps.elements(first == Expect::FirstElement),
                Expect::Colon(interest) => steps.colon(interest),
                Expect::Value => steps.one_value(),
                Expect::Next => steps.next(),
            }?;
            if turn != Turn::On || seeks && steps.expect == Expect::Value {
                break turn;
            }
        };
        self.expect = steps.expect;
        if turn == Turn::Out {
            self.value_ended();
        }
        Ok(turn)
    }
}

/// The error of a walk whose sink cannot fail.
#[cold]
pub(super) fn of_source(failure: Failing<Infallible>) -> Error {
    match failure {
        Failure::Source(error) => error,
        Failure::Sink(never, _) => match never {},
    }
}

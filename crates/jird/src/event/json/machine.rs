//! The grammar, token by token: sends values to a sink, or looks for records. It can stop before any token and go on
//! later.

use super::Failing;
use super::steps::{Steps, Turn};
use crate::error::Error;
use crate::event::{Failure, Interest, Sink};
use crate::scan::{OpenBrackets, Pull, TextSource};
use core::convert::Infallible;
use core::marker::PhantomData;

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
pub(super) enum WalkEnd {
    /// The value is complete.
    Through,
    /// There are no more tokens for now.
    Dry,
}

/// How far a walk goes, and what its sink receives. A type, so that each kind of walk is compiled by itself and asks
/// nothing per token.
pub(super) trait Walk {
    /// The sink receives nothing.
    const SKIPS: bool = false;
    /// Each value that is not skipped is expected by itself, so that the caller can stop before it.
    const SEEKS: bool = false;
}

/// To the end of the value, or to what the sink skips.
pub(super) struct Tells;

/// To the end of the value, and the sink receives nothing.
struct Skips;

/// To before the next value that the sink does not skip, or to the end of the document. If a value comes next, goes into
/// it first.
pub(super) struct Seeks;

impl Walk for Tells {}

impl Walk for Skips {
    const SKIPS: bool = true;
}

impl Walk for Seeks {
    const SEEKS: bool = true;
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

    /// Goes on, or begins, as far as `W` says. The value stands in `around` arrays and objects.
    pub(super) fn run<'de, W: Walk, R: TextSource<'de>, S: Sink>(
        &mut self,
        pull: &mut Pull<R>,
        scratch: &mut String,
        depth_max: usize,
        around: usize,
        sink: &mut S,
    ) -> Result<WalkEnd, Failing<S::Error>> {
        loop {
            if self.skip(pull, scratch, depth_max).map_err(Failure::Source)? == WalkEnd::Dry {
                return Ok(WalkEnd::Dry);
            }
            match self.walk::<W, _, _>(pull, scratch, depth_max, around, sink)? {
                Turn::Dry => return Ok(WalkEnd::Dry),
                Turn::Skip => self.skip_next(),
                Turn::On(_) | Turn::Out => return Ok(WalkEnd::Through),
            }
        }
    }

    /// Skips the rest of what is being skipped, if there is something.
    pub(super) fn skip<'de, R: TextSource<'de>>(
        &mut self,
        pull: &mut Pull<R>,
        scratch: &mut String,
        depth_max: usize,
    ) -> Result<WalkEnd, Error> {
        let Some(around) = self.skipping else { return Ok(WalkEnd::Through) };
        if R::TRUSTED {
            pull.skip_trusted()?;
            self.value_ended();
        } else {
            match self.walk::<Skips, _, _>(pull, scratch, depth_max, around, &mut Nobody) {
                Ok(Turn::Dry) => return Ok(WalkEnd::Dry),
                Ok(_) => {}
                Err(failure) => return Err(of_source(failure)),
            }
        }
        self.skipping = None;
        Ok(WalkEnd::Through)
    }

    /// Steps through the text as far as `W` says. The turn is `On` only before a value that is sought.
    #[inline(always)]
    fn walk<'de, W: Walk, R: TextSource<'de>, S: Sink>(
        &mut self,
        pull: &mut Pull<R>,
        scratch: &mut String,
        depth_max: usize,
        stop_at: usize,
        sink: &mut S,
    ) -> Result<Turn, Failing<S::Error>> {
        let mut expect = self.expect;
        let open = &mut self.open;
        let mut steps =
            Steps { pull, scratch, sink, open, when_dry: expect, depth_max, stop_at, walk: PhantomData::<W> };
        let turn = loop {
            let turn = match expect {
                first @ (Expect::FirstMember | Expect::Member) => steps.members(first == Expect::FirstMember),
                first @ (Expect::FirstElement | Expect::Element) => steps.elements(first == Expect::FirstElement),
                Expect::Colon(interest) => steps.colon(interest),
                Expect::Value => steps.one_value(),
                Expect::Next => steps.next(),
            }?;
            match turn {
                Turn::On(next) => expect = next,
                _ => break turn,
            }
            if W::SEEKS && expect == Expect::Value {
                break turn;
            }
        };
        match turn {
            Turn::On(next) => self.expect = next,
            Turn::Skip => self.expect = Expect::Value,
            Turn::Dry => self.expect = steps.when_dry,
            Turn::Out => self.value_ended(),
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

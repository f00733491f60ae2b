//! The grammar of one value, told to a sink, token by token; it can stop before any token and go on later.

use super::Failing;
use super::steps::{Steps, Turn};
use crate::error::Error;
use crate::event::{Failure, Interest, Sink};
use crate::scan::{OpenBrackets, Pull, TextSource};

/// What is open, and what must come next.
#[derive(Debug, Default)]
pub(super) struct Machine {
    open: OpenBrackets,
    expect: Expect,
    /// How deep what is being skipped stands, if something is.
    skipping: Option<usize>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Expect {
    #[default]
    Value,
    /// The first key of an object, or its end.
    FirstMember,
    /// A key, behind a comma.
    Member,
    Colon(Interest),
    /// The first element of an array, or its end.
    FirstElement,
    /// An element, behind a comma.
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

/// Receives nothing.
struct Nobody;

impl Sink for Nobody {
    type Error = core::convert::Infallible;
}

impl Machine {
    /// Forgets what is open.
    pub(super) fn reset(&mut self) {
        *self = Self::default();
    }

    /// Goes on with the value that was begun, or begins one.
    pub(super) fn run<'de, R: TextSource<'de>, S: Sink>(
        &mut self,
        pull: &mut Pull<R>,
        scratch: &mut String,
        depth_max: usize,
        sink: &mut S,
    ) -> Result<Went, Failing<S::Error>> {
        loop {
            if let Some(depth) = self.skipping {
                if R::TRUSTED {
                    pull.skip_trusted().map_err(Failure::Source)?;
                    (self.skipping, self.expect) = (None, Expect::Next);
                    continue;
                }
                match self.walk(pull, scratch, depth_max, Some(depth), &mut Nobody) {
                    Ok(Went::Dry) => return Ok(Went::Dry),
                    Ok(Went::Through) => self.skipping = None,
                    Err(Failure::Source(error)) => return Err(Failure::Source(error)),
                    Err(Failure::Sink(never, _)) => match never {},
                }
            }
            let went = self.walk(pull, scratch, depth_max, None, sink)?;
            if went == Went::Dry || self.skipping.is_none() {
                return Ok(went);
            }
        }
    }

    /// Skips a value.
    pub(super) fn skip<'de, R: TextSource<'de>>(
        &mut self,
        pull: &mut Pull<R>,
        scratch: &mut String,
        depth_max: usize,
    ) -> Result<Went, Error> {
        if R::TRUSTED {
            return pull.skip_trusted().map(|()| Went::Through);
        }
        match self.walk(pull, scratch, depth_max, Some(0), &mut Nobody) {
            Ok(went) => Ok(went),
            Err(Failure::Source(error)) => Err(error),
            Err(Failure::Sink(never, _)) => match never {},
        }
    }

    /// Until the value ends; or, if something is `skipped`, when no more than so much is open; or until something is to be
    /// skipped.
    #[inline(always)]
    fn walk<'de, R: TextSource<'de>, S: Sink>(
        &mut self,
        pull: &mut Pull<R>,
        scratch: &mut String,
        depth_max: usize,
        skipped: Option<usize>,
        sink: &mut S,
    ) -> Result<Went, Failing<S::Error>> {
        let (stop_at, skips_all) = (skipped.unwrap_or(0), skipped.is_some());
        let mut steps =
            Steps { pull, scratch, sink, open: &mut self.open, expect: self.expect, depth_max, stop_at, skips_all };
        let turn = loop {
            let turn = match steps.expect {
                first @ (Expect::FirstMember | Expect::Member) => steps.members(first == Expect::FirstMember),
                first @ (Expect::FirstElement | Expect::Element) => steps.elements(first == Expect::FirstElement),
                Expect::Colon(interest) => steps.colon(interest),
                Expect::Value => steps.one_value(),
                Expect::Next => steps.next(),
            }?;
            if turn != Turn::On {
                break turn;
            }
        };
        self.expect = steps.expect;
        match turn {
            Turn::Dry => return Ok(Went::Dry),
            Turn::Skip => self.skipping = Some(self.open.depth()),
            Turn::On | Turn::Out if self.open.depth() == 0 => self.expect = Expect::Value,
            Turn::On | Turn::Out => {}
        }
        Ok(Went::Through)
    }
}

//! The steps of the grammar: one for each state, and those that they share.
//!
//! Each is compiled into the loop of [`Machine::walk`](super::machine::Machine), so that states live in jumps and not in memory;
//! and has a loop of its own where mostly the same comes again.

use super::Failing;
use super::machine::{Expect, Walk};
use crate::event::{Failure, Interest, Key, Numeral, Place, Sink};
use crate::fault::ErrorKind;
use crate::number::Number;
use crate::scan::{Content, END, ESCAPED, OpenBrackets, Pull, TextSource, Token};
use crate::text;
use core::marker::PhantomData;

/// What the steps need.
pub(super) struct Steps<'s, W, R, S> {
    pub(super) pull: &'s mut Pull<R>,
    pub(super) scratch: &'s mut String,
    pub(super) sink: &'s mut S,
    pub(super) open: &'s mut OpenBrackets,
    /// What is expected when there are more tokens. Set before the walk ends without some.
    pub(super) when_dry: Expect,
    pub(super) depth_max: usize,
    /// The walk ends when a value has ended and this many arrays and objects are open.
    pub(super) stop_at: usize,
    pub(super) walk: PhantomData<W>,
}

/// Where a step leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// On, with what is expected now.
    On(Expect),
    /// Out of the value.
    Out,
    /// Past what the sink does not want.
    Skip,
    /// Nowhere, before there are more tokens.
    Dry,
}

impl<'de, W: Walk, R: TextSource<'de>, S: Sink> Steps<'_, W, R, S> {
    /// Members, until something else comes than a key, a colon, a scalar and a comma. Before the `first`, the object may end.
    #[inline(always)]
    pub(super) fn members(&mut self, first: bool) -> Result<Turn, Failing<S::Error>> {
        if first {
            let token = self.pull.token();
            if self.pull.bracket(token) == b'}' {
                return self.close(b'}');
            }
            if token.kind == END {
                return self.unexpected(token, ErrorKind::Key, Expect::FirstMember);
            }
        }
        loop {
            let (kinds, starts) = self.pull.four();
            if W::SKIPS && is_string_member(kinds) && !self.pull.is_near_end(3) {
                self.pull.step_by(4);
                continue;
            }
            let Some(interest) = self.key(Token::at(kinds, starts, 0))? else {
                return self.unexpected(Token::at(kinds, starts, 0), ErrorKind::Key, Expect::Member);
            };
            let is_skipped = interest == Interest::Skip;
            let is_alone = if is_skipped { !is_scalar(kinds[2]) } else { W::SEEKS };
            if kinds[1] & !ESCAPED != b':' || self.pull.is_near_end(3) || is_alone {
                self.pull.step();
                return Ok(Turn::On(Expect::Colon(interest)));
            }
            if is_skipped {
                self.pull.check_scalar(Token::at(kinds, starts, 2)).map_err(Failure::Source)?;
            } else if let Some(turn) = self.value(Token::at(kinds, starts, 2), 2)? {
                return Ok(turn);
            }
            // What merely seems to be one, a byte beyond ASCII, is told apart later.
            if kinds[3] != b',' {
                self.pull.step_by(3);
                return Ok(Turn::On(Expect::Next));
            }
            self.pull.step_by(4);
        }
    }

    /// Elements, until something else comes than a scalar and a comma. Before the `first`, the array may end.
    #[inline(always)]
    pub(super) fn elements(&mut self, first: bool) -> Result<Turn, Failing<S::Error>> {
        if first {
            let token = self.pull.token();
            if self.pull.bracket(token) == b']' {
                return self.close(b']');
            }
            // Where values are sought, one begins here even if an error stands at its start.
            if token.kind == END && (!W::SEEKS || self.pull.waits_for(token, ErrorKind::Value).unwrap_or(false)) {
                return self.unexpected(token, ErrorKind::Value, Expect::FirstElement);
            }
        }
        if W::SEEKS {
            return Ok(Turn::On(Expect::Value));
        }
        loop {
            let (kinds, starts) = self.pull.four();
            if let Some(turn) = self.value(Token::at(kinds, starts, 0), 0)? {
                return Ok(turn);
            }
            if kinds[1] != b',' {
                self.pull.step();
                return Ok(Turn::On(Expect::Next));
            }
            self.pull.step_by(2);
        }
    }

    /// The colon after a key.
    #[inline(always)]
    pub(super) fn colon(&mut self, interest: Interest) -> Result<Turn, Failing<S::Error>> {
        let token = self.pull.token();
        if token.plain() != b':' {
            return self.unexpected(token, ErrorKind::Colon, Expect::Colon(interest));
        }
        self.pull.step();
        Ok(if interest == Interest::Skip { Turn::Skip } else { Turn::On(Expect::Value) })
    }

    /// A value by itself.
    #[inline(always)]
    pub(super) fn one_value(&mut self) -> Result<Turn, Failing<S::Error>> {
        let token = self.pull.token();
        if let Some(turn) = self.value(token, 0)? {
            return Ok(turn);
        }
        self.pull.step();
        Ok(self.value_ended())
    }

    /// What stands after a value in a container: ends, and then a comma.
    #[inline(always)]
    pub(super) fn next(&mut self) -> Result<Turn, Failing<S::Error>> {
        loop {
            let token = self.pull.token();
            let object = self.open.is_object();
            let turn = match self.pull.bracket(token) {
                b',' => {
                    self.pull.step();
                    return Ok(Turn::On(if object { Expect::Member } else { Expect::Element }));
                }
                b'}' if object => self.close(b'}')?,
                b']' if !object => self.close(b']')?,
                _ => return self.unexpected(token, ErrorKind::Comma, Expect::Next),
            };
            if turn == Turn::Out {
                return Ok(turn);
            }
        }
    }

    /// If the token is a scalar, sends it, does not step over it, and returns `None`. Otherwise opens the container that
    /// begins with the token, which stands `before` tokens after the next one, and returns where to go on.
    #[inline(always)]
    fn value(&mut self, token: Token, before: usize) -> Result<Option<Turn>, Failing<S::Error>> {
        match token.kind {
            b'"' | ESCAPED_QUOTE if W::SKIPS => {}
            b'"' => self.sink.string(plain(self.pull, token)?).map_err(stopped)?,
            ESCAPED_QUOTE => self.sink.string(escaped(self.pull, token, self.scratch)?).map_err(stopped)?,
            b'-' | b'0'..=b'9' => {
                let end = self.pull.checked_number(token).map_err(Failure::Source)?;
                let number = Number::of_checked_at(self.pull.window(), token.start, end);
                self.sink.number(Numeral::Text(number)).map_err(stopped)?;
            }
            b't' => {
                self.literal(token, b"true")?;
                self.sink.bool(true).map_err(stopped)?;
            }
            b'f' => {
                self.literal(token, b"false")?;
                self.sink.bool(false).map_err(stopped)?;
            }
            b'n' => {
                self.literal(token, b"null")?;
                self.sink.null().map_err(stopped)?;
            }
            _ => return self.enter(token, before).map(Some),
        }
        Ok(None)
    }

    /// Opens the container that begins with a token.
    #[inline(always)]
    fn enter(&mut self, token: Token, before: usize) -> Result<Turn, Failing<S::Error>> {
        let bracket = self.pull.bracket(token);
        if !matches!(bracket, b'{' | b'[') {
            return self.unexpected(token, ErrorKind::Value, Expect::Value);
        }
        if self.open.depth() >= self.depth_max {
            return Err(Failure::Source(self.pull.syntax(ErrorKind::Depth, token.start)));
        }
        self.pull.step_by(before + 1);
        self.open.push(bracket == b'{');
        if bracket == b'{' {
            self.sink.begin_object().map_err(stopped)?;
            Ok(Turn::On(Expect::FirstMember))
        } else {
            self.sink.begin_array().map_err(stopped)?;
            Ok(Turn::On(Expect::FirstElement))
        }
    }

    /// Steps over a closing bracket, and sends it.
    #[inline(always)]
    fn close(&mut self, closing: u8) -> Result<Turn, Failing<S::Error>> {
        self.pull.step();
        self.open.pop();
        let told = if closing == b'}' { self.sink.end_object() } else { self.sink.end_array() };
        told.map_err(stopped)?;
        Ok(self.value_ended())
    }

    /// Where to go after a value.
    #[inline(always)]
    fn value_ended(&self) -> Turn {
        if self.open.depth() == self.stop_at { Turn::Out } else { Turn::On(Expect::Next) }
    }

    /// Sends the key that a token is. `None` if it is not a key.
    #[inline(always)]
    fn key(&mut self, token: Token) -> Result<Option<Interest>, Failing<S::Error>> {
        match token.kind {
            b'"' | ESCAPED_QUOTE if W::SKIPS => Ok(Some(Interest::Take)),
            b'"' => self.sink.key(Key::new(plain(self.pull, token)?)).map(Some).map_err(stopped),
            ESCAPED_QUOTE => {
                self.sink.key(Key::new(escaped(self.pull, token, self.scratch)?)).map(Some).map_err(stopped)
            }
            _ => Ok(None),
        }
    }

    #[inline(always)]
    fn literal(&mut self, token: Token, literal: &'static [u8]) -> Result<(), Failing<S::Error>> {
        self.pull.check_literal(token, literal).map_err(Failure::Source)
    }

    /// The error of a token that may not stand here. If there is no token yet, goes on with `expect` when there is one.
    #[inline(always)]
    fn unexpected(&mut self, token: Token, wanted: ErrorKind, expect: Expect) -> Result<Turn, Failing<S::Error>> {
        if let Some(error) = self.pull.unexpected_or_dry(token, wanted) {
            return Err(Failure::Source(error));
        }
        self.when_dry = expect;
        Ok(Turn::Dry)
    }
}

/// The kind of a string that holds an escape.
const ESCAPED_QUOTE: u8 = b'"' | ESCAPED;

/// Whether a value begins with this token, and ends with it.
#[inline(always)]
fn is_scalar(kind: u8) -> bool {
    matches!(kind, b'"' | ESCAPED_QUOTE | b'-' | b'0'..=b'9' | b't' | b'f' | b'n')
}

/// Whether these are a key, a colon, a string and a comma: with or without marks, which no other tokens have then.
#[inline(always)]
fn is_string_member(kinds: [u8; 4]) -> bool {
    u32::from_ne_bytes(kinds) & !u32::from_ne_bytes([ESCAPED; 4]) == u32::from_ne_bytes(*b"\":\",")
}

/// The source adds which record it was.
#[cold]
pub(super) fn stopped<E>(error: E) -> Failing<E> {
    Failure::Sink(error, Place::default())
}

/// The content of the string that a token is.
#[inline(always)]
fn plain<'p, 'de: 'p, R: TextSource<'de>, E>(pull: &'p mut Pull<R>, token: Token) -> Result<&'p str, Failing<E>> {
    match pull.content(token) {
        Ok(Content::Borrowed(content) | Content::Passing(content)) => Ok(content),
        Err(error) => Err(Failure::Source(error)),
    }
}

/// The same of one that holds an escape.
#[inline(never)]
fn escaped<'s, 'de, R: TextSource<'de>, E>(
    pull: &mut Pull<R>,
    token: Token,
    scratch: &'s mut String,
) -> Result<&'s str, Failing<E>> {
    scratch.clear();
    text::unescape(plain(pull, token)?, scratch);
    Ok(scratch)
}

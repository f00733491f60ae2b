//! The grammar of one value, told to a sink, token by token; it can stop before any token and go on later.

use super::Failing;
use crate::error::Error;
use crate::event::{Failure, Interest, Key, Numeral, Place, Sink};
use crate::fault::ErrorKind;
use crate::number::Number;
use crate::scan::{Content, END, ESCAPED, OpenBrackets, Pull, TextSource, Token};
use crate::text;

/// What is open, and what must come next.
#[derive(Debug, Default)]
pub(super) struct Machine {
    open: OpenBrackets,
    expect: Expect,
    /// How deep what is being skipped stands, if something is.
    skipping: Option<usize>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Expect {
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
    #[expect(clippy::too_many_lines, reason = "a loop for each state, which share their macros")]
    #[inline(always)]
    fn walk<'de, R: TextSource<'de>, S: Sink>(
        &mut self,
        pull: &mut Pull<R>,
        scratch: &mut String,
        depth_max: usize,
        skipped: Option<usize>,
        sink: &mut S,
    ) -> Result<Went, Failing<S::Error>> {
        let mut expect = self.expect;
        let stop_at = skipped.unwrap_or(0);
        let skips_all = skipped.is_some();
        // What is wrong with a token, or that there is none yet.
        macro_rules! unexpected {
            ($token:expr, $wanted:expr, $expect:expr) => {{
                let Some(error) = pull.unexpected_or_dry($token, $wanted) else {
                    self.expect = $expect;
                    return Ok(Went::Dry);
                };
                return Err(Failure::Source(error));
            }};
        }
        // Steps over a bracket that closes, tells of it, and goes on behind it.
        macro_rules! close {
            ($end:ident, $out:lifetime) => {{
                pull.step();
                self.open.pop();
                sink.$end().map_err(stopped)?;
                expect = Expect::Next;
                if self.open.depth() == stop_at {
                    break $out;
                }
            }};
        }
        // The key that is a token.
        macro_rules! key {
            ($token:expr, $expect:expr) => {{
                let token = $token;
                match token.kind {
                    b'"' | ESCAPED_QUOTE if skips_all => Interest::Take,
                    b'"' => sink.key(Key::new(plain(pull, token)?)).map_err(stopped)?,
                    ESCAPED_QUOTE => sink.key(Key::new(escaped(pull, token, scratch)?)).map_err(stopped)?,
                    _ => unexpected!(token, ErrorKind::Key, $expect),
                }
            }};
        }
        // Tells of the scalar that a token is, and does not step over it; or opens what begins there, and goes on inside.
        macro_rules! value {
            ($token:expr, $before:expr, $next:lifetime) => {{
                let token = $token;
                match token.kind {
                    b'"' | ESCAPED_QUOTE if skips_all => {}
                    b'"' => sink.string(plain(pull, token)?).map_err(stopped)?,
                    ESCAPED_QUOTE => sink.string(escaped(pull, token, scratch)?).map_err(stopped)?,
                    b'-' | b'0'..=b'9' => {
                        let end = pull.checked_number(token).map_err(Failure::Source)?;
                        let number = Number::of_checked_at(pull.window(), token.start, end);
                        sink.number(Numeral::Text(number)).map_err(stopped)?;
                    }
                    b't' => {
                        pull.check_literal(token, b"true").map_err(Failure::Source)?;
                        sink.bool(true).map_err(stopped)?;
                    }
                    b'f' => {
                        pull.check_literal(token, b"false").map_err(Failure::Source)?;
                        sink.bool(false).map_err(stopped)?;
                    }
                    b'n' => {
                        pull.check_literal(token, b"null").map_err(Failure::Source)?;
                        sink.null().map_err(stopped)?;
                    }
                    _ => {
                        let bracket = pull.bracket(token);
                        if !matches!(bracket, b'{' | b'[') {
                            unexpected!(token, ErrorKind::Value, Expect::Value);
                        }
                        if self.open.depth() >= depth_max {
                            return Err(Failure::Source(pull.syntax(ErrorKind::Depth, token.start)));
                        }
                        pull.step_by($before + 1);
                        self.open.push(bracket == b'{');
                        if bracket == b'{' {
                            sink.begin_object().map_err(stopped)?;
                            expect = Expect::FirstMember;
                        } else {
                            sink.begin_array().map_err(stopped)?;
                            expect = Expect::FirstElement;
                        }
                        continue $next;
                    }
                }
            }};
        }
        // A loop for each state, since mostly the same comes again.
        'walk: loop {
            match expect {
                Expect::FirstMember => {
                    let token = pull.token();
                    if pull.bracket(token) == b'}' {
                        close!(end_object, 'walk);
                    } else if token.kind == END {
                        unexpected!(token, ErrorKind::Key, expect);
                    } else {
                        expect = Expect::Member;
                    }
                }
                Expect::FirstElement => {
                    let token = pull.token();
                    if pull.bracket(token) == b']' {
                        close!(end_array, 'walk);
                    } else if token.kind == END {
                        unexpected!(token, ErrorKind::Value, expect);
                    } else {
                        expect = Expect::Element;
                    }
                }
                Expect::Member => loop {
                    let (kinds, starts) = pull.four();
                    if skips_all && is_string_member(kinds) && !pull.is_near_end(3) {
                        pull.step_by(4);
                        continue;
                    }
                    let interest = key!(Token::at(kinds, starts, 0), Expect::Member);
                    let is_skipped = interest == Interest::Skip;
                    if kinds[1] & !ESCAPED != b':' || pull.is_near_end(3) || is_skipped && !is_scalar(kinds[2]) {
                        pull.step();
                        expect = Expect::Colon(interest);
                        continue 'walk;
                    }
                    if is_skipped {
                        pull.check_scalar(Token::at(kinds, starts, 2)).map_err(Failure::Source)?;
                    } else {
                        value!(Token::at(kinds, starts, 2), 2, 'walk);
                    }
                    // What merely seems to be one, a byte beyond ASCII, is told apart below.
                    if kinds[3] != b',' {
                        pull.step_by(3);
                        expect = Expect::Next;
                        continue 'walk;
                    }
                    pull.step_by(4);
                },
                Expect::Element => loop {
                    let (kinds, starts) = pull.four();
                    value!(Token::at(kinds, starts, 0), 0, 'walk);
                    if kinds[1] != b',' {
                        pull.step();
                        expect = Expect::Next;
                        continue 'walk;
                    }
                    pull.step_by(2);
                },
                Expect::Colon(interest) => {
                    let token = pull.token();
                    if token.plain() != b':' {
                        unexpected!(token, ErrorKind::Colon, expect);
                    }
                    pull.step();
                    expect = Expect::Value;
                    if interest == Interest::Skip {
                        self.expect = expect;
                        self.skipping = Some(self.open.depth());
                        return Ok(Went::Through);
                    }
                }
                Expect::Value => {
                    let token = pull.token();
                    value!(token, 0, 'walk);
                    pull.step();
                    expect = Expect::Next;
                    if self.open.depth() == stop_at {
                        break;
                    }
                }
                Expect::Next => {
                    let token = pull.token();
                    let object = self.open.is_object();
                    match pull.bracket(token) {
                        b',' => {
                            pull.step();
                            expect = if object { Expect::Member } else { Expect::Element };
                        }
                        b'}' if object => close!(end_object, 'walk),
                        b']' if !object => close!(end_array, 'walk),
                        _ => unexpected!(token, ErrorKind::Comma, expect),
                    }
                }
            }
        }
        self.expect = if self.open.depth() == 0 { Expect::Value } else { expect };
        Ok(Went::Through)
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
fn stopped<E>(error: E) -> Failing<E> {
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

//! Pass two: tokens to checked structure, told to a [`Build`].
//!
//! On entry: tokens of a text, with sentinels after the last one once the text has ended. On exit: every rule of RFC 8259's
//! grammar was checked for the tokens consumed, and the builder was told of each value in document order; or the first
//! token that breaks a rule is named. One walk serves every result: the tape, the projection of a record, validation.
//!
//! The walk stops with a few tokens left when it could not look ahead, and goes on when there are more. It keeps its own
//! stack, so depth costs memory (a frame per open container) and never recursion.

mod document;
mod trusted;

pub(crate) use document::{Reader, count_tokens};
pub(crate) use trusted::{Open, walk_trusted};

use crate::error::{Error, ErrorKind};
use crate::number::{self, Class};
use crate::policy::{Numbers, Policy};
use crate::scan::{END, ESCAPED, Tokens};

/// Whoever makes something of a walk. Offsets are bytes of the text.
///
/// Every `open` is met by one `close`, with the mark that `open` returned.
pub(crate) trait Build {
    /// What the builder wants back when the container closes.
    type Mark: Copy;

    /// A member's key; `start..end` is its content, without quotes.
    fn key(&mut self, text: &[u8], start: usize, end: usize, escaped: bool);
    /// A string; `start..end` is its content, without quotes.
    fn string(&mut self, start: usize, end: usize, escaped: bool);
    fn number(&mut self, start: usize, end: usize, class: Class);
    fn literal(&mut self, start: usize, literal: Literal);
    /// An object or array begins at `start`.
    fn open(&mut self, bracket: Bracket, start: usize) -> Self::Mark;
    /// The container ends before `end`; it has `count` members or elements.
    fn close(&mut self, mark: Self::Mark, bracket: Bracket, count: u32, end: usize);
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bracket {
    Object,
    Array,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Literal {
    Null,
    False,
    True,
}

impl Literal {
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::False => "false",
            Self::True => "true",
        }
    }
}

/// An open container.
#[derive(Clone, Copy, Debug)]
struct Frame<M> {
    mark: M,
    /// Members or elements so far.
    count: u32,
    bracket: Bracket,
}

/// What the next token must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expect {
    /// The document's value.
    Root,
    /// A key, after `{` or a comma. After `{` the empty object was ruled out already.
    Member,
    /// An element, after `[` or a comma.
    Element,
    /// A comma or the closing bracket of the innermost container.
    Next,
    /// Nothing, or in lines the end of the line.
    Nothing,
}

/// How a walk over the tokens at hand ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Walked {
    /// One value is complete.
    Value,
    /// More tokens are needed.
    More,
}

/// The grammar's state between two calls: the open containers, and what must come next.
#[derive(Debug)]
pub(crate) struct Walk<M> {
    frames: Vec<Frame<M>>,
    expect: Expect,
    depth_max: usize,
    numbers: Numbers,
}

/// Tokens from `at` on; a walk needs this many to decide on one member.
const AHEAD: usize = 4;

impl<M: Copy> Walk<M> {
    pub(crate) fn new(policy: &Policy) -> Self {
        Self { frames: Vec::new(), expect: Expect::Root, depth_max: policy.depth_max, numbers: policy.numbers }
    }

    /// Forgets what is open, to begin with another value.
    #[inline]
    pub(crate) fn restart(&mut self) {
        self.frames.clear();
        self.expect = Expect::Root;
    }

    /// Walks the tokens from `*at` to the end of one value, or until fewer than [`AHEAD`] tokens are left. `*at` is left at
    /// the first token not consumed.
    #[inline(always)]
    pub(crate) fn run<B: Build<Mark = M>>(
        &mut self,
        text: &[u8],
        tokens: &Tokens,
        at: &mut usize,
        build: &mut B,
    ) -> Result<Walked, Error> {
        let (kind, pos) = tokens.slices();
        let mut steps = Steps { text, kind, pos, numbers: self.numbers, build };
        let mut i = *at;
        let mut expect = self.expect;
        // The innermost container lives in locals, the ones around it on the stack: below its first frame is the root.
        let walked = 'walk: loop {
            if kind.len() - i < AHEAD {
                break Walked::More;
            }
            match expect {
                Expect::Root => match steps.value(i).map_err(|error| or_empty(error))? {
                    Step::Scalar => {
                        i += 1;
                        expect = Expect::Nothing;
                    }
                    Step::Open(bracket) => expect = self.open(&mut steps, bracket, &mut i)?,
                },
                Expect::Member => {
                    let Some(frame) = self.frames.last_mut() else { unreachable!("a member has a frame around it") };
                    loop {
                        if kind.len() - i < AHEAD {
                            break;
                        }
                        steps.key(i)?;
                        frame.count += 1;
                        match steps.value(i + 2)? {
                            Step::Scalar => {
                                i += 3;
                                match kind[i] {
                                    b',' => i += 1,
                                    _ => {
                                        expect = Expect::Next;
                                        break;
                                    }
                                }
                            }
                            Step::Open(bracket) => {
                                i += 2;
                                expect = self.open(&mut steps, bracket, &mut i)?;
                                break;
                            }
                        }
                    }
                }
                Expect::Element => {
                    let Some(frame) = self.frames.last_mut() else { unreachable!("an element has a frame around it") };
                    loop {
                        if kind.len() - i < AHEAD {
                            break;
                        }
                        frame.count += 1;
                        match steps.value(i) {
                            Ok(Step::Scalar) => {
                                i += 1;
                                match kind[i] {
                                    b',' => i += 1,
                                    _ => {
                                        expect = Expect::Next;
                                        break;
                                    }
                                }
                            }
                            Ok(Step::Open(bracket)) => {
                                expect = self.open(&mut steps, bracket, &mut i)?;
                                break;
                            }
                            Err(error) => return Err(error),
                        }
                    }
                }
                Expect::Next => {
                    let Some(frame) = self.frames.last() else { unreachable!("a value in no container ends the walk") };
                    match (kind[i], frame.bracket) {
                        (b',', Bracket::Object) => expect = Expect::Member,
                        (b',', Bracket::Array) => expect = Expect::Element,
                        (b'}', Bracket::Object) | (b']', Bracket::Array) => {
                            let Frame { mark, count, bracket } = *frame;
                            self.frames.pop();
                            steps.build.close(mark, bracket, count, pos[i] as usize + 1);
                            if self.frames.is_empty() {
                                expect = Expect::Nothing;
                            }
                        }
                        _ => return Err(steps.unexpected(i, ErrorKind::Comma)),
                    }
                    i += 1;
                }
                Expect::Nothing => break 'walk Walked::Value,
            }
        };
        *at = i;
        self.expect = expect;
        Ok(walked)
    }

    /// Enters the container that opens at token `*i`, or passes it by if it is empty.
    #[inline(always)]
    fn open<B: Build<Mark = M>>(
        &mut self,
        steps: &mut Steps<'_, B>,
        bracket: Bracket,
        i: &mut usize,
    ) -> Result<Expect, Error> {
        let start = steps.pos[*i] as usize;
        if self.frames.len() >= self.depth_max {
            return Err(Error::at_byte(ErrorKind::Depth, start));
        }
        let mark = steps.build.open(bracket, start);
        let (closing, first) = match bracket {
            Bracket::Object => (b'}', Expect::Member),
            Bracket::Array => (b']', Expect::Element),
        };
        *i += 1;
        if steps.kind[*i] == closing {
            steps.build.close(mark, bracket, 0, steps.pos[*i] as usize + 1);
            *i += 1;
            return Ok(if self.frames.is_empty() { Expect::Nothing } else { Expect::Next });
        }
        self.frames.push(Frame { mark, count: 0, bracket });
        Ok(first)
    }
}

/// What one value turned out to be.
enum Step {
    /// A string, number or literal, told to the builder.
    Scalar,
    /// A container begins.
    Open(Bracket),
}

/// The steps of a walk over one batch of tokens.
struct Steps<'a, B> {
    text: &'a [u8],
    kind: &'a [u8],
    pos: &'a [u32],
    numbers: Numbers,
    build: &'a mut B,
}

impl<B: Build> Steps<'_, B> {
    /// The key at token `i` and the colon after it.
    #[inline(always)]
    fn key(&mut self, i: usize) -> Result<(), Error> {
        let kind = self.kind[i];
        if kind & !ESCAPED != b'"' {
            return Err(self.unexpected(i, ErrorKind::Key));
        }
        let start = self.pos[i] as usize + 1;
        let end = self.string_end(start, self.pos[i + 1] as usize)?;
        self.build.key(self.text, start, end, kind & ESCAPED != 0);
        if self.kind[i + 1] == b':' { Ok(()) } else { Err(self.unexpected(i + 1, ErrorKind::Colon)) }
    }

    /// The value that begins at token `i`.
    #[inline(always)]
    fn value(&mut self, i: usize) -> Result<Step, Error> {
        let start = self.pos[i] as usize;
        let next = self.pos[i + 1] as usize;
        match self.kind[i] {
            b'{' => return Ok(Step::Open(Bracket::Object)),
            b'[' => return Ok(Step::Open(Bracket::Array)),
            kind @ (b'"' | 0xA2) => {
                let end = self.string_end(start + 1, next)?;
                self.build.string(start + 1, end, kind & ESCAPED != 0);
            }
            b'-' | b'0'..=b'9' => {
                let end = self.scalar_end(next);
                let class = self.number(start, end)?;
                self.build.number(start, end, class);
            }
            b't' => self.literal(start, next, Literal::True)?,
            b'f' => self.literal(start, next, Literal::False)?,
            b'n' => self.literal(start, next, Literal::Null)?,
            _ => return Err(self.unexpected(i, ErrorKind::Value)),
        }
        Ok(Step::Scalar)
    }

    /// Where the content ends of the string that starts at `start`, when the next token is at `next`: at the closing quote,
    /// which stands right before `next` but for white space.
    #[inline(always)]
    fn string_end(&self, start: usize, next: usize) -> Result<usize, Error> {
        let last = next - 1;
        if self.text[last] == b'"' && last >= start { Ok(last) } else { self.string_end_far(start, next) }
    }

    #[inline(never)]
    fn string_end_far(&self, start: usize, next: usize) -> Result<usize, Error> {
        // Only at the end of what was scanned without fault can something else than white space come before the quote.
        match trim_end(self.text, start, next).checked_sub(1) {
            Some(last) if last >= start && self.text[last] == b'"' => Ok(last),
            _ => Err(Error::at_byte(ErrorKind::String, next)),
        }
    }

    /// Where the scalar ends before the token at `next`.
    #[inline(always)]
    fn scalar_end(&self, next: usize) -> usize {
        if is_space(self.text[next - 1]) { trim_end(self.text, 0, next) } else { next }
    }

    #[inline(always)]
    fn number(&self, start: usize, end: usize) -> Result<Class, Error> {
        match number::check_at(self.text, start, end) {
            Ok(class) if self.numbers == Numbers::Any => Ok(class),
            Ok(class) if number::in_range(&self.text[start..end], class, self.numbers) => Ok(class),
            Ok(_) => Err(Error::at_byte(ErrorKind::Range, start)),
            Err(offset) => Err(Error::at_byte(ErrorKind::Number, start + offset)),
        }
    }

    #[inline(always)]
    fn literal(&mut self, start: usize, next: usize, literal: Literal) -> Result<(), Error> {
        let end = self.scalar_end(next);
        let wanted = literal.text().as_bytes();
        if self.text[start..end] != *wanted {
            let same = self.text[start..end].iter().zip(wanted).take_while(|(found, wanted)| found == wanted).count();
            return Err(Error::at_byte(ErrorKind::Literal, start + same));
        }
        self.build.literal(start, literal);
        Ok(())
    }

    /// Token `i` is not what `wanted` stands for.
    #[cold]
    #[inline(never)]
    fn unexpected(&self, i: usize, wanted: ErrorKind) -> Error {
        let offset = self.pos[i] as usize;
        let ended = match self.kind[i] {
            END => offset == self.text.len(),
            byte => byte == b'\n',
        };
        let kind = if ended { ErrorKind::Unclosed } else { wanted };
        Error::at_byte(kind, offset)
    }
}

/// At the root, a text that ends too early has no value at all.
#[cold]
fn or_empty(error: Error) -> Error {
    if error.kind() == ErrorKind::Unclosed { Error::new(ErrorKind::Empty, error.offset()) } else { error }
}

/// The end of `text[start..end]` without the white space at its end.
pub(crate) fn trim_end(text: &[u8], start: usize, end: usize) -> usize {
    let mut end = end;
    while end > start && is_space(text[end - 1]) {
        end -= 1;
    }
    end
}

#[inline(always)]
fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

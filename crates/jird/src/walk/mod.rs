//! Pass two: turns tokens into checked structure, and reports it to a [`Build`].
//!
//! On entry: tokens of a text, followed by sentinels if the text has ended. On exit: the grammar of RFC 8259 was
//! checked for the consumed tokens, and each value was reported in document order; or the first token that breaks a
//! rule is returned as an error. This walk serves other layouts, invalid lines, and documents that are a single
//! scalar. Other documents and lines have passes by masks, in [`crate::tape`] and `record/grammar.rs`; unchecked texts have a
//! walk of their own, in `trusted.rs`.
//!
//! If too few tokens are left to look ahead, the walk stops, and continues when there are more. It keeps its own
//! stack, so depth costs memory (a frame per open container) and never recursion.

mod document;
mod trusted;

pub use document::scan_only;
pub(crate) use document::{Chunks, PassTwo, WalkPass};
#[cfg(feature = "parallel")]
pub(crate) use document::{chunk_fault, fault_offset, first_of};
pub(crate) use trusted::{TrustedFrame, walk_trusted};

use crate::fault::{ErrorKind, Fault};
use crate::number::{self, Class};
use crate::policy::{Numbers, Policy};
use crate::scan::{END, ESCAPED, Tokens};
use crate::text::{is_space, trim_end};

/// Builds something from a walk. Lends a [`Visitor`] for each batch of tokens.
pub(crate) trait Build {
    /// A value that the visitor returns when a container opens, and receives when it closes.
    type Mark: Copy + Default;
    /// The visitor for a batch. It is a type of its own, so that state that changes with every value can stay in
    /// registers.
    type Visitor<'b>: Visitor<Mark = Self::Mark>
    where
        Self: 'b;

    /// The visitor for the next `tokens` tokens.
    fn visitor(&mut self, tokens: usize) -> Self::Visitor<'_>;
}

/// Receives the values of a walk. Offsets are bytes of the text.
///
/// Each `open` has one matching `close`, which passes the mark that `open` returned. If a visitor is dropped without
/// `finish`, the walk has failed, and the builder keeps nothing of the batch.
pub(crate) trait Visitor {
    /// See [`Build::Mark`].
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
    /// Whether anything inside the container that was just opened is wanted. The checking walk reports everything
    /// anyway; the trusted walk asks, and skips an unwanted container.
    #[inline(always)]
    fn wants(&self) -> bool {
        true
    }
    /// Ends the batch.
    fn finish(self);
}

/// For builders that need no registers of their own and are their own visitor.
macro_rules! own_visitor {
    ($name:ty) => {
        type Visitor<'b>
            = &'b mut $name
        where
            Self: 'b;

        #[inline(always)]
        fn visitor(&mut self, _tokens: usize) -> &mut Self {
            self
        }
    };
}
pub(crate) use own_visitor;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bracket {
    Object,
    Array,
}

impl Bracket {
    fn closing(self) -> u8 {
        match self {
            Self::Object => b'}',
            Self::Array => b']',
        }
    }

    /// What must come first inside, and after each comma.
    fn inside(self) -> Expect {
        match self {
            Self::Object => Expect::Member,
            Self::Array => Expect::Element,
        }
    }
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

/// An open container, or the top level, which holds the root.
#[derive(Clone, Copy, Debug)]
struct Frame<M> {
    mark: M,
    /// Members or elements so far.
    count: u32,
    bracket: Bracket,
}

impl<M: Default> Frame<M> {
    fn outside() -> Self {
        Self { mark: M::default(), count: 0, bracket: Bracket::Array }
    }
}

/// What the next token must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expect {
    /// The document's value.
    Root,
    /// A key, after `{` or a comma. After `{` an empty object was already ruled out.
    Member,
    /// An element, after `[` or a comma.
    Element,
    /// A comma or the closing bracket of the innermost container.
    Next,
    /// Nothing; in lines the end of the line.
    Nothing,
}

/// How a walk over the available tokens ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Walked {
    /// One value is complete.
    Value,
    /// More tokens are needed.
    More,
}

/// The state of the grammar between two calls: the open containers, and what must come next.
#[derive(Debug)]
pub(crate) struct Walk<M> {
    /// The innermost container.
    top: Frame<M>,
    /// The containers around it, and the top level.
    frames: Vec<Frame<M>>,
    expect: Expect,
    depth_max: usize,
    numbers: Numbers,
}

/// The number of tokens that decide on a member: its key, the colon, the value, and the token after it.
const AHEAD: usize = 4;

impl<M: Copy + Default> Walk<M> {
    pub(crate) fn new(policy: &Policy) -> Self {
        Self {
            top: Frame::outside(),
            frames: Vec::new(),
            expect: Expect::Root,
            depth_max: policy.depth_max,
            numbers: policy.numbers,
        }
    }

    /// Resets the state for another value.
    #[inline]
    pub(crate) fn restart(&mut self) {
        self.top = Frame::outside();
        self.frames.clear();
        self.expect = Expect::Root;
    }

    /// Walks the tokens from `*at` to the end of one value, or until fewer than [`AHEAD`] tokens are left. Leaves
    /// `*at` at the first token that was not consumed.
    #[inline(always)]
    pub(crate) fn run<B: Build<Mark = M>>(
        &mut self,
        text: &[u8],
        tokens: &Tokens,
        at: &mut usize,
        build: &mut B,
    ) -> Result<Walked, Fault> {
        let (kinds, offsets) = tokens.slices();
        let mut visitor = build.visitor(kinds.len() - *at);
        let numbers = self.numbers;
        let mut i = *at;
        let mut expect = self.expect;
        let mut top = self.top;
        // There is a loop for each state, because mostly the same state follows; and four tokens are fetched at a
        // time, for one bounds check.
        let walked = 'walk: loop {
            match expect {
                Expect::Member => loop {
                    let (Some(kind), Some(pos)) = (ahead(kinds, i), ahead(offsets, i)) else {
                        break 'walk Walked::More;
                    };
                    key(text, kind, pos, &mut visitor)?;
                    top.count += 1;
                    match value(text, kind[2], pos[2], pos[3], numbers, &mut visitor)? {
                        Begun::Scalar if kind[3] == b',' => i += 4,
                        Begun::Scalar => {
                            i += 3;
                            expect = Expect::Next;
                            break;
                        }
                        Begun::Open(bracket) => {
                            (expect, i) =
                                self.enter(&mut visitor, &mut top, bracket, pos[2], (kind[3], pos[3]), i + 3)?;
                            break;
                        }
                    }
                },
                Expect::Element => loop {
                    let (Some(kind), Some(pos)) = (ahead(kinds, i), ahead(offsets, i)) else {
                        break 'walk Walked::More;
                    };
                    top.count += 1;
                    match value(text, kind[0], pos[0], pos[1], numbers, &mut visitor)? {
                        Begun::Scalar if kind[1] == b',' => i += 2,
                        Begun::Scalar => {
                            i += 1;
                            expect = Expect::Next;
                            break;
                        }
                        Begun::Open(bracket) => {
                            (expect, i) =
                                self.enter(&mut visitor, &mut top, bracket, pos[0], (kind[1], pos[1]), i + 1)?;
                            break;
                        }
                    }
                },
                Expect::Next => match self.leave(text, tokens, &mut i, &mut top, &mut visitor)? {
                    Some(next) => expect = next,
                    None => break Walked::More,
                },
                Expect::Root => {
                    let (Some(kind), Some(pos)) = (ahead(kinds, i), ahead(offsets, i)) else { break Walked::More };
                    i += 1;
                    match value(text, kind[0], pos[0], pos[1], numbers, &mut visitor).map_err(or_empty)? {
                        Begun::Scalar => expect = Expect::Nothing,
                        Begun::Open(bracket) => {
                            (expect, i) = self.enter(&mut visitor, &mut top, bracket, pos[0], (kind[1], pos[1]), i)?;
                        }
                    }
                }
                Expect::Nothing => break Walked::Value,
            }
        };
        visitor.finish();
        *at = i;
        self.expect = expect;
        self.top = top;
        Ok(walked)
    }

    /// Closes containers up to a comma, or to the end of the value. Returns what must come next; `None` if more tokens are
    /// needed for that.
    #[inline(always)]
    fn leave(
        &mut self,
        text: &[u8],
        tokens: &Tokens,
        at: &mut usize,
        top: &mut Frame<M>,
        visitor: &mut impl Visitor<Mark = M>,
    ) -> Result<Option<Expect>, Fault> {
        let (kinds, offsets) = tokens.slices();
        loop {
            let (Some(&kind), Some(&pos)) = (kinds.get(*at), offsets.get(*at)) else { return Ok(None) };
            *at += 1;
            if kind == b',' {
                return Ok(Some(top.bracket.inside()));
            }
            if kind != top.bracket.closing() {
                return Err(unexpected(text, kind, pos, ErrorKind::Comma));
            }
            visitor.close(top.mark, top.bracket, top.count, pos as usize + 1);
            *top = self.frames.pop().unwrap_or_else(Frame::outside);
            if self.frames.is_empty() {
                return Ok(Some(Expect::Nothing));
            }
        }
    }

    /// Enters the container that opens at `start`, or skips it if the next token, which is at index `at`, closes it.
    /// Returns what must come next, and the index of the token where that is.
    #[inline(always)]
    fn enter(
        &mut self,
        visitor: &mut impl Visitor<Mark = M>,
        top: &mut Frame<M>,
        bracket: Bracket,
        start: u32,
        (after, after_pos): (u8, u32),
        at: usize,
    ) -> Result<(Expect, usize), Fault> {
        if self.frames.len() >= self.depth_max {
            return Err(Fault::at_byte(ErrorKind::Depth, start as usize));
        }
        let mark = visitor.open(bracket, start as usize);
        if after == bracket.closing() {
            visitor.close(mark, bracket, 0, after_pos as usize + 1);
            return Ok((if self.frames.is_empty() { Expect::Nothing } else { Expect::Next }, at + 1));
        }
        self.frames.push(core::mem::replace(top, Frame { mark, count: 0, bracket }));
        Ok((bracket.inside(), at))
    }
}

/// The next [`AHEAD`] items from `at` on, if there are that many.
#[inline(always)]
fn ahead<T>(items: &[T], at: usize) -> Option<&[T; AHEAD]> {
    items.get(at..)?.first_chunk()
}

/// The kind of value that began at a token.
enum Begun {
    /// A string, number or literal, which was reported to the visitor.
    Scalar,
    /// A container begins.
    Open(Bracket),
}

/// Reads the key at the first of four tokens, and the colon after it.
#[inline(always)]
fn key<P: Visitor>(text: &[u8], kind: &[u8; AHEAD], pos: &[u32; AHEAD], visitor: &mut P) -> Result<(), Fault> {
    if kind[0] & !ESCAPED != b'"' {
        return Err(unexpected(text, kind[0], pos[0], ErrorKind::Key));
    }
    let start = pos[0] as usize + 1;
    let end = string_end(text, start, pos[1] as usize)?;
    visitor.key(text, start, end, kind[0] & ESCAPED != 0);
    if kind[1] == b':' { Ok(()) } else { Err(unexpected(text, kind[1], pos[1], ErrorKind::Colon)) }
}

/// Reads the value that begins at the token at `pos`, before the token at `next`.
#[inline(always)]
fn value<P: Visitor>(
    text: &[u8],
    kind: u8,
    pos: u32,
    next: u32,
    numbers: Numbers,
    visitor: &mut P,
) -> Result<Begun, Fault> {
    let (start, next) = (pos as usize, next as usize);
    match kind {
        b'{' => return Ok(Begun::Open(Bracket::Object)),
        b'[' => return Ok(Begun::Open(Bracket::Array)),
        b'"' | ESCAPED_QUOTE => {
            let end = string_end(text, start + 1, next)?;
            visitor.string(start + 1, end, kind & ESCAPED != 0);
        }
        b'-' | b'0'..=b'9' => {
            let end = scalar_end(text, next);
            let class = number(text, start, end, numbers)?;
            visitor.number(start, end, class);
        }
        b't' => visitor.literal(start, literal(text, start, next, Literal::True)?),
        b'f' => visitor.literal(start, literal(text, start, next, Literal::False)?),
        b'n' => visitor.literal(start, literal(text, start, next, Literal::Null)?),
        _ => return Err(unexpected(text, kind, pos, ErrorKind::Value)),
    }
    Ok(Begun::Scalar)
}

/// The kind of a string that holds an escape. In UTF-8 text no token can begin with this byte.
const ESCAPED_QUOTE: u8 = b'"' | ESCAPED;

/// The end of the content of the string that starts at `start`, when the next token is at `next`: the closing quote,
/// which stands before `next`, with only white space between them.
#[inline(always)]
fn string_end(text: &[u8], start: usize, next: usize) -> Result<usize, Fault> {
    let last = next - 1;
    if text[last] == b'"' && last >= start { Ok(last) } else { string_end_far(text, start, next) }
}

#[inline(never)]
fn string_end_far(text: &[u8], start: usize, next: usize) -> Result<usize, Fault> {
    // Other bytes than white space can come between the quote and `next` only at the end of the text that was scanned
    // without error.
    match trim_end(text, start, next).checked_sub(1) {
        Some(last) if last >= start && text[last] == b'"' => Ok(last),
        _ => Err(Fault::at_byte(ErrorKind::String, next)),
    }
}

/// The end of the scalar before the token at `next`.
#[inline(always)]
fn scalar_end(text: &[u8], next: usize) -> usize {
    if is_space(text[next - 1]) { trim_end(text, 0, next) } else { next }
}

#[inline(always)]
pub(crate) fn number(text: &[u8], start: usize, end: usize, numbers: Numbers) -> Result<Class, Fault> {
    match number::check_at(text, start, end) {
        Ok(class) if numbers == Numbers::Any => Ok(class),
        Ok(class) if number::in_range(&text[start..end], class, numbers) => Ok(class),
        Ok(_) => Err(Fault::at_byte(ErrorKind::Range, start)),
        Err(offset) => Err(Fault::at_byte(ErrorKind::Number, start + offset)),
    }
}

#[inline(always)]
pub(crate) fn literal(text: &[u8], start: usize, next: usize, literal: Literal) -> Result<Literal, Fault> {
    let end = scalar_end(text, next);
    let wanted = literal.text().as_bytes();
    if text[start..end] == *wanted { Ok(literal) } else { Err(broken_literal(text, start, end, wanted)) }
}

#[cold]
#[inline(never)]
fn broken_literal(text: &[u8], start: usize, end: usize, wanted: &[u8]) -> Fault {
    let same = text[start..end].iter().zip(wanted).take_while(|(found, wanted)| found == wanted).count();
    Fault::at_byte(ErrorKind::Literal, start + same)
}

/// The error for a token at `pos` that is not what `wanted` stands for.
#[cold]
#[inline(never)]
pub(crate) fn unexpected(text: &[u8], kind: u8, pos: u32, wanted: ErrorKind) -> Fault {
    let offset = pos as usize;
    let ended = match kind {
        END => offset == text.len(),
        byte => byte == b'\n',
    };
    Fault::at_byte(if ended { ErrorKind::Unclosed } else { wanted }, offset)
}

/// At the root, a text that ends too early has no value at all.
#[cold]
fn or_empty(error: Fault) -> Fault {
    if error.kind() == ErrorKind::Unclosed { Fault::new(ErrorKind::Empty, error.offset()) } else { error }
}

//! Short texts → tape, in one pass.
//!
//! Two passes pay off when there is much to do in each: to set them up takes as long as to read 80 bytes one by one. A
//! shorter text is read from left to right, a word of eight bytes at a time within strings, and each node is written
//! where it ends. Everything unusual is left to the two passes, and so is every mistake: they say where it is. So this
//! pass may give up wherever it likes; what it accepts, they accept, with the same tape.

use super::build::{TapeBuilder, TapeVisitor};
use crate::number::check_at;
use crate::policy::{Numbers, Policy};
use crate::text::plain_end;
use crate::walk::{Bracket, Build, Literal, Visitor};

/// The longest text that is read like this, in bytes. With AVX-512 the two passes are faster from 85 bytes on, with AVX2
/// from 110.
pub(super) const SMALL_MAX: usize = 64;

/// How many containers may be open.
const DEPTH_MAX: usize = 8;

/// Writes the tape of a text. `None` if it must be read by the two passes; what was written then is not a tape.
#[inline]
pub(super) fn fill(text: &[u8], policy: &Policy, words: &mut Vec<u64>) -> Option<()> {
    if policy.numbers != Numbers::Any {
        return None;
    }
    let mut build = TapeBuilder { words: core::mem::take(words) };
    let mut visitor = build.visitor(text.len());
    let mut reader = SmallReader { text, at: 0 };
    let read = reader.document(&mut visitor, policy.depth_max.min(DEPTH_MAX));
    visitor.finish();
    *words = build.words;
    read
}

struct SmallReader<'t> {
    text: &'t [u8],
    /// The next byte.
    at: usize,
}

/// A container that is open.
#[derive(Clone, Copy)]
struct OpenContainer {
    /// The index of its first word.
    mark: usize,
    bracket: Bracket,
    /// Its children so far.
    count: u32,
}

impl SmallReader<'_> {
    fn document(&mut self, visitor: &mut TapeVisitor<'_>, depth_max: usize) -> Option<()> {
        let mut stack = [OpenContainer { mark: 0, bracket: Bracket::Array, count: 0 }; DEPTH_MAX];
        let mut depth = 0;
        loop {
            let first = self.next();
            let start = self.at - 1;
            match first {
                b'"' => {
                    let (from, to, escaped) = self.string()?;
                    visitor.string(from, to, escaped);
                }
                b'{' | b'[' => {
                    let bracket = if first == b'{' { Bracket::Object } else { Bracket::Array };
                    if depth == depth_max {
                        return None;
                    }
                    let mark = visitor.open(bracket, start);
                    self.skip_spaces();
                    // `}` and `]` are two after what opens them.
                    if self.text.get(self.at) == Some(&(first + 2)) {
                        self.at += 1;
                        visitor.close(mark, bracket, 0, self.at);
                    } else {
                        stack[depth] = OpenContainer { mark, bracket, count: 0 };
                        depth += 1;
                        if bracket == Bracket::Object {
                            self.key(visitor)?;
                        }
                        continue;
                    }
                }
                b'-' | b'0'..=b'9' => self.number(visitor, start)?,
                b't' => self.literal(visitor, Literal::True)?,
                b'f' => self.literal(visitor, Literal::False)?,
                b'n' => self.literal(visitor, Literal::Null)?,
                _ => return None,
            }
            // What follows a value.
            loop {
                let Some(last) = depth.checked_sub(1) else {
                    self.skip_spaces();
                    let is_text = self.at == self.text.len();
                    let is_utf8 = || self.text.is_ascii() || str::from_utf8(self.text).is_ok();
                    return (is_text && is_utf8()).then_some(());
                };
                let OpenContainer { mark, bracket, count } = &mut stack[last];
                *count += 1;
                match (self.next(), *bracket) {
                    (b',', Bracket::Object) => {
                        self.key(visitor)?;
                        break;
                    }
                    (b',', Bracket::Array) => break,
                    (b'}', Bracket::Object) | (b']', Bracket::Array) => {
                        visitor.close(*mark, *bracket, *count, self.at);
                        depth = last;
                    }
                    _ => return None,
                }
            }
        }
    }

    #[inline(always)]
    fn skip_spaces(&mut self) {
        while let Some(b' ' | b'\n' | b'\t' | b'\r') = self.text.get(self.at) {
            self.at += 1;
        }
    }

    /// Takes the first byte that is not white space; 0 at the end.
    #[inline(always)]
    fn next(&mut self) -> u8 {
        self.skip_spaces();
        let next = self.text.get(self.at).copied().unwrap_or_default();
        self.at += 1;
        next
    }

    /// A key and its colon.
    #[inline(always)]
    fn key(&mut self, visitor: &mut TapeVisitor<'_>) -> Option<()> {
        if self.next() != b'"' {
            return None;
        }
        let (from, to, escaped) = self.string()?;
        visitor.key(self.text, from, to, escaped);
        (self.next() == b':').then_some(())
    }

    /// Where the content of a string is, whose quote was taken, and whether it has an escape. It has no control characters, and
    /// none of the escapes that take more than two bytes.
    #[inline(always)]
    fn string(&mut self) -> Option<(usize, usize, bool)> {
        let from = self.at;
        let (mut at, mut escaped) = (from, false);
        loop {
            at = plain_end(self.text, at);
            match self.text.get(at..)? {
                [b'"', ..] => {
                    self.at = at + 1;
                    return Some((from, at, escaped));
                }
                [b'\\', b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..] => {
                    escaped = true;
                    at += 2;
                }
                _ => return None,
            }
        }
    }

    #[inline(always)]
    fn number(&mut self, visitor: &mut TapeVisitor<'_>, start: usize) -> Option<()> {
        let mut end = self.at;
        while let Some(b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-') = self.text.get(end) {
            end += 1;
        }
        let class = check_at(self.text, start, end).ok()?;
        visitor.number(start, end, class);
        self.at = end;
        Some(())
    }

    #[inline(always)]
    fn literal(&mut self, visitor: &mut TapeVisitor<'_>, literal: Literal) -> Option<()> {
        let start = self.at - 1;
        if !self.text[start..].starts_with(literal.text().as_bytes()) {
            return None;
        }
        visitor.literal(start, literal);
        self.at = start + literal.text().len();
        Some(())
    }
}

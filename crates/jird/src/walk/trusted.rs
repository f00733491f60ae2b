//! The walk that checks nothing. It is meant for text that was checked before, and is safe on any other.
//!
//! Whatever the tokens are, it reports to the visitor a value that is well formed as a tree: each bracket closes an
//! open container, a value without a key gets an empty key, a key without a value gets null, and everything that is
//! still open closes at the end.

use super::{Bracket, Literal, Visitor};
use crate::number::Class;
use crate::scan::{BracketSearch, END, ESCAPED, Tokens};
use crate::text::{is_space, trim_end};

/// An open container.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TrustedFrame<M> {
    mark: M,
    count: u32,
    bracket: Bracket,
    /// In an object: a key was reported, and its value was not.
    keyed: bool,
}

/// Walks the tokens of one value from `*at` to the end of the value, of the line or of the text, and leaves `*at`
/// after the value's last token. Stops early if `enough` returns true. Time and memory are linear in the tokens
/// walked.
pub(crate) fn walk_trusted<B: Visitor>(
    text: &[u8],
    tokens: &Tokens,
    at: &mut usize,
    open: &mut Vec<TrustedFrame<B::Mark>>,
    build: &mut B,
    enough: impl Fn(&B) -> bool,
) {
    open.clear();
    let (kind, pos) = tokens.slices();
    let mut end = pos.get(*at).map_or(text.len(), |&pos| pos as usize);
    let mut empty = true;
    while let (Some(&byte), Some(&start), Some(&next)) = (kind.get(*at), pos.get(*at), pos.get(*at + 1)) {
        let (start, next) = (start as usize, next as usize);
        if byte == b'\n' || byte == END && start >= text.len() {
            break;
        }
        *at += 1;
        end = next;
        match byte {
            b'{' | b'[' => {
                value_comes(text, open, build, start);
                empty = false;
                let bracket = if byte == b'{' { Bracket::Object } else { Bracket::Array };
                let mark = build.open(bracket, start);
                open.push(TrustedFrame { mark, count: 0, bracket, keyed: false });
                if !build.wants() {
                    let left = &kind[*at..];
                    *at += BracketSearch::<false>::default().pass(left).unwrap_or(left.len());
                }
            }
            b'}' | b']' => close(open, build, start + 1),
            _ if byte & !ESCAPED == b'"' => {
                let end = string_end(text, start + 1, next);
                let escaped = byte & ESCAPED != 0;
                match open.last_mut() {
                    Some(frame @ TrustedFrame { bracket: Bracket::Object, keyed: false, .. })
                        if kind.get(*at) == Some(&b':') =>
                    {
                        frame.keyed = true;
                        build.key(text, start + 1, end, escaped);
                    }
                    _ => {
                        value_comes(text, open, build, start);
                        empty = false;
                        build.string(start + 1, end, escaped);
                    }
                }
            }
            b'-' | b'0'..=b'9' => {
                value_comes(text, open, build, start);
                empty = false;
                let end = if is_space(text[next - 1]) { trim_end(text, start, next) } else { next };
                build.number(start, end, Class::of(&text[start..end]));
            }
            b't' | b'f' | b'n' => {
                value_comes(text, open, build, start);
                empty = false;
                build.literal(
                    start,
                    match byte {
                        b't' => Literal::True,
                        b'f' => Literal::False,
                        _ => Literal::Null,
                    },
                );
            }
            _ => {}
        }
        if open.is_empty() && !empty || enough(build) {
            break;
        }
    }
    if empty {
        build.literal(end, Literal::Null);
    }
    while !open.is_empty() {
        close(open, build, end);
    }
}

/// Called before a value: counts it, and gives it a key if it needs one.
fn value_comes<B: Visitor>(text: &[u8], open: &mut [TrustedFrame<B::Mark>], build: &mut B, start: usize) {
    if let Some(frame) = open.last_mut() {
        frame.count += 1;
        if frame.bracket == Bracket::Object && !core::mem::take(&mut frame.keyed) {
            build.key(text, start, start, false);
        }
    }
}

fn close<B: Visitor>(open: &mut Vec<TrustedFrame<B::Mark>>, build: &mut B, end: usize) {
    let Some(TrustedFrame { mark, mut count, bracket, keyed }) = open.pop() else { return };
    if keyed {
        build.literal(end, Literal::Null);
        count += 1;
    }
    build.close(mark, bracket, count, end);
}

/// The end of a string's content; if the string is not closed, some place between its start and the next token.
fn string_end(text: &[u8], start: usize, next: usize) -> usize {
    match trim_end(text, start, next) {
        end if end > start && text[end - 1] == b'"' => end - 1,
        end => end,
    }
}

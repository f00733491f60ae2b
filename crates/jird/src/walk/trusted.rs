//! The walk that checks nothing. It is meant for text that was checked before, and is safe on any other.
//!
//! Whatever the tokens are, it reports to the visitor a value that is well formed as a tree: each bracket closes an
//! open container, a value without a key gets an empty key, a key without a value gets null, and everything that is
//! still open closes at the end.

use super::{Bracket, Literal, Visitor};
use crate::number::Class;
use crate::scan::{BRACKET, END, ESCAPED, Tokens};
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
                    *at += inside(&kind[*at..]);
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

/// The number of tokens before the bracket that closes the open container, or before the end of the line or the text.
/// It looks at eight tokens at a time for one that is a bracket or an end.
pub(crate) fn inside(kind: &[u8]) -> usize {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    // Marks bytes that are zero, and perhaps others after the first of them.
    let zeros = |word: u64| word.wrapping_sub(ONES) & !word & (ONES << 7);
    let mut depth = 0_i32;
    let mut ends = |byte: u8| {
        let step = STEPS[usize::from(byte)];
        depth += i32::from(step);
        depth < 0 || step == LINE_END
    };
    let (words, rest) = kind.as_chunks();
    for (index, bytes) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*bytes);
        let mut marks = zeros(word & (ONES * ABOVE_LINE_ENDS)) | zeros(!word & (ONES * u64::from(BRACKET)));
        while marks != 0 {
            let at = marks.trailing_zeros() as usize / 8;
            if ends(bytes[at]) {
                return index * 8 + at;
            }
            marks &= marks - 1;
        }
    }
    rest.iter().position(|&byte| ends(byte)).map_or(kind.len(), |at| words.len() * 8 + at)
}

/// Bits of which the kinds of all tokens have at least one, except line ends.
const ABOVE_LINE_ENDS: u64 = 0x70;

/// What a token adds to the depth, or [`LINE_END`].
static STEPS: [i8; 256] = {
    let mut steps = [0; 256];
    (steps[b'{' as usize], steps[b'[' as usize]) = (1, 1);
    (steps[b'}' as usize], steps[b']' as usize]) = (-1, -1);
    (steps[b'\n' as usize], steps[END as usize]) = (LINE_END, LINE_END);
    steps
};

const LINE_END: i8 = 2;

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_inside_is_counted_as_one_by_one() {
        let one_by_one = |kind: &[u8]| {
            let mut depth = 0;
            let end = kind.iter().position(|&byte| {
                depth += i32::from(matches!(byte, b'{' | b'[')) - i32::from(matches!(byte, b'}' | b']'));
                depth < 0 || matches!(byte, b'\n' | END)
            });
            end.unwrap_or(kind.len())
        };
        let kinds = *b"{}[]\n\0,:\"1-tfnYy_\x01\x7f\xa2\xdb\xff\"\":,11,,::\"";
        let mut random = 7_u64;
        for _ in 0..50_000 {
            let mut next = |below: usize| {
                random = random.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
                (random >> 33) as usize % below
            };
            let from = [0, 0, 6][next(3)];
            let kind: Vec<u8> = (0..next(40)).map(|_| kinds[from + next(kinds.len() - from)]).collect();
            assert_eq!(inside(&kind), one_by_one(&kind), "{kind:?}");
        }
    }
}

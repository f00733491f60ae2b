//! Finds what is wanted of a record at a glance: 64 tokens at a time, by masks, and checks nothing.
//!
//! Which of the tokens are keys shows in their kinds, and how long a key is in where the token behind it stands. Only keys as
//! long as one that is wanted are looked at, and brackets, as long as such a key follows.

use super::{NOWHERE, Select, Slot};
use crate::kernel::Simd;
use crate::scan::{BATCH, END, ESCAPED, Tokens};
use crate::tape::Kind;
use crate::walk::trim_end;

/// An open object that something is wanted of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outer {
    /// The node outside it.
    outside: u32,
    node: u32,
    start: u32,
}

/// The last token of a batch is looked at with the next: what follows a string shows whether it is a key.
const STEP: usize = BATCH - 1;

impl Select<'_> {
    /// Finds what is wanted of the record whose first token, a `{`, is the one before `at`. Returns a token of the record behind
    /// all that were wanted, or that of its line's end. `None` where it takes a walk: for elements of arrays, and for some of what
    /// is no JSON. No colon of the tokens has white space before it.
    #[inline(always)]
    pub(crate) fn skim<S: Simd>(&mut self, simd: S, text: &[u8], tokens: &Tokens, mut at: usize) -> Option<usize> {
        if self.is_complete() {
            return Some(at);
        }
        self.open.clear();
        let mut node = 0;
        // How deep it is in what nobody wants.
        let mut depth = 0_usize;
        // Open objects of which the end is wanted.
        let mut awaited = 0_usize;
        'batches: loop {
            let (kinds, pos) = tokens.batch(at);
            let block = simd.load(kinds);
            let is = |byte| simd.eq(block, byte);
            let end = is(b'\n') | is(END);
            let line = (end ^ end.wrapping_sub(1)) & (u64::MAX >> 1);
            let keys = simd.eq(simd.without_high_bits(block), b'"') & is(b':') >> 1 & line;
            let escaped = keys & simd.beyond_ascii(block);
            let wanted = simd.keys_as_long(pos, keys, self.projection.lengths) | escaped;
            let (open, close) = ((is(b'{') | is(b'[')) & line, (is(b'}') | is(b']')) & line);
            let end = end & line;
            let mut left = wanted | open | close | end;
            while left != 0 {
                if left & wanted == 0 && end != 0 && awaited == 0 {
                    return Some(at + end.trailing_zeros() as usize);
                }
                let index = left.trailing_zeros() as usize;
                let bit = left & left.wrapping_neg();
                left ^= bit;
                if bit & wanted == 0 {
                    if bit & open != 0 {
                        depth += 1;
                    } else if bit & end != 0 {
                        return None;
                    } else if depth > 0 {
                        depth -= 1;
                    } else {
                        let Some(Outer { outside, node: closed, start }) = self.open.pop() else {
                            return Some(at + index);
                        };
                        awaited -= usize::from(self.awaits(closed));
                        self.fill(closed, Slot::new(Kind::Object, false, start as usize, pos[index] as usize + 1));
                        if self.is_complete() {
                            return Some(at + index);
                        }
                        node = outside;
                    }
                    continue;
                }
                if depth > 0 {
                    continue;
                }
                let (start, behind) = (pos[index] as usize + 1, (pos[index + 1] as usize).checked_sub(1)?);
                if start > behind || behind >= text.len() {
                    return None;
                }
                let child = self.projection.nodes[node as usize].member(text, start, behind, bit & escaped != 0);
                if child == NOWHERE || core::mem::replace(&mut self.met[child as usize], self.record) == self.record {
                    continue;
                }
                let value = at + index + 2;
                let (kinds, offsets) = tokens.slices();
                let (kind, start, next) = (*kinds.get(value)?, *offsets.get(value)?, *offsets.get(value + 1)?);
                match kind {
                    b'{' => {
                        self.open.push(Outer { outside: node, node: child, start });
                        awaited += usize::from(self.awaits(child));
                        node = child;
                        if index + 2 >= STEP {
                            at = value + 1;
                            continue 'batches;
                        }
                        left &= !(bit << 2);
                    }
                    b'[' => return None,
                    first => {
                        self.fill(child, scalar(text, first, start as usize, next as usize)?);
                        if self.is_complete() {
                            return Some(value);
                        }
                    }
                }
            }
            at += STEP;
        }
    }

    /// Whether the whole value that stands at a node is wanted.
    #[inline(always)]
    fn awaits(&self, node: u32) -> bool {
        !self.projection.nodes[node as usize].slots.is_empty()
    }
}

/// The scalar that begins with `first` at `start`, before the token at `next`.
#[inline(always)]
fn scalar(text: &[u8], first: u8, start: usize, next: usize) -> Option<Slot> {
    let kind = match first {
        _ if first & !ESCAPED == b'"' => Kind::String,
        b't' | b'f' => Kind::Bool,
        b'n' => Kind::Null,
        b'-' | b'0'..=b'9' => Kind::Number,
        _ => return None,
    };
    let end = trim_end(text, start, next);
    (kind != Kind::String || end > start + 1).then(|| Slot::new(kind, first & ESCAPED != 0, start, end))
}

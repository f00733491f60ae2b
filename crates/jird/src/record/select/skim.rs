//! Finds the wanted values of a record without a walk and without checks. It stops as soon as all are found.
//!
//! Where masks are cheap, it works by masks, 64 tokens at a time: the kinds of the tokens show which are keys, and the
//! offset of the token after a key shows how long the key is. Only keys that are as long as a wanted key are compared;
//! brackets are looked at only while such a key may follow. On other CPUs it steps from key to key, and over values
//! that are not wanted.

use super::{NOWHERE, Outer, Select, Slot};
use crate::kernel::{Kernel, Pass, Simd};
use crate::scan::{BATCH, BracketSearch, END, ESCAPED, Tokens};
use crate::tape::Kind;
use crate::text::trim_end;

/// The tokens of a batch, up to the end of the line.
struct Masks {
    /// Keys that may be wanted: those as long as a wanted key, and those with an escape.
    wanted: u64,
    escaped: u64,
    open: u64,
    close: u64,
    /// The end of the line.
    end: u64,
}

/// The number of tokens of a batch that are used. Only the token after it shows whether the last token is a key, so
/// the last one is looked at with the next batch.
const STEP: usize = BATCH - 1;

impl Masks {
    #[inline(always)]
    fn of<S: Simd>(simd: S, kinds: &[u8; BATCH], pos: &[u32; BATCH + 1], lengths: u64) -> Self {
        let block = simd.load(kinds);
        let is = |byte| simd.eq(block, byte);
        let end = is(b'\n') | is(END);
        let line = (end ^ end.wrapping_sub(1)) & (u64::MAX >> (BATCH - STEP));
        let keys = simd.eq(simd.without_high_bits(block), b'"') & is(b':') >> 1 & line;
        let escaped = keys & simd.beyond_ascii(block);
        Self {
            wanted: simd.keys_as_long(pos, keys, lengths) | escaped,
            escaped,
            open: (is(b'{') | is(b'[')) & line,
            close: (is(b'}') | is(b']')) & line,
            end: end & line,
        }
    }
}

/// A pass that finds the wanted values of a record by masks.
struct Skim<'a, 'b> {
    select: &'a mut Select<'b>,
    text: &'a [u8],
    tokens: &'a Tokens,
    at: usize,
}

impl Pass for Skim<'_, '_> {
    type Out = Option<usize>;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Option<usize> {
        self.select.by_masks(simd, self.text, self.tokens, self.at)
    }
}

impl Select<'_> {
    /// Finds the wanted values of a record whose tokens begin before `at`, by [`Select::by_masks`] or
    /// [`Select::by_steps`], whichever is faster. It is called for each record. A kernel entry around the loop over
    /// records would compile that loop and its visitor once per instruction set; the call per record takes 0.2 % of a
    /// filter's time.
    #[inline]
    pub(crate) fn skim(&mut self, kernel: Kernel, text: &[u8], tokens: &Tokens, at: usize) -> Option<usize> {
        if kernel.skims() {
            kernel.enter(Skim { select: self, text, tokens, at })
        } else {
            self.by_steps(text, tokens, at)
        }
    }

    /// Finds the wanted values of the record whose first token, a `{`, is the one before `at`. Returns a token of the
    /// record after which no value is wanted, or the token at the end of its line. Returns `None` if a walk is needed:
    /// for elements of arrays, and for some texts that are not JSON. For other texts that are not JSON it finds some
    /// values in them.
    ///
    /// No colon among the tokens may have white space before it.
    #[inline(always)]
    fn by_masks<S: Simd>(&mut self, simd: S, text: &[u8], tokens: &Tokens, mut at: usize) -> Option<usize> {
        if self.is_complete() {
            return Some(at);
        }
        let mut node = 0;
        // How many unwanted containers are open here.
        let mut depth = 0_usize;
        // How many open objects are wanted as a whole.
        let mut awaited = 0_usize;
        'batches: loop {
            let (kinds, pos) = tokens.batch(at);
            let Masks { wanted, escaped, open, close, end } = Masks::of(simd, kinds, pos, self.projection.lengths);
            // The token at the line's end, if this batch has it: that saves the caller a search.
            let behind = |token: usize| match end.trailing_zeros() as usize {
                index if index < BATCH && kinds[index] == b'\n' => at + index,
                _ => token,
            };
            let mut left = wanted | open | close | end;
            while left != 0 {
                if left & wanted == 0 && end != 0 && awaited == 0 {
                    let index = end.trailing_zeros() as usize;
                    // A NUL in unchecked text does not end a line.
                    let is_end = kinds[index] != END || pos[index] as usize >= text.len();
                    return is_end.then_some(at + index);
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
                        match self.close(pos[index] as usize + 1, &mut awaited) {
                            Some(parent) if !self.is_complete() => node = parent,
                            _ => return Some(behind(at + index)),
                        }
                    }
                    continue;
                }
                if depth > 0 {
                    continue;
                }
                let (start, last) = (pos[index] as usize + 1, (pos[index + 1] as usize).checked_sub(1)?);
                if start > last || text.get(last) != Some(&b'"') {
                    return None;
                }
                let child = self.meet(node, &text[..last], start, bit & escaped != 0);
                if child == NOWHERE {
                    continue;
                }
                let value = at + index + 2;
                let (kinds, offsets) = tokens.slices();
                let (kind, start, next) = (*kinds.get(value)?, *offsets.get(value)?, *offsets.get(value + 1)?);
                match kind {
                    b'{' => {
                        self.open.push(Outer { parent: node, node: child, start, left: 0 });
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
                            return Some(behind(value));
                        }
                    }
                }
            }
            at += STEP;
        }
    }

    /// Closes the innermost wanted object, which ends before `end`. Returns the node around it; `None` if the record ends.
    #[inline(always)]
    fn close(&mut self, end: usize, awaited: &mut usize) -> Option<u32> {
        let Outer { parent, node, start, .. } = self.open.pop()?;
        *awaited -= usize::from(self.awaits(node));
        self.fill(node, Slot::new(Kind::Object, false, start as usize, end));
        Some(parent)
    }

    /// The same, but white space may stand anywhere.
    fn by_steps(&mut self, text: &[u8], tokens: &Tokens, mut at: usize) -> Option<usize> {
        if self.is_complete() {
            return Some(at);
        }
        let (kinds, offsets) = tokens.slices();
        let mut node = 0;
        loop {
            let (kind, pos) = (kinds.get(at..)?.first_chunk::<4>()?, offsets.get(at..)?.first_chunk::<4>()?);
            let mut next = at + 4;
            let mut after = kind[3];
            if kind[0] & !ESCAPED == b'"' && kind[1] == b':' {
                let (start, end) = (pos[0] as usize + 1, (pos[1] as usize).checked_sub(1)?);
                if start > end || text[end] != b'"' {
                    return None;
                }
                let child = self.meet(node, &text[..end], start, kind[0] & ESCAPED != 0);
                let start = pos[2] as usize;
                match kind[2] {
                    b'{' if child != NOWHERE => {
                        self.open.push(Outer { parent: node, node: child, start: start as u32, left: 0 });
                        node = child;
                        at += 3;
                        continue;
                    }
                    b'[' if child != NOWHERE => return None,
                    b'{' | b'[' => {
                        next = at + 3 + BracketSearch::<false>::default().pass(&kinds[at + 3..])? + 2;
                        after = *kinds.get(next - 1)?;
                        // A trusted text may end a line inside the container.
                        if !matches!(kinds[next - 2], b'}' | b']') {
                            return None;
                        }
                    }
                    first if child != NOWHERE => {
                        self.fill(child, scalar(text, first, start, pos[3] as usize)?);
                        if self.is_complete() {
                            return Some(at + 3);
                        }
                    }
                    b':' | b',' | b'}' | b']' | b'\n' | END => return None,
                    _ => {}
                }
            } else if kind[0] == b'}' {
                (after, next) = (b'}', at + 1);
            } else {
                return None;
            }
            // One bracket may close more than one object on the path.
            while after == b'}' {
                let Some(Outer { parent, node: closed, start, .. }) = self.open.pop() else { return Some(next) };
                let end = *offsets.get(next - 1)? as usize + 1;
                self.fill(closed, Slot::new(Kind::Object, false, start as usize, end));
                if self.is_complete() {
                    return Some(next);
                }
                node = parent;
                after = *kinds.get(next)?;
                next += 1;
            }
            if after != b',' {
                return None;
            }
            at = next;
        }
    }
}

/// The scalar at `start`, whose token's kind is `first` and whose next token is at `next`.
#[inline(always)]
pub(super) fn scalar(text: &[u8], first: u8, start: usize, next: usize) -> Option<Slot> {
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

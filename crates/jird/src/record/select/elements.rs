//! Finds the wanted values of each element of an array, from the tokens of a checked document, chunk by chunk.
//!
//! It works by levels, as a sweep without tokens does, but on 64 tokens at a time. Tokens show where keys with escapes
//! and colons after white space are, so it needs no walk.

use super::levels::{Level, Marks};
use super::skim::scalar;
use super::{NOWHERE, Outer, Select, Slot};
use crate::kernel::{Kernel, Pass, Simd};
use crate::path::Step;
use crate::scan::{BATCH, ESCAPED, SPACED, Tokens};
use crate::tape::Kind;
use crate::text::{eq_unescaped, trim_end};
use core::ops::Range;

/// The tokens of a batch that are used: a key, its colon, its value and the token after that are in one batch.
const STEP: usize = BATCH - 3;

/// A search for the elements of one document.
pub(crate) struct Elements<'a, 'p> {
    select: &'a mut Select<'p>,
    /// The keys that lead to the array.
    path: &'a [Step],
    stage: Stage,
    level: Level,
    /// Where the element begins.
    start: usize,
}

/// Where a search is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Before the first token.
    Start,
    /// In an object around the array, after this many keys.
    Path(usize),
    /// In the array, between elements.
    Array,
    /// In an element that is an object.
    Element,
    /// In an element that is an array.
    Other,
    /// After the array, or where there is none.
    Done,
}

/// Tokens to be looked at.
pub(crate) struct Stretch<'a> {
    pub(crate) text: &'a [u8],
    pub(crate) tokens: &'a Tokens,
    /// The first token that was not looked at.
    pub(crate) at: &'a mut usize,
    /// The end of the tokens, exclusive; three more tokens or sentinels stand there if `last` is set.
    pub(crate) to: usize,
    /// Whether all tokens are looked at, also those that make no full batch.
    pub(crate) last: bool,
}

struct Search<'a, 'b, 'p> {
    elements: &'a mut Elements<'b, 'p>,
    stretch: Stretch<'a>,
}

impl Pass for Search<'_, '_, '_> {
    type Out = Option<Range<usize>>;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Self::Out {
        self.elements.search(simd, self.stretch)
    }
}

/// A batch of tokens, as masks.
struct TokenRun<'a> {
    text: &'a [u8],
    kinds: &'a [u8; BATCH],
    pos: &'a [u32; BATCH + 1],
    keys: u64,
    /// Keys with an escape, and those that white space follows: the distance to the next token does not tell their length.
    unclear: u64,
    /// Keys that may be wanted in one object or another.
    likely: u64,
    scalars: u64,
}

impl TokenRun<'_> {
    #[inline(always)]
    fn pos(&self, index: usize) -> usize {
        self.pos[index % BATCH] as usize
    }

    #[inline(always)]
    fn kind(&self, index: usize) -> u8 {
        self.kinds[index % BATCH] & !SPACED
    }

    /// The start and the end of a key.
    #[inline(always)]
    fn key(&self, index: usize) -> (usize, usize) {
        let (start, colon) = (self.pos(index) + 1, self.pos(index + 1));
        let is_unclear = self.unclear >> (index % BATCH) & 1 != 0;
        let end = if is_unclear { trim_end(self.text, start, colon) } else { colon };
        (start, end.max(start + 1) - 1)
    }
}

impl<'a, 'p> Elements<'a, 'p> {
    /// A search for the array at a path, whose steps are keys.
    pub(crate) fn new(select: &'a mut Select<'p>, path: &'a [Step]) -> Self {
        Self { select, path, stage: Stage::Start, level: Level::outside(0), start: 0 }
    }

    /// Looks at tokens of a document up to the end of an element, and returns where it is; [`Select::found`] has its
    /// values then. `None` if the tokens ran out.
    pub(crate) fn next(&mut self, kernel: Kernel, stretch: Stretch<'_>) -> Option<Range<usize>> {
        kernel.enter(Search { elements: self, stretch })
    }

    pub(crate) fn select(&self) -> &Select<'p> {
        self.select
    }

    #[inline(always)]
    fn search<S: Simd>(&mut self, simd: S, stretch: Stretch<'_>) -> Option<Range<usize>> {
        let Stretch { text, tokens, at, to, last } = stretch;
        while *at < to && (last || to - *at >= BATCH) {
            if self.stage == Stage::Done {
                *at = to;
                break;
            }
            let (kinds, pos) = tokens.batch(*at);
            let count = STEP.min(to - *at);
            let valid = u64::MAX >> (BATCH - count);
            let plain = simd.without_high_bits(simd.load(kinds));
            let open = (simd.eq(plain, b'{') | simd.eq(plain, b'[')) & valid;
            let close = (simd.eq(plain, b'}') | simd.eq(plain, b']')) & valid;
            let closed = close.count_ones() as usize;
            if closed < self.level.depth {
                self.level.depth = self.level.depth - closed + open.count_ones() as usize;
                *at += count;
                continue;
            }
            let colon = simd.opaque(simd.eq(plain, b':'));
            let keys = simd.eq(plain, b'"') & colon >> 1 & valid;
            let marked = simd.beyond_ascii(simd.load(kinds));
            let unclear = keys & (marked | marked >> 1);
            // Two masks are hidden from the compiler. In some builds with AVX2, it would otherwise split the masks into bits and build
            // vectors of them again.
            let comma = simd.opaque(simd.eq(plain, b','));
            let scalars = valid & !(open | close | colon | comma);
            let likely = simd.keys_as_long(pos, keys, self.select.projection.lengths) | unclear;
            let batch = TokenRun { text, kinds, pos, keys, unclear, likely, scalars };
            if self.stage == Stage::Start {
                self.begin(&batch);
            }
            let mut marks = Marks { base: 0, wanted: self.wanted(&batch), open, close, record: valid };
            while let Some(bit) = self.level.next(simd, &mut marks) {
                if let Some(element) = self.look(&batch, bit, &mut marks) {
                    *at += bit.trailing_zeros() as usize + 1;
                    (self.stage, self.level) = (Stage::Array, Level::outside(usize::MAX));
                    return Some(element);
                }
                if self.stage == Stage::Done {
                    break;
                }
            }
            *at += count;
        }
        None
    }

    /// Looks at the first token.
    #[inline(always)]
    fn begin(&mut self, batch: &TokenRun<'_>) {
        self.level = Level::outside(batch.pos(0));
        self.stage = match (self.path, batch.kind(0)) {
            ([], b'[') => Stage::Array,
            ([_, ..], b'{') => Stage::Path(0),
            _ => Stage::Done,
        };
    }

    /// The tokens other than brackets that are looked at.
    #[inline(always)]
    fn wanted(&self, batch: &TokenRun<'_>) -> u64 {
        match self.stage {
            Stage::Path(_) => batch.keys,
            Stage::Array => batch.scalars,
            Stage::Element => batch.likely,
            Stage::Start | Stage::Other | Stage::Done => 0,
        }
    }

    /// Looks at a token. Returns the element that ends with it.
    #[inline(always)]
    fn look(&mut self, batch: &TokenRun<'_>, bit: u64, marks: &mut Marks) -> Option<Range<usize>> {
        let index = bit.trailing_zeros() as usize;
        let at = batch.pos(index);
        if self.level.ended {
            if self.stage == Stage::Other {
                self.fill_value(Slot::new(Kind::Array, false, self.start, at + 1));
            }
            return Some(self.start..at + 1);
        }
        if marks.open & bit != 0 {
            marks.open ^= bit;
            if at == self.level.entered {
                return None;
            }
            if self.stage != Stage::Array {
                self.level.depth += 1;
                return None;
            }
            self.enter(at, batch.kind(index) == b'{');
        } else if marks.close & bit != 0 {
            marks.close ^= bit;
            if self.stage != Stage::Element {
                self.stage = Stage::Done;
                return None;
            }
            let Some(Outer { start, .. }) = self.select.open.last().copied() else { return Some(self.start..at + 1) };
            let kind = if batch.text[start as usize] == b'{' { Kind::Object } else { Kind::Array };
            self.select.fill(self.level.node, Slot::new(kind, false, start as usize, at + 1));
            self.level.leave(self.select);
            self.level.leave_if_all_met(self.select);
        } else {
            marks.wanted ^= bit;
            match self.stage {
                Stage::Array => return Some(self.lone(batch, index)),
                Stage::Path(done) => self.follow(batch, index, done),
                _ => {
                    if !self.member(batch, index) {
                        return None;
                    }
                }
            }
        }
        marks.wanted = self.wanted(batch) & !(bit | (bit - 1));
        None
    }

    /// Begins an element that is a container.
    #[inline(always)]
    fn enter(&mut self, at: usize, is_object: bool) {
        self.start = at;
        self.select.begin(is_object);
        self.level = Level::outside(at);
        if is_object {
            self.stage = Stage::Element;
            self.level.left = self.select.keys_of(0);
            self.level.leave_if_all_met(self.select);
            return;
        }
        self.stage = Stage::Other;
        (self.level.depth, self.level.ended) = (1, true);
    }

    /// Fills the value of an element that is not an object, if it is wanted.
    #[inline(always)]
    fn fill_value(&mut self, slot: Slot) {
        let node = self.select.next;
        if node != NOWHERE {
            self.select.fill(node, slot);
        }
    }

    /// An element that is a scalar.
    #[inline(always)]
    fn lone(&mut self, batch: &TokenRun<'_>, index: usize) -> Range<usize> {
        let (start, next) = (batch.pos(index), batch.pos(index + 1));
        self.select.begin(false);
        if let Some(slot) = scalar(batch.text, batch.kinds[index % BATCH], start, next) {
            self.fill_value(slot);
        }
        start..trim_end(batch.text, start, next)
    }

    /// Looks at a key of an object around the array.
    #[inline(always)]
    fn follow(&mut self, batch: &TokenRun<'_>, index: usize, done: usize) {
        let Some(Step::Key(wanted)) = self.path.get(done) else { return };
        let (start, end) = batch.key(index);
        let raw = &batch.text[start..end];
        let is_escaped = batch.kinds[index % BATCH] & ESCAPED != 0;
        if if is_escaped { !eq_unescaped(raw, wanted) } else { raw != wanted.as_bytes() } {
            return;
        }
        self.level = Level::outside(batch.pos(index + 2));
        self.stage = match batch.kind(index + 2) {
            b'[' if done + 1 == self.path.len() => Stage::Array,
            b'{' if done + 1 < self.path.len() => Stage::Path(done + 1),
            _ => Stage::Done,
        };
    }

    /// Looks at a key of an element. Returns whether other keys are wanted after it.
    #[inline(always)]
    fn member(&mut self, batch: &TokenRun<'_>, index: usize) -> bool {
        let (start, end) = batch.key(index);
        let is_escaped = batch.kinds[index % BATCH] & ESCAPED != 0;
        let child = self.select.meet(self.level.node, &batch.text[..end], start, is_escaped);
        if child == NOWHERE {
            return false;
        }
        let level = &mut self.level;
        level.left = level.left.saturating_sub(1);
        let (first, start) = (batch.kinds[(index + 2) % BATCH], batch.pos(index + 2));
        if matches!(first & !SPACED, b'{' | b'[') {
            let left = self.select.keys_of(child);
            self.select.open.push(Outer { parent: level.node, node: child, start: start as u32, left: level.left });
            (level.node, level.left, level.entered) = (child, left, start);
            return true;
        }
        if let Some(slot) = scalar(batch.text, first, start, batch.pos(index + 3)) {
            self.select.fill(child, slot);
        }
        let all_met = level.left == 0;
        if all_met {
            level.leave_if_all_met(self.select);
        }
        all_met
    }
}

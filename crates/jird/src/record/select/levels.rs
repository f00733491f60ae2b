//! A sweep for wanted values at any depth, which passes by whole containers.
//!
//! It is at one *level* at a time: the members of one wanted object. A container in there that is not wanted is left
//! with counts: as long as a block has fewer closing brackets than containers are open, only the numbers of its
//! brackets matter. As soon as all wanted members of an object were found, the rest of it is passed by in the same way.

use super::sweep::{Bytes, Candidates, scalar, value};
use super::{NOWHERE, Outer, Select, Slot};
use crate::kernel::{BLOCK, Kernel, Pass, Simd};
use crate::tape::Kind;

/// A pass over a record or, if `ELEMENT` is set, over one that more text follows. If `LINES` is set, the record ends at
/// the first newline.
struct Levels<'a, 'b, const LINES: bool, const ELEMENT: bool> {
    select: &'a mut Select<'b>,
    text: &'a [u8],
}

impl<const LINES: bool, const ELEMENT: bool> Pass for Levels<'_, '_, LINES, ELEMENT> {
    type Out = Option<usize>;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Option<usize> {
        let level = Level { left: self.select.keys_of(0), ..Level::outside(0) };
        level.sweep::<S, LINES, ELEMENT>(simd, self.select, self.text)
    }
}

impl Select<'_> {
    /// Finds the wanted values as [`Select::sweep`] does. With `ELEMENT` it returns the offset of the closing bracket,
    /// or the text's length if there is none.
    pub(super) fn by_levels<const LINES: bool, const ELEMENT: bool>(
        &mut self,
        kernel: Kernel,
        text: &[u8],
    ) -> Option<usize> {
        kernel.enter(Levels::<LINES, ELEMENT> { select: self, text })
    }

    /// The number of keys that are wanted in the object at a node.
    #[inline(always)]
    pub(super) fn keys_of(&self, node: u32) -> usize {
        self.projection.nodes[node as usize].keys.len()
    }
}

/// The length of the array or object that the text begins with; that of the text if it is not closed. Checks nothing,
/// and is linear in the length.
pub(in crate::record) fn container_len(kernel: Kernel, text: &[u8]) -> usize {
    kernel.enter(Container { text })
}

/// A pass over an array or object that is not wanted.
struct Container<'a> {
    text: &'a [u8],
}

impl Pass for Container<'_> {
    type Out = usize;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> usize {
        let Some((_, text)) = self.text.split_first() else { return 0 };
        let (blocks, rest) = text.as_chunks::<BLOCK>();
        let rest = simd.load_rest(rest);
        let mut level = Level { depth: 1, ended: true, ..Level::outside(0) };
        let mut bytes = Bytes::default();
        let mut index = 0;
        while index <= blocks.len() {
            index = level.pass_by::<S, false>(simd, blocks, index, &mut bytes);
            let outline = simd.outline(simd.load(blocks.get(index).unwrap_or(&rest)));
            let (next, outside) = bytes.next(simd, &outline);
            let (open, close) = (outline.open & outside, outline.close & outside);
            let mut marks = Marks { base: 1 + index * BLOCK, wanted: 0, open, close, record: u64::MAX };
            if let Some(bit) = level.next(simd, &mut marks) {
                return marks.base + bit.trailing_zeros() as usize + 1;
            }
            bytes = next;
            index += 1;
        }
        self.text.len()
    }
}

/// Where a sweep is.
pub(super) struct Level {
    /// The innermost wanted container.
    pub(super) node: u32,
    /// How many of its wanted keys were not met yet.
    pub(super) left: usize,
    /// How many containers in it are open that are not wanted.
    pub(super) depth: usize,
    /// The offset of its bracket. Of use until the sweep has passed it.
    pub(super) entered: usize,
    /// Whether nothing more is wanted; then `depth` counts all containers.
    pub(super) ended: bool,
}

/// The marks of a block that were not looked at yet.
pub(super) struct Marks {
    pub(super) base: usize,
    /// The colons after keys that may be wanted.
    pub(super) wanted: u64,
    pub(super) open: u64,
    pub(super) close: u64,
    /// The bytes that belong to the record.
    pub(super) record: u64,
}

impl Level {
    /// In a container that no projection knows, whose bracket is at this offset.
    pub(super) fn outside(entered: usize) -> Self {
        Self { node: 0, left: 0, depth: 0, entered, ended: false }
    }

    #[inline(always)]
    fn sweep<S: Simd, const LINES: bool, const ELEMENT: bool>(
        mut self,
        simd: S,
        select: &mut Select<'_>,
        text: &[u8],
    ) -> Option<usize> {
        let (blocks, rest) = text.as_chunks::<BLOCK>();
        let rest = simd.load_rest(rest);
        let mut bytes = Bytes::default();
        let mut index = 0;
        if !ELEMENT && self.left == 0 {
            return Some(0);
        }
        while index <= blocks.len() {
            if self.depth > 0 {
                index = self.pass_by::<S, LINES>(simd, blocks, index, &mut bytes);
            }
            let block = simd.load(blocks.get(index).unwrap_or(&rest));
            let outline = simd.outline(block);
            let end = if LINES { simd.eq(block, b'\n') } else { 0 };
            let found = bytes.step(simd, &outline)?;
            let record = end ^ end.wrapping_sub(1);
            let outside = found.outside & record;
            let wanted = found.among(self.distances(select)) & record;
            let (open, close) = (outline.open & outside, outline.close & outside);
            let mut marks = Marks { base: index * BLOCK, wanted, open, close, record };
            while let Some(bit) = self.next(simd, &mut marks) {
                match self.look::<S, ELEMENT>(simd, select, text, bit, &mut marks, &found)? {
                    MarkResult::Some => {}
                    MarkResult::All(at) => return Some(at),
                }
            }
            if end != 0 {
                return Some(marks.base + end.trailing_zeros() as usize);
            }
            index += 1;
        }
        Some(text.len())
    }

    /// Passes by the blocks from `index` on that lie whole inside of unwanted containers. Returns the index of the
    /// block after them.
    #[inline(always)]
    fn pass_by<S: Simd, const LINES: bool>(
        &mut self,
        simd: S,
        blocks: &[[u8; BLOCK]],
        mut index: usize,
        bytes: &mut Bytes,
    ) -> usize {
        while let Some(bytes_here) = blocks.get(index) {
            let block = simd.load(bytes_here);
            if LINES && simd.eq(block, b'\n') != 0 {
                break;
            }
            let Some(depth) = bytes.pass_by(simd, &simd.outline(block), self.depth) else { break };
            self.depth = depth;
            index += 1;
        }
        index
    }

    /// The next mark at this level. Passes by what is inside of unwanted containers.
    #[inline(always)]
    pub(super) fn next<S: Simd>(&mut self, simd: S, marks: &mut Marks) -> Option<u64> {
        while self.depth > 0 {
            let closed = marks.close.count_ones() as usize;
            if closed < self.depth {
                self.depth = self.depth - closed + marks.open.count_ones() as usize;
                return None;
            }
            // After as many closing brackets as containers are open, only those are open that were opened meanwhile.
            let last = simd.scatter_bits(1 << (self.depth - 1), marks.close);
            let passed = last | (last - 1);
            self.depth = (marks.open & passed).count_ones() as usize;
            (marks.wanted, marks.open) = (marks.wanted & !passed, marks.open & !passed);
            marks.close &= !passed;
            if self.depth == 0 && self.ended {
                return Some(last);
            }
        }
        let left = marks.wanted | marks.open | marks.close;
        (left != 0).then_some(left & left.wrapping_neg())
    }

    /// Looks at a mark. `None` if a walk is needed.
    #[inline(always)]
    fn look<S: Simd, const ELEMENT: bool>(
        &mut self,
        simd: S,
        select: &mut Select<'_>,
        text: &[u8],
        bit: u64,
        marks: &mut Marks,
        found: &Candidates,
    ) -> Option<MarkResult> {
        let at = marks.base + bit.trailing_zeros() as usize;
        if self.ended {
            return Some(MarkResult::All(at));
        }
        if marks.open & bit != 0 {
            marks.open ^= bit;
            if at == self.entered {
                self.leave_if_all_met(select);
            } else {
                self.depth += 1;
            }
            return Some(MarkResult::Some);
        }
        if marks.close & bit != 0 {
            marks.close ^= bit;
            let Some(outer) = select.open.last().copied() else { return Some(MarkResult::All(at)) };
            let kind = if text[outer.start as usize] == b'{' { Kind::Object } else { Kind::Array };
            select.fill(self.node, Slot::new(kind, false, outer.start as usize, at + 1));
            self.leave(select);
        } else {
            marks.wanted ^= bit;
            // The colon, the closing quote, and the key before it.
            let end = at.wrapping_sub(1);
            let start = found.key_start(text, marks.base, bit, end)?;
            let child = select.meet(self.node, &text[..end], start, false);
            if child == NOWHERE {
                return Some(MarkResult::Some);
            }
            self.left = self.left.saturating_sub(1);
            let (start, first) = value(text, at + 1)?;
            if matches!(first, b'{' | b'[') {
                let left = select.keys_of(child);
                select.open.push(Outer { parent: self.node, node: child, start: start as u32, left: self.left });
                (self.node, self.left, self.entered) = (child, left, start);
                marks.wanted = found.among(self.distances(select)) & marks.record & !(bit | (bit - 1));
                return Some(MarkResult::Some);
            }
            select.fill(child, scalar(simd, text, start, first)?);
            if self.left > 0 {
                return Some(MarkResult::Some);
            }
        }
        self.leave_if_all_met(select);
        if self.ended && !ELEMENT {
            return Some(MarkResult::All(at));
        }
        marks.wanted = found.among(self.distances(select)) & marks.record & !(bit | (bit - 1));
        Some(MarkResult::Some)
    }

    /// Passes by the rest of an object whose wanted keys were all met, and of those around it for which that holds too.
    #[inline(always)]
    pub(super) fn leave_if_all_met(&mut self, select: &mut Select<'_>) {
        while self.left == 0 && !self.ended && !select.awaits(self.node) {
            self.depth += 1;
            if select.open.is_empty() {
                self.ended = true;
            } else {
                self.leave(select);
            }
        }
    }

    #[inline(always)]
    pub(super) fn leave(&mut self, select: &mut Select<'_>) {
        if let Some(Outer { parent, left, .. }) = select.open.pop() {
            (self.node, self.left) = (parent, left);
        }
    }

    #[inline(always)]
    fn distances<'s>(&self, select: &'s Select<'_>) -> &'s [u32] {
        &select.projection.nodes[self.node as usize].distances
    }
}

/// What a look at a mark has brought.
enum MarkResult {
    /// More may be found.
    Some,
    /// All that is wanted was seen: the offset is in the record's line.
    All(usize),
}

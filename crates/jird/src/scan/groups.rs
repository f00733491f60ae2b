//! The part of the loop of pass one that takes eight blocks at a time, a group.
//!
//! The masks of a group's blocks are stored, and loaded again as the words of one register. So an operation on masks serves
//! eight blocks, and no mask goes through a general register. The load has to wait until the stores have left the core, and
//! the tokens wait for all that is computed in between. Therefore three groups are under way: a step finds the masks of one,
//! writes the tokens of the one before, and classifies the bytes of the second one behind.

use super::State;
use super::pass::Running;
use super::tokens::Free;
use crate::kernel::{BLOCK, GROUP, GroupBorder, GroupClasses, GroupMasks, Simd, Words};

/// Shorter chunks are not taken in groups: little can be done while the first waits for its masks. Unit tests take groups
/// wherever they can, because their texts are short.
pub(super) const GROUPED_FROM: usize = if cfg!(test) { 1 } else { 16 } * GROUP * BLOCK;

/// What was found in a group.
#[derive(Default)]
struct Group {
    masks: GroupMasks,
    /// The bytes behind a backslash that is not escaped itself. All zero before a group is looked at.
    escaped: Words,
    /// A bit for each block, set if its first byte is escaped.
    escapes: u64,
    /// 1 if the last token before the group is a string, and has an escape in the group.
    late: u64,
}

impl<'a, S: Simd, const LINES: bool, const CHECK: bool, const MASKS: bool> Running<'a, S, LINES, CHECK, MASKS> {
    /// Scans groups of blocks, as many as there are. Returns the number of their blocks, which is even.
    #[inline(always)]
    pub(super) fn groups(&mut self, blocks: &[[u8; BLOCK]], state: &mut State, out: &mut Free<'_>) -> usize {
        let mut buffers = [GroupClasses::default(), GroupClasses::default()];
        let [mut classes, mut next_classes] = buffers.each_mut();
        let mut found = [Group::default(), Group::default()];
        let [mut this, mut other] = found.each_mut();
        let mut border = GroupBorder::default();
        // The groups that are classified, each with whether it has a backslash; the group whose masks are found.
        let (mut classified, mut written) = ([None, None], None);
        // The next group of which the masks are found, and the next to be classified.
        let (mut at, mut index) = (0, 0);
        loop {
            let mut now = None;
            if let Some((group, backslash)) = classified[0] {
                self.find(blocks, at, (classes, backslash), &mut border, this, state, out);
                at += GROUP;
                now = Some(group);
            }
            if let Some(group) = written {
                self.emit_group(group, other, out);
            }
            if let Some(group) = now
                && this.masks.inside.0 == [u64::MAX; GROUP]
                && state.escape == 0
            {
                // Inside a long string. What was classified is forgotten, and its UTF-8 is checked again.
                core::hint::cold_path();
                self.emit_group(group, this, out);
                self.open = self.open_behind(&blocks[at - 1]);
                index = 2 * self.pass_by(blocks.as_chunks().0, at / 2, out);
                (at, classified, now) = (index, [None, None], None);
            }
            let next = blocks.get(index..).and_then(<[_]>::first_chunk).map(|next| {
                if LINES {
                    next.as_chunks().0.iter().for_each(|pair| self.simd.prefetch(pair, self.ahead));
                }
                index += GROUP;
                let unusual = self.simd.classify_group(next, LINES, classes);
                let backslash = unusual | self.open != 0 && self.unusual_group(blocks, index - GROUP, next, classes);
                (next, backslash)
            });
            if next.is_none() && classified[1].is_none() && now.is_none() {
                if CHECK {
                    self.controls |= border.controls.0.iter().fold(0, |all, one| all | one);
                }
                if LINES {
                    self.blank |= border.blank.0.iter().fold(0, |all, one| all | one);
                }
                return index;
            }
            (written, classified) = (now, [classified[1], next]);
            core::mem::swap(&mut this, &mut other);
            core::mem::swap(&mut classes, &mut next_classes);
        }
    }

    /// Finds the masks of a group, the first of whose blocks is `index`.
    #[inline(always)]
    #[expect(clippy::too_many_arguments, reason = "where the group stands, and what was found so far")]
    fn find(
        &mut self,
        blocks: &[[u8; BLOCK]],
        index: usize,
        (classes, backslash): (&mut GroupClasses, bool),
        border: &mut GroupBorder,
        group: &mut Group,
        state: &mut State,
        out: &mut Free<'_>,
    ) {
        let open = state.in_string & 1;
        let has_escapes = backslash || state.escape != 0;
        if has_escapes {
            if !backslash {
                classes.backslash = Words::default();
            }
            group.escapes = self.simd.escape_group(&classes.backslash, &mut state.escape, &mut group.escaped);
        }
        let space = index.checked_sub(1).map_or(state.space, |before| u64::from(blocks[before][BLOCK - 1] <= b' '));
        (border.in_string, border.scalar, border.space) = (state.in_string, state.scalar, space);
        self.simd.group_masks(classes, &group.escaped, border, &mut group.masks);
        (state.in_string, state.scalar) = (border.in_string, border.scalar);
        if LINES {
            group.masks.spaced = Words::default();
        }
        if has_escapes {
            self.mark_group(index, group, &classes.backslash, open, out);
            group.escaped = Words::default();
        } else {
            group.late = 0;
        }
        if MASKS {
            for at in 0..GROUP {
                out.keep_masks(index + at, group.masks.blank.0[at], group.masks.run.0[at]);
            }
        }
    }

    /// Writes the tokens of a group.
    #[inline(always)]
    fn emit_group(&mut self, blocks: &[[u8; BLOCK]; GROUP], group: &Group, out: &mut Free<'_>) {
        out.mark_last(group.late);
        let masks = &group.masks;
        for (at, bytes) in blocks.iter().enumerate() {
            let block = self.simd.mark(self.simd.load(bytes), masks.spaced.0[at]);
            out.emit(self.simd, block, bytes, masks.tokens.0[at], 0, self.offset);
            self.offset = self.simd.next_offset(self.offset);
        }
    }

    /// Checks the UTF-8 of a group, and finds its backslashes. Returns whether there is one.
    #[inline(always)]
    fn unusual_group(
        &mut self,
        blocks: &[[u8; BLOCK]],
        index: usize,
        group: &[[u8; BLOCK]; GROUP],
        classes: &mut GroupClasses,
    ) -> bool {
        let simd = self.simd;
        let (mut merged, mut any) = (simd.load(&group[0]), 0);
        for (bytes, backslash) in group.iter().zip(&mut classes.backslash.0) {
            let block = simd.load(bytes);
            merged = simd.merge(merged, block);
            *backslash = simd.eq(block, b'\\');
            any |= *backslash;
        }
        if self.needs_utf8_check(merged) {
            self.group_utf8(blocks, index);
        }
        any != 0
    }

    /// Checks the UTF-8 of all blocks of a group: which of them need it is hard to predict.
    #[inline(always)]
    fn group_utf8(&mut self, blocks: &[[u8; BLOCK]], index: usize) {
        let simd = self.simd;
        let text = blocks.as_flattened();
        let behind = (index * BLOCK).checked_sub(3).and_then(|at| text[at..].first_chunk::<{ GROUP * BLOCK + 3 }>());
        if let Some(text) = behind {
            for bytes in text.windows(BLOCK + 3).step_by(BLOCK).filter_map(<[_]>::first_chunk) {
                simd.utf8_check_behind(&mut self.utf8, bytes);
            }
        } else {
            core::hint::cold_path();
            let mut before = self.before;
            for bytes in &blocks[index..index + GROUP] {
                simd.utf8_check(&mut self.utf8, before, simd.load(bytes));
                before = bytes;
            }
        }
        self.open = self.open_behind(&blocks[index + GROUP - 1]);
    }

    /// Marks the strings of a group that have escapes, and notes the blocks that are checked for escapes later. `open` is 1 if
    /// the group begins inside a string.
    #[inline(always)]
    fn mark_group(&mut self, index: usize, group: &mut Group, backslash: &Words, open: u64, out: &mut Free<'_>) {
        let inside = group.masks.inside.0;
        group.late = self.simd.mark_group(&mut group.masks, backslash, open);
        if CHECK {
            for at in (0..GROUP).step_by(2) {
                let escape = group.escapes >> at & 1;
                let in_string = at.checked_sub(1).map_or(open, |before| inside[before] >> 63).wrapping_neg();
                let noted = backslash.0[at] | backslash.0[at + 1] | escape != 0;
                out.note_escapes_if(index + at, State { escape, in_string, ..State::default() }, noted);
            }
        }
    }
}

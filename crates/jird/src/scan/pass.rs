//! The loop of pass one.
//!
//! A step takes two blocks. The masks of the two are computed independently of each other, and only a few bits go from
//! one block to the next. Work that few blocks need is done outside the loop: it only notes which blocks have escapes, and
//! [`super::escapes`] checks them after the chunk; [`super::numbers`] checks numbers in a loop of its own.

use super::escapes::{escaped_bytes, marks};
use super::tokens::Free;
use super::{Carry, Chunk, Keeps, State, Tokens, Violations};
use crate::kernel::{BLOCK, Classes, MANY, Pass, Simd};

/// A chunk to be scanned. It is generic over what the mode says: whether lines are scanned, whether everything is
/// checked, and what is kept of each block ([`Keeps`]). Each combination is compiled separately, because
/// together they would share one set of registers.
pub(super) struct PassOne<'a, const LINES: bool, const CHECK: bool, const KEEPS: u8> {
    pub(super) chunk: &'a Chunk<'a>,
    pub(super) carry: &'a mut Carry,
    pub(super) tokens: &'a mut Tokens,
}

/// What a pass over a chunk finds besides tokens.
struct Running<'a, S: Simd, const LINES: bool, const CHECK: bool, const KEEPS: u8> {
    simd: S,
    /// The offset of the first block, and the block before it.
    from: usize,
    before: &'a [u8; BLOCK],
    /// The offset of the next block.
    offset: S::Offset,
    utf8: S::Utf8,
    /// Documents only: the byte before the first block, many times over.
    start: S::Block,
    /// The bitwise or of all blocks that may hold bytes beyond ASCII.
    all: S::Block,
    /// Nonzero if the next block is checked as UTF-8 even if it is ASCII: a character may reach into it.
    open: u64,
    /// Nonzero if every block is checked as UTF-8.
    checks_ascii: u64,
    /// Nonzero if a string has a byte below 0x20.
    controls: u64,
    /// The number of white-space bytes outside strings, other than newlines. Lines only.
    blank: usize,
    /// Whether the last blocks had many tokens. Only if [`Simd::COUNTS_TOKENS`].
    is_dense: bool,
    /// The last pair, if [`Simd::DELAYS_TOKENS`].
    unwritten: Unwritten<S>,
    /// How far ahead memory is asked for the text. Lines only.
    ahead: usize,
}

/// How far ahead of the blocks the memory is asked for lines. They are read once, so they mostly come from there; and behind
/// a piece of lines the next one follows.
const AHEAD: usize = 4096;

/// After this many pairs of blocks, it is decided again whether blocks have many tokens.
const STRETCH: usize = 32;

/// A pair of blocks whose tokens are not written yet.
struct Unwritten<S: Simd> {
    blocks: [S::Block; 2],
    tokens: [u64; 2],
    /// The offset of the first.
    offset: S::Offset,
}

/// What was found in a block: one bit for each byte.
struct Masks {
    /// The tokens.
    tokens: u64,
    /// Those of them that get a mark when they are written: strings with an escape, and operators after white space; the latter
    /// in documents only. None if [`Simd::MARKS_BLOCKS`].
    marked: u64,
    /// The quotes at the ends of strings.
    quotes: u64,
    /// Bytes inside strings, with their opening quotes.
    inside: u64,
    /// White space outside strings.
    blank: u64,
    /// Bytes outside strings that are neither operators nor white space nor quotes.
    run: u64,
    /// The byte after each run. Only if scalars are kept.
    behind: u64,
}

impl Masks {
    /// Marks more tokens. Returns the block that holds them.
    #[inline(always)]
    fn mark<S: Simd>(&mut self, simd: S, block: S::Block, tokens: u64) -> S::Block {
        if S::MARKS_BLOCKS {
            return simd.mark(block, tokens);
        }
        self.marked |= tokens;
        block
    }
}

impl<const LINES: bool, const CHECK: bool, const KEEPS: u8> Pass for PassOne<'_, LINES, CHECK, KEEPS> {
    type Out = Violations;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Violations {
        let Self { chunk, carry, tokens } = self;
        let Chunk { text, from, to } = *chunk;
        let before = text[..from].last_chunk().unwrap_or(&[b' '; BLOCK]);
        let checks_ascii = u64::from(!tokens.tuning.skips_ascii);
        let mut pass = Running::<S, LINES, CHECK, KEEPS> {
            simd,
            from,
            before,
            // Texts are shorter than 2^32 bytes; the callers of the scan refuse longer ones.
            offset: simd.offset(from as u32, tokens.is_dense),
            utf8: simd.utf8_start(),
            all: simd.load(&[0; BLOCK]),
            start: simd.splat_block(if carry.state.space == 0 { b'!' } else { b' ' }),
            open: if CHECK { simd.beyond_ascii(simd.load(before)) >> OPEN_FROM | checks_ascii } else { 0 },
            checks_ascii,
            controls: 0,
            blank: 0,
            is_dense: tokens.is_dense,
            unwritten: Unwritten {
                blocks: [simd.load(&[0; BLOCK]); 2],
                tokens: [0; 2],
                offset: simd.offset(from as u32, false),
            },
            // Behind a single record stands nothing that will be read.
            ahead: if tokens.tuning.prefetches && to - from >= 2 * AHEAD { AHEAD } else { 0 },
        };
        let State { escape, in_string, .. } = carry.state;
        tokens.reserve(to - from);
        if KEEPS == Keeps::Masks as u8 {
            tokens.reserve_masks(to - from);
        }
        if KEEPS == Keeps::Scalars as u8 {
            tokens.reserve_scalars(to - from);
        }
        let mut out = tokens.free();
        let mut state = carry.state;
        let (blocks, rest) = text[from..to].as_chunks();
        pass.run(blocks, &mut state, &mut out);
        let mut filler = 0;
        let filler_follows = to == text.len();
        if filler_follows {
            // The end of the text, filled up with spaces. It is scanned even if nothing is left, because only a block of
            // spaces reveals a UTF-8 sequence that the text's last block leaves incomplete.
            let before = blocks.last().unwrap_or(before);
            pass.one_block(blocks.len(), before, &simd.load_end(text, to - rest.len()), &mut state, &mut out);
            // The spaces count too, unless a string is open there.
            filler = if state.in_string == 0 { BLOCK - rest.len() } else { 0 };
        }
        if S::MARKS_BLOCKS && !LINES {
            // Without text, the byte before is that of the chunk before.
            let last = if filler_follows { Some(&b' ') } else { text[from..to].last() };
            state.space = last.map_or(state.space, |last| u64::from(*last <= b' '));
        }
        carry.state = state.at_border();
        let written = out.written();
        tokens.set_written(written);
        tokens.is_dense = pass.is_dense;
        if simd.beyond_ascii(pass.all) != 0 {
            tokens.not_ascii();
        }
        tokens.blank |= S::SKIMS && pass.blank != filler;
        let mut found = Violations { not_utf8: !simd.utf8_ok(&pass.utf8), ..Violations::default() };
        if pass.controls != 0 {
            let control = first_control(&text[from..to], in_string, escape);
            found.control = control.map(|control| from + control);
        }
        found
    }
}

impl<'a, S: Simd, const LINES: bool, const CHECK: bool, const KEEPS: u8> Running<'a, S, LINES, CHECK, KEEPS> {
    /// Scans whole blocks.
    #[inline(always)]
    fn run(&mut self, blocks: &[[u8; BLOCK]], state: &mut State, out: &mut Free<'_>) {
        let (pairs, last) = blocks.as_chunks();
        let mut index = 0;
        while index < pairs.len() {
            let (start, written) = (index, out.len());
            let end = if S::COUNTS_TOKENS { pairs.len().min(start + STRETCH) } else { pairs.len() };
            while index < end {
                let inside = self.two_blocks(pairs, index, state, out);
                index += 1;
                if inside == u64::MAX && state.escape == 0 {
                    // Marked cold, because otherwise the inner loop would get the registers that short strings need.
                    core::hint::cold_path();
                    index = self.pass_by(pairs, index, out);
                }
            }
            // Fewer pairs are not enough to tell.
            if S::COUNTS_TOKENS && index - start >= STRETCH {
                self.is_dense = out.len() - written > 2 * MANY * (index - start);
                self.offset = self.offset_of(2 * index);
            }
        }
        if S::DELAYS_TOKENS {
            self.write(out);
        }
        if let [last] = last {
            self.one_block(2 * index, self.before(pairs, index), last, state, out);
        }
    }

    /// The offset of the block at `index`.
    #[inline(always)]
    fn offset_of(&self, index: usize) -> S::Offset {
        self.simd.offset((self.from + index * BLOCK) as u32, self.is_dense)
    }

    /// The block before a pair.
    #[inline(always)]
    fn before<'b>(&self, pairs: &'b [[[u8; BLOCK]; 2]], index: usize) -> &'b [u8; BLOCK]
    where
        'a: 'b,
    {
        index.checked_sub(1).map_or(self.before, |before| &pairs[before][1])
    }

    /// Scans a pair of blocks. Returns the bytes of the second that are inside strings.
    #[inline(always)]
    fn two_blocks(&mut self, pairs: &[[[u8; BLOCK]; 2]], index: usize, state: &mut State, out: &mut Free<'_>) -> u64 {
        let simd = self.simd;
        let bytes = &pairs[index];
        if LINES {
            simd.prefetch(bytes, self.ahead);
        }
        let blocks = [simd.load(&bytes[0]), simd.load(&bytes[1])];
        // One branch for what most pairs of a document do not have, and before all other masks: then it is decided early. In
        // records, where a third of the pairs have it here and there, it would be one more that is mispredicted.
        if LINES || simd.unusual(blocks[0], blocks[1]) | self.open | state.escape != 0 {
            if self.needs_utf8_check(simd.merge(blocks[0], blocks[1])) {
                let before = self.before(pairs, index);
                simd.utf8_check(&mut self.utf8, before, blocks[0]);
                simd.utf8_check(&mut self.utf8, &bytes[0], blocks[1]);
                self.open = simd.beyond_ascii(blocks[1]) >> OPEN_FROM | self.checks_ascii;
            }
            let backslash = [simd.eq(blocks[0], b'\\'), simd.eq(blocks[1], b'\\')];
            if backslash[0] | backslash[1] | state.escape != 0 {
                let escaped = Self::escaped(true, backslash, 2 * index, state, out);
                return self.tokens_of_two::<true>(pairs, index, blocks, Escapes { backslash, escaped }, state, out);
            }
        }
        self.tokens_of_two::<false>(pairs, index, blocks, Escapes::default(), state, out)
    }

    /// The rest of the work for a pair of blocks. Compiled once for pairs without escapes, which then keep no register for
    /// them. Returns the bytes of the second block that are inside strings.
    #[inline(always)]
    fn tokens_of_two<const ESCAPES: bool>(
        &mut self,
        pairs: &[[[u8; BLOCK]; 2]],
        index: usize,
        [mut first, mut second]: [S::Block; 2],
        Escapes { backslash, escaped }: Escapes,
        state: &mut State,
        out: &mut Free<'_>,
    ) -> u64 {
        let simd = self.simd;
        let bytes = &pairs[index];
        let open = state.in_string & 1;
        if S::DELAYS_TOKENS {
            self.write(out);
        }
        let (classes, next) = (Self::classes(simd, first), Self::classes(simd, second));
        let mut masks = Self::masks(simd, &classes, escaped[0], state);
        let mut next_masks = Self::masks(simd, &next, escaped[1], state);
        if S::MARKS_BLOCKS && !LINES {
            let behind = if index == 0 { simd.behind(self.start, first) } else { simd.load(byte_before(pairs, index)) };
            first = simd.mark_spaced(first, behind);
            second = simd
                .mark_spaced(second, simd.load(bytes.as_flattened()[BLOCK - 1..].first_chunk().unwrap_or(&bytes[0])));
        }
        if ESCAPES {
            let (first_marks, before) = marks(simd, masks.quotes, backslash[0], masks.inside, open);
            let between = masks.inside >> 63;
            let (next_marks, last) = marks(simd, next_masks.quotes, backslash[1], next_masks.inside, between);
            // The string that reaches into the second block begins with the last opening quote of the first, or before.
            let opening = masks.quotes & masks.inside;
            let is_before = u64::from(opening == 0);
            first = masks.mark(simd, first, first_marks | (last & !is_before) << (opening | 1).ilog2());
            second = next_masks.mark(simd, second, next_marks);
            out.mark_last(before | last & is_before);
        }
        if CHECK {
            self.controls |= classes.control & masks.inside | next.control & next_masks.inside;
        }
        let offset = self.offset;
        self.offset = simd.next_offset(offset);
        self.keep(2 * index, &bytes[0], &masks, out);
        if S::DELAYS_TOKENS {
            let tokens = [masks.tokens, next_masks.tokens];
            self.unwritten = Unwritten { blocks: [first, second], tokens, offset };
        } else {
            out.emit(simd, first, &bytes[0], masks.tokens, masks.marked, offset);
        }
        self.keep(2 * index + 1, &bytes[1], &next_masks, out);
        if !S::DELAYS_TOKENS {
            out.emit(simd, second, &bytes[1], next_masks.tokens, next_masks.marked, self.offset);
        }
        self.offset = simd.next_offset(self.offset);
        next_masks.inside
    }

    /// The same for one block.
    #[inline(always)]
    fn one_block(
        &mut self,
        index: usize,
        before: &[u8; BLOCK],
        bytes: &[u8; BLOCK],
        state: &mut State,
        out: &mut Free<'_>,
    ) {
        let simd = self.simd;
        let block = simd.load(bytes);
        self.utf8(before, block);
        let classes = Self::classes(simd, block);
        let open = state.in_string & 1;
        let backslash = simd.eq(block, b'\\');
        let has_escapes = backslash | state.escape != 0;
        let [escaped] = Self::escaped(has_escapes, [backslash], index, state, out);
        let mut masks = Self::masks(simd, &classes, escaped, state);
        let mut block = block;
        if S::MARKS_BLOCKS && !LINES {
            let before = if index == 0 { self.start } else { simd.load(before) };
            block = simd.mark_spaced(block, simd.behind(before, block));
        }
        if has_escapes {
            let (marks, before) = marks(simd, masks.quotes, backslash, masks.inside, open);
            block = masks.mark(simd, block, marks);
            out.mark_last(before);
        }
        self.keep(index, bytes, &masks, out);
        out.emit(simd, block, bytes, masks.tokens, masks.marked, self.offset);
        self.offset = simd.next_offset(self.offset);
        if CHECK {
            self.controls |= classes.control & masks.inside;
        }
    }

    /// Inside a long string: skips the pairs from `index` on that hold only the string's text: no quote, no backslash and
    /// no control character. They have no token and leave no state for the next block. Returns the index of the pair after
    /// them.
    #[inline(always)]
    fn pass_by(&mut self, pairs: &[[[u8; BLOCK]; 2]], mut index: usize, out: &mut Free<'_>) -> usize {
        while let Some([first, second]) = pairs.get(index) {
            let blocks = [self.simd.load(first), self.simd.load(second)];
            if self.simd.escapes(blocks[0]) | self.simd.escapes(blocks[1]) != 0 {
                break;
            }
            self.utf8(self.before(pairs, index), blocks[0]);
            self.utf8(first, blocks[1]);
            if KEEPS == Keeps::Masks as u8 {
                out.keep_masks(2 * index, 0, 0);
                out.keep_masks(2 * index + 1, 0, 0);
            }
            index += 1;
        }
        self.offset = self.offset_of(2 * index);
        index
    }

    /// Checks a block as UTF-8 where that is needed.
    #[inline(always)]
    fn utf8(&mut self, before: &[u8; BLOCK], block: S::Block) {
        if self.needs_utf8_check(block) {
            self.simd.utf8_check(&mut self.utf8, before, block);
            self.open = self.simd.beyond_ascii(block) >> OPEN_FROM | self.checks_ascii;
        }
    }

    /// Whether these bytes must be checked as UTF-8: they are not ASCII, or a character before them was left open. Merges
    /// them into `all`, unless they are known to be ASCII.
    #[inline(always)]
    fn needs_utf8_check(&mut self, blocks: S::Block) -> bool {
        let needs_check = CHECK && self.simd.beyond_ascii(blocks) | self.open != 0;
        if needs_check || !CHECK {
            self.all = self.simd.merge(self.all, blocks);
        }
        needs_check
    }

    #[inline(always)]
    fn classes(simd: S, block: S::Block) -> Classes {
        let mut classes = simd.classify(block);
        if LINES && !CHECK {
            // With AVX2 the compiler would otherwise split these masks into bits and build vectors of them again: 1.0
            // instead of 2.5 GB/s of events.
            classes.operator = simd.opaque(classes.operator);
            classes.space = simd.opaque(classes.space);
        }
        if LINES {
            classes.operator |= simd.eq(block, b'\n');
        }
        classes
    }

    /// The escaped bytes of consecutive blocks; the first of them has this index in the chunk. Notes the blocks if they are
    /// checked for escapes later.
    #[inline(always)]
    fn escaped<const N: usize>(
        has_escapes: bool,
        backslash: [u64; N],
        index: usize,
        state: &mut State,
        out: &mut Free<'_>,
    ) -> [u64; N] {
        let mut escaped = [0; N];
        if has_escapes {
            if CHECK {
                out.note_escapes(index, *state);
            }
            for (escaped, backslash) in escaped.iter_mut().zip(backslash) {
                (*escaped, state.escape) = escaped_bytes(backslash, state.escape);
            }
        }
        escaped
    }

    #[inline(always)]
    fn masks(simd: S, classes: &Classes, escaped: u64, state: &mut State) -> Masks {
        // §3.1.1: a bit for each byte inside a string; it includes the opening quote but not the closing one.
        let quotes = simd.opaque(classes.quote & !escaped);
        // The last byte before is outside strings, and goes on.
        let goes_on = state.scalar & !state.in_string;
        let inside = simd.prefix_xor(quotes) ^ state.in_string;
        state.in_string = (inside.cast_signed() >> 63).cast_unsigned();

        let plain = !(classes.operator | classes.space);
        let run = plain & !quotes;
        let starts = plain & !(run << 1 | state.scalar);
        state.scalar = run >> 63;
        // All of a string except its opening quote; the closing quote is included.
        let covered = inside ^ quotes;
        let mut marked = 0;
        if !LINES && !S::MARKS_BLOCKS {
            // White space directly before an operator outside strings is itself outside strings.
            // Hidden from the compiler, which would unite vectors instead of two masks, and move another mask for it.
            let space = simd.opaque(classes.space) | classes.control;
            marked = (space << 1 | state.space) & classes.operator;
            state.space = space >> 63;
        }
        let run = run & !inside;
        Masks {
            tokens: (classes.operator | starts) & !covered,
            marked,
            quotes,
            inside,
            blank: classes.space & !inside,
            run,
            behind: if KEEPS == Keeps::Scalars as u8 { (run << 1 | goes_on) & !run } else { 0 },
        }
    }

    /// Writes the tokens of the last pair.
    #[inline(always)]
    fn write(&mut self, out: &mut Free<'_>) {
        let Unwritten { blocks: [first, second], tokens: [tokens, next_tokens], offset } = self.unwritten;
        // Tokens are marked in the blocks, and a kernel that does so needs no bytes.
        out.emit(self.simd, first, &[0; BLOCK], tokens, 0, offset);
        out.emit(self.simd, second, &[0; BLOCK], next_tokens, 0, self.simd.next_offset(offset));
    }

    /// Keeps of a block what is needed besides its tokens.
    #[inline(always)]
    fn keep(&mut self, index: usize, bytes: &[u8; BLOCK], masks: &Masks, out: &mut Free<'_>) {
        if LINES && S::SKIMS {
            self.blank += (masks.blank & !masks.tokens).count_ones() as usize;
        }
        if KEEPS == Keeps::Masks as u8 {
            out.keep_masks(index, masks.blank, masks.run);
        }
        if KEEPS == Keeps::Scalars as u8 {
            out.keep_scalars(self.simd, bytes, masks.run | masks.behind);
        }
    }
}

/// The backslashes of two blocks, and the bytes that they escape.
#[derive(Clone, Copy, Default)]
struct Escapes {
    backslash: [u64; 2],
    escaped: [u64; 2],
}

/// The 64 bytes from the last one before a pair on. There must be a pair before it.
#[inline(always)]
fn byte_before(pairs: &[[[u8; BLOCK]; 2]], index: usize) -> &[u8; BLOCK] {
    assert!(index < pairs.len());
    let text = pairs.as_flattened().as_flattened();
    if cfg!(any(debug_assertions, jird_checked)) {
        return text[2 * BLOCK * index - 1..].first_chunk().expect("a pair has more than a block");
    }
    // SAFETY: the pair at `index` is in `pairs`, and the caller says that `index` is not 0: the bytes are the last of the pair
    // before it and the first of this one.
    unsafe { &*text.as_ptr().add(2 * BLOCK * index - 1).cast() }
}

/// The first of a block's last three bytes. A character that begins there may reach into the next block.
const OPEN_FROM: u32 = BLOCK as u32 - 3;

/// Finds the first byte below 0x20 inside a string, byte by byte.
#[cold]
#[inline(never)]
fn first_control(bytes: &[u8], in_string: u64, escape: u64) -> Option<usize> {
    let (mut in_string, mut escaped) = (in_string != 0, escape != 0);
    bytes.iter().position(|&byte| {
        let quote = byte == b'"' && !escaped;
        let control = in_string && byte < 0x20;
        escaped = byte == b'\\' && !escaped;
        in_string ^= quote;
        control
    })
}

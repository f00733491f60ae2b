//! Pass one: bytes to tokens (Langdale & Lemire, "Parsing Gigabytes of JSON per Second", §3.1), in chunks.
//!
//! On entry: a chunk of the text, and the [`Carry`] that the previous chunk left. On exit: the chunk's tokens are
//! appended to [`Tokens`], the carry is ready for the next chunk, and the first violation of each rule that pass one
//! checks is returned: UTF-8, control characters in strings, escapes. Pass two, [`crate::tape`] or [`crate::walk`],
//! checks what the tokens *mean*.
//!
//! A token is a structural byte, or the first byte of a scalar that follows white space, a structural byte or a
//! closing quote (the paper's structural and pseudo-structural characters). A scalar reaches to the next token, less
//! white space; in documents a bit in the next token says whether there is any.
#![allow(unsafe_code, reason = "text that was found to be UTF-8 becomes `str` without a second check")]

mod brackets;
mod compact;
mod fault;
#[cfg(feature = "parallel")]
mod guess;
mod line_count;
mod numbers;
#[cfg(test)]
mod oracle;
mod pieces;
mod pull;
mod source;
#[cfg(test)]
mod tests;
mod tokens;
mod whole;

pub(crate) use crate::word::ESCAPED;
pub(crate) use brackets::BracketSearch;
pub(crate) use compact::compact;
pub(crate) use fault::first_fault;
use numbers::{NumberCarry, wrong_bytes};
pub(crate) use pieces::Pieces;
pub(crate) use pull::{Content, OpenBrackets, Pull, Token};
#[cfg(feature = "serde")]
pub(crate) use source::KEY_BYTES;
pub use source::{IoRead, Read, SliceRead, Trusted};
pub(crate) use source::{Slice, TextSource};
#[cfg(feature = "parallel")]
pub(crate) use tokens::Cut;
use tokens::Free;
pub(crate) use tokens::{BATCH, Cursor, END, SENTINELS, Tokens, Tuning};
pub(crate) use whole::Whole;

use crate::kernel::{BLOCK, Kernel, Pass, Simd};
use crate::text;
use core::mem::MaybeUninit;

/// What pass one treats as a token, and what it checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// One document, checked.
    Document,
    /// The same; white space outside strings is recorded too.
    DocumentBlanks,
    /// A newline outside strings is a token, which ends a record. Checked.
    Lines,
    /// One document, unchecked: neither UTF-8 nor escapes nor control characters are checked.
    DocumentTrusted,
    /// As `Lines`, but unchecked.
    LinesTrusted,
}

/// A part of a text that pass one scans: `text[from..to]`. `from` is a multiple of [`BLOCK`]; so is `to`, unless it is
/// the text's end.
#[derive(Clone, Copy)]
pub(crate) struct Chunk<'a> {
    pub(crate) text: &'a [u8],
    pub(crate) from: usize,
    pub(crate) to: usize,
}

/// The state that one chunk leaves for the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Carry {
    /// 1 if the next byte is escaped.
    escape: u64,
    /// All ones inside a string.
    in_string: u64,
    /// 1 if the last byte belongs to a scalar that is not a string.
    scalar: u64,
    /// 1 if the last byte is white space outside strings. Documents only.
    space: u64,
    /// 1 if the last byte is neither white space nor an operator, and not inside a string. Documents only.
    plain_before: u64,
    /// The state of the number check.
    number: NumberCarry,
    /// Bits of the next block where a hexadecimal digit of a `\u` is still due.
    hex_due: u64,
    /// 1 if the next byte is the first digit of `\u`.
    hex_first: u64,
    /// The end of the last surrogate pair that was checked, or the offset where it is wrong. The pair's second half is
    /// not checked again.
    pair_end: usize,
}

impl Carry {
    /// Adjusts the offsets after the window has dropped its first `bytes`.
    fn forget(&mut self, bytes: usize) {
        self.pair_end = self.pair_end.saturating_sub(bytes);
    }

    /// Whether the text so far ends inside a string.
    pub(crate) fn in_string(&self) -> bool {
        self.in_string != 0
    }
}

/// The first violation in a chunk of each rule that pass one checks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Found {
    /// Offset of a control character inside a string.
    pub(crate) control: Option<usize>,
    /// Offset of the first byte that makes an escape invalid.
    pub(crate) escape: Option<usize>,
    /// Some number in the chunk, or before it and not reported yet, is invalid. Pass two reports which one and where.
    pub(crate) number: bool,
    /// Somewhere in the chunk, or in the last three bytes before it, the text is not UTF-8.
    pub(crate) not_utf8: bool,
}

/// Runs pass one over a chunk. Appends the tokens to `tokens`.
pub(crate) fn scan(kernel: Kernel, chunk: Chunk<'_>, mode: Mode, carry: &mut Carry, tokens: &mut Tokens) -> Found {
    // The chunk goes on by reference: a copy of it would wait for the narrow stores that have just made it.
    let chunk = &chunk;
    match mode {
        Mode::Document => kernel.enter(PassOne::<false, true, false> { chunk, carry, tokens }),
        Mode::DocumentBlanks => kernel.enter(PassOne::<false, true, true> { chunk, carry, tokens }),
        Mode::Lines => kernel.enter(PassOne::<true, true, false> { chunk, carry, tokens }),
        Mode::DocumentTrusted => kernel.enter(PassOne::<false, false, false> { chunk, carry, tokens }),
        Mode::LinesTrusted => kernel.enter(PassOne::<true, false, false> { chunk, carry, tokens }),
    }
}

/// A chunk to be scanned. It is generic over what the mode says: whether lines are scanned, whether everything is
/// checked, and whether white space is recorded. Each combination is compiled separately, because together they would
/// share one set of registers.
struct PassOne<'a, const LINES: bool, const CHECK: bool, const BLANKS: bool> {
    chunk: &'a Chunk<'a>,
    carry: &'a mut Carry,
    tokens: &'a mut Tokens,
}

impl<const LINES: bool, const CHECK: bool, const BLANKS: bool> Pass for PassOne<'_, LINES, CHECK, BLANKS> {
    type Out = Found;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Found {
        Running::<S, LINES, CHECK, BLANKS>::run(simd, self.chunk, self.carry, self.tokens)
    }
}

/// The number of blocks that go through all steps together: 4 KB of text, which stay in the first-level cache from one
/// step to the next.
const GROUP: usize = 64;

/// The blocks of a group.
trait Blocks<'b>: Copy {
    fn len(self) -> usize;
    fn at(self, index: usize) -> &'b [u8; BLOCK];
    /// The block after `index`.
    #[inline(always)]
    fn after(self, index: usize) -> Option<&'b [u8; BLOCK]> {
        (index + 1 < self.len()).then(|| self.at(index + 1))
    }
}

impl<'b> Blocks<'b> for &'b [[u8; BLOCK]] {
    #[inline(always)]
    fn len(self) -> usize {
        <[_]>::len(self)
    }

    #[inline(always)]
    fn at(self, index: usize) -> &'b [u8; BLOCK] {
        &self[index]
    }
}

/// The end of a text: whole blocks, and one more that holds the rest.
#[derive(Clone, Copy)]
struct WithRest<'b> {
    whole: &'b [[u8; BLOCK]],
    rest: &'b [u8; BLOCK],
}

impl<'b> Blocks<'b> for WithRest<'b> {
    #[inline(always)]
    fn len(self) -> usize {
        self.whole.len() + 1
    }

    #[inline(always)]
    fn at(self, index: usize) -> &'b [u8; BLOCK] {
        self.whole.get(index).unwrap_or(self.rest)
    }
}

/// One pass over a chunk, a group of blocks at a time, in steps. The first step finds the tokens. Most text needs only
/// this step, and its loop does nothing else, so that the state it carries from block to block stays in registers. The
/// other steps look at what only some blocks have: escapes, numbers, bytes beyond ASCII.
struct Running<'a, S: Simd, const LINES: bool, const CHECK: bool, const BLANKS: bool> {
    simd: S,
    text: &'a [u8],
    /// A copy of it would wait for stores: 10 ns for each text, which a small one feels.
    carry: &'a mut Carry,
    utf8: S::Utf8,
    found: Found,
    /// Bytes outside strings that are neither operators nor white space nor quotes, for each block of the group.
    /// Only those of the group are written: clearing the others would cost much for a small text.
    runs: [MaybeUninit<u64>; GROUP],
    /// Whether a byte so far was not ASCII.
    beyond_ascii: bool,
    /// The number of white-space bytes outside strings, other than newlines. Lines only.
    blank: usize,
    tuning: Tuning,
    /// Whether the numbers of this chunk are checked here. In a chunk with many numbers a check block by block takes
    /// less time than a check one by one.
    judges_numbers: bool,
    /// The first `escapes_len` entries describe the blocks that hold escapes. Few blocks hold one, and clearing the
    /// other entries would cost much for a small text.
    escapes: [MaybeUninit<Escapes>; GROUP],
    escapes_len: usize,
}

/// A block that holds an escape, or a part of one.
#[derive(Clone, Copy)]
struct Escapes {
    /// The block's index in the group.
    block: usize,
    backslash: u64,
    escaped: u64,
    inside: u64,
    found: u64,
    /// The number of tokens before the block.
    tokens_before: usize,
}

impl<'a, S: Simd, const LINES: bool, const CHECK: bool, const BLANKS: bool> Running<'a, S, LINES, CHECK, BLANKS> {
    #[inline(always)]
    fn run(simd: S, chunk: &Chunk<'a>, carry: &'a mut Carry, tokens: &mut Tokens) -> Found {
        let Chunk { text, from, to } = *chunk;
        let before = text[..from].last_chunk().unwrap_or(&[b' '; BLOCK]);
        let mut pass = Self {
            simd,
            text,
            carry,
            utf8: simd.utf8_after(before),
            found: Found::default(),
            runs: [const { MaybeUninit::uninit() }; GROUP],
            beyond_ascii: false,
            blank: 0,
            tuning: tokens.tuning,
            judges_numbers: false,
            escapes: [MaybeUninit::uninit(); GROUP],
            escapes_len: 0,
        };
        let (blocks, rest) = text[from..to].as_chunks::<BLOCK>();
        tokens.reserve(to - from);
        if BLANKS {
            tokens.reserve_blanks(to - from);
        }
        let mut out = tokens.free();
        let whole = if to < text.len() { blocks.len() } else { blocks.len() / GROUP * GROUP };
        for (index, group) in blocks[..whole].chunks(GROUP).enumerate() {
            pass.group(group, from + index * GROUP * BLOCK, index == 0, &mut out);
        }
        if to == text.len() {
            // The end of the text, filled up with spaces, makes one group more, however small it is. It is scanned
            // even if nothing is left, because only the block of spaces reveals a UTF-8 sequence that the text's last
            // block leaves incomplete.
            let last = WithRest { whole: &blocks[whole..], rest: &simd.load_rest(rest) };
            pass.group(last, from + whole * BLOCK, whole == 0, &mut out);
        }
        let (len, ends_len) = (out.len(), out.ends_len());
        tokens.set_len(len, ends_len);
        tokens.beyond_ascii |= pass.beyond_ascii;
        // The spaces that fill the last block up were counted too, unless a string is open there.
        let filler = if to == text.len() && !pass.carry.in_string() { BLOCK - rest.len() } else { 0 };
        tokens.blank |= S::SKIMS && pass.blank != filler;
        if CHECK && !LINES {
            tokens.numbers_judged(pass.judges_numbers, pass.found.number);
        }
        if CHECK {
            pass.found.not_utf8 = !simd.utf8_ok(&pass.utf8);
        }
        pass.found
    }

    /// Takes a group of blocks, of which the first is at offset `base`, through all steps. The chunk's first group
    /// decides whether numbers are checked here.
    #[inline(always)]
    fn group<'b>(&mut self, blocks: impl Blocks<'b>, base: usize, is_first: bool, out: &mut Free<'_>) {
        let Carry { in_string, escape, scalar, .. } = *self.carry;
        let (controls, all) = self.tokens(blocks, base, out);
        if self.escapes_len > 0 {
            self.escapes(blocks, base, out);
        }
        let ascii = self.simd.beyond_ascii(all) == 0;
        if CHECK {
            if controls != 0 {
                let control = first_control((0..blocks.len()).flat_map(|index| blocks.at(index)), in_string, escape);
                self.found.control =
                    control.map(|control| first(self.found.control, base + control)).or(self.found.control);
            }
            self.utf8(blocks, ascii && self.tuning.skips_ascii);
        }
        self.beyond_ascii |= !ascii;
        if CHECK && !LINES {
            if is_first {
                let run_bytes: u32 = self.runs(blocks.len()).iter().map(|run| run.count_ones()).sum();
                let dense = run_bytes as usize * self.tuning.numbers_density >= blocks.len() * BLOCK;
                // Unit tests always check them.
                self.judges_numbers = S::JUDGES_NUMBERS && dense || cfg!(test);
                if !self.judges_numbers {
                    self.carry.number = NumberCarry::default();
                } else if self.carry.number == NumberCarry::default() {
                    // If a number began in a chunk whose numbers were not checked, the rest of it is not checked here
                    // either.
                    self.carry.number = NumberCarry::within_run(scalar);
                }
            }
            if self.judges_numbers {
                self.numbers(blocks);
            }
        }
    }

    /// The runs of the group's `len` blocks, after its tokens were found. Documents only.
    #[inline(always)]
    fn runs(&self, len: usize) -> &[u64] {
        assert!(!LINES, "runs of lines are not recorded");
        // SAFETY: `tokens` and `pass_by` wrote an entry for each block of the group.
        unsafe { self.runs[..len].assume_init_ref() }
    }

    /// Finds the tokens. Returns the bytes below 0x20 inside strings, and all blocks merged into one.
    #[inline(always)]
    fn tokens<'b>(&mut self, blocks: impl Blocks<'b>, base: usize, out: &mut Free<'_>) -> (u64, S::Block) {
        let simd = self.simd;
        let Carry { mut escape, mut in_string, mut scalar, mut space, mut plain_before, .. } = *self.carry;
        // Nonzero if an escape in the block before may reach into this one: the digits of a `\u`.
        let mut pending = self.carry.hex_due;
        let mut controls = 0;
        let mut blank = 0;
        let mut all = simd.load(&[0; BLOCK]);
        let mut escapes_len = 0;
        let mut index = 0;
        while index < blocks.len() {
            let bytes = blocks.at(index);
            let block = simd.load(bytes);
            let mut classes = simd.classify(block);
            if LINES && !CHECK {
                // With AVX2 the compiler would otherwise split these masks into bits and build vectors of them again:
                // 1.0 instead of 2.5 GB/s of events.
                classes.operator = simd.opaque(classes.operator);
                classes.space = simd.opaque(classes.space);
            }
            let mut escaped = 0;
            let special = classes.backslash | escape | pending;
            if special != 0 {
                (escaped, escape) = escaped_bytes(classes.backslash, escape);
            }

            // §3.1.1: a bit for each byte inside a string; it includes the opening quote but not the closing one.
            let quotes = classes.quote & !escaped;
            let inside = simd.prefix_xor(quotes) ^ in_string;
            in_string = (inside.cast_signed() >> 63).cast_unsigned();

            let operators = if LINES { classes.operator | simd.eq(block, b'\n') } else { classes.operator };
            let plain = !(operators | classes.space);
            let run = plain & !quotes;
            let starts = plain & !(run << 1 | scalar);
            scalar = run >> 63;
            // All of a string except its opening quote; the closing quote is included.
            let covered = inside ^ quotes;
            let found = (operators | starts) & !covered;
            let tokens_before = out.len();
            let mut spaced = 0;
            if LINES && S::SKIMS {
                blank += (classes.space & !inside & !operators).count_ones() as usize;
            }
            if !LINES {
                self.runs[index % GROUP].write(run & !inside);
                let blank = classes.space & !inside;
                spaced = (blank << 1 | space) & operators;
                let ends = blank & (plain << 1 | plain_before);
                if ends != 0 {
                    out.emit_ends(simd, ends, base + index * BLOCK);
                }
                if BLANKS {
                    out.blank(blank);
                }
                space = blank >> 63;
                plain_before = plain >> 63;
            }
            out.emit(simd, block, bytes, found, spaced, base + index * BLOCK);
            all = simd.merge(all, block);
            if CHECK {
                controls |= classes.control & inside;
            }
            if special != 0 {
                self.escapes[escapes_len % GROUP].write(Escapes {
                    block: index,
                    backslash: classes.backslash,
                    escaped,
                    inside,
                    found,
                    tokens_before,
                });
                escapes_len += 1;
                // A `\u` in the last bytes of the block may still lack digits.
                pending = classes.backslash >> 58;
            } else if inside == u64::MAX {
                (index, all) = self.pass_by(blocks, index, all, out);
            }
            index += 1;
        }
        self.escapes_len = escapes_len;
        self.blank += blank;
        (self.carry.escape, self.carry.in_string) = (escape, in_string);
        // In a string these make no difference, and after a long string they are not known.
        (self.carry.scalar, self.carry.plain_before) = (scalar & !in_string, plain_before & !in_string);
        self.carry.space = space;
        (controls, all)
    }

    /// Inside a long string: skips the blocks after `index` that hold nothing but the string's text. They have no
    /// token and leave no state for the next block. Returns the index of the last skipped block, and `all` merged with
    /// them.
    #[inline(always)]
    fn pass_by<'b>(
        &mut self,
        blocks: impl Blocks<'b>,
        mut index: usize,
        mut all: S::Block,
        out: &mut Free<'_>,
    ) -> (usize, S::Block) {
        // Marked cold, because otherwise this inner loop would get the registers that short strings need.
        core::hint::cold_path();
        while let Some(bytes) = blocks.after(index) {
            let block = self.simd.load(bytes);
            if self.simd.escapes(block) != 0 {
                break;
            }
            index += 1;
            all = self.simd.merge(all, block);
            if !LINES {
                self.runs[index % GROUP].write(0);
                if BLANKS {
                    out.blank(0);
                }
            }
        }
        (index, all)
    }

    /// Checks escapes, and marks the tokens of strings that hold one.
    #[inline(always)]
    fn escapes<'b>(&mut self, blocks: impl Blocks<'b>, base: usize, out: &mut Free<'_>) {
        for at in 0..self.escapes_len {
            // SAFETY: `tokens` wrote the first `escapes_len` entries.
            let Escapes { block, backslash, escaped, inside, found, tokens_before } =
                unsafe { self.escapes[at].assume_init() };
            if CHECK {
                self.check_escapes(blocks.at(block), escaped & inside, base + block * BLOCK);
            }
            Self::flag_escaped(backslash & inside, inside, found, tokens_before, out);
        }
    }

    /// Checks UTF-8. If all blocks are ASCII, as `ascii` says, only a sequence left open before them can be wrong, and
    /// the last block reveals that.
    #[inline(always)]
    fn utf8<'b>(&mut self, blocks: impl Blocks<'b>, ascii: bool) {
        let first = if ascii { blocks.len() - 1 } else { 0 };
        // A local variable stays in registers from block to block.
        let mut state = self.utf8;
        for index in first..blocks.len() {
            self.simd.utf8_step(&mut state, self.simd.load(blocks.at(index)));
        }
        self.utf8 = state;
    }

    /// Checks numbers.
    #[inline(always)]
    fn numbers<'b>(&mut self, blocks: impl Blocks<'b>) {
        let mut carry = self.carry.number;
        let mut wrong = 0;
        for (index, &run) in self.runs(blocks.len()).iter().enumerate() {
            wrong |= wrong_bytes(self.simd, self.simd.load(blocks.at(index)), run, &mut carry);
        }
        self.carry.number = carry;
        self.found.number |= wrong != 0;
    }

    /// Checks all escapes of a block at once: a set bit of `escaped` is the byte after a backslash. After a `u` the
    /// next four bytes must be hexadecimal digits; they may be in the next block. Escapes that may be surrogates are
    /// checked one by one.
    #[inline(always)]
    fn check_escapes(&mut self, bytes: &[u8; BLOCK], escaped: u64, base: usize) {
        let simd = self.simd;
        if escaped | self.carry.hex_due == 0 {
            return;
        }
        let block = simd.load(bytes);
        let unicode = escaped & simd.eq(block, b'u');
        let mut bad = escaped & !(simd.escape_letters(block) | unicode);
        if unicode | self.carry.hex_due != 0 {
            let first_digit = unicode << 1 | self.carry.hex_first;
            let due = unicode << 1 | unicode << 2 | unicode << 3 | unicode << 4 | self.carry.hex_due;
            self.carry.hex_first = unicode >> 63;
            self.carry.hex_due = unicode >> 63 | unicode >> 62 | unicode >> 61 | unicode >> 60;
            let hex =
                simd.between(block, b'0', b'9') | simd.between(block, b'a', b'f') | simd.between(block, b'A', b'F');
            bad |= due & !hex;
            let surrogates = first_digit & (simd.eq(block, b'd') | simd.eq(block, b'D'));
            if surrogates != 0 {
                let (pair_end, fault) = check_surrogates(self.text, surrogates, base, self.carry.pair_end);
                self.carry.pair_end = pair_end;
                if let Some(fault) = fault {
                    self.found.escape = Some(first(self.found.escape, fault));
                }
            }
        }
        if bad != 0 {
            let offset = self.text.len().min(base + bad.trailing_zeros() as usize);
            self.found.escape = Some(first(self.found.escape, offset));
        }
    }

    /// Marks the tokens of strings that hold a backslash. `inside` has a run of ones for each string.
    #[inline(always)]
    fn flag_escaped(mut backslash: u64, inside: u64, found: u64, tokens_before: usize, out: &mut Free<'_>) {
        while backslash != 0 {
            // A string's token is the last one before its first backslash.
            let first = backslash & backslash.wrapping_neg();
            out.flag_escaped(tokens_before + (found & (first - 1)).count_ones() as usize);
            // The bit carries to the first byte after the string.
            let (sum, over) = inside.overflowing_add(first);
            let behind = sum & !inside;
            backslash = if over { 0 } else { backslash & !(behind ^ (behind - 1)) };
        }
    }
}

/// Finds the bytes that a backslash escapes: the byte after each run of backslashes of odd length, and every second
/// byte inside a run. Also returns whether the next block's first byte is escaped. One subtraction finds them all
/// (simdjson's `json_escape_scanner`).
#[inline(always)]
pub(crate) fn escaped_bytes(backslash: u64, carry: u64) -> (u64, u64) {
    const ODD: u64 = 0xAAAA_AAAA_AAAA_AAAA;
    let potential = backslash & !carry;
    let follows = (potential << 1 | ODD).wrapping_sub(potential) ^ ODD;
    (follows ^ (backslash | carry), (follows & backslash) >> 63)
}

/// Finds the first byte below 0x20 inside a string, byte by byte.
#[cold]
#[inline(never)]
fn first_control<'b>(mut bytes: impl Iterator<Item = &'b u8>, in_string: u64, escape: u64) -> Option<usize> {
    let (mut in_string, mut escaped) = (in_string != 0, escape != 0);
    bytes.position(|&byte| {
        let quote = byte == b'"' && !escaped;
        let control = in_string && byte < 0x20;
        escaped = byte == b'\\' && !escaped;
        in_string ^= quote;
        control
    })
}

/// The lesser of two offsets; the first may be absent.
#[cold]
fn first(known: Option<usize>, offset: usize) -> usize {
    known.map_or(offset, |known| known.min(offset))
}

/// Checks surrogates. Each bit of `digits` is the first digit, a `d`, of an escape that is a surrogate if its second
/// digit is 8 or more. Returns the end of the last pair, or where that pair is wrong, and the first error.
#[cold]
#[inline(never)]
fn check_surrogates(text: &[u8], mut digits: u64, base: usize, mut pair_end: usize) -> (usize, Option<usize>) {
    let mut fault = None;
    while digits != 0 {
        let at = base + digits.trailing_zeros() as usize - 2;
        digits &= digits - 1;
        if at >= pair_end {
            match text::check_escape(text, at) {
                Ok(len) => pair_end = at + len,
                Err(offset) => {
                    // The second half of this pair is not checked again: its error, if any, was found with the pair.
                    pair_end = offset;
                    fault = fault.or(Some(offset));
                }
            }
        }
    }
    (pair_end, fault)
}

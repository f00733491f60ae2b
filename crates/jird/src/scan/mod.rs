//! Pass one: bytes to tokens (Langdale & Lemire, "Parsing Gigabytes of JSON per Second", §3.1), in chunks.
//!
//! On entry: a chunk of the text, and the [`Carry`] that the chunk before left. On exit: the chunk's tokens appended to
//! [`Tokens`], the carry for the next chunk, and the first place, if any, where the text breaks a rule that pass one knows:
//! UTF-8, a control character in a string, a bad escape. What the tokens *mean* is judged by pass two, [`crate::tape`] or
//! [`crate::walk`].
//!
//! A token is a structural byte, or the first byte of a scalar that follows white space, a structural byte or a closing
//! quote (the paper's structural and pseudo-structural characters). A scalar reaches to the next token, less white space;
//! in documents the next token says by a bit whether there is any.
#![allow(unsafe_code, reason = "text that was found to be UTF-8 becomes `str` without a second check")]

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

#[cfg(feature = "parallel")]
pub(crate) use crate::word::ESCAPED;
pub(crate) use compact::compact;
pub(crate) use fault::first_fault;
use numbers::{NumberCarry, wrong_bytes};
pub(crate) use pieces::Pieces;
pub(crate) use pull::{Content, OpenBrackets, Pull, Token};
#[cfg(feature = "serde")]
pub(crate) use source::KEY_BYTES;
pub use source::{IoRead, Read, SliceRead, Trusted};
pub(crate) use source::{Slice, TextSource};
pub(crate) use tokens::Cut;
use tokens::Free;
pub(crate) use tokens::{BATCH, BRACKET, Cursor, END, SENTINELS, Tokens, Tuning};
pub(crate) use whole::Whole;

use crate::kernel::{BLOCK, Kernel, Pass, Simd};
use crate::text;
use core::mem::MaybeUninit;

/// What pass one treats as a token, and what it checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// One document, checked.
    Document,
    /// The same; and white space outside strings is noted.
    DocumentBlanks,
    /// A line feed outside strings is a token, which ends a record. Checked.
    Lines,
    /// One document, unchecked: neither UTF-8 nor escapes nor control characters.
    DocumentTrusted,
    /// As `Lines`, but unchecked.
    LinesTrusted,
}

/// A part of a text to be scanned: `text[from..to]`, where `from` is a multiple of [`BLOCK`], and so is `to` unless it is
/// the text's end.
#[derive(Clone, Copy)]
pub(crate) struct Chunk<'a> {
    pub(crate) text: &'a [u8],
    pub(crate) from: usize,
    pub(crate) to: usize,
}

/// What one chunk leaves for the next.
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
    /// 1 if it is neither white space nor an operator, nor inside a string. Documents only.
    plain_before: u64,
    /// What numbers leave.
    number: NumberCarry,
    /// Bits of the next block where `\u` is still owed a hexadecimal digit.
    hex_due: u64,
    /// 1 if the next byte is the first digit of `\u`.
    hex_first: u64,
    /// Where the surrogate pair ends that was checked last, or is wrong: its second half is not checked again.
    pair_end: usize,
}

impl Carry {
    /// The text has lost its first `bytes`.
    fn forget(&mut self, bytes: usize) {
        self.pair_end = self.pair_end.saturating_sub(bytes);
    }

    /// Whether the text so far ends inside a string.
    pub(crate) fn in_string(&self) -> bool {
        self.in_string != 0
    }
}

/// The first offence in a chunk against each rule that pass one checks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Found {
    /// Offset of a control character inside a string.
    pub(crate) control: Option<usize>,
    /// Offset of the first byte that makes an escape wrong.
    pub(crate) escape: Option<usize>,
    /// Some number in the chunk, or before it and not told yet, is wrong. The second pass says which and where.
    pub(crate) number: bool,
    /// Somewhere in the chunk, or in the last three bytes before it, the text is not UTF-8.
    pub(crate) not_utf8: bool,
}

/// Pass one over a chunk. Adds what it finds to `tokens`.
pub(crate) fn scan(kernel: Kernel, chunk: Chunk<'_>, mode: Mode, carry: &mut Carry, tokens: &mut Tokens) -> Found {
    match mode {
        Mode::Document => kernel.enter(PassOne::<false, true, false> { chunk, carry, tokens }),
        Mode::DocumentBlanks => kernel.enter(PassOne::<false, true, true> { chunk, carry, tokens }),
        Mode::Lines => kernel.enter(PassOne::<true, true, false> { chunk, carry, tokens }),
        Mode::DocumentTrusted => kernel.enter(PassOne::<false, false, false> { chunk, carry, tokens }),
        Mode::LinesTrusted => kernel.enter(PassOne::<true, false, false> { chunk, carry, tokens }),
    }
}

/// A chunk to be scanned. Generic over what the mode says: are lines scanned, is everything checked, is white space noted?
/// Compiled once for each, since together they would share one set of registers.
struct PassOne<'a, const LINES: bool, const CHECK: bool, const BLANKS: bool> {
    chunk: Chunk<'a>,
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

/// Blocks that are taken through all steps together: 4 KB of text, which stay in the first-level cache from one to the next.
const GROUP: usize = 64;

/// The blocks of a group.
trait Blocks<'b>: Copy {
    fn len(self) -> usize;
    fn at(self, index: usize) -> &'b [u8; BLOCK];
    /// The one after that.
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

/// The end of a text: whole blocks, and one more with its rest.
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

/// One pass over a chunk, a group of blocks at a time, in steps. The first finds the tokens; it is all that most text needs,
/// and nothing else is in its loop, so that what it carries from block to block stays in registers. The others look at what
/// only some blocks have: escapes, numbers, bytes beyond ASCII.
struct Running<'a, S: Simd, const LINES: bool, const CHECK: bool, const BLANKS: bool> {
    simd: S,
    text: &'a [u8],
    carry: Carry,
    utf8: S::Utf8,
    found: Found,
    /// Bytes outside strings that are neither operators nor white space nor quotes, for each block of the group.
    runs: [u64; GROUP],
    /// Not everything so far is ASCII.
    beyond_ascii: bool,
    /// Bytes of white space outside strings, other than line feeds. Lines only.
    blank: usize,
    tuning: Tuning,
    /// The chunk is full of numbers, which are judged here: block by block, that takes less time than one by one.
    judges_numbers: bool,
    /// What the blocks with escapes are like, `escapes_len` of them. Few blocks have one, and clearing the rest would cost a
    /// small text dear.
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
    /// How many tokens came before the block.
    tokens_before: usize,
}

impl<'a, S: Simd, const LINES: bool, const CHECK: bool, const BLANKS: bool> Running<'a, S, LINES, CHECK, BLANKS> {
    #[inline(always)]
    fn run(simd: S, chunk: Chunk<'a>, carry: &mut Carry, tokens: &mut Tokens) -> Found {
        let Chunk { text, from, to } = chunk;
        let before = text[..from].last_chunk().unwrap_or(&[b' '; BLOCK]);
        let mut pass = Self {
            simd,
            text,
            carry: *carry,
            utf8: simd.utf8_after(before),
            found: Found::default(),
            runs: [0; GROUP],
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
            // The end of the text, filled up with spaces: one group more, however small the text. Also when nothing is left,
            // since the block of spaces is what shows a sequence that the text's last block leaves open.
            let last = WithRest { whole: &blocks[whole..], rest: &simd.load_rest(rest) };
            pass.group(last, from + whole * BLOCK, whole == 0, &mut out);
        }
        let (len, ends_len) = (out.len(), out.ends_len());
        tokens.set_len(len, ends_len);
        tokens.beyond_ascii |= pass.beyond_ascii;
        // What fills the last block up is white space too, unless a string is open there.
        let filler = if to == text.len() && !pass.carry.in_string() { BLOCK - rest.len() } else { 0 };
        tokens.blank |= S::SKIMS && pass.blank != filler;
        if CHECK && !LINES {
            tokens.numbers_judged(pass.judges_numbers, pass.found.number);
        }
        if CHECK {
            pass.found.not_utf8 = !simd.utf8_ok(&pass.utf8);
        }
        *carry = pass.carry;
        pass.found
    }

    /// Takes some blocks, of which the first is at `base`, through all steps. The first group of a chunk tells what to expect.
    #[inline(always)]
    fn group<'b>(&mut self, blocks: impl Blocks<'b>, base: usize, is_first: bool, out: &mut Free<'_>) {
        let Carry { in_string, escape, scalar, .. } = self.carry;
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
                let run_bytes: u32 = self.runs[..blocks.len()].iter().map(|run| run.count_ones()).sum();
                let dense = run_bytes as usize * self.tuning.numbers_density >= blocks.len() * BLOCK;
                // In unit tests always.
                self.judges_numbers = S::JUDGES_NUMBERS && dense || cfg!(test);
                if !self.judges_numbers {
                    self.carry.number = NumberCarry::default();
                } else if self.carry.number == NumberCarry::default() {
                    // Of a number that began in a chunk where none was judged the rest is not judged either.
                    self.carry.number = NumberCarry::within_run(scalar);
                }
            }
            if self.judges_numbers {
                self.numbers(blocks);
            }
        }
    }

    /// Finds the tokens. Returns the bytes below 0x20 inside strings, and all blocks in one.
    #[inline(always)]
    fn tokens<'b>(&mut self, blocks: impl Blocks<'b>, base: usize, out: &mut Free<'_>) -> (u64, S::Block) {
        let simd = self.simd;
        let Carry { mut escape, mut in_string, mut scalar, mut space, mut plain_before, .. } = self.carry;
        // Whether an escape of the block before may concern this one: the digits of a `\u`.
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
                // With AVX2 the compiler would take these apart, bit by bit, to make vectors of them again: 1.0 instead of
                // 2.5 GB/s of events.
                classes.operator = simd.opaque(classes.operator);
                classes.space = simd.opaque(classes.space);
            }
            let mut escaped = 0;
            let special = classes.backslash | escape | pending;
            if special != 0 {
                (escaped, escape) = escaped_bytes(classes.backslash, escape);
            }

            // §3.1.1: a bit for each byte inside a string, the opening quote included, the closing one not.
            let quotes = classes.quote & !escaped;
            let inside = simd.prefix_xor(quotes) ^ in_string;
            in_string = (inside.cast_signed() >> 63).cast_unsigned();

            let operators = if LINES { classes.operator | simd.eq(block, b'\n') } else { classes.operator };
            let plain = !(operators | classes.space);
            let run = plain & !quotes;
            let starts = plain & !(run << 1 | scalar);
            scalar = run >> 63;
            // All of a string but its opening quote, the closing quote included.
            let covered = inside ^ quotes;
            let found = (operators | starts) & !covered;
            let tokens_before = out.len();
            let mut spaced = 0;
            if LINES && S::SKIMS {
                blank += (classes.space & !inside & !operators).count_ones() as usize;
            }
            if !LINES {
                self.runs[index % GROUP] = run & !inside;
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
                // A `\u` so near the end may owe digits.
                pending = classes.backslash >> 58;
            } else if inside == u64::MAX {
                (index, all) = self.pass_by(blocks, index, all, out);
            }
            index += 1;
        }
        self.escapes_len = escapes_len;
        self.blank += blank;
        (self.carry.escape, self.carry.in_string) = (escape, in_string);
        // In a string these make no difference, and after a long one are not known.
        (self.carry.scalar, self.carry.plain_before) = (scalar & !in_string, plain_before & !in_string);
        self.carry.space = space;
        (controls, all)
    }

    /// In a long string: passes by the blocks behind `index` that have nothing but its text, so that they have no token and leave
    /// nothing for the next. Returns the last of them, and `all` with them.
    #[inline(always)]
    fn pass_by<'b>(
        &mut self,
        blocks: impl Blocks<'b>,
        mut index: usize,
        mut all: S::Block,
        out: &mut Free<'_>,
    ) -> (usize, S::Block) {
        // Cold, since this loop within the loop would get the registers that short strings need.
        core::hint::cold_path();
        while let Some(bytes) = blocks.after(index) {
            let block = self.simd.load(bytes);
            if self.simd.escapes(block) != 0 {
                break;
            }
            index += 1;
            all = self.simd.merge(all, block);
            if !LINES {
                self.runs[index % GROUP] = 0;
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
            // SAFETY: `tokens` wrote as many as `escapes_len` says.
            let Escapes { block, backslash, escaped, inside, found, tokens_before } =
                unsafe { self.escapes[at].assume_init() };
            if CHECK {
                self.check_escapes(blocks.at(block), escaped & inside, base + block * BLOCK);
            }
            Self::flag_escaped(backslash & inside, inside, found, tokens_before, out);
        }
    }

    /// Checks UTF-8. `ascii` says that there is nothing but ASCII in the blocks; then what is open before them is wrong.
    #[inline(always)]
    fn utf8<'b>(&mut self, blocks: impl Blocks<'b>, ascii: bool) {
        let first = if ascii { blocks.len() - 1 } else { 0 };
        // A local, which stays in registers from block to block.
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
        for (index, &run) in self.runs[..blocks.len()].iter().enumerate() {
            wrong |= wrong_bytes(self.simd, self.simd.load(blocks.at(index)), run, &mut carry);
        }
        self.carry.number = carry;
        self.found.number |= wrong != 0;
    }

    /// Checks all escapes of a block at once: a set bit of `escaped` is the byte after a backslash. After `u` four bits are
    /// owed a hexadecimal digit, which may run into the next block. What could be a surrogate is looked at one by one.
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

    /// Marks the tokens of the strings that hold a backslash. `inside` has a run of ones for each string.
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

/// The bytes that a backslash escapes: after each run of backslashes of odd length, and every second one inside a run; and
/// whether the next block's first byte is one. One subtraction finds them all (simdjson's `json_escape_scanner`).
#[inline(always)]
fn escaped_bytes(backslash: u64, carry: u64) -> (u64, u64) {
    const ODD: u64 = 0xAAAA_AAAA_AAAA_AAAA;
    let potential = backslash & !carry;
    let follows = (potential << 1 | ODD).wrapping_sub(potential) ^ ODD;
    (follows ^ (backslash | carry), (follows & backslash) >> 63)
}

/// The first byte below 0x20 inside a string, byte by byte.
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

/// The lesser of two offsets, of which one may not be there yet.
#[cold]
fn first(known: Option<usize>, offset: usize) -> usize {
    known.map_or(offset, |known| known.min(offset))
}

/// Each bit is the first digit, a `d`, of what is a surrogate if the second is 8 or more. Returns the end of the last pair, or
/// where that is wrong, and the first fault.
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
                    // What this pair has of its second half is wrong as a part of the pair, or not at all.
                    pair_end = offset;
                    fault = fault.or(Some(offset));
                }
            }
        }
    }
    (pair_end, fault)
}

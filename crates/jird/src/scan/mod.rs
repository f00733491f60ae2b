//! Pass one: bytes to tokens (Langdale & Lemire, "Parsing Gigabytes of JSON per Second", §3.1), in chunks.
//!
//! On entry: a chunk of the text, and the [`Carry`] that the chunk before left. On exit: the chunk's tokens appended to
//! [`Tokens`], the carry for the next chunk, and the first place, if any, where the text breaks a rule that pass one knows:
//! UTF-8, a control character in a string, a bad escape. What the tokens *mean* is judged by [`crate::walk`].
//!
//! A token is a structural byte, or the first byte of a scalar that follows white space, a structural byte or a closing
//! quote (the paper's structural and pseudo-structural characters). A scalar reaches to the next token, less white space.
#![allow(unsafe_code, reason = "text that was found to be UTF-8 becomes `str` without a second check")]

mod fault;
mod tokens;

pub(crate) use fault::{checked_str, first_fault};
pub(crate) use tokens::{END, ESCAPED, Tokens};

use crate::kernel::{BLOCK, Simd};
use crate::text;

/// What pass one treats as a token, and what it checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// One document, checked.
    Document,
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
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Carry {
    /// 1 if the next byte is escaped.
    escape: u64,
    /// All ones inside a string.
    in_string: u64,
    /// 1 if the last byte belongs to a scalar that is not a string.
    scalar: u64,
    /// 1 if the open string holds an escape already.
    flag: u64,
    /// Where the escape ends that was checked last: the second half of a surrogate pair is not checked again.
    escape_end: usize,
}

impl Carry {
    /// Whether the text so far ends inside a string.
    pub(crate) fn in_string(&self) -> bool {
        self.in_string != 0
    }
}

/// The first offence in a chunk against each rule that pass one checks.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Found {
    /// Offset of a control character inside a string.
    pub(crate) control: Option<usize>,
    /// Offset of the first byte that makes an escape wrong.
    pub(crate) escape: Option<usize>,
    /// Somewhere in the chunk, or in the last three bytes before it, the text is not UTF-8.
    pub(crate) not_utf8: bool,
}

/// Scans a chunk. Generic over the instruction set; [`crate::kernel`] compiles it once for each.
#[inline(always)]
pub(crate) fn scan_chunk<S: Simd>(
    simd: S,
    chunk: Chunk<'_>,
    mode: Mode,
    carry: &mut Carry,
    tokens: &mut Tokens,
) -> Found {
    match mode {
        Mode::Document => Pass::<S, false, true>::run(simd, chunk, carry, tokens),
        Mode::Lines => Pass::<S, true, true>::run(simd, chunk, carry, tokens),
        Mode::DocumentTrusted => Pass::<S, false, false>::run(simd, chunk, carry, tokens),
        Mode::LinesTrusted => Pass::<S, true, false>::run(simd, chunk, carry, tokens),
    }
}

struct Pass<'a, S: Simd, const LINES: bool, const CHECK: bool> {
    simd: S,
    text: &'a [u8],
    carry: Carry,
    utf8: S::Utf8,
    found: Found,
}

impl<'a, S: Simd, const LINES: bool, const CHECK: bool> Pass<'a, S, LINES, CHECK> {
    #[inline(always)]
    fn run(simd: S, chunk: Chunk<'a>, carry: &mut Carry, tokens: &mut Tokens) -> Found {
        let Chunk { text, from, to } = chunk;
        let before = text[..from].last_chunk().unwrap_or(&[b' '; BLOCK]);
        let mut pass = Self { simd, text, carry: *carry, utf8: simd.utf8_after(before), found: Found::default() };
        let (blocks, rest) = text[from..to].as_chunks::<BLOCK>();
        tokens.reserve(to - from);
        for (index, block) in blocks.iter().enumerate() {
            pass.block(block, from + index * BLOCK, tokens);
        }
        if to == text.len() {
            // The end of the text: the rest in a block of spaces. Also when nothing is left, since the block of spaces is
            // what shows a sequence that the text's last block leaves open.
            let mut last = [b' '; BLOCK];
            last[..rest.len()].copy_from_slice(rest);
            pass.block(&last, to - rest.len(), tokens);
        }
        if CHECK {
            pass.found.not_utf8 = !simd.utf8_ok(&pass.utf8);
        }
        *carry = pass.carry;
        pass.found
    }

    #[inline(always)]
    fn block(&mut self, bytes: &[u8; BLOCK], base: usize, tokens: &mut Tokens) {
        let simd = self.simd;
        let block = simd.load(bytes);
        let classes = simd.classify(block);
        let escapes = classes.backslash | self.carry.escape | self.carry.flag != 0;
        let escaped = if escapes { self.escaped(classes.backslash) } else { 0 };

        // §3.1.1: a bit for each byte inside a string, the opening quote included, the closing one not.
        let quotes = classes.quote & !escaped;
        let inside = simd.prefix_xor(quotes) ^ self.carry.in_string;
        self.carry.in_string = (inside.cast_signed() >> 63).cast_unsigned();

        let operators = if LINES { classes.operator | simd.eq(block, b'\n') } else { classes.operator };
        let scalar = !(operators | classes.space);
        let run = scalar & !quotes;
        let starts = scalar & !(run << 1 | self.carry.scalar);
        self.carry.scalar = run >> 63;
        // All of a string but its opening quote, the closing quote included.
        let covered = inside ^ quotes;
        let found = (operators | starts) & !covered;

        let count_before = tokens.len();
        tokens.emit(simd, block, bytes, found, base);
        if CHECK {
            simd.utf8_step(&mut self.utf8, block);
            if classes.control & inside != 0 && self.found.control.is_none() {
                self.found.control = Some(base + (classes.control & inside).trailing_zeros() as usize);
            }
        }
        if escapes {
            if CHECK {
                self.check_escapes(classes.backslash & !escaped & inside, base);
            }
            self.flag_escaped(classes.backslash & inside, inside, found, count_before, tokens);
        }
    }

    /// The bytes that a backslash escapes: after each run of backslashes of odd length, and every second one inside a run.
    /// One subtraction finds them all (simdjson's `json_escape_scanner`).
    #[inline(always)]
    fn escaped(&mut self, backslash: u64) -> u64 {
        const ODD: u64 = 0xAAAA_AAAA_AAAA_AAAA;
        let potential = backslash & !self.carry.escape;
        let follows = (potential << 1 | ODD).wrapping_sub(potential) ^ ODD;
        let escaped = follows ^ (backslash | self.carry.escape);
        self.carry.escape = (follows & backslash) >> 63;
        escaped
    }

    /// Checks the escapes that start at the set bits.
    #[inline(always)]
    fn check_escapes(&mut self, mut starts: u64, base: usize) {
        while starts != 0 {
            let at = base + starts.trailing_zeros() as usize;
            starts &= starts - 1;
            if matches!(self.text.get(at + 1), Some(b'"' | b'\\' | b'/' | b'n' | b'r' | b't' | b'b' | b'f')) {
                continue;
            }
            if at >= self.carry.escape_end && self.found.escape.is_none() {
                match text::check_escape(self.text, at) {
                    Ok(len) => self.carry.escape_end = at + len,
                    Err(offset) => self.found.escape = Some(offset),
                }
            }
        }
    }

    /// Marks the tokens of the strings that hold a backslash. `inside` has a run of ones for each string; adding a bit
    /// within the run carries to the first byte after it, the closing quote, and to there only.
    #[inline(always)]
    fn flag_escaped(&mut self, backslash: u64, inside: u64, found: u64, count_before: usize, tokens: &mut Tokens) {
        let (sum, over) = inside.overflowing_add(backslash);
        let (sum, over_by_carry) = sum.overflowing_add(self.carry.flag);
        self.carry.flag = u64::from(over | over_by_carry);
        let mut closing = sum & !inside;
        while closing != 0 {
            // A string's token is the last one before its closing quote.
            let before = closing ^ (closing - 1);
            tokens.flag_escaped(count_before + (found & before).count_ones() as usize);
            closing &= closing - 1;
        }
    }
}

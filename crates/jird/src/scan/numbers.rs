//! Checks the grammar of numbers by masks: all numbers of a block at once.
//!
//! The block is one of the text if half of the text is digits, or a quarter where nothing is gathered. Otherwise, where the instruction set can move the
//! bytes of a mask together, pass one has gathered the numbers, and the block is one of these: few blocks for many numbers.
//! Other instruction sets leave the numbers of such texts to pass two.
//!
//! For each byte of a number, RFC 8259 §6 says which bytes may stand before and after it; this takes a shift by one.
//! It also allows at most one decimal point, and neither a point nor a second exponent after an exponent; this takes
//! an addition: a bit added at the start of a run of ones comes out at the first byte after the run.

use super::tokens::{NumberCheck, Tokens};
use super::{Chunk, Keeps, Mode};
use crate::kernel::{BLOCK, Kernel, Pass, Simd};

/// The state that the bytes of numbers leave for the next block; bit 0 of each field is about that block's first byte.
/// All fields are zero unless a number reaches to the block's end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct NumberCarry {
    /// The byte before is outside strings, and neither an operator nor white space.
    run: u64,
    /// The byte before belongs to a number.
    number: u64,
    /// The byte before is the minus at the start of a number.
    minus: u64,
    /// The byte before is a zero that starts a number's digits.
    zero: u64,
    digit: u64,
    point: u64,
    /// The digits after a decimal point or an exponent's letter continue.
    tail: u64,
    exponent: ExponentCarry,
}

/// The same state for the parts of an exponent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct ExponentCarry {
    letter: u64,
    sign: u64,
    /// The exponent's digits continue.
    digits: u64,
}

impl NumberCarry {
    /// The state after bytes that were not checked; `run` says whether the last of them belongs to a run.
    pub(super) fn within_run(run: u64) -> Self {
        Self { run, ..Self::default() }
    }
}

/// What pass one has to keep of a chunk for the check of its numbers. Nothing means that pass two checks them one by one.
pub(super) fn keeps(kernel: Kernel, chunk: &Chunk<'_>, mode: Mode, check: NumberCheck) -> Keeps {
    let wanted = match check {
        _ if !matches!(mode, Mode::Document | Mode::DocumentBlanks) => Keeps::Nothing,
        NumberCheck::OneByOne => Keeps::Nothing,
        NumberCheck::ByMasks => Keeps::Masks,
        NumberCheck::Gathered => Keeps::Scalars,
        // For a small chunk the guess would cost more than it saves.
        NumberCheck::Guessed if chunk.to - chunk.from < SAMPLED => Keeps::Nothing,
        NumberCheck::Guessed => kernel.enter(Sample { chunk }),
    };
    // Where masks are kept anyway, nothing is gathered.
    if mode == Mode::DocumentBlanks && wanted == Keeps::Scalars { Keeps::Nothing } else { wanted }
}

/// How many bytes at the start of a chunk are sampled: [`Sample`] looks at one block in eight.
const SAMPLED: usize = 64 * BLOCK;

/// The longest chunk that is not sampled: pass two checks its numbers.
pub(crate) const UNSAMPLED_MAX: usize = SAMPLED - 1;

/// Guesses by how many numbers a chunk has, and how dense they are, which check takes the least time: by masks of the
/// text, by masks of what was gathered, or number by number.
struct Sample<'a> {
    chunk: &'a Chunk<'a>,
}

impl Pass for Sample<'_> {
    type Out = Keeps;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Keeps {
        /// The numbers must have at most this many digits on average. If they seem to have more, most digits are in
        /// strings.
        const LEN_MAX: usize = 24;
        // For masks of the text, at least one byte in this many must be a digit.
        let density = if S::GATHERS { 2 } else { 4 };
        let blocks = self.chunk.text[self.chunk.from..][..SAMPLED].as_chunks().0;
        let (mut digits, mut numbers, mut seen) = (0, 0, 0);
        for block in blocks.iter().step_by(8) {
            let block = simd.load(block);
            let digit = simd.between(block, b'0', b'9');
            // A digit after a word and a space belongs to a string.
            let operator = simd.eq(block, b',') | simd.eq(block, b':') | simd.eq(block, b'[');
            let space = simd.eq(block, b' ');
            let before = operator | space & (operator | space | simd.eq(block, b'\n')) << 1;
            digits += digit.count_ones() as usize;
            let before = before | simd.eq(block, b'-') & before << 1;
            numbers += (digit & before << 1).count_ones() as usize;
            seen += BLOCK;
        }
        let is_dense = digits * density >= seen && numbers * LEN_MAX >= digits;
        // The masks of a block cost as much as two or three numbers that are checked alone.
        let has_many = !S::GATHERS && 2 * numbers * BLOCK >= 5 * seen;
        match () {
            () if S::MASKS_ARE_CHEAP && (is_dense || has_many) => Keeps::Masks,
            // A block that is gathered costs less than half of a number that is checked alone.
            () if S::GATHERS && numbers * BLOCK >= seen => Keeps::Scalars,
            () => Keeps::Nothing,
        }
    }
}

/// Checks the numbers of a chunk by what pass one `kept` of it, and returns whether one is wrong. If it kept nothing, none
/// is checked; then the next chunk does not check the rest of a number that this chunk begins either. `scalar` is 1 if the
/// chunk begins inside a scalar.
#[inline]
pub(super) fn check(
    kernel: Kernel,
    chunk: &Chunk<'_>,
    kept: Keeps,
    tokens: &Tokens,
    scalar: u64,
    carry: &mut NumberCarry,
) -> bool {
    if kept == Keeps::Nothing {
        *carry = NumberCarry::default();
        return false;
    }
    if *carry == NumberCarry::default() {
        *carry = NumberCarry::within_run(scalar);
    }
    if kept == Keeps::Masks {
        kernel.enter(CheckNumbers { chunk, runs: tokens.runs(), carry })
    } else {
        kernel.enter(CheckGathered { scalars: tokens.scalars(), carry })
    }
}

/// The check of numbers that were gathered.
struct CheckGathered<'a> {
    /// The bytes of all runs, and the byte after each run.
    scalars: &'a [u8],
    carry: &'a mut NumberCarry,
}

impl Pass for CheckGathered<'_> {
    type Out = bool;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> bool {
        let (blocks, rest) = self.scalars.as_chunks();
        let mut carry = *self.carry;
        let mut wrong = 0;
        for block in blocks {
            let block = simd.load(block);
            wrong |= wrong_bytes(simd, block, runs(simd, block), BLOCK, &mut carry);
        }
        if !rest.is_empty() {
            let block = simd.load(&simd.load_rest(rest));
            let run = runs(simd, block) & !(u64::MAX << rest.len());
            wrong |= wrong_bytes(simd, block, run, rest.len(), &mut carry);
        }
        *self.carry = carry;
        wrong != 0
    }
}

/// The bytes of runs, where only runs and the bytes between them are left.
#[inline(always)]
fn runs<S: Simd>(simd: S, block: S::Block) -> u64 {
    let classes = simd.classify(block);
    !(classes.operator | classes.space | classes.quote)
}

struct CheckNumbers<'a> {
    chunk: &'a Chunk<'a>,
    runs: &'a [u64],
    carry: &'a mut NumberCarry,
}

impl Pass for CheckNumbers<'_> {
    type Out = bool;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> bool {
        let Chunk { text, from, to } = *self.chunk;
        let (blocks, rest) = text[from..to].as_chunks();
        let mut carry = *self.carry;
        let mut wrong = 0;
        for (block, &run) in blocks.iter().zip(self.runs) {
            wrong |= wrong_bytes(simd, simd.load(block), run, BLOCK, &mut carry);
        }
        if let (true, Some(&run)) = (to == text.len(), self.runs.get(blocks.len())) {
            wrong |= wrong_bytes(simd, simd.load(&simd.load_rest(rest)), run, BLOCK, &mut carry);
        }
        *self.carry = carry;
        wrong != 0
    }
}

/// The bytes that make some number of the block invalid, including the byte after a number. `run` has the bytes
/// outside strings that are neither operators nor white space nor quotes. Only the first `len` bytes of the block count,
/// at least one; `run` has none of the others.
#[inline(always)]
pub(super) fn wrong_bytes<S: Simd>(simd: S, block: S::Block, run: u64, len: usize, before: &mut NumberCarry) -> u64 {
    let last = |mask: u64| mask >> ((len - 1) % BLOCK) & 1;
    let digit = simd.opaque(simd.between(block, b'0', b'9'));
    let minus = simd.opaque(simd.eq(block, b'-'));
    let starts = run & !(run << 1 | before.run) & (digit | minus);
    // All bytes of each run that begins as a number does, and of no other run: adding a bit to a run clears it.
    let number = run & !run.wrapping_add(starts).wrapping_add(before.number);
    let digit = digit & number;
    let point = simd.eq(block, b'.') & number;
    let minus = minus & starts;
    let zero = simd.eq(block, b'0') & (starts | minus << 1 | before.minus);
    let after_digit = digit << 1 | before.digit;
    let after_point = point << 1 | before.point;

    // The other bytes of numbers are exponents; mostly there are none.
    let other = number & !(digit | point | minus);
    let mut tail_starts = after_point & digit;
    let mut wrong = 0;
    if other != 0 || before.exponent != ExponentCarry::default() {
        let (starts, wrong_here) = exponents(simd, block, other, digit, after_digit, len, &mut before.exponent);
        tail_starts |= starts;
        wrong = wrong_here;
    }
    let (tail, tail_goes_on) = run_ends(digit, tail_starts, before.tail, len);
    wrong |= (minus << 1 | before.minus | after_point) & !digit
        | point & !after_digit
        | tail & point
        | (zero << 1 | before.zero) & digit
        | (number << 1 | before.number) & simd.eq(block, b'"');
    before.run = last(run);
    before.number = last(number);
    before.minus = last(minus);
    before.zero = last(zero);
    before.digit = last(digit);
    before.point = last(point);
    before.tail = tail_goes_on;
    wrong & u64::MAX >> (BLOCK - len)
}

/// Checks the bytes of numbers that are neither digits nor points nor the leading minus. Returns where the digits of
/// exponents start, and which bytes are invalid.
#[inline(always)]
fn exponents<S: Simd>(
    simd: S,
    block: S::Block,
    other: u64,
    digit: u64,
    after_digit: u64,
    len: usize,
    before: &mut ExponentCarry,
) -> (u64, u64) {
    let last = |mask: u64| mask >> ((len - 1) % BLOCK) & 1;
    let letter = (simd.eq(block, b'e') | simd.eq(block, b'E')) & other;
    let after_letter = letter << 1 | before.letter;
    let sign = (simd.eq(block, b'+') | simd.eq(block, b'-')) & other & after_letter;
    let after_sign = sign << 1 | before.sign;
    let starts = (after_letter | after_sign) & digit;
    let (ends, goes_on) = run_ends(digit, starts, before.digits, len);
    let wrong = other & !(letter | sign)
        | letter & !after_digit
        | after_letter & !(digit | sign)
        | after_sign & !digit
        | ends & letter;
    *before = ExponentCarry { letter: last(letter), sign: last(sign), digits: goes_on };
    (starts, wrong)
}

/// The byte after each run of ones that holds a bit of `starts`, and whether such a run continues behind the first `len`
/// bytes.
#[inline(always)]
fn run_ends(ones: u64, starts: u64, carry: u64, len: usize) -> (u64, u64) {
    let (sum, over) = ones.overflowing_add(starts);
    let (sum, over_by_carry) = sum.overflowing_add(carry);
    let ends = sum & !ones;
    (ends, if len == BLOCK { u64::from(over | over_by_carry) } else { ends >> len & 1 })
}

//! Escapes in strings: which bytes are escaped, which strings have one, and which are wrong.

use super::blocks::Blocks;
use super::{Carry, Chunk, State};
use crate::kernel::{BLOCK, Kernel, Pass, Simd};
use crate::text;

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

/// Marks the strings of a block that have a backslash in it: the bits of their opening quotes. `quotes` and `backslash`
/// are those of the block, `inside` has the bytes inside strings with their opening quotes, and `open` is 1 if the block
/// begins inside a string. Also returns 1 if it is this string that has a backslash.
#[inline(always)]
pub(super) fn marks<S: Simd>(simd: S, quotes: u64, backslash: u64, inside: u64, open: u64) -> (u64, u64) {
    let opening = quotes & inside;
    let backslash = backslash & inside;
    // A bit added where a string begins carries to its first backslash or to its closing quote: one bit for each string.
    let text = inside & !backslash;
    let stops = text.wrapping_add(opening).wrapping_add(open) & !text;
    let has_escape = simd.gather_bits(backslash, stops);
    (simd.scatter_bits(has_escape >> open, opening), has_escape & open)
}

/// Two blocks of a chunk, or one at its end, with a backslash or an escaped byte, and the state before them. Their masks
/// are made again after the chunk: keeping them would take registers from all other blocks.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct EscapeBlocks(
    /// The first block's index in the chunk, shifted to the left by two; and two bits of the [`State`] before it: whether
    /// its first byte is escaped, and whether it is in a string.
    u32,
);

impl EscapeBlocks {
    #[inline(always)]
    pub(super) fn new(index: usize, state: State) -> Self {
        // A text of less than 2^32 bytes has less than 2^26 blocks.
        Self(((index as u64) << 2 | state.escape << 1 | state.in_string & 1) as u32)
    }

    #[inline(always)]
    fn index(self) -> usize {
        (self.0 >> 2) as usize
    }

    /// As much of the state as was noted.
    #[inline(always)]
    fn state(self) -> State {
        let (escape, in_string) = (u64::from(self.0 >> 1 & 1), u64::from(self.0 & 1).wrapping_neg());
        State { escape, in_string, ..State::default() }
    }
}

/// Checks the escapes of a chunk. Returns the offset of the first byte that makes one invalid. `places` says where they are;
/// `carry` says whether one reaches into the chunk.
#[inline]
pub(super) fn check(kernel: Kernel, chunk: &Chunk<'_>, places: &[EscapeBlocks], carry: &mut Carry) -> Option<usize> {
    if places.is_empty() && carry.digits.due == 0 { None } else { kernel.enter(CheckEscapes { chunk, places, carry }) }
}

/// The same within the entry of a kernel.
#[inline(always)]
pub(super) fn check_within<S: Simd>(
    simd: S,
    chunk: &Chunk<'_>,
    places: &[EscapeBlocks],
    carry: &mut Carry,
) -> Option<usize> {
    if places.is_empty() { None } else { CheckEscapes { chunk, places, carry }.run(simd) }
}

struct CheckEscapes<'a> {
    chunk: &'a Chunk<'a>,
    places: &'a [EscapeBlocks],
    carry: &'a mut Carry,
}

impl Pass for CheckEscapes<'_> {
    type Out = Option<usize>;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Option<usize> {
        let Self { chunk, places, carry } = self;
        let mut rest = [0; BLOCK];
        let blocks = Blocks::of(simd, chunk, &mut rest);
        let mut check = EscapeCheck { chunk, digits: carry.digits, pair_end: carry.pair_end, fault: None };
        // The block after those that were looked at: only the digits of a `\u` may reach into it unnoticed.
        let mut next = 0;
        for (at, place) in places.iter().enumerate() {
            let index = place.index();
            if check.digits.due != 0 && next < index {
                check.blocks(simd, [simd.load(blocks.at(next))], [0], next);
            }
            let end = places.get(at + 1).map_or(blocks.len(), |place| place.index());
            next = end.min(index + 2);
            let mut state = place.state();
            let block = simd.load(blocks.at(index));
            let escaped = escaped_in_strings(simd, block, &mut state);
            if next == index + 2 {
                // Both at once: whether one of them alone has an escape is hard to predict.
                let other = simd.load(blocks.at(index + 1));
                let other_escaped = escaped_in_strings(simd, other, &mut state);
                check.blocks(simd, [block, other], [escaped, other_escaped], index);
            } else {
                check.blocks(simd, [block], [escaped], index);
            }
        }
        if check.digits.due != 0 && next < blocks.len() {
            check.blocks(simd, [simd.load(blocks.at(next))], [0], next);
        }
        (carry.digits, carry.pair_end) = (check.digits, check.pair_end);
        check.fault
    }
}

/// The escaped bytes inside strings. Updates the state.
#[inline(always)]
fn escaped_in_strings<S: Simd>(simd: S, block: S::Block, state: &mut State) -> u64 {
    let (escaped, escape) = escaped_bytes(simd.eq(block, b'\\'), state.escape);
    let inside = simd.prefix_xor(simd.eq(block, b'"') & !escaped) ^ state.in_string;
    (state.escape, state.in_string) = (escape, (inside.cast_signed() >> 63).cast_unsigned());
    escaped & inside
}

/// The hexadecimal digits of a `\u` that are still due.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Digits {
    /// Bits of the next block where a digit must be.
    pub(super) due: u64,
    /// 1 if the next byte is the first digit.
    pub(super) first: u64,
}

/// A check of the escapes of a chunk, while it runs.
struct EscapeCheck<'a> {
    chunk: &'a Chunk<'a>,
    digits: Digits,
    /// As in [`Carry`].
    pair_end: usize,
    /// The offset of the first byte so far that makes an escape invalid.
    fault: Option<usize>,
}

impl EscapeCheck<'_> {
    /// Checks all escapes of some blocks at once; the first is block `index` of the chunk: a set bit of `escaped` is
    /// the byte after a backslash. After a `u` the next four bytes must be hexadecimal digits; they may be in the next
    /// block. Escapes that may be surrogates are checked one by one.
    #[inline(always)]
    fn blocks<S: Simd, const N: usize>(&mut self, simd: S, blocks: [S::Block; N], escaped: [u64; N], index: usize) {
        let (mut bad, mut unicode, mut surrogates) = ([0; N], [0; N], [0; N]);
        for at in 0..N {
            unicode[at] = escaped[at] & simd.eq(blocks[at], b'u');
            bad[at] = escaped[at] & !(simd.escape_letters(blocks[at]) | unicode[at]);
        }
        if unicode.iter().fold(self.digits.due, |all, mask| all | mask) != 0 {
            for at in 0..N {
                let (block, unicode) = (blocks[at], unicode[at]);
                let first = unicode << 1 | self.digits.first;
                let due = unicode << 1 | unicode << 2 | unicode << 3 | unicode << 4 | self.digits.due;
                let next = unicode >> 63 | unicode >> 62 | unicode >> 61 | unicode >> 60;
                self.digits = Digits { due: next, first: unicode >> 63 };
                let digit = simd.between(block, b'0', b'9');
                let hex = digit | simd.between(block, b'a', b'f') | simd.between(block, b'A', b'F');
                bad[at] |= due & !hex;
                surrogates[at] = first & (simd.eq(block, b'd') | simd.eq(block, b'D'));
            }
        }
        if bad.iter().chain(&surrogates).fold(0, |all, mask| all | mask) != 0 {
            for at in 0..N {
                self.check_surrogates(bad[at], surrogates[at], self.chunk.from + (index + at) * BLOCK);
            }
        }
    }

    /// Keeps the first of the `bad` bytes of a block that begins at `base`. Each bit of `surrogates` is the first digit,
    /// a `d`, of an escape that is a surrogate if its second digit is 8 or more.
    #[cold]
    #[inline(never)]
    fn check_surrogates(&mut self, bad: u64, mut surrogates: u64, base: usize) {
        let text = self.chunk.text;
        let mut first = (bad != 0).then(|| text.len().min(base + bad.trailing_zeros() as usize));
        while surrogates != 0 {
            let at = base + surrogates.trailing_zeros() as usize - 2;
            surrogates &= surrogates - 1;
            if at < self.pair_end {
                // The second half of a pair: its error, if any, was found with the first.
                continue;
            }
            match text::check_escape(text, at) {
                Ok(len) => self.pair_end = at + len,
                Err(offset) => {
                    self.pair_end = offset;
                    first = first.into_iter().chain([offset]).min();
                }
            }
        }
        self.fault = self.fault.into_iter().chain(first).min();
    }
}

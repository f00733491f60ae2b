//! The operations on a block that differ between instruction sets.

use super::words::{self, TokenWords};
use crate::limits::PAST_END;
use core::mem::MaybeUninit;

/// Bytes in a block, bits in a mask.
pub(crate) const BLOCK: usize = 64;
const _: () = assert!(BLOCK <= PAST_END, "an offset may lie a block past the end");

/// More tokens in a block than this are many.
pub(crate) const MANY: usize = 8;

/// The number of quotes around a string.
pub(super) const QUOTES: u32 = 2;

/// The classes of a block's bytes that pass one needs: one mask per class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Classes {
    /// `"`
    pub(crate) quote: u64,
    /// Space, tab, newline, carriage return.
    pub(crate) space: u64,
    /// `{ } [ ] : ,`
    pub(crate) operator: u64,
    /// Bytes below 0x20.
    pub(crate) control: u64,
}

/// The classes of a block's bytes that show where strings, keys and containers begin and end: one mask per class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Outline {
    /// `\`
    pub(crate) backslash: u64,
    /// `"`
    pub(crate) quote: u64,
    /// `:`
    pub(crate) colon: u64,
    /// `{ [`
    pub(crate) open: u64,
    /// `} ]`
    pub(crate) close: u64,
}

/// 64 tokens by their kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kinds {
    pub(crate) string: u64,
    pub(crate) number: u64,
    pub(crate) literal: u64,
    pub(crate) comma: u64,
    pub(crate) colon: u64,
    pub(crate) open_object: u64,
    pub(crate) open_array: u64,
    pub(crate) close_object: u64,
    pub(crate) close_array: u64,
}

impl Kinds {
    /// Removes these tokens from all classes.
    #[cold]
    pub(crate) fn remove(&mut self, tokens: u64) {
        self.string &= !tokens;
        self.comma &= !tokens;
        self.colon &= !tokens;
        self.open_object &= !tokens;
        self.open_array &= !tokens;
        self.close_object &= !tokens;
        self.close_array &= !tokens;
    }

    #[inline(always)]
    pub(crate) fn scalar(&self) -> u64 {
        self.string | self.number | self.literal
    }

    #[inline(always)]
    pub(crate) fn open(&self) -> u64 {
        self.open_object | self.open_array
    }

    #[inline(always)]
    pub(crate) fn close(&self) -> u64 {
        self.close_object | self.close_array
    }
}

/// The operations that differ per instruction set. Every method means the same in every implementation.
pub(crate) trait Simd: Copy {
    /// A block in registers.
    type Block: Copy;
    /// The result of the UTF-8 check so far.
    type Utf8: Copy;
    /// The offset of a block, in the form that [`emit`](Self::emit) needs.
    type Offset: Copy;

    /// Whether a mask costs a few instructions. Where it costs many, numbers are checked one by one, and the ends of
    /// scalars are looked for byte by byte.
    const MASKS_ARE_CHEAP: bool = true;
    /// Whether the bytes of a mask are moved together in a few instructions. Where they are, the numbers of
    /// a text are gathered if there is one in each block or so.
    const GATHERS: bool = false;
    /// Whether members of records are found by masks. On CPUs where masks cost more, steps from key to key are faster.
    const SKIMS: bool = false;
    /// Whether [`load_rest`](Self::load_rest) is one instruction, however many bytes there are.
    const LOADS_RESTS: bool = false;
    /// Whether tokens are marked in the block that holds them, with [`mark`](Self::mark) and
    /// [`mark_spaced`](Self::mark_spaced), and not by a mask that is given to [`emit`](Self::emit). Only then are these two
    /// and [`behind`](Self::behind) called.
    const MARKS_BLOCKS: bool = false;
    /// Whether the tokens of two blocks are written while the masks of the next two are made. That pays where a pair of
    /// blocks fills the CPU's window of instructions, so that nothing of the next pair would overlap with it. Needs
    /// [`MARKS_BLOCKS`](Self::MARKS_BLOCKS).
    const DELAYS_TOKENS: bool = false;
    /// Whether [`emit`](Self::emit) wants to know if most blocks have many tokens: more than [`MANY`].
    const COUNTS_TOKENS: bool = false;

    /// Whether a short text takes both passes in one entry. It saves what lies between the passes, for twice the code.
    const JOINS_PASSES: bool = false;

    /// Loads a block into registers.
    fn load(self, block: &[u8; BLOCK]) -> Self::Block;
    /// A block from fewer than 64 bytes, filled up with spaces.
    #[inline(always)]
    fn load_rest(self, rest: &[u8]) -> [u8; BLOCK] {
        let mut block = [b' '; BLOCK];
        block[..rest.len()].copy_from_slice(rest);
        block
    }
    /// The same for the bytes of `text` from `from` on. What stands before them may help to load them.
    #[inline(always)]
    fn load_end(self, text: &[u8], from: usize) -> [u8; BLOCK] {
        self.load_rest(&text[from..])
    }
    /// Asks the memory for the two blocks at this distance behind the given ones, which may lie behind the text. Never reads
    /// them, and does nothing where the instruction set has no such request.
    #[inline(always)]
    fn prefetch(self, _blocks: &[[u8; BLOCK]; 2], _distance: usize) {}
    /// The bytes of two blocks that pass one looks at more closely: nonzero if one is a backslash or beyond ASCII.
    #[inline(always)]
    fn unusual(self, first: Self::Block, second: Self::Block) -> u64 {
        self.eq(first, b'\\') | self.eq(second, b'\\') | self.beyond_ascii(self.merge(first, second))
    }
    /// The same byte everywhere.
    #[inline(always)]
    fn splat_block(self, byte: u8) -> Self::Block {
        self.load(&[byte; BLOCK])
    }
    /// The byte before each byte; that before the first is the last of `before`.
    #[inline(always)]
    fn behind(self, _before: Self::Block, block: Self::Block) -> Self::Block {
        block
    }
    /// Sets the high bit of each byte whose bit in `marked` is set, and which does not have it.
    #[inline(always)]
    fn mark(self, block: Self::Block, _marked: u64) -> Self::Block {
        block
    }
    /// Marks the operators behind a byte of at most 0x20. `behind` has the byte before each byte.
    #[inline(always)]
    fn mark_spaced(self, block: Self::Block, _behind: Self::Block) -> Self::Block {
        block
    }
    /// One mask per class of byte.
    fn classify(self, block: Self::Block) -> Classes;
    /// White space: space, tab, newline, carriage return.
    #[inline(always)]
    fn spaces(self, block: Self::Block) -> u64 {
        self.classify(block).space
    }
    /// One mask per class of byte, of fewer classes.
    #[inline(always)]
    fn outline(self, block: Self::Block) -> Outline {
        // `[` and `]` are `{` and `}` without bit 0x20; no other bytes become brackets by it.
        let curled = self.merge(block, self.load(&[0x20; BLOCK]));
        Outline {
            backslash: self.eq(block, b'\\'),
            quote: self.eq(block, b'"'),
            colon: self.eq(block, b':'),
            open: self.eq(curled, b'{'),
            close: self.eq(curled, b'}'),
        }
    }
    /// Returns the same mask, but hides from the compiler how it was computed.
    #[inline(always)]
    fn opaque(self, mask: u64) -> u64 {
        mask
    }
    /// The bytes equal to `byte`.
    fn eq(self, block: Self::Block, byte: u8) -> u64;
    /// The bytes from `low` to `high`, both included.
    fn between(self, block: Self::Block, low: u8, high: u8) -> u64;
    /// Bit `i` of the result is the parity of bits `0..=i`.
    fn prefix_xor(self, mask: u64) -> u64;
    /// The bits of `bits` at the set bits of `mask`, moved together at the low end.
    #[inline(always)]
    fn gather_bits(self, bits: u64, mut mask: u64) -> u64 {
        let (mut gathered, mut at) = (0, 0);
        while mask != 0 {
            gathered |= u64::from(bits & mask & mask.wrapping_neg() != 0) << at;
            mask &= mask - 1;
            at += 1;
        }
        gathered
    }
    /// The reverse: the low bits of `bits`, moved to the set bits of `mask`.
    #[inline(always)]
    fn scatter_bits(self, mut bits: u64, mut mask: u64) -> u64 {
        let mut scattered = 0;
        while mask != 0 {
            scattered |= (mask & mask.wrapping_neg()) & (bits & 1).wrapping_neg();
            mask &= mask - 1;
            bits >>= 1;
        }
        scattered
    }
    /// The result of a UTF-8 check that has seen nothing yet.
    fn utf8_start(self) -> Self::Utf8;
    /// Checks a block that follows `before`, which was already checked or will be checked elsewhere. A sequence that the
    /// block leaves incomplete is judged with the next block.
    fn utf8_check(self, state: &mut Self::Utf8, before: &[u8; BLOCK], block: Self::Block);
    /// False after any check saw a byte that is not UTF-8.
    fn utf8_ok(self, state: &Self::Utf8) -> bool;
    /// The bitwise or of two blocks.
    fn merge(self, one: Self::Block, other: Self::Block) -> Self::Block;
    /// The bytes that may follow a backslash, except `u`: one of `"\/bfnrt`.
    #[inline(always)]
    fn escape_letters(self, block: Self::Block) -> u64 {
        let letters = self.eq(block, b'b') | self.eq(block, b'f') | self.eq(block, b'n') | self.eq(block, b'r');
        letters | self.eq(block, b't') | self.eq(block, b'/') | self.eq(block, b'"') | self.eq(block, b'\\')
    }
    /// The bytes that a JSON string cannot hold unescaped.
    #[inline(always)]
    fn escapes(self, block: Self::Block) -> u64 {
        self.eq(block, b'"') | self.eq(block, b'\\') | self.between(block, 0, 0x1f)
    }
    /// The bytes beyond ASCII.
    fn beyond_ascii(self, block: Self::Block) -> u64;
    /// Each byte without its high bit.
    fn without_high_bits(self, block: Self::Block) -> Self::Block;
    /// Classifies tokens by their kinds; only those in `valid` count.
    #[inline(always)]
    fn kinds(self, kinds: Self::Block, valid: u64) -> Kinds {
        // Operators and strings may be marked by their high bit; no token begins with another byte that has it.
        let plain = self.without_high_bits(kinds);
        let is = |byte| self.eq(plain, byte) & valid;
        let letter = self.eq(kinds, b't') | self.eq(kinds, b'f') | self.eq(kinds, b'n');
        Kinds {
            string: is(b'"'),
            number: (self.between(kinds, b'0', b'9') | self.eq(kinds, b'-')) & valid,
            literal: letter & valid,
            comma: is(b','),
            colon: is(b':'),
            open_object: is(b'{'),
            open_array: is(b'['),
            close_object: is(b'}'),
            close_array: is(b']'),
        }
    }
    /// Whether `text[start..end]` is a number of fewer than 32 bytes without an exponent. The range must begin with a
    /// digit or a minus and be followed by neither a digit nor a point. False means that it is unknown, and `end` may
    /// be any number. `None` if this test would cost more than looking at the bytes one by one.
    #[inline(always)]
    fn is_plain_number(self, _text: &[u8], _start: usize, _end: usize) -> Option<bool> {
        None
    }
    /// Copies the bytes of the block whose bit in `keep` is set, in order, and returns their number. Bytes past the
    /// last one are left arbitrary.
    #[inline(always)]
    fn compact(self, block: &[u8; BLOCK], keep: u64, out: &mut [MaybeUninit<u8>; BLOCK]) -> usize {
        // Every byte is written, and the position moves on only after the kept ones: no branch.
        let mut at = 0;
        for (index, &byte) in block.iter().enumerate() {
            out[at % BLOCK].write(byte);
            at += (keep >> index & 1) as usize;
        }
        at
    }
    /// The keys whose length, modulo 64, has its bit set in `lengths`. Each of `keys` must be a string that a colon
    /// follows directly; `pos` has the offsets of the tokens.
    #[inline(always)]
    fn keys_as_long(self, pos: &[u32; BLOCK + 1], mut keys: u64, lengths: u64) -> u64 {
        let mut found = 0;
        while keys != 0 {
            let index = keys.trailing_zeros() as usize;
            let len = pos[index % BLOCK + 1].wrapping_sub(pos[index % BLOCK]).wrapping_sub(QUOTES);
            found |= (lengths >> (len % 64) & 1) << index;
            keys &= keys - 1;
        }
        found
    }
    /// Writes a word of the tape for each token of `keep`, in order: see [`TokenWords`]. Words past the last one are
    /// left arbitrary.
    #[inline(always)]
    fn words(self, _kinds: Self::Block, tokens: &TokenWords<'_>, out: &mut [MaybeUninit<u64>; BLOCK]) {
        words::one_by_one(tokens, out);
    }
    /// The offset of a block. `is_dense` says that this block and those after it have [`MANY`] tokens on average; it changes
    /// only the cost, and only if [`COUNTS_TOKENS`](Self::COUNTS_TOKENS).
    fn offset(self, base: u32, is_dense: bool) -> Self::Offset;
    /// The offset of the block after it.
    fn next_offset(self, offset: Self::Offset) -> Self::Offset;
    /// Writes `base + i` and the byte at `i` for each set bit `i` of `mask`, in order. The byte gets its high bit set
    /// if bit `i` of `marked` is set, which is none if [`MARKS_BLOCKS`](Self::MARKS_BLOCKS). Values past the last one are
    /// left arbitrary.
    #[expect(clippy::too_many_arguments, reason = "the block in both its forms, what to write, and where")]
    fn emit(
        self,
        block: Self::Block,
        bytes: &[u8; BLOCK],
        mask: u64,
        marked: u64,
        base: Self::Offset,
        pos: &mut [u32; BLOCK],
        kind: &mut [u8; BLOCK],
    );
}

/// [`Simd::is_plain_number`], given masks of 32 bytes from the number's first byte on: bytes that are not digits,
/// points, zeros.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(super) fn is_plain_number(len: usize, other: u32, points: u32, zeros: u32) -> bool {
    // The first byte is a digit or a minus.
    let inner = other & !(u32::MAX << (len & 31));
    let (sign, point) = (inner & 1, inner & !1);
    // The sign and the point must be followed by a digit, and a zero that is the first digit must not. There may be one point
    // at most, and nothing else.
    let without_digit = inner << 1 & other;
    let zero_first = (zeros & !(other >> 1)) >> sign & 1;
    without_digit | zero_first | point & !points | point & point.wrapping_sub(1) == 0 && len < 32
}

/// The 32 bytes from `start` on, if the text has as many.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(super) fn half_block(text: &[u8], start: usize) -> Option<&[u8; BLOCK / 2]> {
    if start > text.len().checked_sub(BLOCK / 2)? {
        return None;
    }
    // SAFETY: the test above found 32 bytes from `start` on.
    Some(unsafe { &*text.as_ptr().add(start).cast() })
}

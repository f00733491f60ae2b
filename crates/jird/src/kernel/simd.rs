//! What the instruction sets differ in: operations on a block.

use super::words::{self, TokenWords};
use crate::limits::PAST_END;
use core::mem::MaybeUninit;

/// Bytes in a block, bits in a mask.
pub(crate) const BLOCK: usize = 64;
const _: () = assert!(BLOCK <= PAST_END, "an offset may lie a block past the end");

/// The quotes of a string.
pub(super) const QUOTES: u32 = 2;

/// What pass one needs to know about a block: one mask per class of byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Classes {
    /// `\`
    pub(crate) backslash: u64,
    /// `"`
    pub(crate) quote: u64,
    /// Space, tab, line feed, carriage return.
    pub(crate) space: u64,
    /// `{ } [ ] : ,`
    pub(crate) operator: u64,
    /// Bytes below 0x20.
    pub(crate) control: u64,
}

/// 64 tokens by what they are.
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
    /// These are none of them.
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
    /// What the UTF-8 check remembers of the blocks before.
    type Utf8: Copy;

    /// Whether numbers are ever judged by masks. Where a mask costs many instructions, one by one is faster.
    const JUDGES_NUMBERS: bool = true;
    /// Whether members of records are found by masks. Where masks cost more, steps from key to key are faster.
    const SKIMS: bool = false;

    /// The block's bytes in registers.
    fn load(self, block: &[u8; BLOCK]) -> Self::Block;
    /// Fewer than 64 bytes, and spaces behind them.
    #[inline(always)]
    fn load_rest(self, rest: &[u8]) -> [u8; BLOCK] {
        let mut block = [b' '; BLOCK];
        block[..rest.len()].copy_from_slice(rest);
        block
    }
    /// One mask per class of byte.
    fn classify(self, block: Self::Block) -> Classes;
    /// The same mask, of which the compiler does not know where it comes from.
    #[inline(always)]
    fn opaque(self, mask: u64) -> u64 {
        mask
    }
    /// Where `byte` stands.
    fn eq(self, block: Self::Block, byte: u8) -> u64;
    /// Where a byte from `low` to `high` stands, both included.
    fn between(self, block: Self::Block, low: u8, high: u8) -> u64;
    /// Bit `i` of the result is the parity of bits `0..=i`.
    fn prefix_xor(self, mask: u64) -> u64;
    /// The UTF-8 state after `before`, which was found to be right or will be found wrong elsewhere.
    fn utf8_after(self, before: &[u8; BLOCK]) -> Self::Utf8;
    /// Checks a block that follows the blocks that `state` has seen. A sequence that the block leaves open is judged
    /// with the next block.
    fn utf8_step(self, state: &mut Self::Utf8, block: Self::Block);
    /// False once any step saw a byte that is not UTF-8.
    fn utf8_ok(self, state: &Self::Utf8) -> bool;
    /// A block that has, for each bit of a byte, whether one of the two has it.
    fn merge(self, one: Self::Block, other: Self::Block) -> Self::Block;
    /// Where one of `"\\/bfnrt` stands, which may follow a backslash.
    #[inline(always)]
    fn escape_letters(self, block: Self::Block) -> u64 {
        let letters = self.eq(block, b'b') | self.eq(block, b'f') | self.eq(block, b'n') | self.eq(block, b'r');
        letters | self.eq(block, b't') | self.eq(block, b'/') | self.eq(block, b'"') | self.eq(block, b'\\')
    }
    /// Where a byte stands that a JSON string cannot hold as it is.
    #[inline(always)]
    fn escapes(self, block: Self::Block) -> u64 {
        self.eq(block, b'"') | self.eq(block, b'\\') | self.between(block, 0, 0x1f)
    }
    /// Where a byte beyond ASCII stands.
    fn beyond_ascii(self, block: Self::Block) -> u64;
    /// Each byte without its high bit.
    fn without_high_bits(self, block: Self::Block) -> Self::Block;
    /// What the tokens of these kinds are, as far as they are `valid`.
    #[inline(always)]
    fn kinds(self, kinds: Self::Block, valid: u64) -> Kinds {
        // Operators and strings may be marked by their high bit; of what else has it, nothing begins a token.
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
    /// Whether `text[start..end]`, which begins with a digit or a minus and is followed by neither digit nor point, is a number
    /// of less than 32 bytes without exponent. False says nothing; and what `end` is may be nonsense. `None` where it would cost more
    /// than to look at the bytes one by one.
    #[inline(always)]
    fn is_plain_number(self, _text: &[u8], _start: usize, _end: usize) -> Option<bool> {
        None
    }
    /// Copies the bytes of the block that `keep` has, in order, and returns how many. What lies past the last is left
    /// arbitrary.
    #[inline(always)]
    fn compact(self, block: &[u8; BLOCK], keep: u64, out: &mut [MaybeUninit<u8>; BLOCK]) -> usize {
        // A byte for each, and a step on for those that are kept: no branch.
        let mut at = 0;
        for (index, &byte) in block.iter().enumerate() {
            out[at % BLOCK].write(byte);
            at += (keep >> index & 1) as usize;
        }
        at
    }
    /// Writes `base + i` for each set bit `i` of `mask`, in order. What lies past the last is left arbitrary.
    #[inline(always)]
    fn offsets(self, mut mask: u64, base: u32, offsets: &mut [u32; BLOCK]) {
        for offset in offsets.iter_mut().take(mask.count_ones() as usize) {
            *offset = base.wrapping_add(mask.trailing_zeros());
            mask &= mask.wrapping_sub(1);
        }
    }
    /// Those of `keys`, which are strings that a colon follows at once, whose length has its bit, modulo 64, in `lengths`; `pos`
    /// has where the tokens begin.
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
    /// Writes a word of the tape for each token of `keep`, in order: see [`TokenWords`]. What lies past the last is left
    /// arbitrary.
    #[inline(always)]
    fn words(self, _kinds: Self::Block, tokens: &TokenWords<'_>, out: &mut [MaybeUninit<u64>; BLOCK]) {
        words::one_by_one(tokens, out);
    }
    /// Writes `base + i` and the byte at `i` for each set bit `i` of `mask`, in order, the byte with its high bit set if that
    /// of `marked` is. What lies past the last is left arbitrary.
    #[expect(clippy::too_many_arguments, reason = "the block in both its forms, what to write, and where")]
    fn emit(
        self,
        block: Self::Block,
        bytes: &[u8; BLOCK],
        mask: u64,
        marked: u64,
        base: u32,
        pos: &mut [u32; BLOCK],
        kind: &mut [u8; BLOCK],
    );
}

/// [`Simd::is_plain_number`], given masks of 32 bytes from the number's first on: what is no digit, points, zeros.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(super) fn is_plain_number(len: usize, other: u32, points: u32, zeros: u32) -> bool {
    // The first byte is a digit or a minus.
    let sign = other & 1;
    let point = other & !(u32::MAX << (len & 31)) & !1;
    // Behind the sign stands a digit, and no digit behind it if it is a zero; behind a point stands a digit; there is one
    // point at most, and nothing else.
    let first_digit = (other | zeros & !(other >> 1)) >> sign & 1;
    first_digit | point & !points | point << 1 & other | point & point.wrapping_sub(1) == 0 && len < 32
}

//! NEON: 16 bytes to a register, four registers to a block.

use super::proof::proof;
use super::simd::{BLOCK, Classes, Simd};
use super::utf8::{self, Vectors};
#[allow(clippy::wildcard_imports, reason = "a list of intrinsics says nothing that their use does not")]
use core::arch::aarch64::*;

proof! {
    Neon, enter_neon, is_aarch64_feature_detected: ["neon"];

    Vectors of uint8x16_t {
        splat(byte: u8) -> uint8x16_t = vdupq_n_u8(byte);
        table(bytes: &[u8; 16]) -> uint8x16_t = load(bytes);
        end_of(block: &[u8; BLOCK]) -> uint8x16_t = load(&block.as_chunks().0[3]);
        and(one: uint8x16_t, other: uint8x16_t) -> uint8x16_t = vandq_u8(one, other);
        or(one: uint8x16_t, other: uint8x16_t) -> uint8x16_t = vorrq_u8(one, other);
        xor(one: uint8x16_t, other: uint8x16_t) -> uint8x16_t = veorq_u8(one, other);
        minus(from: uint8x16_t, less: uint8x16_t) -> uint8x16_t = vqsubq_u8(from, less);
        high_nibbles(bytes: uint8x16_t) -> uint8x16_t = vshrq_n_u8::<4>(bytes);
        look_up(table: uint8x16_t, nibbles: uint8x16_t) -> uint8x16_t = vqtbl1q_u8(table, nibbles);
        preceding(bytes: uint8x16_t, before: uint8x16_t) -> [uint8x16_t; 3] = {
            [vextq_u8::<15>(before, bytes), vextq_u8::<14>(before, bytes), vextq_u8::<13>(before, bytes)]
        };
        is_zero(bytes: uint8x16_t) -> bool = vmaxvq_u8(bytes) == 0;
    }

    Others {
        load_quarter(bytes: &[u8; 16]) -> uint8x16_t = load(bytes);
        store_quarter(bytes: &mut [u8; 16], quarter: uint8x16_t) -> () = {
            // SAFETY: the store writes the 16 bytes of the reference.
            unsafe { vst1q_u8(bytes.as_mut_ptr(), quarter) }
        };
        /// All ones in each byte that is equal to the other's.
        equal(one: uint8x16_t, other: uint8x16_t) -> uint8x16_t = vceqq_u8(one, other);
        /// All ones in each byte that is not above the other's.
        at_most(bytes: uint8x16_t, most: uint8x16_t) -> uint8x16_t = vcleq_u8(bytes, most);
        /// The difference of each byte, modulo 256.
        above(bytes: uint8x16_t, base: uint8x16_t) -> uint8x16_t = vsubq_u8(bytes, base);
        /// All ones in each byte that has its high bit.
        beyond(bytes: uint8x16_t) -> uint8x16_t = vcltq_s8(vreinterpretq_s8_u8(bytes), vdupq_n_s8(0));
        /// One bit for each byte of a block whose bytes are all ones or zero.
        mask(block: [uint8x16_t; 4]) -> u64 = mask(block);
        /// Sets the high bit of each byte whose bit in `marked` is set.
        with_high_bits(bytes: uint8x16_t, marked: u16) -> uint8x16_t = {
            let [low, high] = marked.to_le_bytes();
            let bits = vcombine_u8(vdup_n_u8(low), vdup_n_u8(high));
            vorrq_u8(bytes, vandq_u8(vtstq_u8(bits, load(&PLACES)), vdupq_n_u8(0x80)))
        };
    }
}

/// For each byte, the bit of its place in its group of eight.
const PLACES: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128];

impl Simd for Neon {
    type Block = [uint8x16_t; 4];
    type Utf8 = uint8x16_t;
    type Offset = u32;

    #[inline(always)]
    fn load(self, block: &[u8; BLOCK]) -> Self::Block {
        let quarters = block.as_chunks().0;
        [
            self.load_quarter(&quarters[0]),
            self.load_quarter(&quarters[1]),
            self.load_quarter(&quarters[2]),
            self.load_quarter(&quarters[3]),
        ]
    }

    #[inline(always)]
    fn classify(self, block: Self::Block) -> Classes {
        let spaces = self.table(&[0x20, 100, 100, 100, 17, 100, 113, 2, 100, 0x09, 0x0A, 112, 100, 0x0D, 100, 100]);
        let operators = self.table(&[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x3A, 0x7B, 0x2C, 0x7D, 0, 0]);
        let (nibble, curl, max) = (self.splat(0x0F), self.splat(0x20), self.splat(0x1F));
        let mut space = block;
        let mut operator = block;
        let mut control = block;
        for at in 0..4 {
            // Looks up by the low nibble and compares with the byte. x86's shuffle ignores the bits 4 to 6, but NEON's
            // does not, so they are cleared.
            let low = self.and(block[at], nibble);
            space[at] = self.equal(block[at], self.look_up(spaces, low));
            operator[at] = self.equal(self.or(block[at], curl), self.look_up(operators, low));
            control[at] = self.at_most(block[at], max);
        }
        let control = self.mask(control);
        Classes {
            quote: self.eq(block, b'"'),
            space: self.mask(space),
            operator: self.mask(operator) & !control,
            control,
        }
    }

    #[inline(always)]
    fn eq(self, mut block: Self::Block, byte: u8) -> u64 {
        let wanted = self.splat(byte);
        for quarter in &mut block {
            *quarter = self.equal(*quarter, wanted);
        }
        self.mask(block)
    }

    #[inline(always)]
    fn between(self, mut block: Self::Block, low: u8, high: u8) -> u64 {
        let (base, width) = (self.splat(low), self.splat(high - low));
        for quarter in &mut block {
            *quarter = self.at_most(self.above(*quarter, base), width);
        }
        self.mask(block)
    }

    #[inline(always)]
    fn prefix_xor(self, mut mask: u64) -> u64 {
        // Six shifts are faster than a carry-less product, because moving between the register files costs more.
        for shift in [1, 2, 4, 8, 16, 32] {
            mask ^= mask << shift;
        }
        mask
    }

    #[inline(always)]
    fn utf8_start(self) -> Self::Utf8 {
        self.splat(0)
    }

    #[inline(always)]
    fn utf8_check(self, state: &mut Self::Utf8, before: &[u8; BLOCK], block: Self::Block) {
        utf8::check(self, state, before, block);
    }

    #[inline(always)]
    fn utf8_ok(self, state: &Self::Utf8) -> bool {
        self.is_zero(*state)
    }

    #[inline(always)]
    fn merge(self, mut one: Self::Block, other: Self::Block) -> Self::Block {
        for (one, other) in one.iter_mut().zip(other) {
            *one = self.or(*one, other);
        }
        one
    }

    #[inline(always)]
    fn beyond_ascii(self, mut block: Self::Block) -> u64 {
        for quarter in &mut block {
            *quarter = self.beyond(*quarter);
        }
        self.mask(block)
    }

    #[inline(always)]
    fn without_high_bits(self, mut block: Self::Block) -> Self::Block {
        let low_bits = self.splat(0x7F);
        for quarter in &mut block {
            *quarter = self.and(*quarter, low_bits);
        }
        block
    }

    #[inline(always)]
    fn offset(self, base: u32, _is_dense: bool) -> u32 {
        base
    }

    #[inline(always)]
    fn next_offset(self, offset: u32) -> u32 {
        offset.wrapping_add(BLOCK as u32)
    }

    #[inline(always)]
    fn emit(
        self,
        block: Self::Block,
        _bytes: &[u8; BLOCK],
        mask: u64,
        marked: u64,
        base: u32,
        pos: &mut [u32; BLOCK],
        kind: &mut [u8; BLOCK],
    ) {
        let mut bytes = [0; BLOCK];
        for (at, quarter) in bytes.as_chunks_mut().0.iter_mut().enumerate() {
            self.store_quarter(quarter, self.with_high_bits(block[at], (marked >> (16 * at)) as u16));
        }
        emit_by_eights(&bytes, mask, base, pos, kind);
    }
}

#[inline]
#[target_feature(enable = "neon")]
fn load(bytes: &[u8; 16]) -> uint8x16_t {
    // SAFETY: the load reads the 16 bytes of the reference.
    unsafe { vld1q_u8(bytes.as_ptr()) }
}

/// One bit per byte, from bytes that are all ones or zero: each byte keeps the bit of its position in its group of
/// eight, and three rounds of adding neighbours collect eight bits in a byte.
#[inline]
#[target_feature(enable = "neon")]
fn mask(block: [uint8x16_t; 4]) -> u64 {
    let places = load(&PLACES);
    let first = vpaddq_u8(vandq_u8(block[0], places), vandq_u8(block[1], places));
    let second = vpaddq_u8(vandq_u8(block[2], places), vandq_u8(block[3], places));
    let sum = vpaddq_u8(first, second);
    vgetq_lane_u64::<0>(vreinterpretq_u64_u8(vpaddq_u8(sum, sum)))
}

/// [`Simd::emit`] without a byte compress, from bytes that are already marked. It writes groups of eight without a
/// test inside, because a branch per token would be mispredicted once per block.
#[inline(always)]
fn emit_by_eights(bytes: &[u8; BLOCK], mut mask: u64, base: u32, pos: &mut [u32; BLOCK], kind: &mut [u8; BLOCK]) {
    let groups = (mask.count_ones() as usize).div_ceil(8);
    let (pos, kind) = (pos.as_chunks_mut::<8>().0, kind.as_chunks_mut::<8>().0);
    for (pos, kind) in pos.iter_mut().zip(kind).take(groups) {
        for (pos, kind) in pos.iter_mut().zip(kind) {
            // Past the last bit this writes `base + 64`, which is not read.
            let at = mask.trailing_zeros();
            *pos = base.wrapping_add(at);
            *kind = bytes[at as usize % BLOCK];
            mask &= mask.wrapping_sub(1);
        }
    }
}

//! NEON: 16 bytes to a register, four registers to a block.

use super::proof::proof;
use super::simd::{BLOCK, Classes, Simd};
use super::utf8::{Utf8, vectors};
#[allow(clippy::wildcard_imports, reason = "a list of intrinsics says nothing that their use does not")]
use core::arch::aarch64::*;

proof!(Neon, enter_neon, is_aarch64_feature_detected: "neon");

vectors! { Neon: uint8x16_t;
    splat(byte: u8) -> uint8x16_t = vdupq_n_u8(byte);
    table(bytes: &[u8; 16]) -> uint8x16_t = vld1q_u8(bytes.as_ptr());
    end_of(block: &[u8; BLOCK]) -> uint8x16_t = vld1q_u8(block[48..].as_ptr());
    and(one: uint8x16_t, other: uint8x16_t) -> uint8x16_t = vandq_u8(one, other);
    or(one: uint8x16_t, other: uint8x16_t) -> uint8x16_t = vorrq_u8(one, other);
    xor(one: uint8x16_t, other: uint8x16_t) -> uint8x16_t = veorq_u8(one, other);
    minus(from: uint8x16_t, less: uint8x16_t) -> uint8x16_t = vqsubq_u8(from, less);
    high_nibbles(bytes: uint8x16_t) -> uint8x16_t = vshrq_n_u8::<4>(bytes);
    look_up(table: uint8x16_t, nibbles: uint8x16_t) -> uint8x16_t = vqtbl1q_u8(table, nibbles);
    preceding(bytes: uint8x16_t, before: uint8x16_t) -> [uint8x16_t; 3] = {
        [vextq_u8::<15>(before, bytes), vextq_u8::<14>(before, bytes), vextq_u8::<13>(before, bytes)]
    };
    is_ascii(bytes: uint8x16_t) -> bool = vmaxvq_u8(bytes) < 0x80;
    is_zero(bytes: uint8x16_t) -> bool = vmaxvq_u8(bytes) == 0;
}

// Each body is one `unsafe` block because the trait's methods cannot carry `#[target_feature]`.
impl Simd for Neon {
    type Block = [uint8x16_t; 4];
    type Utf8 = Utf8<uint8x16_t>;

    #[inline(always)]
    fn load(self, block: &[u8; BLOCK]) -> Self::Block {
        // SAFETY: `self` proves the features; nothing here takes a pointer.
        unsafe {
            let quarters = block.as_chunks::<16>().0;
            [load(&quarters[0]), load(&quarters[1]), load(&quarters[2]), load(&quarters[3])]
        }
    }

    #[inline(always)]
    fn classify(self, block: Self::Block) -> Classes {
        // SAFETY: `self` proves the features; nothing here takes a pointer.
        unsafe {
            let spaces = load(&[0x20, 100, 100, 100, 17, 100, 113, 2, 100, 0x09, 0x0A, 112, 100, 0x0D, 100, 100]);
            let operators = load(&[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x3A, 0x7B, 0x2C, 0x7D, 0, 0]);
            let nibble = vdupq_n_u8(0x0F);
            let curl = vdupq_n_u8(0x20);
            let mut space = block;
            let mut operator = block;
            let mut control = block;
            for at in 0..4 {
                // Looks up by the low nibble and compares with the byte. x86's shuffle ignores the bits 4 to 6, but
                // NEON's does not, so they are cleared.
                let low = vandq_u8(block[at], nibble);
                space[at] = vceqq_u8(block[at], vqtbl1q_u8(spaces, low));
                operator[at] = vceqq_u8(vorrq_u8(block[at], curl), vqtbl1q_u8(operators, low));
                control[at] = vcltq_u8(block[at], curl);
            }
            let control = mask(control);
            Classes {
                backslash: self.eq(block, b'\\'),
                quote: self.eq(block, b'"'),
                space: mask(space),
                operator: mask(operator) & !control,
                control,
            }
        }
    }

    #[inline(always)]
    fn eq(self, block: Self::Block, byte: u8) -> u64 {
        // SAFETY: `self` proves the features; nothing here takes a pointer.
        unsafe {
            let wanted = vdupq_n_u8(byte);
            mask([
                vceqq_u8(block[0], wanted),
                vceqq_u8(block[1], wanted),
                vceqq_u8(block[2], wanted),
                vceqq_u8(block[3], wanted),
            ])
        }
    }

    #[inline(always)]
    fn between(self, block: Self::Block, low: u8, high: u8) -> u64 {
        // SAFETY: `self` proves the features; nothing here takes a pointer.
        unsafe {
            let (base, width) = (vdupq_n_u8(low), vdupq_n_u8(high - low));
            mask([
                vcleq_u8(vsubq_u8(block[0], base), width),
                vcleq_u8(vsubq_u8(block[1], base), width),
                vcleq_u8(vsubq_u8(block[2], base), width),
                vcleq_u8(vsubq_u8(block[3], base), width),
            ])
        }
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
    fn utf8_after(self, before: &[u8; BLOCK]) -> Self::Utf8 {
        Utf8::after(self, before)
    }

    #[inline(always)]
    fn utf8_step(self, state: &mut Self::Utf8, block: Self::Block) {
        state.step(self, block);
    }

    #[inline(always)]
    fn utf8_ok(self, state: &Self::Utf8) -> bool {
        state.is_ok(self)
    }

    #[inline(always)]
    fn merge(self, one: Self::Block, other: Self::Block) -> Self::Block {
        // SAFETY: `self` proves the features; nothing here takes a pointer.
        unsafe {
            let mut merged = one;
            for at in 0..4 {
                merged[at] = vorrq_u8(one[at], other[at]);
            }
            merged
        }
    }

    #[inline(always)]
    fn beyond_ascii(self, block: Self::Block) -> u64 {
        // SAFETY: `self` proves the features; nothing here takes a pointer.
        unsafe {
            let zero = vdupq_n_s8(0);
            let mut high = block;
            for at in 0..4 {
                high[at] = vcltq_s8(vreinterpretq_s8_u8(block[at]), zero);
            }
            mask(high)
        }
    }

    #[inline(always)]
    fn without_high_bits(self, block: Self::Block) -> Self::Block {
        // SAFETY: `self` proves the features; nothing here takes a pointer.
        unsafe {
            let mut low = block;
            for quarter in &mut low {
                *quarter = vandq_u8(*quarter, vdupq_n_u8(0x7F));
            }
            low
        }
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
        let mut bytes = [[0; 16]; 4];
        // SAFETY: `self` proves the features; each store writes the 16 bytes of its quarter.
        unsafe {
            let places = load(&[1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128]);
            for (at, quarter) in bytes.iter_mut().enumerate() {
                let [low, high, ..] = (marked >> (16 * at)).to_le_bytes();
                let bits = vcombine_u8(vdup_n_u8(low), vdup_n_u8(high));
                let high_bit = vandq_u8(vtstq_u8(bits, places), vdupq_n_u8(0x80));
                vst1q_u8(quarter.as_mut_ptr(), vorrq_u8(block[at], high_bit));
            }
        }
        let Some(bytes) = bytes.as_flattened().first_chunk() else { unreachable!("four quarters are a block") };
        emit_by_eights(bytes, mask, base, pos, kind);
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
    let places = load(&[1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128]);
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

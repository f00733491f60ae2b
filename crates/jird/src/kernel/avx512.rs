//! AVX-512 with VBMI2: 64 bytes to a register, masks at no cost, and byte compress for the tokens.
//!
//! The feature list requires VBMI2 (Ice Lake, Zen 4): earlier CPUs with AVX-512 lower their clock for it, and lack the
//! byte compress that makes it worth while.

use super::proof::proof;
use super::simd::{BLOCK, Classes, QUOTES, Simd, is_plain_number};
use super::utf8::{Utf8, vectors};
use super::words::TokenWords;
use crate::limits::LENGTH_MAX;
use crate::word::UPPER;
#[allow(clippy::wildcard_imports, reason = "a list of intrinsics says nothing that their use does not")]
use core::arch::x86_64::*;
use core::mem::MaybeUninit;

proof!(Avx512, enter_avx512, is_x86_feature_detected:
    "avx512f", "avx512bw", "avx512vl", "avx512dq", "avx512vbmi", "avx512vbmi2", "avx512bitalg",
    "avx2", "bmi1", "bmi2", "lzcnt", "popcnt", "pclmulqdq");

vectors! { Avx512: __m512i;
    splat(byte: u8) -> __m512i = _mm512_set1_epi8(byte.cast_signed());
    table(bytes: &[u8; 16]) -> __m512i = _mm512_broadcast_i32x4(_mm_loadu_si128(bytes.as_ptr().cast()));
    end_of(block: &[u8; BLOCK]) -> __m512i = _mm512_loadu_si512(block.as_ptr().cast());
    and(one: __m512i, other: __m512i) -> __m512i = _mm512_and_si512(one, other);
    or(one: __m512i, other: __m512i) -> __m512i = _mm512_or_si512(one, other);
    xor(one: __m512i, other: __m512i) -> __m512i = _mm512_xor_si512(one, other);
    minus(from: __m512i, less: __m512i) -> __m512i = _mm512_subs_epu8(from, less);
    high_nibbles(bytes: __m512i) -> __m512i = _mm512_and_si512(_mm512_srli_epi16::<4>(bytes), _mm512_set1_epi8(0x0F));
    look_up(table: __m512i, nibbles: __m512i) -> __m512i = _mm512_shuffle_epi8(table, nibbles);
    preceding(bytes: __m512i, before: __m512i) -> [__m512i; 3] = {
        // The last 16 bytes before, then all of these but their last 16.
        let shifted = _mm512_permutex2var_epi64(before, _mm512_set_epi64(13, 12, 11, 10, 9, 8, 7, 6), bytes);
        let (one, two) = (_mm512_alignr_epi8::<15>(bytes, shifted), _mm512_alignr_epi8::<14>(bytes, shifted));
        [one, two, _mm512_alignr_epi8::<13>(bytes, shifted)]
    };
    is_ascii(bytes: __m512i) -> bool = _mm512_movepi8_mask(bytes) == 0;
    is_zero(bytes: __m512i) -> bool = _mm512_test_epi8_mask(bytes, bytes) == 0;
}

// Each body is one `unsafe` block because the trait's methods cannot carry `#[target_feature]`.
impl Simd for Avx512 {
    type Block = __m512i;
    type Utf8 = Utf8<__m512i>;

    const SKIMS: bool = true;

    #[inline(always)]
    fn load(self, block: &[u8; BLOCK]) -> __m512i {
        // SAFETY: `self` proves the features; the load reads the 64 bytes of the reference.
        unsafe { _mm512_loadu_si512(block.as_ptr().cast()) }
    }

    #[inline(always)]
    fn load_rest(self, rest: &[u8]) -> [u8; BLOCK] {
        let mut block = [b' '; BLOCK];
        let mask = !(u64::MAX << (rest.len() % BLOCK));
        // SAFETY: `self` proves the features. The load reads only the bytes of the mask, and `rest` has that many; the
        // store writes the 64 bytes of the array.
        unsafe {
            let spaces = _mm512_set1_epi8(b' '.cast_signed());
            let loaded = _mm512_mask_loadu_epi8(spaces, mask, rest.as_ptr().cast());
            _mm512_storeu_si512(block.as_mut_ptr().cast(), loaded);
        }
        block
    }

    #[inline(always)]
    fn classify(self, block: __m512i) -> Classes {
        // SAFETY: `self` proves the features; nothing here takes a pointer.
        unsafe {
            // Two byte shuffles by the low nibble, each compared with the input (Langdale & Lemire §3.1.2, in the form
            // of simdjson's later kernels). No filler value has the low nibble of its own position.
            let spaces = _mm512_broadcast_i32x4(_mm_setr_epi8(
                0x20, 100, 100, 100, 17, 100, 113, 2, 100, 0x09, 0x0A, 112, 100, 0x0D, 100, 100,
            ));
            let operators =
                _mm512_broadcast_i32x4(_mm_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x3A, 0x7B, 0x2C, 0x7D, 0, 0));
            let space = _mm512_cmpeq_epi8_mask(block, _mm512_shuffle_epi8(spaces, block));
            // `[` and `]` are `{` and `}` without bit 0x20; the control characters 0x0C and 0x1A would become `,` and
            // `:`.
            let curled = _mm512_or_si512(block, _mm512_set1_epi8(0x20));
            let operator = _mm512_cmpeq_epi8_mask(curled, _mm512_shuffle_epi8(operators, block));
            let control = _mm512_cmplt_epu8_mask(block, _mm512_set1_epi8(0x20));
            Classes {
                backslash: self.eq(block, b'\\'),
                quote: self.eq(block, b'"'),
                space,
                operator: operator & !control,
                control,
            }
        }
    }

    #[inline(always)]
    fn eq(self, block: __m512i, byte: u8) -> u64 {
        // SAFETY: `self` proves the features; nothing here takes a pointer.
        unsafe { _mm512_cmpeq_epi8_mask(block, _mm512_set1_epi8(byte.cast_signed())) }
    }

    #[inline(always)]
    fn between(self, block: __m512i, low: u8, high: u8) -> u64 {
        // SAFETY: `self` proves the features; nothing here takes a pointer.
        unsafe {
            let above = _mm512_sub_epi8(block, _mm512_set1_epi8(low.cast_signed()));
            _mm512_cmple_epu8_mask(above, _mm512_set1_epi8((high - low).cast_signed()))
        }
    }

    #[inline(always)]
    fn prefix_xor(self, mask: u64) -> u64 {
        // SAFETY: `self` proves the features; nothing here takes a pointer.
        unsafe {
            let ones = _mm_set1_epi8(-1);
            let product = _mm_clmulepi64_si128::<0>(_mm_set_epi64x(0, mask.cast_signed()), ones);
            _mm_cvtsi128_si64(product).cast_unsigned()
        }
    }

    #[inline(always)]
    fn utf8_after(self, before: &[u8; BLOCK]) -> Self::Utf8 {
        Utf8::after(self, before)
    }

    #[inline(always)]
    fn utf8_step(self, state: &mut Self::Utf8, block: Self::Block) {
        state.step(self, [block]);
    }

    #[inline(always)]
    fn utf8_ok(self, state: &Self::Utf8) -> bool {
        state.is_ok(self)
    }

    #[inline(always)]
    fn merge(self, one: Self::Block, other: Self::Block) -> Self::Block {
        // SAFETY: `self` proves the features; nothing here takes a pointer.
        unsafe { _mm512_or_si512(one, other) }
    }

    #[inline(always)]
    fn escape_letters(self, block: Self::Block) -> u64 {
        // SAFETY: `self` proves the features; nothing here takes a pointer.
        unsafe {
            // By the low nibble; `r` and `"` share theirs with `b`, and are compared separately. No filler has the low
            // nibble of its own position.
            let letters =
                _mm512_broadcast_i32x4(_mm_setr_epi8(1, 0, 0x62, 0, 0x74, 0, 0x66, 0, 0, 0, 0, 0, 0x5C, 0, 0x6E, 0x2F));
            let by_nibble = _mm512_cmpeq_epi8_mask(block, _mm512_shuffle_epi8(letters, block));
            by_nibble | self.eq(block, b'r') | self.eq(block, b'"')
        }
    }

    #[inline(always)]
    fn beyond_ascii(self, block: Self::Block) -> u64 {
        // SAFETY: `self` proves the features; nothing here takes a pointer.
        unsafe { _mm512_movepi8_mask(block) }
    }

    #[inline(always)]
    fn without_high_bits(self, block: Self::Block) -> Self::Block {
        // SAFETY: `self` proves the features; nothing here takes a pointer.
        unsafe { _mm512_and_si512(block, _mm512_set1_epi8(0x7F)) }
    }

    #[inline(always)]
    fn is_plain_number(self, text: &[u8], start: usize, end: usize) -> Option<bool> {
        let Some(bytes) = text.get(start..).and_then(<[u8]>::first_chunk::<32>) else { return Some(false) };
        // SAFETY: `self` proves the features; the load reads the 32 bytes of the reference.
        let (other, points, zeros) = unsafe {
            let bytes = _mm256_loadu_si256(bytes.as_ptr().cast());
            let zero = _mm256_set1_epi8(b'0'.cast_signed());
            let other = _mm256_cmpgt_epu8_mask(_mm256_sub_epi8(bytes, zero), _mm256_set1_epi8(9));
            let points = _mm256_cmpeq_epi8_mask(bytes, _mm256_set1_epi8(b'.'.cast_signed()));
            (other, points, _mm256_cmpeq_epi8_mask(bytes, zero))
        };
        Some(is_plain_number(end.wrapping_sub(start), other, points, zeros))
    }

    #[inline(always)]
    fn compact(self, block: &[u8; BLOCK], keep: u64, out: &mut [MaybeUninit<u8>; BLOCK]) -> usize {
        let block = self.load(block);
        // SAFETY: `self` proves the features; the store writes the 64 bytes of the reference.
        unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast(), _mm512_maskz_compress_epi8(keep, block)) };
        keep.count_ones() as usize
    }

    #[inline(always)]
    fn offsets(self, mask: u64, base: u32, offsets: &mut [u32; BLOCK]) {
        // SAFETY: `self` proves the features; each store writes 16 of the 64 words, at 0 and 16. That is enough,
        // because a block has at most 32 places where white space begins.
        unsafe {
            let found = _mm512_maskz_compress_epi8(mask, identity());
            let base = _mm512_set1_epi32(base.cast_signed());
            let out = offsets.as_mut_ptr();
            let low = _mm512_cvtepu8_epi32(_mm512_castsi512_si128(found));
            _mm512_storeu_si512(out.cast(), _mm512_add_epi32(base, low));
            if mask.count_ones() > 16 {
                let high = _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32::<1>(found));
                _mm512_storeu_si512(out.add(16).cast(), _mm512_add_epi32(base, high));
            }
        }
    }

    #[inline(always)]
    fn keys_as_long(self, pos: &[u32; BLOCK + 1], keys: u64, lengths: u64) -> u64 {
        // The bit of a length, counted with the quotes.
        let lengths = lengths.rotate_left(QUOTES);
        // SAFETY: `self` proves the features; each load reads 16 of the 65 offsets, from 49 at most.
        unsafe {
            let len = |group: usize| {
                let start = pos.as_ptr().add(16 * group);
                _mm512_sub_epi32(_mm512_loadu_si512(start.add(1).cast()), _mm512_loadu_si512(start.cast()))
            };
            // The lowest byte of each length.
            let bytes = _mm512_slli_epi16::<2>(identity());
            let first = _mm512_permutex2var_epi8(len(0), bytes, len(1));
            let last = _mm512_permutex2var_epi8(len(2), bytes, len(3));
            let all = _mm512_inserti64x4::<1>(first, _mm512_castsi512_si256(last));
            _mm512_mask_bitshuffle_epi64_mask(keys, _mm512_set1_epi64(lengths.cast_signed()), all)
        }
    }

    #[inline(always)]
    fn words(self, kinds: __m512i, tokens: &TokenWords<'_>, out: &mut [MaybeUninit<u64>; BLOCK]) {
        // SAFETY: `self` proves the features. Each load of offsets reads eight of the 65; the loads of ends read as
        // many ends as there are bits, at most 64 in all. Each store writes eight words at an index of at most 56,
        // because a group of eight tokens moves it by at most eight.
        unsafe {
            let table: *const u8 = UPPER.as_ptr();
            let low = _mm512_loadu_si512(table.cast());
            let high = _mm512_loadu_si512(table.add(BLOCK).cast());
            let flag = _mm512_set1_epi8(1 << 3);
            let upper = _mm512_permutex2var_epi8(low, kinds, high);
            let upper = _mm512_mask_add_epi8(upper, tokens.escaped, upper, flag);
            let upper = _mm512_or_si512(upper, _mm512_set1_epi8((tokens.flag >> 24) as i8));
            let mut uppers = [0_u8; BLOCK];
            _mm512_storeu_si512(uppers.as_mut_ptr().cast(), upper);
            let mut at = 0;
            let mut ends = tokens.ends.as_ptr();
            for group in 0..BLOCK / 8 {
                let bits = |mask: u64| (mask >> (8 * group)) as u8;
                let pos = tokens.pos.as_ptr().add(8 * group);
                let start = _mm256_loadu_si256(pos.cast());
                let next = _mm256_loadu_si256(pos.add(1).cast());
                let loose = bits(tokens.loose);
                let next = _mm256_mask_expandloadu_epi32(next, loose, ends.cast());
                ends = ends.add(loose.count_ones() as usize);
                let len = _mm256_maskz_sub_epi32(bits(tokens.scalar), next, start);
                let len = _mm256_mask_sub_epi32(len, bits(tokens.string), len, _mm256_set1_epi32(2));
                let len = _mm256_min_epu32(len, _mm256_set1_epi32(LENGTH_MAX as i32));
                let one = _mm256_set1_epi32(1);
                let start = _mm256_mask_add_epi32(start, bits(tokens.string | tokens.close), start, one);
                let upper = _mm_loadl_epi64(uppers.as_ptr().add(8 * group).cast());
                let upper = _mm512_slli_epi64::<56>(_mm512_cvtepu8_epi64(upper));
                let len = _mm512_slli_epi64::<32>(_mm512_cvtepu32_epi64(len));
                let word = _mm512_ternarylogic_epi64::<0xFE>(upper, len, _mm512_cvtepu32_epi64(start));
                let words = _mm512_maskz_compress_epi64(bits(tokens.keep), word);
                _mm512_storeu_si512(out.as_mut_ptr().add(at).cast(), words);
                at += bits(tokens.keep).count_ones() as usize;
            }
        }
    }

    #[inline(always)]
    fn emit(
        self,
        block: __m512i,
        _bytes: &[u8; BLOCK],
        mask: u64,
        marked: u64,
        base: u32,
        pos: &mut [u32; BLOCK],
        kind: &mut [u8; BLOCK],
    ) {
        // SAFETY: `self` proves the features; `kind` has 64 bytes, and `pos` 64 words, of which each store writes 16,
        // at 0, 16, 32 and 48.
        unsafe {
            // Compress into a register, then store, because the store form of compress is microcoded on Zen 4.
            let high = _mm512_set1_epi8(0x80_u8.cast_signed());
            let kinds = _mm512_maskz_compress_epi8(mask, _mm512_mask_add_epi8(block, marked, block, high));
            _mm512_storeu_si512(kind.as_mut_ptr().cast(), kinds);
            let offsets = _mm512_maskz_compress_epi8(mask, identity());
            let base = _mm512_set1_epi32(base.cast_signed());
            let count = mask.count_ones();
            let out = pos.as_mut_ptr();
            let widen = |part| _mm512_add_epi32(base, _mm512_cvtepu8_epi32(part));
            _mm512_storeu_si512(out.cast(), widen(_mm512_castsi512_si128(offsets)));
            if count > 16 {
                _mm512_storeu_si512(out.add(16).cast(), widen(_mm512_extracti32x4_epi32::<1>(offsets)));
                if count > 32 {
                    _mm512_storeu_si512(out.add(32).cast(), widen(_mm512_extracti32x4_epi32::<2>(offsets)));
                    _mm512_storeu_si512(out.add(48).cast(), widen(_mm512_extracti32x4_epi32::<3>(offsets)));
                }
            }
        }
    }
}

/// 0, 1, 2, … 63.
#[inline]
#[target_feature(enable = "avx512f")]
fn identity() -> __m512i {
    const IDENTITY: [u8; BLOCK] = {
        let mut bytes = [0; BLOCK];
        let mut at = 0;
        while at < BLOCK {
            bytes[at] = at as u8;
            at += 1;
        }
        bytes
    };
    // SAFETY: the load reads the 64 bytes of the constant.
    unsafe { _mm512_loadu_si512(IDENTITY.as_ptr().cast()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::portable::Portable;

    #[test]
    fn keys_are_told_by_their_lengths_as_one_by_one() {
        let Some(simd) = Avx512::detect() else { return };
        let mut random = 1_u64;
        let mut next = || {
            random = random.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
            random ^ random >> 32
        };
        for _ in 0..2000 {
            let mut pos = [0; BLOCK + 1];
            for at in 1..pos.len() {
                pos[at] = pos[at - 1] + 2 + (next() % 300) as u32;
            }
            let (keys, lengths) = (next() | next(), next() & next());
            assert_eq!(simd.keys_as_long(&pos, keys, lengths), Portable.keys_as_long(&pos, keys, lengths));
        }
    }
}

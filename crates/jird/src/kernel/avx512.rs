//! AVX-512 with VBMI2: 64 bytes to a register, masks at no cost, and byte compress for the tokens.
//!
//! The feature list requires VBMI2 (Ice Lake, Zen 4): earlier CPUs with AVX-512 lower their clock for it, and lack the
//! byte compress that makes it worth while.

use super::parts::{Plain, opaque, part_mut, prefetch};
use super::proof::proof;
use super::simd::{BLOCK, Classes, QUOTES, Simd, half_block, is_plain_number};
use super::utf8::{self, Vectors};
use super::words::TokenWords;
use crate::limits::LENGTH_MAX;
use crate::word::UPPER;
#[allow(clippy::wildcard_imports, reason = "a list of intrinsics says nothing that their use does not")]
use core::arch::x86_64::*;
use core::mem::MaybeUninit;

proof! {
    Avx512, enter_avx512, is_x86_feature_detected: [
        "avx512f", "avx512bw", "avx512vl", "avx512dq", "avx512vbmi", "avx512vbmi2", "avx512bitalg",
        "avx2", "bmi1", "bmi2", "lzcnt", "popcnt", "pclmulqdq"
    ];

    Vectors of __m512i {
        splat(byte: u8) -> __m512i = _mm512_set1_epi8(byte.cast_signed());
        table(bytes: &[u8; 16]) -> __m512i = {
            // SAFETY: the load reads the 16 bytes of the reference.
            let bytes = unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) };
            _mm512_broadcast_i32x4(bytes)
        };
        end_of(block: &[u8; BLOCK]) -> __m512i = load(block);
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
        is_zero(bytes: __m512i) -> bool = _mm512_test_epi8_mask(bytes, bytes) == 0;
    }

    Others {
        load_block(block: &[u8; BLOCK]) -> __m512i = load(block);
        /// Fewer than 64 bytes, and spaces.
        load_front(bytes: &[u8]) -> [u8; BLOCK] = {
            let spaces = _mm512_set1_epi8(b' '.cast_signed());
            let mask = !(u64::MAX << (bytes.len() % BLOCK));
            // SAFETY: the load reads only the bytes of the mask, which are as many as there are, or fewer.
            let loaded = unsafe { _mm512_mask_loadu_epi8(spaces, mask, bytes.as_ptr().cast()) };
            array(loaded)
        };
        bytes_of(block: __m512i) -> [u8; BLOCK] = array(block);
        /// The bytes that are equal to the other's.
        equal(one: __m512i, other: __m512i) -> u64 = _mm512_cmpeq_epi8_mask(one, other);
        /// [`OPERATORS_AND_SPACES`].
        operators_and_spaces() -> __m512i = load(&OPERATORS_AND_SPACES);
        /// The bytes of at most `most`.
        up_to(bytes: __m512i, most: u8) -> u64 = _mm512_cmple_epu8_mask(bytes, _mm512_set1_epi8(most.cast_signed()));
        /// The bytes of `among` for which the other's byte is at most `most`.
        up_to_among(among: u64, others: __m512i, most: u8) -> u64 =
            _mm512_mask_cmple_epu8_mask(among, others, _mm512_set1_epi8(most.cast_signed()));
        /// The lesser of each two bytes, taken as signed.
        lesser(one: __m512i, other: __m512i) -> __m512i = _mm512_min_epi8(one, other);
        /// The bytes that are zero or have their high bit.
        not_above_zero(bytes: __m512i) -> u64 = _mm512_cmple_epi8_mask(bytes, _mm512_setzero_si512());
        /// The bytes from `low` to `low + width`.
        within(bytes: __m512i, low: u8, width: u8) -> u64 = {
            let above = _mm512_sub_epi8(bytes, _mm512_set1_epi8(low.cast_signed()));
            _mm512_cmple_epu8_mask(above, _mm512_set1_epi8(width.cast_signed()))
        };
        /// Looks up each byte by its low nibble in a table; 0 for a byte that has its high bit.
        by_low_nibble(table: __m512i, bytes: __m512i) -> __m512i = _mm512_shuffle_epi8(table, bytes);
        /// The bytes that have their high bit.
        bits(bytes: __m512i) -> u64 = _mm512_movepi8_mask(bytes);
        extract_bits(bits: u64, mask: u64) -> u64 = _pext_u64(bits, mask);
        deposit_bits(bits: u64, mask: u64) -> u64 = _pdep_u64(bits, mask);
        /// The product with all ones, without carries: its bit `i` is the parity of the bits `0..=i`.
        parities(mask: u64) -> u64 = {
            let product = _mm_clmulepi64_si128::<0>(_mm_set_epi64x(0, mask.cast_signed()), _mm_set1_epi8(-1));
            _mm_cvtsi128_si64(product).cast_unsigned()
        };
        /// The bytes that are not digits, the points and the zeros.
        parts_of_number(bytes: &[u8; 32]) -> [u32; 3] = {
            let (bytes, zero) = (load_half(bytes), _mm256_set1_epi8(b'0'.cast_signed()));
            let other = _mm256_cmpgt_epu8_mask(_mm256_sub_epi8(bytes, zero), _mm256_set1_epi8(9));
            let points = _mm256_cmpeq_epi8_mask(bytes, _mm256_set1_epi8(b'.'.cast_signed()));
            [other, points, _mm256_cmpeq_epi8_mask(bytes, zero)]
        };
        /// The bytes of `keep`, at the front.
        front(bytes: __m512i, keep: u64) -> __m512i = _mm512_maskz_compress_epi8(keep, bytes);
        /// The places of the bits of `mask`, as bytes.
        places(mask: u64) -> __m512i = _mm512_maskz_compress_epi8(mask, identity());
        /// The bytes at `places`, each of which is below 64.
        at_places(bytes: __m512i, places: __m512i) -> __m512i = _mm512_permutexvar_epi8(places, bytes);
        /// Stores the sums of `base` and each byte.
        store_offsets(offsets: &mut [u32; 16], base: __m512i, bytes: __m128i) -> () =
            store(offsets, _mm512_add_epi32(base, _mm512_cvtepu8_epi32(bytes)));
        /// Stores the first bytes.
        store_quarter(into: &mut [u8; 16], bytes: __m512i) -> () = {
            // SAFETY: the store writes the 16 bytes of the reference.
            unsafe { _mm_storeu_si128(into.as_mut_ptr().cast(), _mm512_castsi512_si128(bytes)) }
        };
        /// The same number, sixteen times.
        each(number: u32) -> __m512i = _mm512_set1_epi32(number.cast_signed());
        sum(one: __m512i, other: __m512i) -> __m512i = _mm512_add_epi32(one, other);
        quarters(bytes: __m512i) -> [__m128i; 4] = [
            _mm512_castsi512_si128(bytes),
            _mm512_extracti32x4_epi32::<1>(bytes),
            _mm512_extracti32x4_epi32::<2>(bytes),
            _mm512_extracti32x4_epi32::<3>(bytes),
        ];
        /// Adds the high bit to each byte of `marked`, which must not have it.
        with_high_bits(bytes: __m512i, marked: u64) -> __m512i =
            _mm512_mask_adds_epu8(bytes, marked, bytes, _mm512_set1_epi8(0x80_u8.cast_signed()));
        /// The difference of each offset to the one before.
        lengths(starts: &[u32; 16], nexts: &[u32; 16]) -> __m512i = _mm512_sub_epi32(load(nexts), load(starts));
        /// The bits of `keys` for which the lowest byte of the number, modulo 64, is the place of a bit in `lengths`.
        among(numbers: [__m512i; 4], keys: u64, lengths: u64) -> u64 = {
            // The lowest byte of each number.
            let bytes = _mm512_slli_epi16::<2>(identity());
            let first = _mm512_permutex2var_epi8(numbers[0], bytes, numbers[1]);
            let last = _mm512_permutex2var_epi8(numbers[2], bytes, numbers[3]);
            let all = _mm512_inserti64x4::<1>(first, _mm512_castsi512_si256(last));
            _mm512_mask_bitshuffle_epi64_mask(keys, _mm512_set1_epi64(lengths.cast_signed()), all)
        };
        /// The highest byte of each token's word.
        uppers(kinds: __m512i, escaped: u64, flag: u32) -> [u8; BLOCK] = {
            let table = UPPER.as_chunks::<BLOCK>().0;
            let upper = _mm512_permutex2var_epi8(load(&table[0]), kinds, load(&table[1]));
            let upper = _mm512_mask_add_epi8(upper, escaped, upper, _mm512_set1_epi8(1 << 3));
            array(_mm512_or_si512(upper, _mm512_set1_epi8((flag >> 24) as i8)))
        };
        /// The words of a group of eight tokens, those that are kept at the front.
        group_of_words(start: &[u32; 8], end: &[u32; 8], uppers: &[u8; 8], masks: Group) -> [u64; 8] = {
            let start = load_half(start);
            let len = _mm256_maskz_sub_epi32(masks.scalar, load_half(end), start);
            let len = _mm256_mask_sub_epi32(len, masks.string, len, _mm256_set1_epi32(2));
            let len = _mm256_min_epu32(len, _mm256_set1_epi32(LENGTH_MAX as i32));
            let start = _mm256_mask_add_epi32(start, masks.string | masks.close, start, _mm256_set1_epi32(1));
            // SAFETY: the load reads the eight bytes of the reference.
            let upper = unsafe { _mm_loadl_epi64(uppers.as_ptr().cast()) };
            let upper = _mm512_slli_epi64::<56>(_mm512_cvtepu8_epi64(upper));
            let len = _mm512_slli_epi64::<32>(_mm512_cvtepu32_epi64(len));
            let word = _mm512_ternarylogic_epi64::<0xFE>(upper, len, _mm512_cvtepu32_epi64(start));
            let mut words = [0; 8];
            store(&mut words, _mm512_maskz_compress_epi64(masks.keep, word));
            words
        };
    }
}

/// Tokens of a group of eight that are handled alike: the same as in [`TokenWords`].
#[derive(Clone, Copy)]
struct Group {
    keep: u8,
    string: u8,
    scalar: u8,
    close: u8,
}

impl Avx512 {
    /// The operators, and white space.
    #[inline(always)]
    fn between_values(self, block: __m512i) -> u64 {
        self.equal(block, self.at_places(self.operators_and_spaces(), block))
    }
}

impl Simd for Avx512 {
    type Block = __m512i;
    type Utf8 = __m512i;
    // Kept in a register, because a number comes into one only through the port that the masks need.
    type Offset = __m512i;

    const GATHERS: bool = true;
    const SKIMS: bool = true;
    const LOADS_RESTS: bool = true;
    // A mask would have to come from a general register for each block.
    const MARKS_BLOCKS: bool = true;

    #[inline(always)]
    fn load(self, block: &[u8; BLOCK]) -> __m512i {
        self.load_block(block)
    }

    #[inline(always)]
    fn load_rest(self, rest: &[u8]) -> [u8; BLOCK] {
        self.load_front(rest)
    }

    #[inline(always)]
    fn prefetch(self, blocks: &[[u8; BLOCK]; 2], distance: usize) {
        prefetch(blocks, distance);
    }

    #[inline(always)]
    fn unusual(self, first: __m512i, second: __m512i) -> u64 {
        // As signed numbers, bytes beyond ASCII are below zero, and so they stay when a backslash becomes zero.
        let backslash = self.splat(b'\\');
        self.not_above_zero(self.lesser(self.xor(first, backslash), self.xor(second, backslash)))
    }

    #[inline(always)]
    fn splat_block(self, byte: u8) -> __m512i {
        self.splat(byte)
    }

    #[inline(always)]
    fn behind(self, before: __m512i, block: __m512i) -> __m512i {
        let [one, ..] = self.preceding(block, before);
        one
    }

    #[inline(always)]
    fn mark(self, block: __m512i, marked: u64) -> __m512i {
        self.with_high_bits(block, marked)
    }

    #[inline(always)]
    fn mark_spaced(self, block: __m512i, behind: __m512i) -> __m512i {
        // White space may be marked too, because it is not a token.
        self.with_high_bits(block, self.up_to_among(self.between_values(block), behind, b' '))
    }

    #[inline(always)]
    fn classify(self, block: __m512i) -> Classes {
        // Three masks tell all classes apart. A mask that goes into a general register costs as much as two comparisons.
        let between_values = opaque(self.between_values(block));
        let up_to_space = opaque(self.up_to(block, b' '));
        // A quote is a space with the bit 2.
        let quote_or_space = opaque(self.eq(self.or(block, self.splat(2)), b'"'));
        Classes {
            quote: quote_or_space & !up_to_space,
            space: between_values & up_to_space,
            operator: between_values & !up_to_space,
            control: up_to_space & !quote_or_space,
        }
    }

    #[inline(always)]
    fn spaces(self, block: __m512i) -> u64 {
        // One mask instead of two. By the low nibble (Langdale & Lemire §3.1.2); no filler has the low nibble of its own
        // position.
        let spaces = self.table(&[0x20, 100, 100, 100, 17, 100, 113, 2, 100, 0x09, 0x0A, 112, 100, 0x0D, 100, 100]);
        self.equal(block, self.by_low_nibble(spaces, block))
    }

    #[inline(always)]
    fn eq(self, block: __m512i, byte: u8) -> u64 {
        self.equal(block, self.splat(byte))
    }

    #[inline(always)]
    fn between(self, block: __m512i, low: u8, high: u8) -> u64 {
        self.within(block, low, high - low)
    }

    #[inline(always)]
    fn prefix_xor(self, mask: u64) -> u64 {
        self.parities(mask)
    }

    #[inline(always)]
    fn gather_bits(self, bits: u64, mask: u64) -> u64 {
        self.extract_bits(bits, mask)
    }

    #[inline(always)]
    fn scatter_bits(self, bits: u64, mask: u64) -> u64 {
        self.deposit_bits(bits, mask)
    }

    #[inline(always)]
    fn utf8_start(self) -> Self::Utf8 {
        self.splat(0)
    }

    #[inline(always)]
    fn utf8_check(self, state: &mut Self::Utf8, before: &[u8; BLOCK], block: Self::Block) {
        utf8::check(self, state, before, [block]);
    }

    #[inline(always)]
    fn utf8_ok(self, state: &Self::Utf8) -> bool {
        self.is_zero(*state)
    }

    #[inline(always)]
    fn merge(self, one: Self::Block, other: Self::Block) -> Self::Block {
        self.or(one, other)
    }

    #[inline(always)]
    fn escape_letters(self, block: Self::Block) -> u64 {
        // By the low nibble; `r` and `"` share theirs with `b`, and are compared separately. No filler has the low
        // nibble of its own position.
        let letters = self.table(&[1, 0, 0x62, 0, 0x74, 0, 0x66, 0, 0, 0, 0, 0, 0x5C, 0, 0x6E, 0x2F]);
        let by_nibble = self.equal(block, self.by_low_nibble(letters, block));
        by_nibble | self.eq(block, b'r') | self.eq(block, b'"')
    }

    #[inline(always)]
    fn beyond_ascii(self, block: Self::Block) -> u64 {
        self.bits(block)
    }

    #[inline(always)]
    fn without_high_bits(self, block: Self::Block) -> Self::Block {
        self.and(block, self.splat(0x7F))
    }

    #[inline(always)]
    fn is_plain_number(self, text: &[u8], start: usize, end: usize) -> Option<bool> {
        let [other, points, zeros] = self.parts_of_number(half_block(text, start)?);
        Some(is_plain_number(end.wrapping_sub(start), other, points, zeros))
    }

    #[inline(always)]
    fn compact(self, block: &[u8; BLOCK], keep: u64, out: &mut [MaybeUninit<u8>; BLOCK]) -> usize {
        out.write_copy_of_slice(&self.bytes_of(self.front(self.load(block), keep)));
        keep.count_ones() as usize
    }

    #[inline(always)]
    fn keys_as_long(self, pos: &[u32; BLOCK + 1], keys: u64, lengths: u64) -> u64 {
        let (starts, nexts) = (pos[..BLOCK].as_chunks().0, pos[1..].as_chunks().0);
        let len = |group: usize| self.lengths(&starts[group], &nexts[group]);
        // The bit of a length, counted with the quotes.
        self.among([len(0), len(1), len(2), len(3)], keys, lengths.rotate_left(QUOTES))
    }

    #[inline(always)]
    fn words(self, kinds: __m512i, tokens: &TokenWords<'_>, out: &mut [MaybeUninit<u64>; BLOCK]) {
        let uppers = self.uppers(kinds, tokens.escaped, tokens.flag);
        let (starts, ends) = (tokens.starts.as_chunks().0, tokens.ends.as_chunks().0);
        let mut at = 0;
        for (group, upper) in uppers.as_chunks().0.iter().enumerate() {
            // A small document has few tokens, and would spend more time on the empty groups than on its own.
            if tokens.keep >> (8 * group) == 0 {
                break;
            }
            let bits = |mask: u64| (mask >> (8 * group)) as u8;
            let (keep, close) = (bits(tokens.keep), bits(tokens.close));
            let masks = Group { keep, string: bits(tokens.string), scalar: bits(tokens.scalar), close };
            let words = self.group_of_words(&starts[group], &ends[group], upper, masks);
            // SAFETY: `at` is at most 8 * group, because a group moves it by at most eight, and there are 64 words.
            let out: &mut [MaybeUninit<u64>; 8] = unsafe { part_mut(out, at) };
            out.write_copy_of_slice(&words);
            at += keep.count_ones() as usize;
        }
    }

    #[inline(always)]
    fn offset(self, base: u32, _is_dense: bool) -> __m512i {
        self.each(base)
    }

    #[inline(always)]
    fn next_offset(self, offset: __m512i) -> __m512i {
        self.sum(offset, self.each(BLOCK as u32))
    }

    #[inline(always)]
    fn emit(
        self,
        block: __m512i,
        _bytes: &[u8; BLOCK],
        mask: u64,
        marked: u64,
        base: __m512i,
        pos: &mut [u32; BLOCK],
        kind: &mut [u8; BLOCK],
    ) {
        // Compress into a register, then store, because the store form of compress is microcoded on Zen 4. A look-up by
        // the places takes one operation, a second compress two.
        let places = self.places(mask);
        let bytes = self.at_places(self.with_high_bits(block, marked), places);
        let [first, second, third, fourth] = self.quarters(places);
        let (count, out) = (mask.count_ones(), pos.as_chunks_mut().0);
        // A store of a whole register costs Zen 4 as much as two of a half or of a quarter.
        self.store_quarter(&mut kind.as_chunks_mut().0[0], bytes);
        self.store_offsets(&mut out[0], base, first);
        if count > 16 {
            *kind = self.bytes_of(bytes);
            self.store_offsets(&mut out[1], base, second);
            if count > 32 {
                self.store_offsets(&mut out[2], base, third);
                self.store_offsets(&mut out[3], base, fourth);
            }
        }
    }
}

/// A register of integers.
#[inline]
#[target_feature(enable = "avx512f")]
fn load<T: Plain, const N: usize>(values: &[T; N]) -> __m512i {
    const { assert!(size_of::<[T; N]>() == BLOCK) };
    // SAFETY: the load reads the 64 bytes of the reference.
    unsafe { _mm512_loadu_si512(values.as_ptr().cast()) }
}

/// Half a register of integers.
#[inline]
#[target_feature(enable = "avx2")]
fn load_half<T: Plain, const N: usize>(values: &[T; N]) -> __m256i {
    const { assert!(size_of::<[T; N]>() == BLOCK / 2) };
    // SAFETY: the load reads the 32 bytes of the reference.
    unsafe { _mm256_loadu_si256(values.as_ptr().cast()) }
}

/// The integers of a register.
#[inline]
#[target_feature(enable = "avx512f")]
fn store<T: Plain, const N: usize>(values: &mut [T; N], register: __m512i) {
    const { assert!(size_of::<[T; N]>() == BLOCK) };
    // SAFETY: the store writes the 64 bytes of the reference.
    unsafe { _mm512_storeu_si512(values.as_mut_ptr().cast(), register) }
}

/// The bytes of a register.
#[inline]
#[target_feature(enable = "avx512f")]
fn array(register: __m512i) -> [u8; BLOCK] {
    let mut bytes = [0; BLOCK];
    store(&mut bytes, register);
    bytes
}

/// Each operator and each white-space byte at the place that its low six bits say; no two of them have the same. At all
/// other places stands a byte with other low bits.
const OPERATORS_AND_SPACES: [u8; BLOCK] = {
    let mut table = [0; BLOCK];
    let mut at = 0;
    while at < BLOCK {
        table[at] = !(at as u8);
        at += 1;
    }
    let bytes = b"{}[]:, \t\n\r";
    let mut index = 0;
    while index < bytes.len() {
        table[bytes[index] as usize % BLOCK] = bytes[index];
        index += 1;
    }
    table
};

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
    load(&IDENTITY)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::portable::tests::equals_what_is_done_one_by_one;

    #[test]
    fn what_is_done_at_once_equals_what_is_done_one_by_one() {
        let Some(simd) = Avx512::detect() else { return };
        equals_what_is_done_one_by_one(simd);
    }
}

//! AVX2 with carry-less multiplication: 32 bytes to a register, two registers to a block.

use super::parts::{Plain, opaque, opaque_both, part, part_mut};
use super::proof::proof;
use super::simd::{BLOCK, Classes, Kinds, MANY, QUOTES, Simd, half_block, is_plain_number};
use super::utf8::{self, Vectors};
use super::words::TokenWords;
use crate::limits::LENGTH_MAX;
use crate::word::Node;
#[allow(clippy::wildcard_imports, reason = "a list of intrinsics says nothing that their use does not")]
use core::arch::x86_64::*;
use core::mem::MaybeUninit;

/// The tokens that are written without a table: more than most blocks have, even of numbers.
const FEW: usize = 12;

/// Bytes in a register.
const HALF: usize = 32;

proof! {
    Avx2, enter_avx2, is_x86_feature_detected: ["avx2", "bmi1", "bmi2", "lzcnt", "popcnt", "pclmulqdq"];

    Vectors of __m256i {
        splat(byte: u8) -> __m256i = _mm256_set1_epi8(byte.cast_signed());
        table(bytes: &[u8; 16]) -> __m256i = {
            // SAFETY: the load reads the 16 bytes of the reference.
            let bytes = unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) };
            _mm256_broadcastsi128_si256(bytes)
        };
        end_of(block: &[u8; BLOCK]) -> __m256i = load(&block.as_chunks::<HALF>().0[1]);
        and(one: __m256i, other: __m256i) -> __m256i = _mm256_and_si256(one, other);
        or(one: __m256i, other: __m256i) -> __m256i = _mm256_or_si256(one, other);
        xor(one: __m256i, other: __m256i) -> __m256i = _mm256_xor_si256(one, other);
        minus(from: __m256i, less: __m256i) -> __m256i = _mm256_subs_epu8(from, less);
        high_nibbles(bytes: __m256i) -> __m256i = _mm256_and_si256(_mm256_srli_epi16::<4>(bytes), _mm256_set1_epi8(0x0F));
        look_up(table: __m256i, nibbles: __m256i) -> __m256i = _mm256_shuffle_epi8(table, nibbles);
        preceding(bytes: __m256i, before: __m256i) -> [__m256i; 3] = {
            // The last 16 bytes before, then all of these but their last 16.
            let shifted = _mm256_permute2x128_si256::<0x21>(before, bytes);
            let (one, two) = (_mm256_alignr_epi8::<15>(bytes, shifted), _mm256_alignr_epi8::<14>(bytes, shifted));
            [one, two, _mm256_alignr_epi8::<13>(bytes, shifted)]
        };
        is_zero(bytes: __m256i) -> bool = _mm256_testz_si256(bytes, bytes) == 1;
    }

    Others {
        load_half(bytes: &[u8; HALF]) -> __m256i = load(bytes);
        store_half(bytes: &mut [u8; HALF], half: __m256i) -> () = store(bytes, half);
        /// Fewer than 64 bytes, filled up with spaces. `end` has the last of them at its end.
        load_front(bytes: &[u8], end: [u8; 4]) -> [__m256i; 2] = load_front(bytes, end);
        /// All ones in each byte that is equal to the other's.
        equal(one: __m256i, other: __m256i) -> __m256i = _mm256_cmpeq_epi8(one, other);
        /// The bits that the other does not have.
        without(bits: __m256i, other: __m256i) -> __m256i = _mm256_andnot_si256(other, bits);
        /// All ones in each byte from `low` to `high`. The bytes are moved so that `high` is the greatest signed number.
        within(bytes: __m256i, low: u8, high: u8) -> __m256i = {
            let moved = _mm256_add_epi8(bytes, _mm256_set1_epi8(0x7F_u8.wrapping_sub(high).cast_signed()));
            _mm256_cmpgt_epi8(moved, _mm256_set1_epi8((0x7E_u8 - (high - low)).cast_signed()))
        };
        /// The lesser of each two bytes, taken as signed.
        lesser(one: __m256i, other: __m256i) -> __m256i = _mm256_min_epi8(one, other);
        /// All ones in each byte that is zero or has its high bit.
        not_above_zero(bytes: __m256i) -> __m256i = _mm256_cmpgt_epi8(_mm256_set1_epi8(1), bytes);
        /// Looks up each byte by its low nibble in a table; 0 for a byte that has its high bit.
        by_low_nibble(table: __m256i, bytes: __m256i) -> __m256i = _mm256_shuffle_epi8(table, bytes);
        /// The high bit of each byte.
        bits(bytes: __m256i) -> u32 = _mm256_movemask_epi8(bytes).cast_unsigned();
        extract_bits(bits: u64, mask: u64) -> u64 = _pext_u64(bits, mask);
        deposit_bits(bits: u64, mask: u64) -> u64 = _pdep_u64(bits, mask);
        /// The product with all ones, without carries: its bit `i` is the parity of the bits `0..=i`.
        parities(mask: u64) -> u64 = {
            let product = _mm_clmulepi64_si128::<0>(_mm_set_epi64x(0, mask.cast_signed()), _mm_set1_epi8(-1));
            _mm_cvtsi128_si64(product).cast_unsigned()
        };
        /// Sets the high bit of each byte whose bit in `marked` is set.
        with_high_bits(bytes: __m256i, marked: u32) -> __m256i = _mm256_or_si256(bytes, high_bits(marked));
        form_of(kinds: __m256i) -> __m256i = form(kinds);
        /// Moves the bytes whose bit in `keep` is set to the front.
        front_of_eight(bytes: &[u8; 8], keep: u8, out: &mut [MaybeUninit<u8>; 8]) -> () = {
            let mut kept = [0; 8];
            store_eight(&mut kept, _mm_shuffle_epi8(load_eight(bytes), load_eight(&FRONT[usize::from(keep)])));
            out.write_copy_of_slice(&kept);
        };
        emit_bytes(bytes: [__m256i; 2], mask: u64, base: u32, pos: &mut [u32; BLOCK], kind: &mut [u8; BLOCK]) -> () =
            emit(bytes, mask, base, pos, kind);
        /// The bytes of a block at sixteen places, 0 for a place behind it. No place may be above 0x7F.
        at_places(bytes: [__m256i; 2], places: __m128i) -> __m128i = at_places(bytes, places);
        /// Eight places, or twice as many.
        eight_places(places: u64) -> __m128i = _mm_cvtsi64_si128(places.cast_signed());
        sixteen_places(first: u64, last: u64) -> __m128i = _mm_set_epi64x(last.cast_signed(), first.cast_signed());
        /// The offsets of the first eight places.
        store_offsets(offsets: &mut [u32; 8], base: u32, places: __m128i) -> () =
            store(offsets, _mm256_add_epi32(_mm256_set1_epi32(base.cast_signed()), _mm256_cvtepu8_epi32(places)));
        store_first_eight(bytes: &mut [u8; 8], register: __m128i) -> () = store_eight(bytes, register);
        store_sixteen(bytes: &mut [u8; 16], register: __m128i) -> () = {
            // SAFETY: the store writes the 16 bytes of the reference.
            unsafe { _mm_storeu_si128(bytes.as_mut_ptr().cast(), register) }
        };
        /// The lengths of 32 keys modulo 64, counted with the quotes.
        lengths(starts: &[u32; HALF], nexts: &[u32; HALF]) -> __m256i = lengths(starts, nexts);
        /// All ones in each byte below 64 that is the place of a bit.
        among(bytes: __m256i, bits: u64) -> __m256i = {
            let bits = _mm256_set1_epi64x(bits.cast_signed());
            let byte = _mm256_and_si256(_mm256_srli_epi16::<3>(bytes), _mm256_set1_epi8(7));
            let place = _mm256_set1_epi64x(0x8040_2010_0804_0201_u64.cast_signed());
            let bit = _mm256_shuffle_epi8(place, _mm256_and_si256(bytes, _mm256_set1_epi8(7)));
            _mm256_cmpeq_epi8(_mm256_and_si256(_mm256_shuffle_epi8(bits, byte), bit), bit)
        };
        write_words(forms: &[u8; BLOCK], tokens: &TokenWords<'_>, out: &mut [MaybeUninit<u64>; BLOCK]) -> () =
            words(forms, tokens, out);
    }
}

/// Where a block begins, and how many of its tokens are written first.
#[derive(Clone, Copy)]
pub(crate) struct Offset {
    base: u32,
    /// [`MANY`], or none where most blocks have more.
    first: usize,
}

impl Avx2 {
    /// The high bit of each byte of a block.
    #[inline(always)]
    fn mask(self, [low, high]: [__m256i; 2]) -> u64 {
        u64::from(self.bits(low)) | u64::from(self.bits(high)) << HALF
    }

    /// The high bit of each operator; the other bits of a byte are arbitrary.
    #[inline(always)]
    fn operators(self, [low, high]: [__m256i; 2]) -> [__m256i; 2] {
        let operators = self.table(&[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x3A, 0x7B, 0x2C, 0x7D, 0, 0]);
        let curl = self.splat(0x20);
        let [control_low, control_high] = self.controls([low, high]);
        // Two control characters become operators by the bit 0x20.
        [
            self.without(self.equal(self.or(low, curl), self.by_low_nibble(operators, low)), control_low),
            self.without(self.equal(self.or(high, curl), self.by_low_nibble(operators, high)), control_high),
        ]
    }

    /// The high bit of each byte below 0x20; the other bits of a byte are arbitrary.
    #[inline(always)]
    fn controls(self, [low, high]: [__m256i; 2]) -> [__m256i; 2] {
        // It stays in a difference from 0x9F where the byte is at most 0x1F.
        let max = self.splat(0x80 + 0x1F);
        [self.minus(max, low), self.minus(max, high)]
    }
}

// The halves of a block are written out: a closure passed to `map` has no features, and would not always be inlined.
impl Simd for Avx2 {
    type Block = [__m256i; 2];
    type Utf8 = __m256i;
    type Offset = Offset;

    const MARKS_BLOCKS: bool = true;
    const DELAYS_TOKENS: bool = true;
    const COUNTS_TOKENS: bool = true;
    const JOINS_PASSES: bool = true;

    #[inline(always)]
    fn load(self, block: &[u8; BLOCK]) -> Self::Block {
        let halves = block.as_chunks().0;
        [self.load_half(&halves[0]), self.load_half(&halves[1])]
    }

    #[inline(always)]
    fn load_end(self, text: &[u8], from: usize) -> [u8; BLOCK] {
        let rest = &text[from..];
        let Some(end) = text.last_chunk().filter(|_| rest.len() < BLOCK) else { return self.load_rest(rest) };
        let [low, high] = self.load_front(rest, *end);
        let mut block = [0; BLOCK];
        let halves = block.as_chunks_mut().0;
        self.store_half(&mut halves[0], low);
        self.store_half(&mut halves[1], high);
        block
    }

    #[inline(always)]
    fn unusual(self, [first, second]: Self::Block, [third, fourth]: Self::Block) -> u64 {
        // As signed numbers, bytes beyond ASCII are below zero, and so they stay when a backslash becomes zero.
        let backslash = self.splat(b'\\');
        let [first, second] = [self.xor(first, backslash), self.xor(second, backslash)];
        let [third, fourth] = [self.xor(third, backslash), self.xor(fourth, backslash)];
        let least = self.lesser(self.lesser(first, second), self.lesser(third, fourth));
        u64::from(self.bits(self.not_above_zero(least)))
    }

    #[inline(always)]
    fn behind(self, [_, before]: Self::Block, [low, high]: Self::Block) -> Self::Block {
        [self.preceding(low, before)[0], self.preceding(high, low)[0]]
    }

    #[inline(always)]
    fn mark(self, [low, high]: Self::Block, marked: u64) -> Self::Block {
        [self.with_high_bits(low, marked as u32), self.with_high_bits(high, (marked >> HALF) as u32)]
    }

    #[inline(always)]
    fn mark_spaced(self, [low, high]: Self::Block, [behind_low, behind_high]: Self::Block) -> Self::Block {
        let (space, mark) = (self.splat(0x80 + b' '), self.splat(0x80));
        let [is_low, is_high] = self.operators([low, high]);
        // The high bit stays in a difference where the byte is at most a space.
        let low_mark = self.and(self.and(self.minus(space, behind_low), mark), is_low);
        let high_mark = self.and(self.and(self.minus(space, behind_high), mark), is_high);
        [self.or(low, low_mark), self.or(high, high_mark)]
    }

    #[inline(always)]
    fn classify(self, block: Self::Block) -> Classes {
        let spaces = self.table(&[0x20, 100, 100, 100, 17, 100, 113, 2, 100, 0x09, 0x0A, 112, 100, 0x0D, 100, 100]);
        let [low, high] = block;
        let space = self.mask([
            self.equal(low, self.by_low_nibble(spaces, low)),
            self.equal(high, self.by_low_nibble(spaces, high)),
        ]);
        // Hidden from the compiler, which would unite vectors of other classes with it, and then need more of them.
        let operator = self.opaque(self.mask(self.operators(block)));
        let control = self.opaque(self.mask(self.controls(block)));
        Classes { quote: self.opaque(self.eq(block, b'"')), space: self.opaque(space), operator, control }
    }

    #[inline(always)]
    fn opaque(self, mask: u64) -> u64 {
        opaque(mask)
    }

    #[inline(always)]
    fn eq(self, [low, high]: Self::Block, byte: u8) -> u64 {
        let wanted = self.splat(byte);
        self.mask([self.equal(low, wanted), self.equal(high, wanted)])
    }

    #[inline(always)]
    fn between(self, [first, second]: Self::Block, low: u8, high: u8) -> u64 {
        self.mask([self.within(first, low, high), self.within(second, low, high)])
    }

    #[inline(always)]
    fn escapes(self, [low, high]: Self::Block) -> u64 {
        let (quote, backslash) = (self.splat(b'"'), self.splat(b'\\'));
        let [control_low, control_high] = self.controls([low, high]);
        let low_pair = self.or(self.equal(low, quote), self.equal(low, backslash));
        let high_pair = self.or(self.equal(high, quote), self.equal(high, backslash));
        self.mask([self.or(low_pair, control_low), self.or(high_pair, control_high)])
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
        utf8::check(self, state, before, block);
    }

    #[inline(always)]
    fn utf8_ok(self, state: &Self::Utf8) -> bool {
        self.is_zero(*state)
    }

    #[inline(always)]
    fn merge(self, one: Self::Block, other: Self::Block) -> Self::Block {
        [self.or(one[0], other[0]), self.or(one[1], other[1])]
    }

    #[inline(always)]
    fn escape_letters(self, [low, high]: Self::Block) -> u64 {
        // Among the eight letters, `b` shares its low nibble with `"` and with `r`, which are compared separately. No
        // filler has the low nibble of its own position.
        let letters = self.table(&[1, 0, 0x62, 0, 0x74, 0, 0x66, 0, 0, 0, 0, 0, 0x5C, 0, 0x6E, 0x2F]);
        let (r, quote) = (self.splat(b'r'), self.splat(b'"'));
        self.mask([
            self.or(
                self.equal(low, self.by_low_nibble(letters, low)),
                self.or(self.equal(low, r), self.equal(low, quote)),
            ),
            self.or(
                self.equal(high, self.by_low_nibble(letters, high)),
                self.or(self.equal(high, r), self.equal(high, quote)),
            ),
        ])
    }

    #[inline(always)]
    fn kinds(self, kinds: Self::Block, valid: u64) -> Kinds {
        let plain = self.without_high_bits(kinds);
        let [low, high] = kinds;
        let letters = self.table(&[1, 0, 0, 0, 0x74, 0, 0x66, 0, 0, 0, 0, 0, 0, 0, 0x6E, 0]);
        let minus = self.splat(b'-');
        let literal = self.mask([
            self.equal(low, self.by_low_nibble(letters, low)),
            self.equal(high, self.by_low_nibble(letters, high)),
        ]);
        let number = self.mask([
            self.or(self.within(low, b'0', b'9'), self.equal(low, minus)),
            self.or(self.within(high, b'0', b'9'), self.equal(high, minus)),
        ]);
        Kinds {
            string: self.eq(plain, b'"') & valid,
            number: number & valid,
            literal: literal & valid,
            comma: self.eq(plain, b',') & valid,
            colon: self.eq(plain, b':') & valid,
            open_object: self.eq(plain, b'{') & valid,
            open_array: self.eq(plain, b'[') & valid,
            close_object: self.eq(plain, b'}') & valid,
            close_array: self.eq(plain, b']') & valid,
        }
    }

    #[inline(always)]
    fn beyond_ascii(self, block: Self::Block) -> u64 {
        self.mask(block)
    }

    #[inline(always)]
    fn without_high_bits(self, [low, high]: Self::Block) -> Self::Block {
        let mask = self.splat(0x7F);
        [self.and(low, mask), self.and(high, mask)]
    }

    #[inline(always)]
    fn is_plain_number(self, text: &[u8], start: usize, end: usize) -> Option<bool> {
        let bytes = self.load_half(half_block(text, start)?);
        let zero = self.splat(b'0');
        let digits = self.bits(self.within(bytes, b'0', b'9'));
        let points = self.bits(self.equal(bytes, self.splat(b'.')));
        let zeros = self.bits(self.equal(bytes, zero));
        Some(is_plain_number(end.wrapping_sub(start), !digits, points, zeros))
    }

    #[inline(always)]
    fn keys_as_long(self, pos: &[u32; BLOCK + 1], keys: u64, lengths: u64) -> u64 {
        let (starts, nexts) = (pos[..BLOCK].as_chunks().0, pos[1..].as_chunks().0);
        let lengths = lengths.rotate_left(QUOTES);
        let (low, high) = (self.lengths(&starts[0], &nexts[0]), self.lengths(&starts[1], &nexts[1]));
        self.mask([self.among(low, lengths), self.among(high, lengths)]) & keys
    }

    #[inline(always)]
    fn words(self, [low, high]: Self::Block, tokens: &TokenWords<'_>, out: &mut [MaybeUninit<u64>; BLOCK]) {
        let mut forms = [0; BLOCK];
        let halves = forms.as_chunks_mut().0;
        self.store_half(&mut halves[0], self.form_of(low));
        self.store_half(&mut halves[1], self.form_of(high));
        self.write_words(&forms, tokens, out);
    }

    #[inline(always)]
    fn compact(self, block: &[u8; BLOCK], keep: u64, out: &mut [MaybeUninit<u8>; BLOCK]) -> usize {
        if keep == u64::MAX {
            out.write_copy_of_slice(block);
            return BLOCK;
        }
        for (group, bytes) in block.as_chunks().0.iter().enumerate() {
            let bits = (keep >> (8 * group)) as u8;
            let count = (keep & !(u64::MAX << (8 * group))).count_ones() as usize;
            // SAFETY: `count` is at most 8 * group, because it counts kept bytes of earlier groups, and `group < 8`.
            let out = unsafe { part_mut(out, count) };
            self.front_of_eight(bytes, bits, out);
        }
        keep.count_ones() as usize
    }

    #[inline(always)]
    fn offset(self, base: u32, is_dense: bool) -> Offset {
        Offset { base, first: if is_dense { 0 } else { MANY } }
    }

    #[inline(always)]
    fn next_offset(self, offset: Offset) -> Offset {
        Offset { base: offset.base.wrapping_add(BLOCK as u32), ..offset }
    }

    #[inline(always)]
    fn emit(
        self,
        block: Self::Block,
        _bytes: &[u8; BLOCK],
        mask: u64,
        _marked: u64,
        Offset { base, first }: Offset,
        pos: &mut [u32; BLOCK],
        kind: &mut [u8; BLOCK],
    ) {
        // Most blocks of a long string have no token. Otherwise the branches are those that most blocks of a stretch take
        // alike.
        if mask == 0 {
            return;
        }
        let count = mask.count_ones() as usize;
        if count > FEW {
            return self.emit_bytes(block, mask, base, pos, kind);
        }
        let ([offsets, more_offsets, ..], ([kinds, _, ..], _)) = (pos.as_chunks_mut().0, kind.as_chunks_mut()) else {
            unreachable!("64 are more than 16")
        };
        let (eight, rest) = places(mask, 8);
        self.store_offsets(offsets, base, self.eight_places(eight));
        if count <= first {
            let Some(kinds) = kinds.first_chunk_mut() else { unreachable!("16 are more than eight") };
            return self.store_first_eight(kinds, self.at_places(block, self.eight_places(eight)));
        }
        let (more, _) = places(rest, FEW - 8);
        self.store_offsets(more_offsets, base, self.eight_places(more));
        self.store_sixteen(kinds, self.at_places(block, self.sixteen_places(eight, more)));
    }
}

/// The places of the first `count` bits of `mask`, a byte for each, and the mask without these bits. Without a bit the place
/// is 64.
#[inline(always)]
fn places(mut mask: u64, count: usize) -> (u64, u64) {
    let mut places = 0;
    for at in 0..count {
        places |= u64::from(mask.trailing_zeros()) << (8 * at);
        // One after the other: all masks at once would not fit in the registers.
        (mask, places) = opaque_both(mask, places);
        mask &= mask.wrapping_sub(1);
    }
    (places, mask)
}

/// Four bytes at a time by a mask, and the last one to three from `end`. A copy to a block of spaces has branches on the
/// number of bytes, and the load of that block waits for its stores.
#[inline]
#[target_feature(enable = "avx2")]
fn load_front(bytes: &[u8], end: [u8; 4]) -> [__m256i; 2] {
    const SPACES: u32 = u32::from_le_bytes([b' '; 4]);
    assert!(bytes.len() < BLOCK);
    let left = bytes.len() % 4;
    // Shifts of 64 bits, because none of the four bytes may be left.
    let last = (u64::from(SPACES) << 32 | u64::from(u32::from_le_bytes(end))) >> (32 - 8 * left);
    let last = _mm256_set1_epi32((last as u32).cast_signed());
    let spaces = _mm256_set1_epi32(SPACES.cast_signed());
    let whole = _mm256_set1_epi32((bytes.len() / 4) as i32);
    let [low_places, high_places] =
        [_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), _mm256_setr_epi32(8, 9, 10, 11, 12, 13, 14, 15)];
    let [low, high] = [_mm256_cmpgt_epi32(whole, low_places), _mm256_cmpgt_epi32(whole, high_places)];
    let start = bytes.as_ptr().cast();
    // SAFETY: a load reads only the four bytes at places below `whole`, and `4 * whole <= bytes.len()`.
    let (low_bytes, high_bytes) =
        unsafe { (_mm256_maskload_epi32(start, low), _mm256_maskload_epi32(start.wrapping_add(HALF / 4), high)) };
    let low_rest = _mm256_blendv_epi8(spaces, last, _mm256_cmpeq_epi32(whole, low_places));
    let high_rest = _mm256_blendv_epi8(spaces, last, _mm256_cmpeq_epi32(whole, high_places));
    [_mm256_blendv_epi8(low_rest, low_bytes, low), _mm256_blendv_epi8(high_rest, high_bytes, high)]
}

/// Each quarter of a block is looked up in for itself: a place in another quarter gets its high bit, and so a zero.
#[inline]
#[target_feature(enable = "avx2")]
fn at_places([low, high]: [__m256i; 2], places: __m128i) -> __m128i {
    let places = _mm256_broadcastsi128_si256(places);
    let beyond = _mm256_set1_epi8(0x70);
    let quarters = _mm256_setr_epi64x(0, 0, 0x1010_1010_1010_1010, 0x1010_1010_1010_1010);
    let places = _mm256_xor_si256(places, quarters);
    let in_low = _mm256_shuffle_epi8(low, _mm256_add_epi8(places, beyond));
    let places = _mm256_xor_si256(places, _mm256_set1_epi8(0x20));
    let in_high = _mm256_shuffle_epi8(high, _mm256_add_epi8(places, beyond));
    let found = _mm256_or_si256(in_low, in_high);
    _mm_or_si128(_mm256_castsi256_si128(found), _mm256_extracti128_si256::<1>(found))
}

/// Writes eight tokens at a time, always for all groups; a table says which bytes stay.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn emit([low, high]: [__m256i; 2], mask: u64, base: u32, pos: &mut [u32; BLOCK], kind: &mut [u8; BLOCK]) {
    let quarters = [
        _mm256_castsi256_si128(low),
        _mm256_extracti128_si256::<1>(low),
        _mm256_castsi256_si128(high),
        _mm256_extracti128_si256::<1>(high),
    ];
    let mut base = _mm256_set1_epi32(base.cast_signed());
    for group in 0..8 {
        let bits = (mask >> (8 * group)) as u8;
        let count = (mask & !(u64::MAX << (8 * group))).count_ones() as usize;
        let places = load_eight(&FRONT[usize::from(bits)]);
        let quarter = quarters[group / 2];
        let bytes = if group % 2 == 0 { quarter } else { _mm_srli_si128::<8>(quarter) };
        // SAFETY: `count` is at most 8 * group, because it counts tokens of earlier groups, and `group < 8`.
        let kind: &mut [u8; 8] = unsafe { part_mut(kind, count) };
        store_eight(kind, _mm_shuffle_epi8(bytes, places));
        // SAFETY: as above.
        let pos: &mut [u32; 8] = unsafe { part_mut(pos, count) };
        store(pos, _mm256_add_epi32(base, _mm256_cvtepu8_epi32(places)));
        base = _mm256_add_epi32(base, _mm256_set1_epi32(8));
    }
}

/// For each mask of eight bits, the positions of its bits, in order.
static FRONT: [[u8; 8]; 256] = front([0, 1, 2, 3, 4, 5, 6, 7]);

/// The same for the halves of words, in an order that puts the kept words first when lower and upper halves are
/// interleaved.
static COMPRESS: [[u8; 8]; 256] = front([0, 1, 4, 5, 2, 3, 6, 7]);

/// For each mask of eight bits, the positions of its bits; the first position stands at `order[0]`, and so on.
const fn front(order: [usize; 8]) -> [[u8; 8]; 256] {
    let mut table = [[0; 8]; 256];
    let mut mask = 0;
    while mask < 256 {
        let (mut at, mut rank) = (0, 0);
        while at < 8 {
            if mask >> at & 1 != 0 {
                table[mask][order[rank]] = at as u8;
                rank += 1;
            }
            at += 1;
        }
        mask += 1;
    }
    table
}

/// The words of 64 tokens, eight at a time: both halves of eight words are compressed, then interleaved.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn words(forms: &[u8; BLOCK], tokens: &TokenWords<'_>, out: &mut [MaybeUninit<u64>; BLOCK]) {
    // Up to the last kept token: fewer than eight groups only at the end of a text.
    let groups = (BLOCK - tokens.keep.leading_zeros() as usize).div_ceil(8);
    let mut at = 0;
    for group in 0..groups {
        let bits = |mask: u64| (mask >> (8 * group)) as u8;
        // SAFETY: `group < 8`, and there are 64 forms.
        let form = _mm256_cvtepu8_epi32(load_eight(unsafe { part(forms, 8 * group) }));
        // SAFETY: `group < 8`, and there are 64 starts and ends.
        let (start, end): (&[u32; 8], &[u32; 8]) =
            unsafe { (part(tokens.starts, 8 * group), part(tokens.ends, 8 * group)) };
        let (start, end) = (load(start), load(end));
        // Strings skip a quote at both ends; a closing bracket has no length.
        let skip = _mm256_srli_epi32::<7>(form);
        let lower = _mm256_add_epi32(start, skip);
        let len = _mm256_sub_epi32(_mm256_sub_epi32(end, lower), skip);
        let len = _mm256_min_epu32(len, _mm256_set1_epi32(LENGTH_MAX as i32));
        let upper = _mm256_or_si256(_mm256_slli_epi32::<FORM_SHIFT>(form), len);
        let upper = _mm256_or_si256(upper, _mm256_set1_epi32(tokens.flag.cast_signed()));

        let keep = bits(tokens.keep);
        let places = _mm256_cvtepu8_epi32(load_eight(&COMPRESS[usize::from(keep)]));
        let lower = _mm256_permutevar8x32_epi32(lower, places);
        let upper = _mm256_permutevar8x32_epi32(upper, places);
        let mut words = [[0_u64; 4]; 2];
        store(&mut words[0], _mm256_unpacklo_epi32(lower, upper));
        store(&mut words[1], _mm256_unpackhi_epi32(lower, upper));
        // SAFETY: `at` is at most 8 * group, because a group moves it by at most eight, and there are 64 words.
        let out: &mut [MaybeUninit<u64>; 8] = unsafe { part_mut(out, at) };
        out.write_copy_of_slice(words.as_flattened());
        at += keep.count_ones() as usize;
    }
}

/// The differences of 32 offsets to those before, modulo 64, as bytes.
#[inline]
#[target_feature(enable = "avx2")]
fn lengths(starts: &[u32; HALF], nexts: &[u32; HALF]) -> __m256i {
    let (starts, nexts) = (starts.as_chunks::<8>().0, nexts.as_chunks::<8>().0);
    let first = _mm256_packus_epi32(eight_lengths(&starts[0], &nexts[0]), eight_lengths(&starts[1], &nexts[1]));
    let last = _mm256_packus_epi32(eight_lengths(&starts[2], &nexts[2]), eight_lengths(&starts[3], &nexts[3]));
    // Both steps narrow the halves of registers for themselves; now four bytes at a time are put in order.
    let order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    _mm256_permutevar8x32_epi32(_mm256_packus_epi16(first, last), order)
}

/// The differences of eight offsets to those before, modulo 64.
#[inline]
#[target_feature(enable = "avx2")]
fn eight_lengths(starts: &[u32; 8], nexts: &[u32; 8]) -> __m256i {
    _mm256_and_si256(_mm256_sub_epi32(load(nexts), load(starts)), _mm256_set1_epi32(63))
}

/// By how much a form is shifted to be the upper bits of a word. That shifts its high bit out.
const FORM_SHIFT: i32 = 25;

/// For each of 32 kinds, how its token's word is made: the upper bits, and the high bit if the offset skips a byte. The result
/// is not meaningful for opening brackets, whose words are written elsewhere.
#[inline]
#[target_feature(enable = "avx2")]
fn form(kinds: __m256i) -> __m256i {
    const SKIP: i8 = i8::MIN;
    const NUMBER: i8 = (Node::Number as i8) << 3;
    const STRING: i8 = (Node::String as i8) << 3 | SKIP;
    const TRUE: i8 = (Node::True as i8) << 3;
    const FALSE: i8 = (Node::False as i8) << 3;
    const NULL: i8 = (Node::Null as i8) << 3;
    const END: i8 = (Node::End as i8) << 3 | SKIP;
    let plain = _mm256_and_si256(kinds, _mm256_set1_epi8(0x7F));
    // Letters and brackets have bit 0x40, which is shifted up to where the blend looks for it; numbers and strings do
    // not have it.
    let by_nibble =
        _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 0, 0, 0, TRUE, 0, FALSE, 0, 0, 0, 0, 0, 0, END, NULL, 0));
    let named = _mm256_shuffle_epi8(by_nibble, plain);
    let form = _mm256_blendv_epi8(_mm256_set1_epi8(NUMBER), named, _mm256_slli_epi16::<1>(plain));
    // A marked string has an escape.
    let flag = _mm256_srli_epi16::<5>(_mm256_andnot_si256(_mm256_set1_epi8(0x7F), kinds));
    let string = _mm256_or_si256(_mm256_set1_epi8(STRING), flag);
    _mm256_blendv_epi8(form, string, _mm256_cmpeq_epi8(plain, _mm256_set1_epi8(b'"'.cast_signed())))
}

/// The high bit of each byte whose bit in `mask` is set.
#[inline]
#[target_feature(enable = "avx2")]
fn high_bits(mask: u32) -> __m256i {
    let spread = _mm256_setr_epi64x(0, 0x0101_0101_0101_0101, 0x0202_0202_0202_0202, 0x0303_0303_0303_0303);
    let places = _mm256_set1_epi64x(0x8040_2010_0804_0201_u64.cast_signed());
    let bytes = _mm256_shuffle_epi8(_mm256_set1_epi32(mask.cast_signed()), spread);
    let set = _mm256_cmpeq_epi8(_mm256_and_si256(bytes, places), places);
    _mm256_and_si256(set, _mm256_set1_epi8(0x80_u8.cast_signed()))
}

/// A register of integers.
#[inline]
#[target_feature(enable = "avx2")]
fn load<T: Plain, const N: usize>(values: &[T; N]) -> __m256i {
    const { assert!(size_of::<[T; N]>() == HALF) };
    // SAFETY: the load reads the 32 bytes of the reference.
    unsafe { _mm256_loadu_si256(values.as_ptr().cast()) }
}

/// The integers of a register.
#[inline]
#[target_feature(enable = "avx2")]
fn store<T: Plain, const N: usize>(values: &mut [T; N], register: __m256i) {
    const { assert!(size_of::<[T; N]>() == HALF) };
    // SAFETY: the store writes the 32 bytes of the reference.
    unsafe { _mm256_storeu_si256(values.as_mut_ptr().cast(), register) }
}

/// Eight bytes, and eight zeros.
#[inline]
#[target_feature(enable = "avx2")]
fn load_eight(bytes: &[u8; 8]) -> __m128i {
    // SAFETY: the load reads the eight bytes of the reference.
    unsafe { _mm_loadl_epi64(bytes.as_ptr().cast()) }
}

/// The first eight bytes of a register.
#[inline]
#[target_feature(enable = "avx2")]
fn store_eight(bytes: &mut [u8; 8], register: __m128i) {
    // SAFETY: the store writes the eight bytes of the reference.
    unsafe { _mm_storel_epi64(bytes.as_mut_ptr().cast(), register) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::portable::tests::equals_what_is_done_one_by_one;

    #[test]
    fn what_is_done_at_once_equals_what_is_done_one_by_one() {
        let Some(simd) = Avx2::detect() else { return };
        equals_what_is_done_one_by_one(simd);
    }

    #[test]
    fn bytes_are_found_at_places() {
        let Some(simd) = Avx2::detect() else { return };
        let block: [u8; BLOCK] = core::array::from_fn(|at| 100 + at as u8);
        for first in 0..=BLOCK {
            let places: [u8; 16] = core::array::from_fn(|at| (first + 5 * at).min(BLOCK) as u8);
            let [low, high] = *places.as_chunks().0 else { unreachable!("two halves") };
            let mut found = [0; 16];
            let wide = simd.sixteen_places(u64::from_le_bytes(low), u64::from_le_bytes(high));
            simd.store_sixteen(&mut found, simd.at_places(simd.load(&block), wide));
            assert_eq!(found, places.map(|place| block.get(usize::from(place)).copied().unwrap_or_default()));
        }
    }

    #[test]
    fn places_are_those_of_the_first_bits() {
        for (mask, places_of, rest) in [
            (0, [64; 8], 0),
            (1 << 63 | 1, [0, 63, 64, 64, 64, 64, 64, 64], 0),
            (0x3FF << 7, [7, 8, 9, 10, 11, 12, 13, 14], 3 << 15),
        ] {
            assert_eq!(places(mask, 8), (u64::from_le_bytes(places_of), rest));
        }
    }
}

//! AVX2 with carry-less multiplication: 32 bytes to a register, two registers to a block.

use super::proof::proof;
use super::simd::{BLOCK, Classes, Kinds, Simd, is_plain_number};
use super::utf8::{Utf8, vectors};
use super::words::{FORM_QUOTES, FORM_SKIP, FORM_UPPER, TokenWords};
use crate::limits::LENGTH_MAX;
use crate::word::Node;
#[allow(clippy::wildcard_imports, reason = "a list of intrinsics says nothing that their use does not")]
use core::arch::x86_64::*;
use core::mem::MaybeUninit;

proof!(Avx2, enter_avx2, is_x86_feature_detected: "avx2", "bmi1", "bmi2", "lzcnt", "popcnt", "pclmulqdq");

vectors! { Avx2: __m256i;
    splat(byte: u8) -> __m256i = _mm256_set1_epi8(byte.cast_signed());
    table(bytes: &[u8; 16]) -> __m256i = _mm256_broadcastsi128_si256(_mm_loadu_si128(bytes.as_ptr().cast()));
    end_of(block: &[u8; BLOCK]) -> __m256i = _mm256_loadu_si256(block[32..].as_ptr().cast());
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
    is_ascii(bytes: __m256i) -> bool = _mm256_movemask_epi8(bytes) == 0;
    is_zero(bytes: __m256i) -> bool = _mm256_testz_si256(bytes, bytes) == 1;
}

// Each body is one `unsafe` block because the trait's methods cannot carry `#[target_feature]`.
impl Simd for Avx2 {
    type Block = [__m256i; 2];
    type Utf8 = Utf8<__m256i>;

    #[inline(always)]
    fn load(self, block: &[u8; BLOCK]) -> Self::Block {
        // SAFETY: `self` proves the features; the loads read the 64 bytes of the reference.
        unsafe {
            let start = block.as_ptr();
            [_mm256_loadu_si256(start.cast()), _mm256_loadu_si256(start.add(32).cast())]
        }
    }

    #[inline(always)]
    fn classify(self, block: Self::Block) -> Classes {
        // SAFETY: `self` proves the features; nothing here takes a pointer.
        unsafe {
            let spaces = _mm256_broadcastsi128_si256(_mm_setr_epi8(
                0x20, 100, 100, 100, 17, 100, 113, 2, 100, 0x09, 0x0A, 112, 100, 0x0D, 100, 100,
            ));
            let operators =
                _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x3A, 0x7B, 0x2C, 0x7D, 0, 0));
            // Written out for both halves: a closure passed to `map` has no features, and would not always be inlined.
            let [low, high] = block;
            let curl = _mm256_set1_epi8(0x20);
            let max = _mm256_set1_epi8(0x1F);
            let space = mask([
                _mm256_cmpeq_epi8(low, _mm256_shuffle_epi8(spaces, low)),
                _mm256_cmpeq_epi8(high, _mm256_shuffle_epi8(spaces, high)),
            ]);
            let operator = mask([
                _mm256_cmpeq_epi8(_mm256_or_si256(low, curl), _mm256_shuffle_epi8(operators, low)),
                _mm256_cmpeq_epi8(_mm256_or_si256(high, curl), _mm256_shuffle_epi8(operators, high)),
            ]);
            let control = mask([
                _mm256_cmpeq_epi8(_mm256_max_epu8(low, max), max),
                _mm256_cmpeq_epi8(_mm256_max_epu8(high, max), max),
            ]);
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
    fn opaque(self, mask: u64) -> u64 {
        // Miri cannot run assembly.
        if cfg!(miri) {
            return mask;
        }
        let mut mask = mask;
        // SAFETY: the assembly has no instruction; it only names the register.
        unsafe { core::arch::asm!("/* {} */", inout(reg) mask, options(pure, nomem, nostack, preserves_flags)) };
        mask
    }

    #[inline(always)]
    fn eq(self, block: Self::Block, byte: u8) -> u64 {
        // SAFETY: `self` proves the features; nothing here takes a pointer.
        unsafe {
            let [low, high] = block;
            let wanted = _mm256_set1_epi8(byte.cast_signed());
            mask([_mm256_cmpeq_epi8(low, wanted), _mm256_cmpeq_epi8(high, wanted)])
        }
    }

    #[inline(always)]
    fn between(self, [first, second]: Self::Block, low: u8, high: u8) -> u64 {
        // SAFETY: `self` proves the features; nothing here takes a pointer.
        unsafe {
            let base = _mm256_set1_epi8(low.cast_signed());
            let width = _mm256_set1_epi8((high - low).cast_signed());
            let (first, second) = (_mm256_sub_epi8(first, base), _mm256_sub_epi8(second, base));
            mask([
                _mm256_cmpeq_epi8(_mm256_max_epu8(first, width), width),
                _mm256_cmpeq_epi8(_mm256_max_epu8(second, width), width),
            ])
        }
    }

    #[inline(always)]
    fn escapes(self, [low, high]: Self::Block) -> u64 {
        // SAFETY: `self` proves the features; nothing here takes a pointer.
        unsafe {
            let quote = _mm256_set1_epi8(b'"'.cast_signed());
            let backslash = _mm256_set1_epi8(b'\\'.cast_signed());
            let max = _mm256_set1_epi8(0x1F);
            // Written out for both halves, as above.
            let low_pair = _mm256_or_si256(_mm256_cmpeq_epi8(low, quote), _mm256_cmpeq_epi8(low, backslash));
            let high_pair = _mm256_or_si256(_mm256_cmpeq_epi8(high, quote), _mm256_cmpeq_epi8(high, backslash));
            mask([
                _mm256_or_si256(low_pair, _mm256_cmpeq_epi8(_mm256_max_epu8(low, max), max)),
                _mm256_or_si256(high_pair, _mm256_cmpeq_epi8(_mm256_max_epu8(high, max), max)),
            ])
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
        state.step(self, block);
    }

    #[inline(always)]
    fn utf8_ok(self, state: &Self::Utf8) -> bool {
        state.is_ok(self)
    }

    #[inline(always)]
    fn merge(self, one: Self::Block, other: Self::Block) -> Self::Block {
        // SAFETY: `self` proves the features; nothing here takes a pointer.
        unsafe { [_mm256_or_si256(one[0], other[0]), _mm256_or_si256(one[1], other[1])] }
    }

    #[inline(always)]
    fn escape_letters(self, block: Self::Block) -> u64 {
        // SAFETY: `self` proves the features; nothing here takes a pointer.
        unsafe {
            let [low, high] = block;
            // Among the eight letters, `b` shares its low nibble with `"` and with `r`, which are compared separately.
            // No filler has the low nibble of its own position.
            let letters = _mm256_broadcastsi128_si256(_mm_setr_epi8(
                1, 0, 0x62, 0, 0x74, 0, 0x66, 0, 0, 0, 0, 0, 0x5C, 0, 0x6E, 0x2F,
            ));
            let (r, quote) = (_mm256_set1_epi8(b'r'.cast_signed()), _mm256_set1_epi8(b'"'.cast_signed()));
            mask([
                any(
                    _mm256_cmpeq_epi8(low, _mm256_shuffle_epi8(letters, low)),
                    any(_mm256_cmpeq_epi8(low, r), _mm256_cmpeq_epi8(low, quote)),
                ),
                any(
                    _mm256_cmpeq_epi8(high, _mm256_shuffle_epi8(letters, high)),
                    any(_mm256_cmpeq_epi8(high, r), _mm256_cmpeq_epi8(high, quote)),
                ),
            ])
        }
    }

    #[inline(always)]
    fn kinds(self, kinds: Self::Block, valid: u64) -> Kinds {
        let plain = self.without_high_bits(kinds);
        // SAFETY: `self` proves the features; nothing here takes a pointer.
        let (literal, number) = unsafe {
            let [low, high] = kinds;
            let letters =
                _mm256_broadcastsi128_si256(_mm_setr_epi8(1, 0, 0, 0, 0x74, 0, 0x66, 0, 0, 0, 0, 0, 0, 0, 0x6E, 0));
            let (zero, nine) = (_mm256_set1_epi8(b'0'.cast_signed()), _mm256_set1_epi8(9));
            let minus = _mm256_set1_epi8(b'-'.cast_signed());
            let literal = mask([
                _mm256_cmpeq_epi8(low, _mm256_shuffle_epi8(letters, low)),
                _mm256_cmpeq_epi8(high, _mm256_shuffle_epi8(letters, high)),
            ]);
            let (above_low, above_high) = (_mm256_sub_epi8(low, zero), _mm256_sub_epi8(high, zero));
            let number = mask([
                any(_mm256_cmpeq_epi8(_mm256_min_epu8(above_low, nine), above_low), _mm256_cmpeq_epi8(low, minus)),
                any(_mm256_cmpeq_epi8(_mm256_min_epu8(above_high, nine), above_high), _mm256_cmpeq_epi8(high, minus)),
            ]);
            (literal, number)
        };
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
        // SAFETY: `self` proves the features; nothing here takes a pointer.
        unsafe { mask(block) }
    }

    #[inline(always)]
    fn without_high_bits(self, block: Self::Block) -> Self::Block {
        // SAFETY: `self` proves the features; nothing here takes a pointer.
        unsafe {
            let [low, high] = block;
            let mask = _mm256_set1_epi8(0x7F);
            [_mm256_and_si256(low, mask), _mm256_and_si256(high, mask)]
        }
    }

    #[inline(always)]
    fn is_plain_number(self, text: &[u8], start: usize, end: usize) -> Option<bool> {
        let Some(bytes) = text.get(start..).and_then(<[u8]>::first_chunk::<32>) else { return Some(false) };
        // SAFETY: `self` proves the features; the load reads the 32 bytes of the reference.
        let (digits, points, zeros) = unsafe {
            let bytes = _mm256_loadu_si256(bytes.as_ptr().cast());
            let zero = _mm256_set1_epi8(b'0'.cast_signed());
            let nine = _mm256_set1_epi8(9);
            let digits = _mm256_cmpeq_epi8(_mm256_max_epu8(_mm256_sub_epi8(bytes, zero), nine), nine);
            let points = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(b'.'.cast_signed()));
            let zeros = _mm256_cmpeq_epi8(bytes, zero);
            (_mm256_movemask_epi8(digits), _mm256_movemask_epi8(points), _mm256_movemask_epi8(zeros))
        };
        Some(is_plain_number(
            end.wrapping_sub(start),
            !digits.cast_unsigned(),
            points.cast_unsigned(),
            zeros.cast_unsigned(),
        ))
    }

    #[inline(always)]
    fn offsets(self, mut mask: u64, base: u32, offsets: &mut [u32; BLOCK]) {
        // Four at a time without a test inside; mostly there are no more.
        let count = mask.count_ones() as usize;
        for four in offsets.as_chunks_mut::<4>().0.iter_mut().take(count.div_ceil(4).max(1)) {
            for offset in four {
                *offset = base.wrapping_add(mask.trailing_zeros());
                mask &= mask.wrapping_sub(1);
            }
        }
    }

    #[inline(always)]
    fn words(self, kinds: Self::Block, tokens: &TokenWords<'_>, out: &mut [MaybeUninit<u64>; BLOCK]) {
        let mut forms = [0; BLOCK];
        // SAFETY: `self` proves the features; the stores write the 64 bytes of the array.
        unsafe {
            let [low, high] = kinds;
            let start = forms.as_mut_ptr();
            _mm256_storeu_si256(start.cast(), form(low));
            _mm256_storeu_si256(start.add(32).cast(), form(high));
        }
        // SAFETY: `self` proves the features.
        unsafe {
            if tokens.loose == 0 {
                words::<false>(&forms, tokens, out);
            } else {
                words::<true>(&forms, tokens, out);
            }
        }
    }

    #[inline(always)]
    fn compact(self, block: &[u8; BLOCK], keep: u64, out: &mut [MaybeUninit<u8>; BLOCK]) -> usize {
        // SAFETY: `self` proves the features. The stores write the 64 bytes of the reference as two halves; or eight
        // bytes at `count`, which is at most 8 * group, because it counts kept bytes of earlier groups.
        unsafe {
            if keep == u64::MAX {
                let [low, high] = self.load(block);
                _mm256_storeu_si256(out.as_mut_ptr().cast(), low);
                _mm256_storeu_si256(out.as_mut_ptr().add(32).cast(), high);
                return BLOCK;
            }
            for group in 0..BLOCK / 8 {
                let bits = (keep >> (8 * group)) as u8;
                let count = (keep & !(u64::MAX << (8 * group))).count_ones() as usize;
                let places = _mm_loadl_epi64(FRONT.as_ptr().add(usize::from(bits)).cast());
                let kept = _mm_shuffle_epi8(_mm_loadl_epi64(block.as_ptr().add(8 * group).cast()), places);
                _mm_storel_epi64(out.as_mut_ptr().add(count).cast(), kept);
            }
        }
        keep.count_ones() as usize
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
        // Most blocks of a long string have no token. For other blocks, branches on the number of tokens would be
        // mispredicted too often.
        if mask == 0 {
            return;
        }
        let mut bytes = [0; BLOCK];
        // SAFETY: `self` proves the features; the stores write the 64 bytes of the array.
        unsafe {
            let [low, high] = block;
            let start = bytes.as_mut_ptr();
            _mm256_storeu_si256(start.cast(), _mm256_or_si256(low, high_bits(marked as u32)));
            _mm256_storeu_si256(start.add(32).cast(), _mm256_or_si256(high, high_bits((marked >> 32) as u32)));
            emit(&bytes, mask, base, pos, kind);
        }
    }
}

/// Writes eight tokens at a time, always for all groups; a table says which bytes stay.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn emit(bytes: &[u8; BLOCK], mask: u64, base: u32, pos: &mut [u32; BLOCK], kind: &mut [u8; BLOCK]) {
    let mut base = _mm256_set1_epi32(base.cast_signed());
    for group in 0..BLOCK / 8 {
        let bits = (mask >> (8 * group)) as u8;
        let count = (mask & !(u64::MAX << (8 * group))).count_ones() as usize;
        // SAFETY: the loads read eight of the 64 bytes, and an entry of the table; `count` is at most 8 * group, so
        // the stores write eight of the 64 kinds and of the 64 offsets.
        unsafe {
            let places = _mm_loadl_epi64(FRONT.as_ptr().add(usize::from(bits)).cast());
            let kinds = _mm_shuffle_epi8(_mm_loadl_epi64(bytes.as_ptr().add(8 * group).cast()), places);
            _mm_storel_epi64(kind.as_mut_ptr().add(count).cast(), kinds);
            let offsets = _mm256_add_epi32(base, _mm256_cvtepu8_epi32(places));
            _mm256_storeu_si256(pos.as_mut_ptr().add(count).cast(), offsets);
        }
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

/// For each mask of eight bits and each position: the number of bits set below it, and the sign bit if its own bit is
/// set.
static EXPAND: [[u8; 8]; 256] = {
    let mut table = [[0; 8]; 256];
    let mut mask = 0;
    while mask < 256 {
        let (mut at, mut rank) = (0, 0);
        while at < 8 {
            table[mask][at] = rank;
            if mask >> at & 1 != 0 {
                table[mask][at] |= 0x80;
                rank += 1;
            }
            at += 1;
        }
        mask += 1;
    }
    table
};

/// The words of 64 tokens, eight at a time: both halves of eight words are compressed, then interleaved.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn words<const LOOSE: bool>(forms: &[u8; BLOCK], tokens: &TokenWords<'_>, out: &mut [MaybeUninit<u64>; BLOCK]) {
    // Up to the last kept token: fewer than eight groups only at the end of a text.
    let groups = (BLOCK - tokens.keep.leading_zeros() as usize).div_ceil(8);
    let (mut at, mut end) = (0, 0);
    for group in 0..groups {
        let bits = |mask: u64| (mask >> (8 * group)) as u8;
        // SAFETY: `group < 8`, so the loads read eight of the 64 forms and of the 65 offsets, from 8 * group and 8 *
        // group + 1 on. `end` and `at` are at most 8 * group, because a group moves them by at most eight: the loads
        // read eight of the 64 ends, and the stores write eight of the 64 words.
        unsafe {
            let form = _mm256_cvtepu8_epi32(_mm_loadl_epi64(forms.as_ptr().add(8 * group).cast()));
            let start = _mm256_loadu_si256(tokens.pos.as_ptr().add(8 * group).cast());
            let mut next = _mm256_loadu_si256(tokens.pos.as_ptr().add(8 * group + 1).cast());
            if LOOSE {
                let loose = bits(tokens.loose);
                let places = EXPAND.as_ptr().add(usize::from(loose));
                let places = _mm256_cvtepi8_epi32(_mm_loadl_epi64(places.cast()));
                let ends = _mm256_loadu_si256(tokens.ends.as_ptr().add(end).cast());
                let ends = _mm256_permutevar8x32_epi32(ends, places);
                let blended =
                    _mm256_blendv_ps(_mm256_castsi256_ps(next), _mm256_castsi256_ps(ends), _mm256_castsi256_ps(places));
                next = _mm256_castps_si256(blended);
                end += loose.count_ones() as usize;
            }
            let quotes = _mm256_and_si256(form, _mm256_set1_epi32(FORM_QUOTES.cast_signed()));
            let skip = _mm256_and_si256(form, _mm256_set1_epi32(FORM_SKIP.cast_signed()));
            let upper = _mm256_and_si256(form, _mm256_set1_epi32(FORM_UPPER.cast_signed()));
            let len = _mm256_sub_epi32(_mm256_sub_epi32(next, start), quotes);
            let len = _mm256_min_epu32(len, _mm256_set1_epi32(LENGTH_MAX as i32));
            let upper = _mm256_or_si256(_mm256_slli_epi32::<24>(upper), len);
            let upper = _mm256_or_si256(upper, _mm256_set1_epi32(tokens.flag.cast_signed()));
            let lower = _mm256_add_epi32(start, skip);

            let keep = bits(tokens.keep);
            let places = COMPRESS.as_ptr().add(usize::from(keep));
            let places = _mm256_cvtepu8_epi32(_mm_loadl_epi64(places.cast()));
            let lower = _mm256_permutevar8x32_epi32(lower, places);
            let upper = _mm256_permutevar8x32_epi32(upper, places);
            let out = out.as_mut_ptr().add(at);
            _mm256_storeu_si256(out.cast(), _mm256_unpacklo_epi32(lower, upper));
            _mm256_storeu_si256(out.add(4).cast(), _mm256_unpackhi_epi32(lower, upper));
            at += keep.count_ones() as usize;
        }
    }
}

/// The entries of `words::FORMS` for 32 kinds. The result is not meaningful for opening brackets, whose words are
/// written elsewhere.
#[inline]
#[target_feature(enable = "avx2")]
fn form(kinds: __m256i) -> __m256i {
    const NUMBER: i8 = (Node::Number as i8) << 4;
    const STRING: i8 = (Node::String as i8) << 4 | (FORM_QUOTES | FORM_SKIP) as i8;
    const TRUE: i8 = (Node::True as i8) << 4;
    const FALSE: i8 = (Node::False as i8) << 4;
    const NULL: i8 = (Node::Null as i8) << 4;
    const END: i8 = (Node::End as i8) << 4 | FORM_SKIP as i8;
    let plain = _mm256_and_si256(kinds, _mm256_set1_epi8(0x7F));
    // Letters and brackets have bit 0x40, which is shifted up to where the blend looks for it; numbers and strings do
    // not have it.
    let by_nibble =
        _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 0, 0, 0, TRUE, 0, FALSE, 0, 0, 0, 0, 0, 0, END, NULL, 0));
    let named = _mm256_shuffle_epi8(by_nibble, plain);
    let form = _mm256_blendv_epi8(_mm256_set1_epi8(NUMBER), named, _mm256_slli_epi16::<1>(plain));
    // A marked string has an escape.
    let flag = _mm256_srli_epi16::<4>(_mm256_andnot_si256(_mm256_set1_epi8(0x7F), kinds));
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

#[inline]
#[target_feature(enable = "avx2")]
fn any(one: __m256i, other: __m256i) -> __m256i {
    _mm256_or_si256(one, other)
}

#[inline]
#[target_feature(enable = "avx2")]
fn mask([low, high]: [__m256i; 2]) -> u64 {
    let bits = |half| u64::from(_mm256_movemask_epi8(half).cast_unsigned());
    bits(low) | bits(high) << 32
}

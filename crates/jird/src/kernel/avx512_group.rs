//! AVX-512: the masks of eight blocks in one register.

use super::avx512::{OPERATORS_AND_SPACES, load, store};
use super::group::{GROUP, GroupBorder, GroupClasses, GroupMasks, ODD, Words};
use super::simd::BLOCK;
#[allow(clippy::wildcard_imports, reason = "a list of intrinsics says nothing that their use does not")]
use core::arch::x86_64::*;

/// The masks of each block are stored from mask registers, which takes none of the ports that comparisons need.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
pub(super) fn classify_group(blocks: &[[u8; BLOCK]; GROUP], newlines: bool, classes: &mut GroupClasses) -> u64 {
    let table = load(&OPERATORS_AND_SPACES);
    let splat = |byte: u8| _mm512_set1_epi8(byte.cast_signed());
    let (space, quote, bit, newline, backslash) = (splat(b' '), splat(b'"'), splat(2), splat(b'\n'), splat(b'\\'));
    let mut least = splat(1);
    for (at, block) in blocks.iter().enumerate() {
        let block = load(block);
        // As signed numbers, bytes beyond ASCII are below zero, and so they stay when a backslash becomes zero.
        least = _mm512_min_epi8(least, _mm512_xor_si512(block, backslash));
        classes.between_values.0[at] = _mm512_cmpeq_epi8_mask(block, _mm512_permutexvar_epi8(block, table));
        classes.up_to_space.0[at] = _mm512_cmple_epu8_mask(block, space);
        // A quote is a space with the bit 2.
        classes.quote_or_space.0[at] = _mm512_cmpeq_epi8_mask(_mm512_or_si512(block, bit), quote);
        if newlines {
            classes.newline.0[at] = _mm512_cmpeq_epi8_mask(block, newline);
        }
    }
    _mm512_cmple_epi8_mask(least, _mm512_setzero_si512())
}

/// [`super::group::masks`] with one register for the words of eight blocks. `0x..` are truth tables: bit `4a + 2b + c`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vbmi2,vpclmulqdq")]
pub(super) fn group_masks(classes: &GroupClasses, escaped: &Words, border: &mut GroupBorder, masks: &mut GroupMasks) {
    let (between, up_to_space) = (load(&classes.between_values.0), load(&classes.up_to_space.0));
    let (quote_or_space, newline) = (load(&classes.quote_or_space.0), load(&classes.newline.0));
    // q & !u & !e
    let quotes = _mm512_ternarylogic_epi64::<0x10>(quote_or_space, up_to_space, load(&escaped.0));
    let ones = _mm512_set1_epi64(-1);
    let (even, odd) = (_mm512_clmulepi64_epi128::<0x00>(quotes, ones), _mm512_clmulepi64_epi128::<0x01>(quotes, ones));
    let parities = _mm512_unpacklo_epi64(even, odd);
    // The parity of all quotes up to each word, from those of the words.
    let mut odd = u32::from(_mm512_movepi64_mask(parities));
    odd ^= odd << 1;
    odd ^= odd << 2;
    odd ^= odd << 4;
    let open_before = odd << 1 ^ border.in_string as u32 & 0x1FF;
    let inside = _mm512_mask_xor_epi64(parities, open_before as u8, parities, ones);
    // !(b | q)
    let run = _mm512_ternarylogic_epi64::<0x03>(between, quotes, quotes);
    let behind_run = behind(run, border.scalar);
    // Operators are !u where b, starts are !behind_run elsewhere.
    let candidates = _mm512_ternarylogic_epi64::<0x35>(between, up_to_space, behind_run);
    let candidates = _mm512_or_si512(candidates, newline);
    // c & !(i ^ q)
    let tokens = _mm512_ternarylogic_epi64::<0x90>(candidates, inside, quotes);
    let operator = _mm512_or_si512(_mm512_andnot_si512(up_to_space, between), newline);
    let spaced = _mm512_and_si512(behind(up_to_space, border.space), operator);
    store(&mut masks.tokens.0, tokens);
    store(&mut masks.spaced.0, spaced);
    store(&mut masks.quotes.0, quotes);
    store(&mut masks.inside.0, inside);
    // b & u & !i
    let blank = _mm512_ternarylogic_epi64::<0x40>(between, up_to_space, inside);
    store(&mut masks.blank.0, blank);
    store(&mut masks.run.0, _mm512_andnot_si512(inside, run));
    // u & !q & i
    let controls = _mm512_ternarylogic_epi64::<0x20>(up_to_space, quote_or_space, inside);
    let controls = _mm512_or_si512(controls, load(&border.controls.0));
    store(&mut border.controls.0, controls);
    let blank = _mm512_ternarylogic_epi64::<0xF4>(load(&border.blank.0), blank, tokens);
    store(&mut border.blank.0, blank);
    border.in_string = u64::from(open_before >> GROUP & 1).wrapping_neg();
    border.scalar = u64::from(_mm512_movepi64_mask(run)) >> 7;
    border.space = u64::from(_mm512_movepi64_mask(up_to_space)) >> 7;
}

/// [`super::group::escape`] with one register for the words of eight blocks.
#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
pub(super) fn escape_group(backslash: &Words, carry: &mut u64, escaped: &mut Words) -> u64 {
    let (words, odd, ones) = (load(&backslash.0), _mm512_set1_epi64(ODD.cast_signed()), _mm512_set1_epi64(-1));
    if _mm512_cmpeq_epi64_mask(words, ones) != 0 {
        // Elsewhere it makes no difference for the next block whether the first byte is escaped.
        return super::group::escape(backslash, carry, escaped);
    }
    let follows = |potential| {
        let shifted = _mm512_or_si512(_mm512_add_epi64(potential, potential), odd);
        _mm512_xor_si512(_mm512_sub_epi64(shifted, potential), odd)
    };
    let out = _mm512_movepi64_mask(_mm512_and_si512(follows(words), words));
    let before = u64::from(out) << 1 | *carry;
    let carries = _mm512_maskz_set1_epi64(before as u8, 1);
    let follows = follows(_mm512_andnot_si512(carries, words));
    // f ^ (w | c)
    store(&mut escaped.0, _mm512_ternarylogic_epi64::<0x1E>(follows, words, carries));
    *carry = before >> GROUP;
    before & 0xFF
}

/// [`super::group::mark`] with one register for the words of eight blocks.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,gfni")]
pub(super) fn mark_group(masks: &mut GroupMasks, backslash: &Words, open: u64) -> u64 {
    let (quotes, inside) = (load(&masks.quotes.0), load(&masks.inside.0));
    let opening = _mm512_and_si512(quotes, inside);
    let backslash = _mm512_and_si512(load(&backslash.0), inside);
    let text = _mm512_andnot_si512(backslash, inside);
    // A bit added where a string begins carries to its first backslash or to its closing quote: one bit for each
    // string.
    let open = (u32::from(_mm512_movepi64_mask(inside)) << 1 | open as u32) as u8;
    let begins = _mm512_mask_sub_epi64(opening, open, opening, _mm512_set1_epi64(-1));
    let stops = _mm512_andnot_si512(text, _mm512_add_epi64(text, begins));
    // The way back: from each first backslash, with the bits in reverse, to the opening quote.
    let between = reversed(_mm512_andnot_si512(opening, text));
    let first = reversed(_mm512_and_si512(stops, backslash));
    let back = _mm512_add_epi64(between, _mm512_add_epi64(first, first));
    let marked = _mm512_and_si512(reversed(_mm512_andnot_si512(between, back)), opening);
    // Strings that reach into a block and have their first backslash there.
    let lowest = _mm512_and_si512(stops, _mm512_sub_epi64(_mm512_setzero_si512(), stops));
    let reaching = _mm512_mask_test_epi64_mask(open, lowest, backslash);
    // The same way back, over the blocks without an opening quote; behind the first block is the place of the last
    // result.
    let begun = _mm512_test_epi64_mask(opening, opening);
    let between = u32::from(!begun.reverse_bits());
    let from = u32::from(reaching.reverse_bits()) << 1;
    let ends = ((between + (from & between)) | from) & !between;
    let last = _mm512_srlv_epi64(_mm512_set1_epi64(i64::MIN), _mm512_lzcnt_epi64(opening));
    let marked = _mm512_mask_or_epi64(marked, (ends as u8).reverse_bits(), marked, last);
    let marked = _mm512_or_si512(load(&masks.spaced.0), marked);
    store(&mut masks.spaced.0, marked);
    u64::from(ends >> GROUP & 1)
}

/// The bits of each word in reverse.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,gfni")]
fn reversed(words: __m512i) -> __m512i {
    let bits = _mm512_gf2p8affine_epi64_epi8::<0>(words, _mm512_set1_epi64(0x8040_2010_0804_0201_u64.cast_signed()));
    let bytes = _mm_setr_epi8(7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8);
    _mm512_shuffle_epi8(bits, _mm512_broadcast_i32x4(bytes))
}

/// The bits of the words, one place further; the first is `before`.
#[inline]
#[target_feature(enable = "avx512f,avx512vbmi2")]
fn behind(words: __m512i, before: u64) -> __m512i {
    let before = _mm512_set1_epi64((before << 63).cast_signed());
    _mm512_shldi_epi64::<1>(words, _mm512_alignr_epi64::<7>(words, before))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::avx512::Avx512;
    use crate::kernel::portable::Portable;
    use crate::kernel::simd::Simd;

    /// Compares the kernel with the portable one, on random blocks.
    fn compare_groups<S: Simd>(simd: S) {
        let mut random = 7_u64;
        let mut next = || {
            random = random.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
            random ^ random >> 32
        };
        let (mut border, mut other_border) = (GroupBorder::default(), GroupBorder::default());
        for round in 0..2000 {
            let seed = b"{}[]:, \t\n\r\"\"  a1\x01\\!#\x80\xFFaaaaaaaaaaaaaaaaaaa";
            let mut blocks = [[0; BLOCK]; GROUP];
            for byte in blocks.as_flattened_mut() {
                *byte = if round % 2 == 0 { next() as u8 } else { seed[next() as usize % seed.len()] };
            }
            let mut backslash = Words::default();
            for word in &mut backslash.0 {
                *word = if next() % 50 == 0 { u64::MAX } else { next() & (next() | next()) & next() };
            }
            let (mut escaped, mut other_escaped) = (Words::default(), Words::default());
            let mut carry = next() & 1;
            let mut other_carry = carry;
            let before = simd.escape_group(&backslash, &mut carry, &mut escaped);
            assert_eq!(before, Portable.escape_group(&backslash, &mut other_carry, &mut other_escaped));
            assert_eq!((escaped, carry), (other_escaped, other_carry));
            let newlines = round % 3 == 0;
            let (mut classes, mut other) = (GroupClasses::default(), GroupClasses::default());
            let unusual = simd.classify_group(&blocks, newlines, &mut classes);
            assert_eq!(Portable.classify_group(&blocks, newlines, &mut other) != 0, unusual != 0);
            assert_eq!(classes, other);
            let (mut masks, mut other_masks) = (GroupMasks::default(), GroupMasks::default());
            let open = border.in_string & 1;
            simd.group_masks(&classes, &escaped, &mut border, &mut masks);
            Portable.group_masks(&classes, &escaped, &mut other_border, &mut other_masks);
            assert_eq!((masks, border), (other_masks, other_border));
            // No byte is a quote and a backslash.
            backslash.0.iter_mut().zip(masks.quotes.0).for_each(|(backslash, quotes)| *backslash &= !quotes);
            let late = simd.mark_group(&mut masks, &backslash, open);
            assert_eq!(late, Portable.mark_group(&mut other_masks, &backslash, open));
            assert_eq!(masks, other_masks);
        }
    }

    #[test]
    fn the_masks_of_a_group_are_those_of_its_blocks() {
        if let Some(simd) = Avx512::detect() {
            compare_groups(simd);
        }
    }
}

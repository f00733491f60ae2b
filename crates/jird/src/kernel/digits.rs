//! Writes eight or sixteen digits at once, with instructions that every CPU of an architecture has.
//!
//! Numbers are divided in parallel lanes: into parts of eight, four, two and one digits, by multiplication with
//! rounded reciprocals.

/// The bound of numbers with sixteen digits.
pub(crate) const SIXTEEN: u64 = EIGHT * EIGHT;

/// The bound of numbers with eight digits.
pub(crate) const EIGHT: u64 = 100_000_000;

/// The digits of `value`, below 10^8, as text with leading zeros, the first digit in the lowest byte. It uses an
/// ordinary register, because for few digits vectors take longer.
#[inline(always)]
pub(crate) fn eight_digits(value: u64) -> u64 {
    debug_assert!(value < EIGHT);
    // 2^40 / 10^4, 2^19 / 100 and 2^10 / 10 rounded up: exact for the number of digits that is divided.
    let high = (value * 109_951_163) >> 40;
    let fours = high | (value - high * 10_000) << 32;
    let high = ((fours * 5_243) >> 19) & 0x7f_0000_007f;
    let twos = high | (fours - high * 100) << 16;
    let high = ((twos * 103) >> 10) & 0x000f_000f_000f_000f;
    high | (twos - high * 10) << 8 | 0x3030_3030_3030_3030
}

/// The digits of `value`, below 10^16, as text with leading zeros, the first digit in the lowest byte. Bit `i` of the
/// second result is set if digit `i` is not zero.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) fn sixteen_digits(value: u64) -> (u128, u32) {
    debug_assert!(value < SIXTEEN);
    // SAFETY: SSE2 is part of the architecture.
    unsafe { sixteen_with_sse2(value) }
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "sse2")]
fn sixteen_with_sse2(value: u64) -> (u128, u32) {
    use core::arch::x86_64::{
        _mm_add_epi64, _mm_cmpeq_epi8, _mm_cvtsi128_si64, _mm_movemask_epi8, _mm_mul_epu32, _mm_mulhi_epu16,
        _mm_mullo_epi16, _mm_or_si128, _mm_set_epi64x, _mm_set1_epi8, _mm_set1_epi16, _mm_set1_epi32, _mm_set1_epi64x,
        _mm_setzero_si128, _mm_slli_epi16, _mm_slli_epi32, _mm_slli_epi64, _mm_srli_epi16, _mm_srli_epi64,
        _mm_sub_epi16, _mm_unpackhi_epi64,
    };
    let eights = _mm_set_epi64x((value % EIGHT).cast_signed(), (value / EIGHT).cast_signed());
    // Each eight digits become two fours, in 32 bits each; the sum is too large by `high * 2^32`, which is shifted
    // out.
    let high = _mm_srli_epi64::<40>(_mm_mul_epu32(eights, _mm_set1_epi64x(109_951_163)));
    let low = _mm_add_epi64(eights, _mm_mul_epu32(high, _mm_set1_epi64x((1 << 32) - 10_000)));
    let fours = _mm_or_si128(high, _mm_slli_epi64::<32>(low));
    // Each four digits become two pairs, in sixteen bits each.
    let high = _mm_srli_epi16::<3>(_mm_mulhi_epu16(fours, _mm_set1_epi32(5_243)));
    let low = _mm_sub_epi16(fours, _mm_mullo_epi16(high, _mm_set1_epi32(100)));
    let pairs = _mm_or_si128(high, _mm_slli_epi32::<16>(low));
    // Each pair becomes two digits: `high + (pair - 10 * high) * 256`.
    let high = _mm_mulhi_epu16(pairs, _mm_set1_epi16(6_554));
    let digits = _mm_sub_epi16(_mm_slli_epi16::<8>(pairs), _mm_mullo_epi16(high, _mm_set1_epi16(10 * 256 - 1)));
    let zeros = _mm_movemask_epi8(_mm_cmpeq_epi8(digits, _mm_setzero_si128())).cast_unsigned();
    let text = _mm_or_si128(digits, _mm_set1_epi8(b'0'.cast_signed()));
    let low = _mm_cvtsi128_si64(text).cast_unsigned();
    let high = _mm_cvtsi128_si64(_mm_unpackhi_epi64(text, text)).cast_unsigned();
    (u128::from(low) | u128::from(high) << 64, !zeros & 0xffff)
}

/// The digits of `value`, below 10^16, as text with leading zeros, the first digit in the lowest byte. Bit `i` of the
/// second result is set if digit `i` is not zero.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
pub(crate) fn sixteen_digits(value: u64) -> (u128, u32) {
    let [high, low] = [value / EIGHT, value % EIGHT].map(eight_digits);
    // The lowest bit of each byte is set if any of its lower four bits is; the multiplication collects these bits in
    // the highest byte.
    let marks = |word: u64| {
        let digits = word & 0x0f0f_0f0f_0f0f_0f0f;
        let ones = (digits + 0x7f7f_7f7f_7f7f_7f7f) >> 7 & 0x0101_0101_0101_0101;
        (ones.wrapping_mul(0x0102_0408_1020_4080) >> 56) as u32
    };
    (u128::from(high) | u128::from(low) << 64, marks(high) | marks(low) << 8)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(value: u64) {
        let text = format!("{value:016}");
        let marks = text.bytes().enumerate().map(|(place, digit)| u32::from(digit != b'0') << place).sum::<u32>();
        let (digits, nonzero) = sixteen_digits(value);
        assert_eq!((&digits.to_le_bytes()[..], nonzero), (text.as_bytes(), marks));
        let eight = value % EIGHT;
        assert_eq!(eight_digits(eight).to_le_bytes(), *format!("{eight:08}").as_bytes());
    }

    #[test]
    fn numbers_of_up_to_sixteen_digits_are_written() {
        (0..100_000).for_each(check);
        (0..EIGHT).step_by(1009).for_each(|low| check(low * EIGHT + EIGHT - 1 - low));
        let mut state = 1_u64;
        for _ in 0..100_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            check(state % SIXTEEN);
            check((state >> 8) % SIXTEEN / 10_u64.pow(state as u32 % 16));
        }
        check(SIXTEEN - 1);
    }
}

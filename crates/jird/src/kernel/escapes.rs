//! Which of sixteen bytes a JSON string cannot hold as they are.
//!
//! Strings are short, and a call for each would cost more than wider registers save: so this is not a part of
//! [`Simd`](super::Simd), but what every CPU of an architecture has.

/// Bytes in a short block.
pub(crate) const SHORT: usize = 16;

/// Bit `i` is set where byte `i` needs an escape: `"`, `\` and all below 0x20.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) fn escapes(block: [u8; SHORT]) -> u32 {
    use core::arch::x86_64::{
        _mm_cmpeq_epi8, _mm_loadu_si128, _mm_max_epu8, _mm_movemask_epi8, _mm_or_si128, _mm_set1_epi8,
    };
    // SAFETY: SSE2 is part of the architecture, and the load reads the sixteen bytes of the array.
    unsafe {
        let bytes = _mm_loadu_si128(block.as_ptr().cast());
        let control = _mm_set1_epi8(0x1f);
        let quote = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(b'"'.cast_signed()));
        let backslash = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(b'\\'.cast_signed()));
        let below = _mm_cmpeq_epi8(_mm_max_epu8(bytes, control), control);
        _mm_movemask_epi8(_mm_or_si128(_mm_or_si128(quote, backslash), below)).cast_unsigned()
    }
}

/// Bit `i` is set where byte `i` needs an escape: `"`, `\` and all below 0x20.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
pub(crate) fn escapes(block: [u8; SHORT]) -> u32 {
    let bit = |(index, &byte): (usize, &u8)| u32::from((byte < 0x20) | (byte == b'"') | (byte == b'\\')) << index;
    // The compiler makes vector comparisons of the first loop; most blocks end there.
    let needs = |hits, &byte: &u8| hits | u8::from((byte < 0x20) | (byte == b'"') | (byte == b'\\'));
    if block.iter().fold(0, needs) == 0 { 0 } else { block.iter().enumerate().map(bit).sum() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_byte_is_judged_at_each_place() {
        for byte in 0..=255_u8 {
            for place in 0..SHORT {
                let mut block = [b'a'; SHORT];
                block[place] = byte;
                let wanted = u32::from(byte < 0x20 || byte == b'"' || byte == b'\\') << place;
                assert_eq!(escapes(block), wanted, "{byte:#x} at {place}");
            }
        }
    }
}

//! Finds the bytes, among sixteen, that a JSON string cannot hold unescaped.
//!
//! Strings are short, and a call for each would cost more than wider registers save. So this is not a part of
//! [`Simd`](super::Simd), but uses instructions that every CPU of an architecture has.

/// Bytes in a short block.
pub(crate) const SHORT: usize = 16;

/// Bit `i` is set if byte `i` needs an escape: `"`, `\` and all bytes below 0x20.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) fn escapes(block: [u8; SHORT]) -> u32 {
    // SAFETY: SSE2 is part of the architecture.
    unsafe { core::arch::x86_64::_mm_movemask_epi8(marks(block)).cast_unsigned() }
}

/// Whether any of these bytes needs an escape.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) fn any_escapes(a: [u8; SHORT], b: [u8; SHORT], c: [u8; SHORT], d: [u8; SHORT]) -> bool {
    use core::arch::x86_64::{_mm_movemask_epi8, _mm_or_si128};
    // SAFETY: SSE2 is part of the architecture.
    unsafe { _mm_movemask_epi8(_mm_or_si128(_mm_or_si128(marks(a), marks(b)), _mm_or_si128(marks(c), marks(d)))) != 0 }
}

/// All ones in each byte that needs an escape.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "sse2")]
fn marks(block: [u8; SHORT]) -> core::arch::x86_64::__m128i {
    use core::arch::x86_64::{_mm_cmpeq_epi8, _mm_loadu_si128, _mm_max_epu8, _mm_or_si128, _mm_set1_epi8};
    // SAFETY: the load reads the sixteen bytes of the array.
    let bytes = unsafe { _mm_loadu_si128(block.as_ptr().cast()) };
    let control = _mm_set1_epi8(0x1f);
    let quote = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(b'"'.cast_signed()));
    let backslash = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(b'\\'.cast_signed()));
    let below = _mm_cmpeq_epi8(_mm_max_epu8(bytes, control), control);
    _mm_or_si128(_mm_or_si128(quote, backslash), below)
}

/// Bit `i` is set if byte `i` needs an escape: `"`, `\` and all bytes below 0x20.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
pub(crate) fn escapes(block: [u8; SHORT]) -> u32 {
    // Most blocks have no such byte.
    if !any(block) {
        return 0;
    }
    block.iter().enumerate().map(|(index, &byte)| u32::from(needs(byte)) << index).sum()
}

/// Whether any of these bytes needs an escape.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
pub(crate) fn any_escapes(a: [u8; SHORT], b: [u8; SHORT], c: [u8; SHORT], d: [u8; SHORT]) -> bool {
    any(a) | any(b) | any(c) | any(d)
}

/// The compiler turns this loop into vector comparisons.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn any(block: [u8; SHORT]) -> bool {
    block.iter().fold(0, |hits, &byte| hits | u8::from(needs(byte))) != 0
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
#[expect(clippy::needless_bitwise_bool, reason = "branches would keep the loops from becoming vectors")]
fn needs(byte: u8) -> bool {
    (byte < 0x20) | (byte == b'"') | (byte == b'\\')
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
                let plain = [b'z'; SHORT];
                let blocks = [(block, plain, plain, plain), (plain, block, plain, plain), (plain, plain, block, plain)];
                for (a, b, c, d) in blocks.into_iter().chain([(plain, plain, plain, block)]) {
                    assert_eq!(any_escapes(a, b, c, d), wanted != 0, "{byte:#x} at {place}");
                }
            }
        }
    }
}

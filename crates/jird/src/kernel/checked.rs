//! Turns bytes that were checked into text.

use super::simd::{BLOCK, Simd};
use super::{Kernel, Pass};

/// The bytes as `str`. Builds that check unchecked accesses check the bytes too.
///
/// # Safety
/// `bytes` must be UTF-8.
#[inline(always)]
pub(crate) unsafe fn trusted_str(bytes: &[u8]) -> &str {
    if cfg!(any(debug_assertions, jird_checked)) {
        return core::str::from_utf8(bytes).expect("pass one found this to be UTF-8");
    }
    // SAFETY: the caller guarantees UTF-8.
    unsafe { core::str::from_utf8_unchecked(bytes) }
}

/// The bytes as `str`, if they are UTF-8. For short text: a loop over sixteen bytes at a time finds most of it to be
/// ASCII, without the set-up that the standard library's check has.
#[inline]
pub(crate) fn as_utf8(bytes: &[u8]) -> Option<&str> {
    const HIGH_BITS: u128 = u128::from_ne_bytes([0x80; 16]);
    let (sixteens, _) = bytes.as_chunks::<16>();
    let is_ascii = match bytes.last_chunk() {
        Some(last) => {
            let high = |all, sixteen: &[u8; 16]| all | u128::from_ne_bytes(*sixteen);
            sixteens.iter().fold(u128::from_ne_bytes(*last), high) & HIGH_BITS == 0
        }
        None => bytes.iter().fold(0, |all, byte| all | byte) < 0x80,
    };
    let is_utf8 = is_ascii || bytes.len() >= LONG && Kernel::best().enter(IsUtf8(bytes));
    if !is_utf8 {
        return core::str::from_utf8(bytes).ok();
    }
    // SAFETY: no byte has its high bit, and ASCII is UTF-8; or the check found the bytes to be UTF-8.
    Some(unsafe { trusted_str(bytes) })
}

/// From this length on, text beyond ASCII is checked 64 bytes at a time: on an Intel Xeon (Granite Rapids), 300 texts of
/// tweets then take 2 instead of 17 µs.
const LONG: usize = 16;

/// Whether the bytes are UTF-8.
struct IsUtf8<'a>(&'a [u8]);

impl Pass for IsUtf8<'_> {
    type Out = bool;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> bool {
        let (blocks, rest) = self.0.as_chunks::<BLOCK>();
        let rest = simd.load_rest(rest);
        let mut state = simd.utf8_start();
        let mut before = &[b' '; BLOCK];
        // The spaces after the end show a character that the end cuts off.
        for block in blocks.iter().chain([&rest]) {
            simd.utf8_check(&mut state, before, simd.load(block));
            before = block;
        }
        simd.utf8_ok(&state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use checks::random::Random;

    #[test]
    fn text_is_utf8_exactly_if_the_standard_library_says_so() {
        const PARTS: [&[u8]; 9] = [
            b"a",
            b"bcdefgh",
            "\u{e9}".as_bytes(),
            "\u{20ac}".as_bytes(),
            "\u{10ffff}".as_bytes(),
            b"\xC3",
            b"\xE2\x82",
            b"\xA0",
            b"\xED\xA0\x80",
        ];
        let mut random = Random::new(7);
        let mut right = 0;
        for round in 0..if cfg!(miri) { 200 } else { 40_000 } {
            let kinds = if round % 2 == 0 { 5 } else { PARTS.len() };
            let text: Vec<u8> = (0..random.below(90)).flat_map(|_| PARTS[random.below(kinds)]).copied().collect();
            let cut = &text[..text.len() - random.below(3).min(text.len())];
            assert_eq!(as_utf8(cut), core::str::from_utf8(cut).ok(), "{cut:?}");
            for kernel in Kernel::available() {
                assert_eq!(kernel.enter(IsUtf8(cut)), core::str::from_utf8(cut).is_ok(), "{kernel:?} {cut:?}");
            }
            right += usize::from(as_utf8(cut).is_some());
        }
        assert!(cfg!(miri) || right > 10_000 && right < 35_000, "{right}");
    }
}

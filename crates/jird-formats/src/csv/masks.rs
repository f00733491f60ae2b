//! Finds the marks in 64 bytes, without intrinsics, in loops that compilers turn into vector instructions.

/// Bytes in a block, and bits in a mask.
pub(super) const BLOCK: usize = 64;

/// The bytes to search for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Marks {
    pub(super) delimiter: u8,
    pub(super) ends: [u8; 2],
    /// Searched for only if there are quotes.
    pub(super) quote: u8,
    pub(super) has_quotes: bool,
}

impl Marks {
    /// Two masks: where a field or a record may end, and where the quotes are. Bit 0 is the first byte.
    #[inline(always)]
    #[expect(clippy::needless_bitwise_bool, reason = "all bytes are looked at in the same way: as a vector")]
    pub(super) fn of(self, block: &[u8; BLOCK]) -> (u64, u64) {
        let Self { delimiter, ends: [end, other], quote, has_quotes } = self;
        let marks = mask(block, |byte| (byte == delimiter) | (byte == end) | (byte == other));
        let quotes = if has_quotes { mask(block, |byte| byte == quote) } else { 0 };
        (marks, quotes)
    }
}

/// A mask with a bit for each byte for which `is` is true.
#[inline(always)]
fn mask(block: &[u8; BLOCK], is: impl Fn(u8) -> bool) -> u64 {
    let mut found = [0_u8; BLOCK];
    for (found, &byte) in found.iter_mut().zip(block) {
        *found = if is(byte) { 0xff } else { 0 };
    }
    let (words, _) = found.as_chunks::<8>();
    let mut mask = 0;
    for (index, &word) in words.iter().enumerate() {
        // Each byte keeps a bit of its own, and the highest byte of the product is the sum of all of them.
        let bits = u64::from_le_bytes(word) & 0x8040_2010_0804_0201;
        mask |= (bits.wrapping_mul(0x0101_0101_0101_0101) >> 56) << (8 * index);
    }
    mask
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mask_has_a_bit_for_each_mark() {
        let marks = Marks { delimiter: 0, ends: [b'\n', b'\r'], quote: b'"', has_quotes: true };
        for at in 0..BLOCK {
            let mut block = [0x80; BLOCK];
            for (byte, wanted) in [(0, (1, 0)), (b'\n', (1, 0)), (b'\r', (1, 0)), (b'"', (0, 1)), (b',', (0, 0))] {
                block[at] = byte;
                assert_eq!(marks.of(&block), (wanted.0 << at, wanted.1 << at));
            }
        }
        assert_eq!(marks.of(&[0; BLOCK]), (u64::MAX, 0));
    }
}

//! Eight digits in one machine word.
//!
//! A word holds eight bytes of text, the first in its lowest byte, each XORed with `'0'`: a digit is then its value,
//! and any other byte is above 9. A word filled up with zeros at its *low* end is a number with leading zeros, so
//! fewer than eight digits are moved to the high end and then treated as eight.
//!
//! ```text
//! text      "5 7 3"          low byte first
//! loaded    [5 7 3 ? ? ? ? ?]
//! moved up  [0 0 0 0 0 5 7 3]   = 573
//! ```

/// `'0'` in every byte.
const ZEROS: u64 = 0x3030_3030_3030_3030;
/// What a point becomes in a word.
const POINT: u8 = b'.' ^ b'0';

/// Eight bytes of text, as digits.
#[derive(Clone, Copy)]
pub(super) struct Word(u64);

impl Word {
    /// The eight bytes from `at`, which the caller knows to be there.
    #[inline(always)]
    pub(super) fn load(text: &[u8], at: usize) -> Self {
        let bytes: [u8; 8] = text[at..at + 8].try_into().expect("a range of eight");
        Self(u64::from_le_bytes(bytes) ^ ZEROS)
    }

    /// The bytes from `at`; those beyond the end of `text`, if it ends sooner than eight bytes on, are no digits.
    #[inline(always)]
    pub(super) fn load_head(text: &[u8], at: usize) -> Self {
        match text.get(at..).and_then(<[u8]>::first_chunk::<8>) {
            Some(bytes) => Self(u64::from_le_bytes(*bytes) ^ ZEROS),
            None => Self::load_short(text.get(at..).unwrap_or_default()),
        }
    }

    /// Fewer than eight bytes: two loads that overlap, instead of a loop.
    #[inline(always)]
    fn load_short(text: &[u8]) -> Self {
        let len = text.len();
        let loaded = match (text.first_chunk::<4>(), text.last_chunk::<4>()) {
            (Some(&low), Some(&high)) => {
                u64::from(u32::from_le_bytes(low)) | u64::from(u32::from_le_bytes(high)) << (8 * (len & 7) - 32)
            }
            _ if len == 0 => 0,
            _ => {
                let middle = len / 2;
                u64::from(text[0])
                    | u64::from(text[middle]) << (8 * middle)
                    | u64::from(text[len - 1]) << (8 * (len - 1))
            }
        };
        Self(loaded ^ ZEROS)
    }

    /// Only the first `len` (1..=8) bytes, moved to the high end.
    #[inline(always)]
    pub(super) fn first(self, len: usize) -> Self {
        Self(self.0 << (64_usize.wrapping_sub(8 * len) & 63))
    }

    /// Only the last `len` (1..=8) bytes, where they are.
    #[inline(always)]
    pub(super) fn last(self, len: usize) -> Self {
        Self(self.0 & u64::MAX << (64_usize.wrapping_sub(8 * len) & 63))
    }

    /// The high bit of every byte that is no digit; exact in every byte.
    #[inline(always)]
    pub(super) fn nondigits(self) -> u64 {
        // No byte's sum reaches the next byte: 0x7f + 0x76 < 0x100.
        (((self.0 & 0x7f7f_7f7f_7f7f_7f7f) + 0x7676_7676_7676_7676) | self.0) & 0x8080_8080_8080_8080
    }

    /// How many digits stand before the first byte that is none, 0..=8.
    #[inline(always)]
    pub(super) fn digits(self) -> usize {
        self.nondigits().trailing_zeros() as usize / 8
    }

    /// True if byte `index` (0..8) is a point.
    #[inline(always)]
    pub(super) fn is_point(self, index: usize) -> bool {
        (self.0 >> (8 * (index & 7))) as u8 == POINT
    }

    /// True if byte `index` (0..8) is the digit zero.
    #[inline(always)]
    pub(super) fn is_zero(self, index: usize) -> bool {
        (self.0 >> (8 * (index & 7))) as u8 == 0
    }

    /// Without byte `index` (0..8): what was before it moves up by one, and a zero comes in.
    #[inline(always)]
    pub(super) fn without(self, index: usize) -> Self {
        let above = (u64::MAX << 8) << (8 * (index & 7));
        let below = !(u64::MAX << (8 * (index & 7)));
        Self((self.0 & below) << 8 | self.0 & above)
    }

    /// The number that the eight digits make. Meaningless if one is no digit.
    #[inline(always)]
    pub(super) fn value(self) -> u64 {
        // Pairs, then fours, then all: each multiplication adds a byte's ten-, hundred-, ten-thousandfold to its
        // neighbour. (Mula's trick, as simdjson and `core` have it.)
        const PAIRS: u64 = 1 + (10 << 8);
        const FOURS: u64 = 1 + (100 << 16);
        const EIGHT: u64 = 1 + (10_000 << 32);
        let pairs = (self.0.wrapping_mul(PAIRS) >> 8) & 0x00ff_00ff_00ff_00ff;
        let fours = (pairs.wrapping_mul(FOURS) >> 16) & 0x0000_ffff_0000_ffff;
        fours.wrapping_mul(EIGHT) >> 32
    }
}

/// Where the digits that start at `at` end: the first byte in `at..text.len()` that is no digit, or `text.len()`.
#[inline]
pub(super) fn digits_end(text: &[u8], mut at: usize) -> usize {
    while let Some(bytes) = text.get(at..).and_then(<[u8]>::first_chunk::<8>) {
        let digits = Word(u64::from_le_bytes(*bytes) ^ ZEROS).digits();
        at += digits;
        if digits < 8 {
            return at;
        }
    }
    while text.get(at).is_some_and(u8::is_ascii_digit) {
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_finds_every_byte_that_is_no_digit() {
        for byte in 0..=255_u8 {
            for index in 0..8 {
                let mut bytes = *b"01234589";
                bytes[index] = byte;
                let expected = if byte.is_ascii_digit() { 0 } else { 0x80 << (8 * index) };
                assert_eq!(Word::load(&bytes, 0).nondigits(), expected, "{byte:#x} at {index}");
            }
        }
        assert_eq!(Word::load(&[0xff; 8], 0).nondigits(), 0x8080_8080_8080_8080);
    }

    #[test]
    fn a_word_of_any_length_has_the_value_of_its_digits() {
        let digits = b"90817263";
        for len in 1..=8 {
            let expected: u64 = std::str::from_utf8(&digits[..len]).unwrap().parse().unwrap();
            assert_eq!(Word::load(digits, 0).first(len).value(), expected);
            assert_eq!(Word::load_head(&digits[..len], 0).first(len).value(), expected);
            let expected: u64 = std::str::from_utf8(&digits[8 - len..]).unwrap().parse().unwrap();
            assert_eq!(Word::load(digits, 0).last(len).value(), expected);
        }
        for index in 0..8 {
            let mut expected = digits.to_vec();
            expected.remove(index);
            let expected: u64 = String::from_utf8(expected).unwrap().parse().unwrap();
            assert_eq!(Word::load(digits, 0).without(index).value(), expected);
        }
    }

    #[test]
    fn a_short_load_has_no_digits_beyond_the_end() {
        for len in 0..8 {
            let word = Word::load_head(&b"x1234567"[..=len], 1);
            assert_eq!(word.digits(), len);
            assert_eq!(word.nondigits().count_ones() as usize, 8 - len);
        }
    }

    #[test]
    fn the_end_of_digits_is_found_at_every_length() {
        for len in 0..40 {
            let mut text = vec![b'7'; len];
            assert_eq!(digits_end(&text, 0), len);
            text.extend(b".12345678901234567");
            assert_eq!(digits_end(&text, 0), len);
            assert_eq!(digits_end(&text, len), len);
        }
    }
}

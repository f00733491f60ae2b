//! Eight digits in one machine word.
//!
//! A word holds eight bytes of text, the first in its lowest byte, each combined by XOR with `'0'`: a digit is then
//! its value, and any other byte is above 9. A word filled up with zeros at its *low* end is a number with leading
//! zeros. So fewer than eight digits are moved to the high end and then treated as eight.
//!
//! ```text
//! text      "5 7 3"          low byte first
//! loaded    [5 7 3 ? ? ? ? ?]
//! moved up  [0 0 0 0 0 5 7 3]   = 573
//! ```

#![allow(unsafe_code, reason = "one load without a bounds check, for callers that have made it")]

/// `'0'` in every byte.
const ZEROS: u64 = 0x3030_3030_3030_3030;
/// The value of a decimal point in a word.
const POINT: u8 = b'.' ^ b'0';

/// Eight bytes of text, as digits.
#[derive(Clone, Copy)]
pub(super) struct Word(u64);

impl Word {
    /// Bytes in a word.
    pub(super) const LEN: usize = 8;

    /// The eight bytes from `at`.
    ///
    /// # Panics
    ///
    /// If they are not all in `text`.
    #[inline(always)]
    pub(super) fn load(text: &[u8], at: usize) -> Self {
        let bytes: [u8; 8] = text[at..at + 8].try_into().expect("a range of eight");
        Self(u64::from_le_bytes(bytes) ^ ZEROS)
    }

    /// The eight bytes from `at`.
    ///
    /// # Safety
    ///
    /// `at + 8 <= text.len()`. Checked in debug builds and under `jird_checked`.
    #[inline(always)]
    pub(super) unsafe fn load_unchecked(text: &[u8], at: usize) -> Self {
        if cfg!(any(debug_assertions, jird_checked)) {
            return Self::load(text, at);
        }
        // SAFETY: the caller's duty puts all eight bytes in `text`; an array of bytes has no alignment.
        let bytes = unsafe { text.as_ptr().add(at).cast::<[u8; 8]>().read() };
        Self(u64::from_le_bytes(bytes) ^ ZEROS)
    }

    /// The first eight bytes of `text`. If it is shorter, the missing bytes count as non-digits.
    #[inline(always)]
    pub(super) fn load_head(text: &[u8]) -> Self {
        match text.first_chunk::<8>() {
            Some(bytes) => Self(u64::from_le_bytes(*bytes) ^ ZEROS),
            None => Self::load_short(text),
        }
    }

    /// Loads fewer than eight bytes, with two overlapping loads instead of a loop.
    #[inline(always)]
    pub(super) fn load_short(text: &[u8]) -> Self {
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

    /// Keeps the bits that are set in `mask`, and clears the others.
    #[inline(always)]
    pub(super) fn only(self, mask: u64) -> Self {
        Self(self.0 & mask)
    }

    /// The high bit of every byte that is not a digit; bytes before the first such byte are never marked. The mask is
    /// exact if all bytes are ASCII. After a byte beyond ASCII a digit may be marked too, but a byte that is not a
    /// digit is always marked.
    #[inline(always)]
    pub(super) fn nondigits(self) -> u64 {
        // The sum for a digit stays below 0x80. Only a byte from 0x8a on carries into the next byte, and it has its
        // own bit already.
        (self.0.wrapping_add(0x7676_7676_7676_7676) | self.0) & 0x8080_8080_8080_8080
    }

    /// The number of digits before the first byte that is not a digit, 0..=8.
    #[inline(always)]
    pub(super) fn digits(self) -> usize {
        self.nondigits().trailing_zeros() as usize / 8
    }

    /// True if byte `index` (0..8) is a point.
    #[inline(always)]
    pub(super) fn is_point(self, index: u32) -> bool {
        (self.0 >> (8 * (index & 7))) as u8 == POINT
    }

    /// True if byte `index` (0..8) is the digit zero.
    #[inline(always)]
    pub(super) fn is_zero(self, index: u32) -> bool {
        (self.0 >> (8 * (index & 7))) as u8 == 0
    }

    /// Not zero if a byte is not a digit. Given that all bytes are from a checked number, a point or a sign has one
    /// bit set, and `e` and `E` have more. As digits, `+ - . E e` are 0x1b, 0x1d, 0x1e, 0x75 and 0x55; 0 to 9 leave
    /// the upper four bits empty.
    #[inline(always)]
    pub(super) fn others(self) -> u64 {
        self.0 & 0xf0f0_f0f0_f0f0_f0f0
    }

    /// True if one of the bytes is an `e` or `E`. Given that all bytes are from a checked number, only these have that
    /// bit.
    #[inline(always)]
    pub(super) fn has_exponent(self) -> bool {
        self.0 & 0x4040_4040_4040_4040 != 0
    }

    /// The first `len` (1..=8) bytes, the first one in the highest place: of two words of digits, the greater one is
    /// the greater number.
    #[inline(always)]
    pub(super) fn in_order(self, len: usize) -> u64 {
        self.first(len).0.swap_bytes()
    }

    /// The bits of both words.
    #[inline(always)]
    pub(super) fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Removes the byte at `index`: the bytes before it move up by one, and a zero comes in at the low end.
    #[inline(always)]
    pub(super) fn without(self, index: usize) -> Self {
        // The masks come from a table, because computing them takes twice as many instructions as using them.
        let (below, above) = AROUND[index];
        Self((self.0 & below) << 8 | self.0 & above)
    }

    /// The number that the eight digits form. Meaningless if a byte is not a digit.
    #[inline(always)]
    pub(super) fn value(self) -> u64 {
        // First pairs, then fours, then all eight: each multiplication adds ten, a hundred or ten thousand times a
        // part to its neighbour. (Mula's trick, as in simdjson and `core`.)
        const PAIRS: u64 = 1 + (10 << 8);
        const FOURS: u64 = 1 + (100 << 16);
        const EIGHT: u64 = 1 + (10_000 << 32);
        let pairs = (self.0.wrapping_mul(PAIRS) >> 8) & 0x00ff_00ff_00ff_00ff;
        let fours = (pairs.wrapping_mul(FOURS) >> 16) & 0x0000_ffff_0000_ffff;
        fours.wrapping_mul(EIGHT) >> 32
    }
}

/// Indexed by byte: all bytes of a word below it, and all bytes above it. A constant is placed in the crate that uses
/// it, and its address needs no load.
const AROUND: &[(u64, u64); 8] = &{
    let mut around = [(0, 0); 8];
    let mut index = 0;
    while index < 8 {
        let from = u64::MAX << (8 * index);
        around[index] = (!from, from << 8);
        index += 1;
    }
    around
};

/// The same with four bytes, for a remainder of at most four: one multiplication less, and constants of half the
/// length.
#[derive(Clone, Copy)]
pub(super) struct HalfWord(u32);

impl HalfWord {
    /// Bytes in a half-word.
    pub(super) const LEN: usize = 4;
    /// Four zero digits.
    pub(super) const ZERO: Self = Self(0);

    /// The four bytes from `at`.
    ///
    /// # Safety
    ///
    /// `at + 4 <= text.len()`. Checked in debug builds and under `jird_checked`.
    #[inline(always)]
    pub(super) unsafe fn load_unchecked(text: &[u8], at: usize) -> Self {
        if cfg!(any(debug_assertions, jird_checked)) {
            assert!(text.get(at..).is_some_and(|text| text.len() >= Self::LEN));
        }
        // SAFETY: the caller's duty puts all four bytes in `text`; an array of bytes has no alignment.
        let bytes = unsafe { text.as_ptr().add(at).cast::<[u8; 4]>().read() };
        Self(u32::from_le_bytes(bytes) ^ ZEROS as u32)
    }

    /// As [`Word::only`].
    #[inline(always)]
    pub(super) fn only(self, mask: u32) -> Self {
        Self(self.0 & mask)
    }

    /// These four bytes, followed by four zero digits.
    #[inline(always)]
    pub(super) fn wide(self) -> Word {
        Word(u64::from(self.0))
    }

    /// The number that the four digits form. Meaningless if a byte is not a digit.
    #[inline(always)]
    pub(super) fn value(self) -> u32 {
        let pairs = (self.0.wrapping_mul(1 + (10 << 8)) >> 8) & 0x00ff_00ff;
        pairs.wrapping_mul(1 + (100 << 16)) >> 16
    }
}

/// The byte at `at`.
///
/// # Safety
///
/// `at < text.len()`. Checked in debug builds and under `jird_checked`.
#[inline(always)]
pub(super) unsafe fn byte_unchecked(text: &[u8], at: usize) -> u8 {
    if cfg!(any(debug_assertions, jird_checked)) {
        return text[at];
    }
    // SAFETY: the caller guarantees `at < text.len()`.
    unsafe { *text.get_unchecked(at) }
}

/// The end of the digits that start at `at`: the first byte in `at..text.len()` that is not a digit, or `text.len()`.
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
                let found = Word::load(&bytes, 0).nondigits();
                let exact = if byte.is_ascii() { u64::MAX } else { u64::MAX >> (56 - 8 * index) };
                assert_eq!(found & exact, expected, "{byte:#x} at {index}");
                // SAFETY: `load_unchecked` reads the eight bytes from the first one on.
                assert_eq!(unsafe { Word::load_unchecked(&bytes, 0) }.nondigits(), found);
                // A byte that is not a digit after such a byte is still found.
                bytes[7] = b'.';
                assert_eq!(Word::load(&bytes, 0).nondigits() >> 63, 1);
            }
        }
        assert_eq!(Word::load(&[0xff; 8], 0).nondigits(), 0x8080_8080_8080_8080);
    }

    #[test]
    fn the_marks_of_a_number_are_its_bytes_that_are_no_digits() {
        for byte in *b"0123456789+-.eE" {
            for index in 0..8 {
                let mut bytes = *b"01234589";
                bytes[index] = byte;
                let word = Word::load(&bytes, 0);
                let bits = word.others().count_ones();
                assert_eq!(bits == 1, matches!(byte, b'+' | b'-' | b'.'));
                assert_eq!(bits > 1, matches!(byte, b'e' | b'E'));
                assert!(bits == 0 || word.others().trailing_zeros() / 8 == index as u32);
                // SAFETY: `load_unchecked` reads the four bytes from the first one on.
                let half = unsafe { HalfWord::load_unchecked(&bytes, 0) };
                assert_eq!(half.wide().others(), word.others() & 0xffff_ffff);
                assert_eq!(word.others() == 0, byte.is_ascii_digit());
            }
        }
    }

    #[test]
    fn a_word_of_any_length_has_the_value_of_its_digits() {
        let digits = b"90817263";
        for len in 1..=8 {
            let expected: u64 = std::str::from_utf8(&digits[..len]).unwrap().parse().unwrap();
            assert_eq!(Word::load(digits, 0).first(len).value(), expected);
            assert_eq!(Word::load_head(&digits[..len]).first(len).value(), expected);
            let expected: u64 = std::str::from_utf8(&digits[8 - len..]).unwrap().parse().unwrap();
            assert_eq!(Word::load(digits, 0).only(u64::MAX << (64 - 8 * len)).value(), expected);
        }
        for len in 1..=4 {
            let expected: u32 = std::str::from_utf8(&digits[8 - len..]).unwrap().parse().unwrap();
            // SAFETY: these are the last four bytes.
            let half = unsafe { HalfWord::load_unchecked(digits, 4) };
            assert_eq!(half.only(u32::MAX << (32 - 8 * len)).value(), expected);
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
            let word = Word::load_head(&b"1234567"[..len]);
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

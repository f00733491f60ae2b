//! Four hexadecimal digits to a UTF-16 code unit, and on to UTF-8.
//!
//! There is a table for each of the four places. It gives the bits that a digit at this place contributes to the three
//! bytes of UTF-8 that hold sixteen bits. So four loads and three ORs make a character, and one test of the sign checks
//! all four digits. (The tables and the use of the sign come from purplesyringa, "I sped up `serde_json` strings by
//! 20%", sections "Punching out" and "Shifts"; that article uses two tables, and takes the bits of the number apart
//! again.)
//!
//! ```text
//! digits    aaaa bbbb cccc dddd
//! bytes     1110aaaa 10bbbbcc 10ccdddd     the first lowest
//! ```

/// The bits of a digit at each of the four places; negative for a byte that is not a digit.
static PLACES: [[i32; 256]; 4] = {
    let mut places = [[i32::MIN; 256]; 4];
    let mut value = 0;
    while value < 16 {
        let (_, digit) = b"0123456789abcdef".split_at(value as usize);
        let bytes = [0x80_80e0 | value, value << 10, (value >> 2) << 8 | (value & 3) << 20, value << 16];
        let mut place = 0;
        while place < 4 {
            places[place][digit[0] as usize] = bytes[place];
            places[place][digit[0].to_ascii_uppercase() as usize] = bytes[place];
            place += 1;
        }
        value += 1;
    }
    places
};

/// A UTF-16 code unit, kept as the three bytes of UTF-8 that hold sixteen bits, with the first byte lowest.
#[derive(Clone, Copy)]
pub(super) struct Unit(u32);

impl Unit {
    /// The code unit that the four digits denote; `None` if one of them is not a digit.
    #[inline(always)]
    pub(super) fn read(digits: [u8; 4]) -> Option<Self> {
        let [a, b, c, d] = digits.map(usize::from);
        let bytes = PLACES[0][a] | PLACES[1][b] | PLACES[2][c] | PLACES[3][d];
        u32::try_from(bytes).ok().map(Self)
    }

    /// Its sixteen bits.
    #[inline(always)]
    pub(super) fn bits(self) -> u32 {
        (self.0 & 0xf) << 12 | (self.0 >> 8 & 0x3f) << 6 | self.0 >> 16 & 0x3f
    }

    /// Whether it is a surrogate, one half of a pair.
    #[inline(always)]
    pub(super) fn is_surrogate(self) -> bool {
        self.0 & 0x200f == 0x200d
    }

    /// The UTF-8 of the character, the first byte lowest, and its length in bytes. Not for surrogates.
    #[inline(always)]
    pub(super) fn utf8(self) -> (u32, usize) {
        if self.0 & 0x200f != 0 {
            return (self.0, 3);
        }
        // The bytes are 10bbbbcc 10ccdddd, and the first `b` is zero, so the character is below 0x800.
        let two = self.0 >> 8;
        if two & 0x3e == 0 { (two << 6 & 0x40 | two >> 8 & 0x3f, 1) } else { (two | 0x40, 2) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exactly_the_hexadecimal_digits_have_a_value() {
        for byte in 0..=255_u8 {
            let value = char::from(byte).to_digit(16).filter(|_| byte.is_ascii());
            for place in 0..4 {
                let mut digits = *b"0000";
                digits[place] = byte;
                let expected = value.map(|value| value << (12 - 4 * place));
                assert_eq!(Unit::read(digits).map(Unit::bits), expected, "{byte:#x} at {place}");
            }
        }
    }

    #[test]
    fn every_unit_is_told_from_surrogates_and_written_as_the_library_does() {
        for bits in 0..=0xffff_u32 {
            let unit = Unit::read(format!("{bits:04x}").into_bytes().try_into().unwrap()).unwrap();
            assert_eq!(unit.bits(), bits);
            assert_eq!(unit.is_surrogate(), (0xd800..0xe000).contains(&bits), "{bits:x}");
            if let Some(char) = char::from_u32(bits) {
                let mut bytes = [0; 4];
                let len = char.encode_utf8(&mut bytes).len();
                assert_eq!(unit.utf8(), (u32::from_le_bytes(bytes), len), "{bits:x}");
            }
        }
    }
}

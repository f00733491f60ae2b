//! Detects the encoding of a text whose first bytes show that it is not plain UTF-8.

use core::fmt;

/// The encoding of a text that is not plain UTF-8, as [an error](crate::Error::encoding) says. JSON between systems is UTF-8 without a byte
/// order mark (RFC 8259 §8.1), and the engine reads nothing else. `Display` says what to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Encoding {
    /// UTF-8 after a byte order mark, which is three bytes long.
    Utf8WithMark,
    /// UTF-16, the lower byte of each unit first.
    Utf16LittleEndian,
    /// UTF-16, the higher byte of each unit first.
    Utf16BigEndian,
    /// UTF-32, the lowest byte of each character first.
    Utf32LittleEndian,
    /// UTF-32, the highest byte of each character first.
    Utf32BigEndian,
}

/// The number of bytes that [`encoding_of`] looks at.
pub(crate) const ENCODING_BYTES: usize = 4;

/// The encoding that the first four bytes of `text` show: by a byte order mark, or by the position of zeros in two
/// ASCII characters of UTF-16 or one of UTF-32 (RFC 4627 §3). `None` for anything else, and so for every text that is
/// JSON.
pub(crate) fn encoding_of(text: &[u8]) -> Option<Encoding> {
    match text {
        [0xEF, 0xBB, 0xBF, ..] => Some(Encoding::Utf8WithMark),
        [0xFF, 0xFE, 0, 0, ..] | [1..=255, 0, 0, 0, ..] => Some(Encoding::Utf32LittleEndian),
        [0, 0, 0xFE, 0xFF, ..] | [0, 0, 0, 1..=255, ..] => Some(Encoding::Utf32BigEndian),
        [0xFF, 0xFE, ..] | [1..=255, 0, 1..=255, 0, ..] => Some(Encoding::Utf16LittleEndian),
        [0xFE, 0xFF, ..] | [0, 1..=255, 0, 1..=255, ..] => Some(Encoding::Utf16BigEndian),
        _ => None,
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Self::Utf8WithMark => {
                return f.write_str("the text begins with a UTF-8 byte order mark; remove these three bytes");
            }
            Self::Utf16LittleEndian => "UTF-16, little endian",
            Self::Utf16BigEndian => "UTF-16, big endian",
            Self::Utf32LittleEndian => "UTF-32, little endian",
            Self::Utf32BigEndian => "UTF-32, big endian",
        };
        write!(f, "the text looks like {name}; convert it to UTF-8")
    }
}

//! How a text begins: with a byte order mark, or in another encoding than UTF-8.
//!
//! JSON and CSV are read as UTF-8. RFC 8259 section 8.1 lets a reader pass over a byte order mark at the very start of a text,
//! and this one does, whatever is done with the text: the mark is blanked, so that offsets and columns still count its three bytes.
//! UTF-16 and UTF-32 are not read. They are recognised, so that a message can name them.

use core::fmt;
use std::io::{self, Read};

/// The byte order mark of UTF-8, which some programs put before a text.
pub const MARK: &[u8] = b"\xef\xbb\xbf";

/// Puts blanks in the place of a mark that `start`, the first bytes of a JSON text, begins with. Returns whether there was one.
pub fn blank_mark(start: &mut [u8]) -> bool {
    let is_marked = start.starts_with(MARK);
    if is_marked {
        start[..MARK.len()].fill(b' ');
    }
    is_marked
}

/// The same for a piece of a text that is known to begin with a mark: `bytes` stand at `offset` in it.
pub fn blank_mark_at(bytes: &mut [u8], offset: u64) {
    let (_, marked) = MARK.split_at(MARK.len().min(usize::try_from(offset).unwrap_or(usize::MAX)));
    bytes.iter_mut().zip(marked).for_each(|(byte, _)| *byte = b' ');
}

/// What to say of an error at `found`, the rest of a text from where it could no longer be right, if a mark stands there.
pub fn stray_mark(found: &[u8]) -> Option<&'static str> {
    found.starts_with(MARK).then_some("a byte order mark is passed over only at the start of a file")
}

/// Reads the first bytes of a text, as many as tell an encoding or a mark. Waits for no more of them than there are in a line.
///
/// # Errors
/// Those of the reader.
pub fn read_start(reader: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut start = Vec::new();
    let mut byte = [0];
    while start.len() < START_BYTES && !start.trim_ascii_start().contains(&b'\n') {
        match reader.read(&mut byte) {
            Ok(0) => break,
            Ok(_) => start.push(byte[0]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(start)
}

/// So many bytes tell an encoding; a mark is shorter.
pub(crate) const START_BYTES: usize = 4;

/// An encoding that is recognised and not read. `Display` says so, and what to do.
///
/// ```
/// use jird_formats::encoding::Encoding;
/// let text: Vec<u8> = "{\"a\":1}".encode_utf16().flat_map(u16::to_le_bytes).collect();
/// assert_eq!(Encoding::of(&text), Some(Encoding::Utf16Le));
/// assert_eq!(Encoding::of("{\"a\":1}".as_bytes()), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-16, the low byte first.
    Utf16Le,
    /// UTF-16, the high byte first.
    Utf16Be,
    /// UTF-32, the low byte first.
    Utf32Le,
    /// UTF-32, the high byte first.
    Utf32Be,
}

impl Encoding {
    /// The encoding of a text that begins with `start`, told by a byte order mark or by where the zeros are among the first four
    /// bytes (RFC 4627 section 3: the first two characters of a JSON text are ASCII; of a string, since RFC 7159, the first one
    /// is). `None` for UTF-8, and for what cannot be told.
    pub fn of(start: &[u8]) -> Option<Self> {
        match *start {
            [0xff, 0xfe, 0, 0, ..] | [1..=0xff, 0, 0, 0, ..] => Some(Self::Utf32Le),
            [0, 0, 0xfe, 0xff, ..] | [0, 0, 0, 1..=0xff, ..] => Some(Self::Utf32Be),
            // Two bytes and three: there is no more than that, or no more before the end of a line.
            [0xff, 0xfe, ..]
            | [1..=0xff, 0, 1..=0xff, 0, ..]
            | [b'"', 0, _, 1..=0xff, ..]
            | [1..=0xff, 0]
            | [1..=0xff, 0, b'\n'] => Some(Self::Utf16Le),
            [0xfe, 0xff, ..] | [0, 1..=0xff, 0, 1..=0xff, ..] | [0, b'"', 1..=0xff, ..] | [0, 1..=0xff] => {
                Some(Self::Utf16Be)
            }
            _ => None,
        }
    }

    /// Its name, as `iconv` knows it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Utf16Le => "UTF-16LE",
            Self::Utf16Be => "UTF-16BE",
            Self::Utf32Le => "UTF-32LE",
            Self::Utf32Be => "UTF-32BE",
        }
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name();
        write!(f, "the text is {name}, and only UTF-8 is read; `iconv -f {name} -t UTF-8` makes it that")
    }
}

impl core::error::Error for Encoding {}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text in each of the other encodings, with and without a mark.
    fn encoded(text: &str) -> Vec<(Encoding, Vec<u8>)> {
        let mut all = Vec::new();
        for text in [text.to_owned(), format!("\u{feff}{text}")] {
            let (narrow, wide) = (text.encode_utf16(), text.chars().map(u32::from));
            all.push((Encoding::Utf16Le, narrow.clone().flat_map(u16::to_le_bytes).collect()));
            all.push((Encoding::Utf16Be, narrow.flat_map(u16::to_be_bytes).collect()));
            all.push((Encoding::Utf32Le, wide.clone().flat_map(u32::to_le_bytes).collect()));
            all.push((Encoding::Utf32Be, wide.flat_map(u32::to_be_bytes).collect()));
        }
        all
    }

    #[test]
    fn other_encodings_are_told_with_and_without_a_mark() {
        for text in ["{\"a\":1}", "[]", "1", "7\n", "\"ž\"", "\"你好\"", "a,b\n1,2\n", " {}", "\n[1]"] {
            for (encoding, bytes) in encoded(text) {
                let start = read_start(&mut &bytes[..]).unwrap();
                assert_eq!(Encoding::of(&start), Some(encoding), "{text:?} {bytes:?}");
            }
        }
    }

    #[test]
    fn utf8_and_what_cannot_be_told_are_left_to_the_parser() {
        let texts: [&[u8]; 11] = [
            b"",
            b"1",
            b"{}",
            b"\0",
            b"\0\0\0\0",
            b"\xef\xbb\xbf{}",
            b"a\0b,c\n",
            b"\xff",
            b"\xfe",
            b"PAR1",
            b"\"\0\"",
        ];
        for text in texts {
            assert_eq!(Encoding::of(text), None, "{text:?}");
        }
    }

    #[test]
    fn a_mark_becomes_blanks_and_nothing_else_does() {
        let blanked = |text: &[u8]| {
            let mut text = text.to_vec();
            (blank_mark(&mut text), text)
        };
        assert_eq!(blanked(b"\xef\xbb\xbf\xef\xbb\xbf1"), (true, b"   \xef\xbb\xbf1".to_vec()));
        assert_eq!(blanked(b" \xef\xbb\xbf1"), (false, b" \xef\xbb\xbf1".to_vec()));
        assert_eq!(blanked(b"\xef\xbb"), (false, b"\xef\xbb".to_vec()));
        for cut in 0..5 {
            let mut text = *b"\xef\xbb\xbf[1]";
            let (first, second) = text.split_at_mut(cut);
            blank_mark_at(first, 0);
            blank_mark_at(second, cut as u64);
            assert_eq!(&text, b"   [1]");
        }
    }
}

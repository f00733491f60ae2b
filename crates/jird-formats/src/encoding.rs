//! How a text begins: with a byte order mark, or in an encoding other than UTF-8.
//!
//! JSON and CSV are read as UTF-8. RFC 8259 section 8.1 lets a reader ignore a byte order mark at the very start of a
//! text, and this one does: the mark is replaced with blanks, so that offsets and columns still count its three bytes.
//! UTF-16 and UTF-32 are not read. They are recognised, so that a message can name them.

use core::fmt;
use jird::hooks::lines::ReadAt;
use std::io::{self, Read};

/// The byte order mark of UTF-8, which some programs write before a text.
pub const MARK: &[u8] = b"\xef\xbb\xbf";

/// Replaces the mark with blanks if `start`, the first bytes of a JSON text, begins with one. Returns whether it did.
pub fn blank_mark(start: &mut [u8]) -> bool {
    let is_marked = start.starts_with(MARK);
    if is_marked {
        start[..MARK.len()].fill(b' ');
    }
    is_marked
}

/// Does the same for a piece of a text that is known to begin with a mark. `bytes` are at `offset` in that text.
fn blank_mark_at(bytes: &mut [u8], offset: u64) {
    let (_, marked) = MARK.split_at(MARK.len().min(usize::try_from(offset).unwrap_or(usize::MAX)));
    bytes.iter_mut().zip(marked).for_each(|(byte, _)| *byte = b' ');
}

/// A JSON text that threads read at different offsets, with its mark replaced by blanks.
#[derive(Debug)]
pub struct Unmarked<R> {
    /// The text as it is.
    pub text: R,
    /// Whether it begins with a mark.
    pub is_marked: bool,
}

impl<R: ReadAt> ReadAt for Unmarked<R> {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let read = self.text.read_at(buffer, offset)?;
        if self.is_marked
            && let Some(bytes) = buffer.get_mut(..read)
        {
            blank_mark_at(bytes, offset);
        }
        Ok(read)
    }
}

/// The message for an error caused by a mark. `found` is the rest of the text, from the first byte that is wrong.
pub fn stray_mark(found: &[u8]) -> Option<&'static str> {
    found.starts_with(MARK).then_some("a byte order mark is skipped only at the start of a file")
}

/// Reads as many of a text's first bytes as tell an encoding or a mark. Stops early at the end of a line, so that it
/// does not wait for more.
///
/// # Errors
/// The reader's errors.
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

/// The number of bytes that tell an encoding. A mark is shorter.
pub(crate) const START_BYTES: usize = 4;

/// An encoding that is recognised but not read. `Display` says so, and what to do about it.
///
/// ```
/// use jird_formats::encoding::Encoding;
/// let text: Vec<u8> = "{\"a\":1}".encode_utf16().flat_map(u16::to_le_bytes).collect();
/// assert_eq!(Encoding::of(&text), Some(Encoding::Utf16Le));
/// assert_eq!(Encoding::of("{\"a\":1}".as_bytes()), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-16, low byte first.
    Utf16Le,
    /// UTF-16, high byte first.
    Utf16Be,
    /// UTF-32, low byte first.
    Utf32Le,
    /// UTF-32, high byte first.
    Utf32Be,
}

impl Encoding {
    /// The encoding of a text that begins with `start`. It is detected from a byte order mark, or from where the zeros
    /// are among the first four bytes: the first two characters of a JSON text are ASCII (RFC 4627 section 3), or at
    /// least the first one is if the text is a string (since RFC 7159). `None` for UTF-8, and if the encoding cannot be
    /// told.
    pub fn of(start: &[u8]) -> Option<Self> {
        match *start {
            [0xff, 0xfe, 0, 0, ..] | [1..=0xff, 0, 0, 0, ..] => Some(Self::Utf32Le),
            [0, 0, 0xfe, 0xff, ..] | [0, 0, 0, 1..=0xff, ..] => Some(Self::Utf32Be),
            // Two or three bytes: the text has no more, or its first line ends there.
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

    /// The encoding's name for `iconv`.
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
        write!(f, "the text is {name}, and jird reads only UTF-8; convert it with `iconv -f {name} -t UTF-8`")
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
    fn other_encodings_are_named_with_and_without_a_mark() {
        for text in ["{\"a\":1}", "[]", "1", "7\n", "\"ž\"", "\"你好\"", "a,b\n1,2\n", " {}", "\n[1]"] {
            for (encoding, bytes) in encoded(text) {
                let start = read_start(&mut &bytes[..]).unwrap();
                assert_eq!(Encoding::of(&start), Some(encoding), "{text:?} {bytes:?}");
            }
        }
    }

    #[test]
    fn utf8_and_unknown_encodings_are_left_to_the_parser() {
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
    fn a_byte_order_mark_at_the_start_is_blanked_and_nothing_else() {
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

//! A file or a pipe, decompressed, with its first bytes.

use super::{Compression, MAGIC_BYTES, Reader};
use crate::encoding::{self, Encoding, MARK, START_BYTES as ENCODING_BYTES};
use std::fmt;
use std::io::{self, Cursor, Read};
use std::path::Path;

/// The number of bytes that tell the format and the compression.
const START_BYTES: usize = 4096;

/// A file or a pipe, decompressed, with its first bytes.
pub struct Text {
    /// The first bytes. A pipe may give only a few, because the reader waits for no more than what tells the format.
    pub start: Vec<u8>,
    /// The compression of the input.
    pub compression: Compression,
    rest: Reader,
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Text")
            .field("start", &self.start)
            .field("compression", &self.compression)
            .finish_non_exhaustive()
    }
}

impl Text {
    /// Looks at the first bytes of `reader`, and decompresses it if they are those of a compression.
    ///
    /// ```
    /// let text = jird_formats::files::Text::open(Box::new(&b"{\"a\": 1}\n"[..]), None)?;
    /// assert_eq!(text.start, b"{\"a\": 1}\n");
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    /// The reader's errors; also if the compression is not supported.
    pub fn open(reader: Reader, path: Option<&Path>) -> io::Result<Self> {
        let (start, reader) = peek(reader)?;
        let compression = Compression::of_bytes(&start);
        if compression != Compression::None {
            let decompressed = compression.decompress(Box::new(Cursor::new(start).chain(reader)))?;
            let (start, rest) = peek(decompressed)?;
            return Ok(Self { start, compression, rest });
        }
        match Compression::foreign(path, &start) {
            Some(compressor) => Err(io::Error::other(format!(
                "it is compressed with {compressor}, which jird does not read; decompress it first"
            ))),
            None => Ok(Self { start, compression, rest: reader }),
        }
    }

    /// A text that was decompressed before: it is read as it stands. `compression` is what it was compressed by.
    ///
    /// # Errors
    /// The reader's errors.
    pub fn decompressed(reader: Reader, compression: Compression) -> io::Result<Self> {
        let (start, rest) = peek(reader)?;
        Ok(Self { start, compression, rest })
    }

    /// [Replaces](encoding::blank_mark) a byte order mark with blanks. For JSON, in which blanks have no meaning.
    #[must_use]
    pub fn blank_mark(mut self) -> Self {
        encoding::blank_mark(&mut self.start);
        self
    }

    /// Whether the text begins with a byte order mark.
    pub fn is_marked(&self) -> bool {
        self.start.starts_with(MARK)
    }

    /// The text's encoding, if it is not UTF-8. For text only, not for formats that can contain any bytes.
    pub fn encoding(&self) -> Option<Encoding> {
        Encoding::of(&self.start)
    }

    /// A reader of the whole text, including the first bytes.
    pub fn into_reader(self) -> Reader {
        Box::new(Cursor::new(self.start).chain(self.rest))
    }
}

/// What stands before each text of a sequence of JSON texts (RFC 7464).
pub const RECORD_SEPARATOR: u8 = 0x1e;

/// A text in which record separators (RFC 7464) are blanks. In a string, a tab is as wrong as they are.
#[derive(Debug)]
pub struct Separated<R>(pub R);

impl<R: Read> Read for Separated<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.0.read(buffer)?;
        let mut text = &mut buffer[..read];
        while let Some(at) = memchr::memchr(RECORD_SEPARATOR, text) {
            text[at] = b'\t';
            text = &mut text[at + 1..];
        }
        Ok(read)
    }
}

/// Reads the first bytes. Returns them and the reader of the rest.
fn peek(mut reader: Reader) -> io::Result<(Vec<u8>, Reader)> {
    let mut start = vec![0; START_BYTES];
    let mut filled = 0;
    while filled < START_BYTES && !tells(&start[..filled]) {
        match reader.read(&mut start[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    start.truncate(filled);
    Ok((start, reader))
}

/// Whether these bytes are enough to tell the format: a bracket, a line, or the length of a magic number.
fn tells(start: &[u8]) -> bool {
    let text = start.trim_ascii_start();
    let is_bracket = |first: &u8| matches!(first, b'{' | b'[') && start.len() >= ENCODING_BYTES;
    text.first().is_some_and(|first| start.len() >= MAGIC_BYTES || text.contains(&b'\n') || is_bracket(first))
}

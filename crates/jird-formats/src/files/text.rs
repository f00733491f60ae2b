//! A file or a pipe, decompressed, its first bytes looked at.

use super::{Compression, MAGIC_BYTES, Reader};
use crate::encoding::{self, Encoding, MARK, START_BYTES as ENCODING_BYTES};
use std::fmt;
use std::io::{self, Cursor, Read};
use std::path::Path;

/// So much tells format and compression.
const START_BYTES: usize = 4096;

/// A file or a pipe, decompressed, its first bytes looked at.
pub struct Text {
    /// The first bytes. Of a pipe they may be few: nobody waits for more than what tells the format.
    pub start: Vec<u8>,
    /// How it was compressed.
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
    /// Looks at the first bytes of `reader`, and decompresses it if they say so.
    ///
    /// ```
    /// let text = jird_formats::files::Text::open(Box::new(&b"{\"a\": 1}\n"[..]), None)?;
    /// assert_eq!(text.start, b"{\"a\": 1}\n");
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of the reader, and if it is compressed in a way that is not read.
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
                "it is compressed by {compressor}, which is not read; decompress it first"
            ))),
            None => Ok(Self { start, compression, rest: reader }),
        }
    }

    /// For JSON, where blanks are nothing: [puts blanks](encoding::blank_mark) in the place of a byte order mark.
    #[must_use]
    pub fn blank_mark(mut self) -> Self {
        encoding::blank_mark(&mut self.start);
        self
    }

    /// Whether it begins with a byte order mark.
    pub fn is_marked(&self) -> bool {
        self.start.starts_with(MARK)
    }

    /// Its encoding, if that is not UTF-8. For what is text, and not for formats that have bytes of any kind.
    pub fn encoding(&self) -> Option<Encoding> {
        Encoding::of(&self.start)
    }

    /// All of it, also the first bytes.
    pub fn into_reader(self) -> Reader {
        Box::new(Cursor::new(self.start).chain(self.rest))
    }
}

/// The first bytes, and what comes behind them.
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

/// Whether there is enough to tell the format by: a bracket, a line, or as much as a magic number has.
fn tells(start: &[u8]) -> bool {
    let text = start.trim_ascii_start();
    let is_bracket = |first: &u8| matches!(first, b'{' | b'[') && start.len() >= ENCODING_BYTES;
    text.first().is_some_and(|first| start.len() >= MAGIC_BYTES || text.contains(&b'\n') || is_bracket(first))
}

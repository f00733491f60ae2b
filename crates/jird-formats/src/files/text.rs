//! A file or a pipe, unpacked, its first bytes looked at.

use super::{Packing, Reader};
use std::fmt;
use std::io::{self, Cursor, Read};
use std::path::Path;

/// So much tells format and packing.
const START_BYTES: usize = 4096;

/// The longest magic number.
const MAGIC_BYTES: usize = 16;

/// The byte order mark of UTF-8, which some programs put before it.
pub const MARK: &[u8] = b"\xef\xbb\xbf";

/// A file or a pipe, unpacked, its first bytes looked at.
pub struct Text {
    /// The first bytes. Of a pipe they may be few: nobody waits for more than what tells the format.
    pub start: Vec<u8>,
    /// How it was packed.
    pub packing: Packing,
    rest: Reader,
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Text").field("start", &self.start).field("packing", &self.packing).finish_non_exhaustive()
    }
}

impl Text {
    /// Looks at the first bytes of `reader`, and unpacks it if they say so.
    ///
    /// ```
    /// let text = jird_formats::files::Text::open(Box::new(&b"{\"a\": 1}\n"[..]), None)?;
    /// assert_eq!(text.start, b"{\"a\": 1}\n");
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of the reader, and if it is packed in a way that is not read.
    pub fn open(reader: Reader, path: Option<&Path>) -> io::Result<Self> {
        let (start, reader) = peek(reader)?;
        let packing = Packing::of_bytes(&start);
        if packing != Packing::None {
            let unpacked = packing.unpack(Box::new(Cursor::new(start).chain(reader)))?;
            let (start, rest) = peek(unpacked)?;
            return Ok(Self { start, packing, rest });
        }
        match Packing::foreign(path, &start) {
            Some(packer) => {
                Err(io::Error::other(format!("it is packed by {packer}, which is not read; unpack it first")))
            }
            None => Ok(Self { start, packing, rest: reader }),
        }
    }

    /// Blanks for a byte order mark, so that offsets stay what they are. For JSON, where blanks are nothing.
    #[must_use]
    pub fn blank_mark(mut self) -> Self {
        if self.start.starts_with(MARK) {
            self.start[..MARK.len()].fill(b' ');
        }
        self
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
    !text.is_empty() && (start.len() >= MAGIC_BYTES || text.contains(&b'\n') || matches!(text[0], b'{' | b'['))
}

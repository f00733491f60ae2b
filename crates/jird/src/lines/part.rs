//! Reads one part of a text on one thread: in pieces, with its lines counted, and with a place for each bad record.

use super::options::Options;
use super::piece::{LinePiece, newlines};
use super::read::{ReadAt, read_range, read_stream};
use super::row::{Bad, Match, Scanned};
use super::scanner::Scanner;
use crate::record::{Predicate, Projection};
use core::fmt;
use core::ops::{ControlFlow, Range};
use std::io::{self, Read};

/// A part of a text.
pub enum Part<'s> {
    /// The lines whose first byte is in this range.
    Range(&'s dyn ReadAt, Range<u64>),
    /// All lines of a stream.
    Stream(&'s mut dyn Read),
    /// All lines of a text that comes in pieces of whole lines.
    Pieces(&'s mut dyn PieceSource),
}

/// A text that is kept in pieces of whole lines, such as the blocks of a store. Pieces may be left out.
pub trait PieceSource {
    /// Replaces `buffer` by the next piece, and returns the offset of its first byte in the text; `None` at the end. A
    /// piece ends with a newline, unless it is the last one.
    ///
    /// # Errors
    /// The errors of reading.
    fn next_piece(&mut self, buffer: &mut Vec<u8>) -> io::Result<Option<u64>>;
}

impl fmt::Debug for Part<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Range(_, range) => f.debug_tuple("Range").field(range).finish(),
            Self::Stream(_) => f.write_str("Stream"),
            Self::Pieces(_) => f.write_str("Pieces"),
        }
    }
}

/// How lines are counted.
#[derive(Clone, Copy, Debug)]
pub struct Counting {
    /// Counts the ends of lines in a text. Another function than [`newlines`] is for a text that was changed while it
    /// was read.
    pub count: fn(&[u8]) -> u64,
    /// Whether all lines are counted. If not, only those between the start of a piece and its last bad record are, and
    /// [`LinePiece::lines_before`] counts from the start of the piece. This is for callers that need a line only if there
    /// is an error, and can read the text again to find it.
    pub all: bool,
}

impl Default for Counting {
    fn default() -> Self {
        Self { count: newlines, all: true }
    }
}

/// Reads parts of texts with one set of buffers. Each thread has one.
#[derive(Debug)]
pub struct LineReader {
    scanner: Scanner,
    buffer: Vec<u8>,
    record_bytes_max: usize,
    lines: u64,
}

impl LineReader {
    /// A reader with fresh buffers.
    pub fn new(options: Options) -> Self {
        let record_bytes_max = options.record_bytes_max;
        Self { scanner: Scanner::new(options), buffer: Vec::new(), record_bytes_max, lines: 0 }
    }

    /// The number of lines of the part that [`read`](Self::read) has passed on last, or of as much of it as was read.
    pub fn lines(&self) -> u64 {
        self.lines
    }

    /// Scans a part, some lines at a time: `visit` is called for each record that passes `filter`, `bad` for each bad
    /// record, in its place among the others, and `end` after each piece, also after the piece in which one of them has
    /// ended the read. So `bad` decides whether a bad record stops the work or is skipped.
    ///
    /// # Errors
    /// As [`read_range`], and the errors of `end`.
    pub fn read<E: From<io::Error>>(
        &mut self,
        part: Part<'_>,
        counting: Counting,
        (projection, filter): (&Projection, Option<&Predicate>),
        mut visit: impl FnMut(&Match<'_, '_>, &LinePiece<'_>) -> ControlFlow<()>,
        mut bad: impl FnMut(&Bad<'_>, &LinePiece<'_>) -> ControlFlow<()>,
        mut end: impl FnMut(&LinePiece<'_>, Scanned) -> Result<ControlFlow<()>, E>,
    ) -> Result<ControlFlow<()>, E> {
        let Self { scanner, buffer, record_bytes_max, lines } = self;
        *lines = 0;
        let each = |offset: u64, text: &[u8]| -> Result<ControlFlow<()>, E> {
            let piece = LinePiece::new(text, offset, *lines, counting.count);
            let scanned =
                scanner.scan_all(text, projection, filter, |row| visit(&row, &piece), |wrong| bad(&wrong, &piece));
            if counting.all {
                *lines = piece.lines_before(text.len());
            }
            let flow = end(&piece, scanned)?;
            Ok(if scanned.stopped { ControlFlow::Break(()) } else { flow })
        };
        pieces(part, buffer, *record_bytes_max, each)
    }

    /// Passes on the pieces of a part, with the offset of each, and scans nothing.
    ///
    /// # Errors
    /// As [`read_range`].
    pub fn pieces<E: From<io::Error>>(
        &mut self,
        part: Part<'_>,
        each: impl FnMut(u64, &[u8]) -> Result<ControlFlow<()>, E>,
    ) -> Result<ControlFlow<()>, E> {
        pieces(part, &mut self.buffer, self.record_bytes_max, each)
    }
}

fn pieces<E: From<io::Error>>(
    part: Part<'_>,
    buffer: &mut Vec<u8>,
    record_bytes_max: usize,
    each: impl FnMut(u64, &[u8]) -> Result<ControlFlow<()>, E>,
) -> Result<ControlFlow<()>, E> {
    match part {
        Part::Range(source, range) => read_range(source, range, buffer, record_bytes_max, each),
        Part::Stream(reader) => read_stream(reader, buffer, record_bytes_max, each),
        Part::Pieces(source) => all_pieces(source, buffer, each),
    }
}

fn all_pieces<E: From<io::Error>>(
    source: &mut dyn PieceSource,
    buffer: &mut Vec<u8>,
    mut each: impl FnMut(u64, &[u8]) -> Result<ControlFlow<()>, E>,
) -> Result<ControlFlow<()>, E> {
    while let Some(offset) = source.next_piece(buffer)? {
        if !buffer.is_empty() && each(offset, buffer)?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    Ok(ControlFlow::Continue(()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    /// Two pieces with a gap between them, and an empty one.
    struct Gaps(Vec<(u64, &'static [u8])>);

    impl PieceSource for Gaps {
        fn next_piece(&mut self, buffer: &mut Vec<u8>) -> io::Result<Option<u64>> {
            buffer.clear();
            let Some((offset, text)) = self.0.pop() else { return Ok(None) };
            buffer.extend_from_slice(text);
            Ok(Some(offset))
        }
    }

    #[test]
    fn pieces_are_scanned_where_they_stand_and_gaps_are_none_of_their_business() {
        let mut source = Gaps(vec![(100, b"3\nno\n"), (50, b""), (7, b"1\n2\n")]);
        let (mut records, mut bad) = (Vec::new(), Vec::new());
        let read = LineReader::new(Options::default()).read::<Error>(
            Part::Pieces(&mut source),
            Counting::default(),
            (&Projection::new(&[]), None),
            |record, piece| {
                records.push((piece.offset() + record.offset() as u64, record.text().to_vec()));
                ControlFlow::Continue(())
            },
            |wrong, piece| {
                bad.push(piece.offset() + wrong.offset as u64);
                ControlFlow::Continue(())
            },
            |_, _| Ok(ControlFlow::Continue(())),
        );
        assert_eq!(read, Ok(ControlFlow::Continue(())));
        assert_eq!(records, [(7, b"1".to_vec()), (9, b"2".to_vec()), (100, b"3".to_vec())]);
        assert_eq!(bad, [102]);
    }
}

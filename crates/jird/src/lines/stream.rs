//! Cuts a stream into pieces of whole lines that threads can take with them.

use super::read::{Filled, fill, skip_line};
use core::ops::Deref;
use std::io::{self, Cursor, Read};
use std::sync::{Arc, Mutex, PoisonError};

/// The least size of a piece, unless it is the last. A piece and what is made of it fit together in a second-level
/// cache.
const PIECE_BYTES: usize = 256 << 10;

/// Buffers that are free.
type Spare = Arc<Mutex<Vec<Vec<u8>>>>;

/// Cuts a stream into pieces of whole lines, in order. It ends at the end of the stream, before a line that is too
/// long, and after an error. The buffer of a piece that was dropped is used again.
#[derive(Debug)]
pub struct StreamPieces<R> {
    reader: R,
    bytes_min: usize,
    line_bytes_max: usize,
    offset: u64,
    /// The bytes of the next piece that were already read.
    left: Vec<u8>,
    state: State,
    /// The error of the stream, which comes after the lines before it.
    failed: Option<io::Error>,
    spare: Spare,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Open,
    /// The stream has ended or failed.
    Ended,
    /// The next line is too long.
    BeforeLong,
}

/// Whole lines of a stream.
#[derive(Debug)]
pub struct StreamPiece {
    buffer: Vec<u8>,
    len: usize,
    offset: u64,
    spare: Spare,
}

impl<R: Read> StreamPieces<R> {
    /// Cuts `reader`, as far as its lines have at most about `line_bytes_max` bytes.
    pub fn new(reader: R, line_bytes_max: usize) -> Self {
        Self {
            reader,
            bytes_min: PIECE_BYTES,
            line_bytes_max,
            offset: 0,
            left: Vec::new(),
            state: State::Open,
            failed: None,
            spare: Spare::default(),
        }
    }

    /// Hands out lines as soon as they have arrived, for a stream that something still writes.
    #[must_use]
    pub fn live(self) -> Self {
        Self { bytes_min: 0, ..self }
    }

    /// If this has ended before a line that is too long: the offset of that line, and the text from there on.
    pub fn into_rest(self) -> Option<(u64, impl Read)> {
        (self.state == State::BeforeLong).then(|| (self.offset, Cursor::new(self.left).chain(self.reader)))
    }

    /// If this has ended before a line that is too long: goes on after that line. Returns its offset.
    ///
    /// # Errors
    /// The errors of reading.
    pub fn skip_long_line(&mut self) -> io::Result<Option<u64>> {
        self.skip_long_line_with(&mut |_| ())
    }

    /// As [`skip_long_line`](Self::skip_long_line); `dropping` sees the bytes of the line, its line feed included, piece by
    /// piece.
    ///
    /// # Errors
    /// The errors of reading.
    pub fn skip_long_line_with(&mut self, dropping: &mut dyn FnMut(&[u8])) -> io::Result<Option<u64>> {
        if self.state != State::BeforeLong {
            return Ok(None);
        }
        let (line, mut filled) = (self.offset, 0);
        self.state = State::Ended;
        self.offset += self.left.len() as u64;
        dropping(&self.left);
        let dropped = skip_line(&mut self.reader, &mut self.left, &mut filled, dropping)?;
        self.left.truncate(filled);
        if let Some(dropped) = dropped {
            self.offset += dropped;
            self.state = State::Open;
        }
        Ok(Some(line))
    }

    fn read(&mut self) -> Option<StreamPiece> {
        let mut buffer = self.spare.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default();
        let mut filled = self.left.len();
        buffer.resize(buffer.len().max(filled), 0);
        buffer[..filled].copy_from_slice(&self.left);
        self.left.clear();
        let read = fill(&mut self.reader, &mut buffer, &mut filled, self.bytes_min, self.line_bytes_max);
        let read = match read {
            Ok(read) => read,
            // Lines that came before the error are whole.
            Err(error) => {
                let end = memchr::memrchr(b'\n', &buffer[..filled]).map_or(0, |newline| newline + 1);
                self.state = State::Ended;
                self.failed = Some(error);
                Filled::Lines(end)
            }
        };
        let len = match read {
            Filled::Lines(end) => end,
            Filled::End => {
                self.state = State::Ended;
                filled
            }
            Filled::TooLong => {
                self.state = State::BeforeLong;
                0
            }
        };
        self.left.extend_from_slice(&buffer[len..filled]);
        let piece = StreamPiece { buffer, len, offset: self.offset, spare: Arc::clone(&self.spare) };
        self.offset += len as u64;
        (len > 0).then_some(piece)
    }
}

impl<R: Read> Iterator for StreamPieces<R> {
    type Item = io::Result<StreamPiece>;

    fn next(&mut self) -> Option<io::Result<StreamPiece>> {
        let piece = if self.state == State::Open { self.read() } else { None };
        piece.map(Ok).or_else(|| self.failed.take().map(Err))
    }
}

impl StreamPiece {
    /// The offset of the lines in the stream.
    pub fn offset(&self) -> u64 {
        self.offset
    }
}

impl Deref for StreamPiece {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.buffer[..self.len]
    }
}

impl Drop for StreamPiece {
    fn drop(&mut self) {
        let buffer = core::mem::take(&mut self.buffer);
        self.spare.lock().unwrap_or_else(PoisonError::into_inner).push(buffer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns at most this many bytes at a time.
    struct Few<'t>(&'t [u8], usize);

    impl Read for Few<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let len = buffer.len().min(self.1);
            (&mut self.0).take(len as u64).read(buffer)
        }
    }

    fn pieces(pieces: &mut StreamPieces<Few<'_>>) -> Vec<(u64, Vec<u8>)> {
        pieces.map(|piece| piece.map(|piece| (piece.offset(), piece.to_vec())).unwrap()).collect()
    }

    #[test]
    fn pieces_are_whole_lines_and_lose_no_byte() {
        let lines: Vec<u8> = (0..30_000).flat_map(|line| format!("{line:0$}\n", line % 40).into_bytes()).collect();
        for text in [&b""[..], b"\n", b"a", b"a\nb", b"\n\na\n", &lines, &lines[..lines.len() - 1]] {
            for few in [1, 3, 1000, usize::MAX] {
                for live in [false, true] {
                    let cut = StreamPieces::new(Few(text, few), 100);
                    let mut cut = if live { cut.live() } else { cut };
                    let found = pieces(&mut cut);
                    let mut at = 0;
                    for (index, (offset, piece)) in found.iter().enumerate() {
                        let is_last = index + 1 == found.len();
                        assert_eq!(*offset, at);
                        assert!(piece.ends_with(b"\n") || is_last && !piece.is_empty());
                        assert!(piece.len() >= PIECE_BYTES - 100 || is_last || live);
                        at += piece.len() as u64;
                    }
                    assert_eq!(found.into_iter().flat_map(|(_, piece)| piece).collect::<Vec<_>>(), text);
                    assert!(cut.into_rest().is_none());
                }
            }
        }
    }

    #[test]
    fn the_rest_begins_with_the_line_that_is_too_long() {
        let long = [&b"a\nbb\n"[..], &[b'x'; 5000], b"\nc\n"].concat();
        let mut cut = StreamPieces::new(Few(&long, 100), 1000).live();
        assert_eq!(pieces(&mut cut), [(0, b"a\nbb\n".to_vec())]);
        let (offset, mut rest) = cut.into_rest().unwrap();
        let mut text = Vec::new();
        rest.read_to_end(&mut text).unwrap();
        assert_eq!((offset, &text[..]), (5, &long[5..]));
    }

    #[test]
    fn a_line_that_is_too_long_can_be_skipped() {
        let long = [&b"a\nbb\n"[..], &[b'x'; 5000], b"\nc\nd\n", &[b'y'; 3000]].concat();
        for few in [1, 7, 100] {
            let mut cut = StreamPieces::new(Few(&long, few), 1000).live();
            assert_eq!(cut.skip_long_line().unwrap(), None);
            let lines =
                |cut: &mut StreamPieces<_>| pieces(cut).into_iter().flat_map(|(_, piece)| piece).collect::<Vec<_>>();
            assert_eq!(lines(&mut cut), b"a\nbb\n");
            let mut dropped = Vec::new();
            let mut drop = |bytes: &[u8]| dropped.extend_from_slice(bytes);
            assert_eq!(cut.skip_long_line_with(&mut drop).unwrap(), Some(5));
            assert_eq!((cut.offset, &dropped[..]), (5006, &long[5..5006]));
            assert_eq!(lines(&mut cut), b"c\nd\n");
            assert_eq!((cut.skip_long_line().unwrap(), cut.next().is_none()), (Some(5010), true));
            assert_eq!(cut.skip_long_line().unwrap(), None);
        }
    }

    #[test]
    fn an_error_is_the_last() {
        let broken = Cursor::new(b"a\nb").chain(Broken);
        let mut cut = StreamPieces::new(broken, 1000).live();
        assert_eq!(&*cut.next().unwrap().unwrap(), b"a\n");
        assert!(cut.next().unwrap().is_err());
        assert!(cut.next().is_none() && cut.into_rest().is_none());
        // The lines before an error come first, also if a piece would hold more.
        let mut cut = StreamPieces::new(Cursor::new(b"a\nbb\nc").chain(Broken), 1000);
        assert_eq!(&*cut.next().unwrap().unwrap(), b"a\nbb\n");
        assert!(cut.next().unwrap().is_err() && cut.next().is_none());
    }

    struct Broken;

    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("broken"))
        }
    }
}

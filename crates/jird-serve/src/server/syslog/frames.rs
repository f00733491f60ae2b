//! Cuts a stream into messages, as RFC 6587 says.
//!
//! The first byte of each frame decides. A digit begins a length in bytes, a space and the message, if the message
//! begins with `<` as RFC 6587 demands; anything else is a line up to a line feed or a NUL. So a line such as `5 apples` stays a
//! line. Line feeds, carriage returns and NULs between frames are passed over.
//!
//! In come pieces of any size; the same messages come out wherever the stream was cut. A message that is longer than allowed is
//! named once, and the rest of it is passed over without being kept: at most the limit and two pieces are in memory.

use core::ops::Range;
use memchr::memchr2;

/// How much room there is for the next piece.
const PIECE_BYTES: usize = 64 << 10;
/// A number with more digits is not read as a length.
const LEN_DIGITS_MAX: usize = 9;
/// How much of a message that is refused is told.
const HEAD_BYTES: usize = 1 << 10;

/// A stream, as far as it has come.
pub(super) struct Frames {
    bytes: Vec<u8>,
    /// What is before this has been handed out.
    start: usize,
    /// The number of bytes after `start` that were searched without finding the end of a line.
    searched: usize,
    skip: Skip,
    /// The longest message.
    limit: usize,
}

/// The rest of a message that was refused.
enum Skip {
    Nothing,
    Bytes(usize),
    Line,
}

/// What is next in a stream.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Frame<'b> {
    Message(&'b [u8]),
    /// The beginning of a message that is longer than allowed.
    Long(&'b [u8]),
    /// What came of a message with a length before the stream ended.
    Cut(&'b [u8]),
}

/// Which frame it is, before it is borrowed.
enum Outcome {
    Message,
    Long,
    Cut,
}

/// How a frame begins.
enum Begin {
    /// So many digits and a space, and the length that they are.
    Length(usize, usize),
    Line,
    /// More bytes will tell.
    Unknown,
}

/// A datagram without the length that `logger --octet-count` puts before its message also there.
pub(super) fn without_length(datagram: &[u8]) -> &[u8] {
    match Begin::of(datagram, true) {
        Begin::Length(head, len) if datagram.len() - head == len => &datagram[head..],
        _ => datagram,
    }
}

impl Frames {
    pub(super) fn new(limit: usize) -> Self {
        Self { bytes: Vec::new(), start: 0, searched: 0, skip: Skip::Nothing, limit }
    }

    /// Where the next piece goes, which has room for it.
    pub(super) fn room(&mut self) -> &mut Vec<u8> {
        self.bytes.drain(..self.start);
        self.start = 0;
        if self.bytes.capacity() - self.bytes.len() < PIECE_BYTES / 2 {
            self.bytes.reserve_exact(PIECE_BYTES);
        }
        &mut self.bytes
    }

    /// Gives memory back while nothing comes.
    pub(super) fn rest(&mut self) {
        if self.start == self.bytes.len() {
            (self.bytes, self.start, self.searched) = (Vec::new(), 0, 0);
        }
    }

    /// Bytes that came and were not handed out.
    pub(super) fn len(&self) -> usize {
        self.bytes.len() - self.start
    }

    /// The next frame that is there as a whole, or, at the end of the stream, what is left.
    pub(super) fn next(&mut self, is_end: bool) -> Option<Frame<'_>> {
        let (kind, range) = self.cut(is_end)?;
        let bytes = &self.bytes[range];
        Some(match kind {
            Outcome::Message => Frame::Message(bytes),
            Outcome::Long => Frame::Long(bytes),
            Outcome::Cut => Frame::Cut(bytes),
        })
    }

    fn cut(&mut self, is_end: bool) -> Option<(Outcome, Range<usize>)> {
        self.pass_over();
        let rest = &self.bytes[self.start..];
        match Begin::of(rest, is_end) {
            _ if rest.is_empty() => None,
            Begin::Unknown => None,
            Begin::Length(head, len) => self.counted(self.start + head, len, is_end),
            Begin::Line => self.line(is_end),
        }
    }

    /// Passes over what is left of a message that was refused, and what is between frames.
    fn pass_over(&mut self) {
        let rest = &self.bytes[self.start..];
        match self.skip {
            Skip::Nothing => {}
            Skip::Bytes(count) => {
                let now = count.min(rest.len());
                self.start += now;
                self.skip = if now < count { Skip::Bytes(count - now) } else { Skip::Nothing };
            }
            Skip::Line => match memchr2(b'\n', 0, rest) {
                Some(end) => (self.start, self.skip) = (self.start + end, Skip::Nothing),
                None => self.start = self.bytes.len(),
            },
        }
        if matches!(self.skip, Skip::Nothing) && self.searched == 0 {
            let rest = &self.bytes[self.start..];
            self.start += rest.iter().take_while(|byte| matches!(byte, b'\n' | b'\r' | 0)).count();
        }
    }

    /// A message of this length from here on.
    fn counted(&mut self, at: usize, len: usize, is_end: bool) -> Option<(Outcome, Range<usize>)> {
        let came = self.bytes.len() - at;
        if len > self.limit {
            (self.start, self.skip) = (at, Skip::Bytes(len));
            return Some((Outcome::Long, at..at + came.min(len).min(HEAD_BYTES)));
        }
        if came >= len {
            self.start = at + len;
            return Some((Outcome::Message, at..at + len));
        }
        is_end.then(|| {
            self.start = self.bytes.len();
            (Outcome::Cut, at..self.start)
        })
    }

    fn line(&mut self, is_end: bool) -> Option<(Outcome, Range<usize>)> {
        let start = self.start;
        let unseen = &self.bytes[start + self.searched..];
        let end = memchr2(b'\n', 0, unseen).map(|len| start + self.searched + len);
        let (kind, range) = match end {
            None if self.len() > self.limit => {
                self.skip = Skip::Line;
                (Outcome::Long, start..start + HEAD_BYTES.min(self.len()))
            }
            None if !is_end => {
                self.searched = self.len();
                return None;
            }
            Some(end) if end - start > self.limit => (Outcome::Long, start..start + HEAD_BYTES.min(end - start)),
            end => (Outcome::Message, start..end.unwrap_or(self.bytes.len())),
        };
        (self.start, self.searched) = (end.unwrap_or(self.bytes.len()), 0);
        Some((kind, range))
    }
}

impl Begin {
    fn of(rest: &[u8], is_end: bool) -> Self {
        let digits = rest.iter().take(LEN_DIGITS_MAX).take_while(|byte| byte.is_ascii_digit()).count();
        let unknown = if is_end { Self::Line } else { Self::Unknown };
        match (digits, &rest[digits..]) {
            (0, _) => Self::Line,
            (_, [] | [b' ']) => unknown,
            (_, [b' ', b'<', ..]) => {
                let len = rest[..digits].iter().fold(0, |len, digit| len * 10 + usize::from(digit - b'0'));
                Self::Length(digits + 1, len)
            }
            _ => Self::Line,
        }
    }
}

#[cfg(test)]
mod tests;

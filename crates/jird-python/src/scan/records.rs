//! The records within documents of JSON, as lines.
//!
//! A document may be larger than memory: it is read in pieces, checked, and each value that a pattern leads to becomes a
//! line. So the elements of one large array, or values that follow each other without line feeds, are scanned as lines are.

use core::fmt;
use jird::Error;
use jird::event::{Feed, JsonSink, Pattern};
use jird_formats::files::Reader;
use std::io::{self, Read, Write};
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes of a document that are read at a time.
const READ_BYTES: usize = 128 << 10;

/// Documents in pieces → lines.
pub(super) struct Records {
    feed: Option<Feed>,
    sink: JsonSink<Lines>,
    /// What the sink has handed over.
    lines: Lines,
    /// The bytes that the sink still has, and that were taken nevertheless.
    taken: usize,
}

/// Where the sink writes to.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Records {
    pub(super) fn new(pattern: Pattern) -> Self {
        let lines = Lines::default();
        Self { feed: Some(Feed::records(pattern)), sink: JsonSink::new(lines.clone()), lines, taken: 0 }
    }

    /// Takes the next piece of the document. Appends what it completes to `lines`, also before an error.
    ///
    /// # Errors
    /// If the document is not JSON.
    pub(super) fn push(&mut self, piece: &[u8], lines: &mut Vec<u8>) -> Result<(), Error> {
        let pushed = self.feed.as_mut().map_or(Ok(()), |feed| feed.feed(piece, &mut self.sink));
        self.take(lines);
        pushed.map_err(|failure| {
            self.feed = None;
            failure.either()
        })
    }

    /// The document ends here.
    ///
    /// # Errors
    /// If it is not complete.
    pub(super) fn finish(&mut self, lines: &mut Vec<u8>) -> Result<(), Error> {
        let finished = self.feed.take().map_or(Ok(()), |feed| feed.finish(&mut self.sink));
        self.take(lines);
        finished.map_err(jird::event::Failure::either)
    }

    /// Appends what the sink has written since the last time.
    fn take(&mut self, lines: &mut Vec<u8>) {
        let mut handed = self.lines.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = self.taken.min(handed.len());
        lines.extend_from_slice(&handed[known..]);
        handed.clear();
        let left = self.sink.so_far();
        lines.extend_from_slice(left.get(self.taken - known..).unwrap_or_default());
        self.taken = left.len();
    }
}

/// Reads the records of a document as lines.
pub(super) struct RecordReader {
    text: Reader,
    records: Records,
    lines: Vec<u8>,
    at: usize,
    /// What comes after the lines: the end, or an error.
    end: Option<io::Result<()>>,
    buffer: Vec<u8>,
}

impl RecordReader {
    pub(super) fn new(text: Reader, pattern: Pattern) -> Self {
        let (records, buffer) = (Records::new(pattern), vec![0; READ_BYTES]);
        Self { text, records, lines: Vec::new(), at: 0, end: None, buffer }
    }

    fn fill(&mut self) {
        (self.at, self.end) = (0, None);
        self.lines.clear();
        let bad = |error| io::Error::other(BadDocument(error));
        self.end = match self.text.read(&mut self.buffer) {
            Ok(0) => Some(self.records.finish(&mut self.lines).map_err(bad)),
            Ok(len) => self.records.push(&self.buffer[..len], &mut self.lines).map_err(bad).err().map(Err),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => None,
            Err(error) => Some(Err(error)),
        };
    }
}

impl Read for RecordReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let rest = &self.lines[self.at..];
            if !rest.is_empty() || buffer.is_empty() {
                let len = rest.len().min(buffer.len());
                buffer[..len].copy_from_slice(&rest[..len]);
                self.at += len;
                return Ok(len);
            }
            match &mut self.end {
                None => self.fill(),
                Some(end) => return core::mem::replace(end, Ok(())).map(|()| 0),
            }
        }
    }
}

/// A document that is not JSON.
#[derive(Debug)]
pub(super) struct BadDocument(pub(super) Error);

impl fmt::Display for BadDocument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl core::error::Error for BadDocument {}

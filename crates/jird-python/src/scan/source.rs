//! Where an iteration gets its records from.

use super::chunks::{ChunkReader, Chunks};
use super::failure::Failure;
use super::feed::Feed;
use super::records::RecordReader;
use super::rows::{Rows, Running};
use crate::forked::Owned;
use crate::loads::DETACHED_MIN;
use jird::event::Pattern;
use jird_formats::files::{Compression, Reader, Text};
use pyo3::prelude::*;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

/// Bytes that are read at a time.
const READ_BYTES: usize = 128 << 10;

/// Where records come from.
pub(super) enum Source {
    /// Threads that read files.
    Threads(Owned<Running>),
    /// Chunks that the caller's code hands out.
    Chunks(Box<Reading>),
    /// Chunks that the caller pushes, and whether there will be more.
    Pushed(Box<Feed>, bool),
}

/// What a source has.
pub(super) enum Next {
    Rows(Rows),
    /// Nothing yet: it is to be asked again.
    Later,
    /// Nothing before the caller has pushed more.
    NeedsMore,
    End,
}

impl Source {
    /// Lines in chunks, which are read when records are asked for.
    pub(super) fn of_chunks(feed: Feed, chunks: Chunks, name: String, records: Option<Pattern>) -> Self {
        let (chunks, buffer) = (Arc::new(chunks), vec![0; READ_BYTES]);
        Self::Chunks(Box::new(Reading { feed, chunks, name, records, text: None, is_over: false, buffer }))
    }

    /// The next rows. Threads are waited for only a little, so that the caller can look for Ctrl-C.
    pub(super) fn next(&mut self, py: Python<'_>) -> PyResult<Next> {
        match self {
            Self::Threads(running) => match py.detach(|| running.next_soon()) {
                Some(Some(rows)) => Ok(Next::Rows(rows)),
                Some(None) if py.detach(|| running.has_panicked()) => Err(Failure::Lost.into_error(py)),
                Some(None) => Ok(Next::End),
                None => Ok(Next::Later),
            },
            Self::Chunks(reading) => reading.next(py),
            Self::Pushed(feed, true) => Ok(feed.finish().map_or(Next::End, Next::Rows)),
            Self::Pushed(_, false) => Ok(Next::NeedsMore),
        }
    }

    /// The number of the line of a record of the last rows, if that is known without reading it again.
    pub(super) fn line_of(&self, offset: u64) -> Option<u64> {
        match self {
            Self::Threads(_) => None,
            Self::Chunks(reading) => Some(reading.feed.line_of(offset)),
            Self::Pushed(feed, _) => Some(feed.line_of(offset)),
        }
    }

    /// Nothing more is wanted.
    pub(super) fn close(&mut self) {
        if let Self::Chunks(reading) = self {
            reading.close();
        }
    }

    /// The chunks that the caller's code hands out.
    pub(super) fn chunks(&self) -> Option<&Chunks> {
        match self {
            Self::Chunks(reading) => Some(&reading.chunks),
            _ => None,
        }
    }
}

/// Reads chunks.
pub(super) struct Reading {
    feed: Feed,
    chunks: Arc<Chunks>,
    /// What messages call the chunks.
    name: String,
    /// Which values of the text are the records; `None` if each line is one.
    records: Option<Pattern>,
    /// The lines, and whether making them is work; `None` before the first bytes were read.
    text: Option<(Reader, bool)>,
    is_over: bool,
    buffer: Vec<u8>,
}

impl Reading {
    fn next(&mut self, py: Python<'_>) -> PyResult<Next> {
        while !self.is_over {
            match self.read(py) {
                Ok(0) => {
                    self.close();
                    return Ok(self.feed.finish().map_or(Next::End, Next::Rows));
                }
                Ok(len) => {
                    let (feed, bytes) = (&mut self.feed, &self.buffer[..len]);
                    // Releasing the interpreter costs as much as some hundred bytes.
                    let rows = if len < DETACHED_MIN { feed.push(bytes) } else { py.detach(|| feed.push(bytes)) };
                    if let Some(rows) = rows {
                        return Ok(Next::Rows(rows));
                    }
                }
                Err(error) => {
                    let raised = self.chunks.raised();
                    self.close();
                    return Err(raised.unwrap_or_else(|| Failure::io(Path::new(&self.name), error).into_error(py)));
                }
            }
        }
        Ok(Next::End)
    }

    fn read(&mut self, py: Python<'_>) -> io::Result<usize> {
        let Self { chunks, records, text, buffer, .. } = self;
        let (text, is_work) = match text {
            Some(text) => text,
            None => text.insert(open(chunks, records.as_ref())?),
        };
        if *is_work { py.detach(|| text.read(buffer)) } else { text.read(buffer) }
    }

    fn close(&mut self) {
        self.is_over = true;
        self.text = None;
        self.chunks.close();
    }
}

/// Looks at the first bytes.
fn open(chunks: &Arc<Chunks>, records: Option<&Pattern>) -> io::Result<(Reader, bool)> {
    let text = Text::open(Box::new(ChunkReader::new(chunks)), None)?;
    if let Some(encoding) = text.encoding() {
        return Err(io::Error::other(encoding.to_string()));
    }
    let is_compressed = text.compression != Compression::None;
    let text = text.blank_mark().into_reader();
    Ok(match records {
        None => (text, is_compressed),
        Some(pattern) => (Box::new(RecordReader::new(text, pattern.clone())), true),
    })
}

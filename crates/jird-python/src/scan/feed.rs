//! Lines that come in chunks, read on the caller's thread: each as soon as it is complete.

use super::failure::Failure;
use super::files::{Files, Search};
use super::records::{BadDocument, Records};
use super::rows::{Gathering, Rows};
use jird::hooks::lines::{LineReader, newlines};
use jird::lines::Options;
use jird::policy::RECORD_BYTES_MAX;
use jird_formats::encoding::{Encoding, blank_mark};
use jird_formats::files::{BadRecords, Compression, MAGIC_BYTES};
use std::io;
use std::sync::Arc;

/// The most room that is kept after a long line.
const KEPT_MAX: usize = 1 << 20;

/// Reads lines that are pushed in chunks, which may be cut anywhere. It holds the lines that it has read last, and the
/// start of the next one.
pub(super) struct Feed {
    files: Arc<Files>,
    wanted: Search,
    /// The keys of columns, each with a colon; `None` if records are wanted whole.
    keys: Option<Vec<String>>,
    reader: LineReader,
    bad_records: BadRecords,
    text: Vec<u8>,
    /// The bytes of the text that were read.
    read: usize,
    /// The offset of the text among all that was pushed, and the number of lines before it.
    offset: u64,
    lines: u64,
    /// Whether the first bytes are known to be those of a text.
    is_begun: bool,
    /// What makes lines of what is pushed, and its first bytes.
    documents: Option<(Records, Vec<u8>)>,
}

/// Bytes of a document that tell whether it is a text.
const START_BYTES: usize = 4;

impl Feed {
    /// # Errors
    /// If the quarantine cannot be opened.
    pub(super) fn new(files: Arc<Files>, wanted: Search, keys: Option<Vec<String>>) -> Result<Self, Failure> {
        let bad_records = BadRecords::new(&wanted.on_error).map_err(|error| Failure::Refused(error.to_string()))?;
        let reader = LineReader::new(Options::default());
        let (text, read, offset, lines, is_begun, documents) = (Vec::new(), 0, 0, 0, false, None);
        Ok(Self { files, wanted, keys, reader, bad_records, text, read, offset, lines, is_begun, documents })
    }

    /// The same for documents, whose records are the values that the pattern of the files leads to.
    pub(super) fn of_documents(mut self) -> Self {
        self.documents = self.files.records().map(|pattern| (Records::new(pattern.clone()), Vec::new()));
        self
    }

    /// Takes the next bytes, of documents if this is for them, else of lines.
    pub(super) fn push(&mut self, chunk: &[u8]) -> Option<Rows> {
        let Some((mut records, mut start)) = self.documents.take() else { return self.push_lines(chunk) };
        let mut lines = Vec::new();
        let pushed = if self.is_begun {
            records.push(chunk, &mut lines)
        } else {
            start.extend_from_slice(chunk);
            if start.len() < START_BYTES {
                self.documents = Some((records, start));
                return None;
            }
            if let Err(error) = begin(&mut start) {
                return Some(self.failed(error));
            }
            self.is_begun = true;
            records.push(&start, &mut lines)
        };
        self.documents = Some((records, Vec::new()));
        let rows = self.push_lines(&lines);
        self.then(rows, pushed)
    }

    /// Ends the text, and gives the records that are left.
    pub(super) fn finish(&mut self) -> Option<Rows> {
        let Some((mut records, mut start)) = self.documents.take() else { return self.finish_lines() };
        if !self.is_begun
            && let Err(error) = begin(&mut start)
        {
            return Some(self.failed(error));
        }
        self.is_begun = true;
        let mut lines = Vec::new();
        let finished = records.push(&start, &mut lines).and_then(|()| records.finish(&mut lines));
        let rows = self.push_lines(&lines);
        self.then(rows, finished)
    }

    /// These rows, and then the error.
    fn then(&self, rows: Option<Rows>, done: Result<(), jird::Error>) -> Option<Rows> {
        let Err(error) = done else { return rows };
        let failed = self.failed(io::Error::other(BadDocument(error)));
        Some(match rows {
            Some(rows) if rows.failure.is_none() => Rows { failure: failed.failure, ..rows },
            Some(rows) => rows,
            None => failed,
        })
    }

    /// Takes the next bytes. Returns the records of the lines that are complete now; `None` if no line is. The cost is
    /// linear in all that is pushed.
    fn push_lines(&mut self, chunk: &[u8]) -> Option<Rows> {
        self.forget();
        let before = self.text.len();
        self.text.extend_from_slice(chunk);
        let end = chunk.iter().rposition(|byte| *byte == b'\n').map(|newline| before + newline + 1);
        if !self.is_begun && (end.is_some() || self.text.len() >= MAGIC_BYTES) {
            if let Err(error) = begin(&mut self.text) {
                return Some(self.failed(error));
            }
            self.is_begun = true;
        }
        match end {
            Some(end) => Some(self.read(end)),
            None if self.text.len() > RECORD_BYTES_MAX => {
                let words = format!("the line at byte {} has more than {RECORD_BYTES_MAX} bytes", self.offset);
                Some(self.failed(io::Error::other(words)))
            }
            None => None,
        }
    }

    /// Takes what is left as the last line.
    fn finish_lines(&mut self) -> Option<Rows> {
        self.forget();
        if self.text.is_empty() {
            return None;
        }
        if !self.is_begun
            && let Err(error) = begin(&mut self.text)
        {
            return Some(self.failed(error));
        }
        Some(self.read(self.text.len()))
    }

    /// The number of the line of a record of the last rows, from one on.
    pub(super) fn line_of(&self, offset: u64) -> u64 {
        let before = usize::try_from(offset.saturating_sub(self.offset)).unwrap_or(usize::MAX);
        self.lines + newlines(&self.text[..before.min(self.text.len())]) + 1
    }

    /// Drops the lines that were read.
    fn forget(&mut self) {
        let read = core::mem::take(&mut self.read);
        self.offset += read as u64;
        self.lines += newlines(&self.text[..read]);
        self.text.drain(..read);
        if self.text.capacity() > KEPT_MAX {
            self.text.shrink_to(KEPT_MAX);
        }
    }

    fn read(&mut self, end: usize) -> Rows {
        let Self { files, wanted, keys, reader, bad_records, text, offset, lines, .. } = self;
        let made = Gathering::new(keys.as_deref());
        let done = files.read_lines(reader, wanted, (&text[..end], *offset, *lines), bad_records, made);
        self.read = end;
        Rows::of(done)
    }

    fn failed(&self, error: io::Error) -> Rows {
        Rows::failed(Failure::io(self.files.path(0), error))
    }
}

/// Replaces a byte order mark at the start of a text with blanks.
///
/// # Errors
/// If the text is compressed, or in another encoding than UTF-8.
fn begin(text: &mut [u8]) -> io::Result<()> {
    let compressed = Compression::of_bytes(text).name().or_else(|| Compression::foreign(None, text));
    if let Some(compressor) = compressed {
        return Err(io::Error::other(format!(
            "it is compressed with {compressor}; decompress it before it is scanned"
        )));
    }
    if let Some(encoding) = Encoding::of(text) {
        return Err(io::Error::other(encoding.to_string()));
    }
    blank_mark(text);
    Ok(())
}

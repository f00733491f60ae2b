//! The records of a text that is almost JSON.

use super::fault::LenientFault;
use super::layout::{LenientLayout, is_blank};
use crate::recover::{BadRow, Recover};
use jird::de::{IoRead, Trusted};
use jird::event::{Failure, JsonSource, Pattern, Place, Sink, Source};
use jird::lenient::{Leniency, to_strict};
use jird::policy::RECORD_BYTES_MAX;
use std::borrow::Cow;
use std::fmt;
use std::io::{self, BufRead, BufReader, Cursor, Read};

/// What may be read besides strict JSON, and how long a line or a document may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LenientOptions {
    /// What is allowed.
    pub leniency: Leniency,
    /// The maximum length of a line, or of a text that is one document, in bytes. It is in memory, and so is the strict text,
    /// which is up to six times as long.
    pub bytes_max: usize,
}

impl LenientOptions {
    /// With lines and documents of up to [`RECORD_BYTES_MAX`] bytes.
    pub fn new(leniency: Leniency) -> Self {
        Self { leniency, bytes_max: RECORD_BYTES_MAX }
    }
}

/// The records of a text that is almost JSON: its lines, or the elements of an array, or the one document. Lines that are
/// blank or comments are no records. Memory is bounded by the longest line, or the document.
///
/// ```
/// use jird::event::{self, JsonSink};
/// use jird::lenient::Leniency;
/// use jird_formats::{LenientLayout, LenientOptions, LenientSource};
/// let text = &b"{a: 0x10} // one\n\n// none\n{'a': +2,}\n"[..];
/// let options = LenientOptions::new(Leniency::JSON5);
/// let mut out = JsonSink::new(Vec::new());
/// event::copy(&mut LenientSource::new(text, options, LenientLayout::Lines), &mut out)?;
/// assert_eq!(out.into_inner(), b"{\"a\":16}\n{\"a\":2}\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct LenientSource<R> {
    text: BufReader<R>,
    options: LenientOptions,
    layout: LenientLayout,
    records: Option<Pattern>,
    /// The line, or the document, as it was given, and where it begins.
    raw: Vec<u8>,
    begin: Place,
    /// Where the rest begins.
    next: Place,
    /// The records of a document that is being sent.
    document: Option<DocumentSource>,
    ended: bool,
}

/// The records of a strict text, which was checked.
type DocumentSource = JsonSource<Trusted<IoRead<Cursor<Vec<u8>>>>>;

/// Bytes read at a time.
const BUFFER_BYTES: usize = 1 << 16;

impl<R: Read> LenientSource<R> {
    /// Reads the records of a text.
    pub fn new(text: R, options: LenientOptions, layout: LenientLayout) -> Self {
        let begin = Place { line: 1, ..Place::default() };
        Self {
            text: BufReader::with_capacity(BUFFER_BYTES, text),
            options,
            layout,
            records: None,
            raw: Vec::new(),
            begin,
            next: begin,
            document: None,
            ended: false,
        }
    }

    /// The records are the values that `pattern` leads to in each document.
    #[must_use]
    pub fn records(mut self, pattern: Pattern) -> Self {
        self.records = Some(pattern);
        self
    }

    /// Whether this is an error of one line, after which the next ones can be read.
    pub fn can_recover(&self, fault: &LenientFault) -> bool {
        self.layout == LenientLayout::Lines && fault.as_io().is_none()
    }

    /// Reads the next line, or the document. False at the end.
    fn read(&mut self) -> Result<bool, LenientFault> {
        self.raw.clear();
        self.begin = self.next;
        let mut limited = (&mut self.text).take((self.options.bytes_max as u64).saturating_add(1));
        let read = match self.layout {
            LenientLayout::Lines => limited.read_until(b'\n', &mut self.raw)?,
            LenientLayout::Document => limited.read_to_end(&mut self.raw)?,
        };
        self.ended = read == 0 || self.layout == LenientLayout::Document;
        self.next.offset += read as u64;
        self.next.line += 1;
        if read <= self.options.bytes_max {
            return Ok(read > 0);
        }
        if self.layout == LenientLayout::Lines && self.raw.last() != Some(&b'\n') {
            self.next.offset += skip_line(&mut self.text)?;
        }
        self.next.record += 1;
        Err(LenientFault::long(self.begin, self.options.bytes_max))
    }

    /// Sends a line that is one record; if it is none, nothing. Whether it sent one.
    fn send_line<S: Sink>(&mut self, sink: &mut S) -> Result<bool, Failure<LenientFault, S::Error>> {
        if is_blank(&self.raw, self.options.leniency) {
            return Ok(false);
        }
        self.next.record += 1;
        let line = without_end(&self.raw);
        let strict = strict(line, self.options, self.begin).map_err(Failure::Source)?;
        // Checked once more, but by code that other sources have, too: it is compiled for each kind of sink.
        JsonSource::from_slice(&strict)
            .begins_at(self.begin)
            .send_record(sink)
            .map_err(|failure| in_document(failure, self.begin))
    }

    /// Begins to send the records of a document.
    fn open(&mut self) -> Result<(), LenientFault> {
        let text = if self.layout == LenientLayout::Lines { without_end(&self.raw) } else { &self.raw };
        let strict = match strict(text, self.options, self.begin) {
            Ok(strict) => strict.into_owned(),
            // Nothing, or nothing but comments.
            Err(_) if is_blank(&self.raw, self.options.leniency) => return Ok(()),
            Err(fault) => {
                self.next.record += 1;
                return Err(fault);
            }
        };
        if self.layout == LenientLayout::Document {
            self.raw = Vec::new();
        }
        let is_array = strict.trim_ascii_start().starts_with(b"[");
        let pattern = match &self.records {
            Some(pattern) => pattern.clone(),
            None if is_array => Pattern::each(),
            None => Pattern::default(),
        };
        let source = JsonSource::from_reader_trusted(Cursor::new(strict)).records(pattern);
        // What is in memory already needs no limit.
        self.document = Some(source.record_bytes_max(usize::MAX).begins_at(self.begin));
        Ok(())
    }
}

/// A line without the bytes that end it.
fn without_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// The strict text of a line, or of a document. An error tells the place in the whole text.
fn strict(raw: &[u8], options: LenientOptions, begin: Place) -> Result<Cow<'_, [u8]>, LenientFault> {
    to_strict(raw, options.leniency)
        .map_err(|error| LenientFault::refused(error.after_lines(begin.line - 1, begin.offset)))
}

fn in_document<E>(failure: Failure<jird::Error, E>, begin: Place) -> Failure<LenientFault, E> {
    match failure {
        Failure::Source(error) => Failure::Source(LenientFault::strict(error, begin)),
        Failure::Sink(error, place) => Failure::Sink(error, place),
    }
}

/// Passes over the rest of a line. Returns how many bytes it has.
fn skip_line(text: &mut impl BufRead) -> io::Result<u64> {
    let mut skipped = 0;
    loop {
        let buffer = match text.fill_buf() {
            Ok(buffer) => buffer,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let (end, len) = match buffer.iter().position(|&byte| byte == b'\n') {
            Some(at) => (true, at + 1),
            None => (buffer.is_empty(), buffer.len()),
        };
        text.consume(len);
        skipped += len as u64;
        if end {
            return Ok(skipped);
        }
    }
}

impl<R: Read> Source for LenientSource<R> {
    type Error = LenientFault;

    fn send_record<S: Sink>(&mut self, sink: &mut S) -> Result<bool, Failure<LenientFault, S::Error>> {
        loop {
            if let Some(document) = &mut self.document {
                let sent = document.send_record(sink).map_err(|failure| in_document(failure, self.begin))?;
                self.next.record = document.records_begun();
                if sent {
                    return Ok(true);
                }
                self.document = None;
            }
            if self.ended || !self.read().map_err(Failure::Source)? {
                return Ok(false);
            }
            if self.layout == LenientLayout::Lines && self.records.is_none() {
                if self.send_line(sink)? {
                    return Ok(true);
                }
            } else {
                self.open().map_err(Failure::Source)?;
            }
        }
    }
}

/// A bad line is one record. A document that is bad is an error of the whole text.
impl<R: Read> Recover for LenientSource<R> {
    fn bad_row(&mut self, fault: &LenientFault) -> Result<Option<BadRow>, LenientFault> {
        if !self.can_recover(fault) {
            return Ok(None);
        }
        self.document = None;
        let place = Place { record: self.begin.record, ..fault.place() };
        let raw = without_end(&self.raw).to_vec();
        Ok(Some(BadRow { kind: fault.kind().code(), place, message: fault.to_string(), raw }))
    }
}

impl<R> fmt::Debug for LenientSource<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LenientSource")
            .field("options", &self.options)
            .field("layout", &self.layout)
            .field("next", &self.next)
            .finish_non_exhaustive()
    }
}

//! Reads lines of a file with one set of buffers, and makes passes over whole inputs.

use super::ScanOptions;
use crate::bad::{Found, Noting, Wrong};
use crate::error::{Error, with_stray_mark};
use crate::input::{Input, InputFile};
use jird::lines::{self, Match, Scanned, Scanner};
use jird::{
    ErrorKind,
    record::{Predicate, Projection},
};
use std::cell::RefCell;
use std::io;
use std::ops::{ControlFlow, Range};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, PoisonError};

/// Reads and scans with reused buffers. Each thread has one.
#[derive(Debug)]
pub(crate) struct Reader {
    options: lines::Options,
    /// Whether bad records are skipped.
    passes_by: bool,
    scanner: Scanner,
    buffer: Vec<u8>,
}

/// What a [`Reader`] has seen.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    pub(crate) bytes: u64,
    pub(crate) scanned: Scanned,
    /// The bad records that were skipped.
    pub(crate) found: Found,
}

/// Why a read ended early.
enum Fault {
    Line(jird::Error),
    Io(io::Error),
    Ours(Error),
}

impl From<jird::Error> for Fault {
    fn from(error: jird::Error) -> Self {
        Self::Line(error)
    }
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl Reader {
    pub(crate) fn new(options: &ScanOptions) -> Self {
        let passes_by = options.bad.is_some();
        Self { options: options.lines, passes_by, scanner: Scanner::new(options.lines), buffer: Vec::new() }
    }

    /// Visits the records that pass `filter` and whose lines begin in `range`, or in the whole file if there is no
    /// range. `visit` also gets the offset of the text, to which the row's own offset is relative. If `visit` returns a
    /// message, the record is bad. `piece` is called after each piece of lines.
    pub(crate) fn read(
        &mut self,
        file: &InputFile,
        range: Option<Range<u64>>,
        projection: &Projection,
        filter: Option<&Predicate>,
        mut visit: impl FnMut(&Match<'_, '_>, u64) -> Result<ControlFlow<()>, String>,
        mut piece: impl FnMut(Seen) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, Error> {
        let Self { options, passes_by, scanner, buffer } = self;
        let passes_by = *passes_by;
        let is_stream = file.size.is_none();
        let mut lines_before = 0;
        let each = |offset: u64, text: &[u8]| -> Result<ControlFlow<()>, Fault> {
            let bytes = text.len() as u64;
            let mut stopped = None;
            let found = RefCell::new(Finding { file, text, offset, counted: 0, found: Found::default() });
            let scanned = scanner.scan_all(
                text,
                projection,
                filter,
                |row| match visit(&row, offset) {
                    Ok(flow) => flow,
                    Err(words) if passes_by => found.borrow_mut().push(row.offset(), row.text(), Wrong::Unfit(words)),
                    Err(words) => {
                        stopped = Some((row.offset(), words));
                        ControlFlow::Break(())
                    }
                },
                |bad| {
                    let at = usize::try_from(bad.error.offset()).map_or(bad.offset, |at| at.max(bad.offset));
                    let column = (at - bad.offset) as u64 + 1;
                    let flow = found.borrow_mut().push(at, bad.text, Wrong::Rule(bad.error.kind(), column));
                    if passes_by { flow } else { ControlFlow::Break(()) }
                },
            );
            let lines = is_stream.then_some(lines_before);
            let mut found = found.into_inner().end(is_stream || passes_by);
            lines_before += found.lines;
            if let Some((at, words)) = stopped {
                return Err(Fault::Ours(unfit(file, text, offset, at, &words, lines)));
            }
            if let (false, Some((kind, at))) = (passes_by, found.first_rule()) {
                return Err(Fault::Ours(bad_record(file, text, offset, kind, at - offset, lines)));
            }
            if scanned.stopped {
                return Ok(ControlFlow::Break(()));
            }
            if !passes_by {
                found = Found::default();
            }
            Ok(piece(Seen { bytes, scanned, found }))
        };
        run(file, range, buffer, options.record_bytes_max, each)
    }

    /// Counts the records that [`read`](Self::read) would visit, without reading any: the lines that are not blank.
    pub(crate) fn count(
        &mut self,
        file: &InputFile,
        range: Option<Range<u64>>,
        mut piece: impl FnMut(Seen) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, Error> {
        let each = |_: u64, text: &[u8]| -> Result<ControlFlow<()>, Fault> {
            let bytes = text.len() as u64;
            let scanned = Scanned { records: records(text), ..Scanned::default() };
            Ok(piece(Seen { bytes, scanned, found: Found::default() }))
        };
        run(file, range, &mut self.buffer, self.options.record_bytes_max, each)
    }
}

/// Passes the lines that begin in `range`, or all lines of the file, to `each`, some at a time.
fn run(
    file: &InputFile,
    range: Option<Range<u64>>,
    buffer: &mut Vec<u8>,
    record_bytes_max: usize,
    each: impl FnMut(u64, &[u8]) -> Result<ControlFlow<()>, Fault>,
) -> Result<ControlFlow<()>, Error> {
    let result = match (file.size, range) {
        (None, _) => lines::read_stream(file.stream()?, buffer, record_bytes_max, each),
        (Some(0), _) => return Ok(ControlFlow::Continue(())),
        (Some(size), range) => {
            lines::read_range(&file.file()?, range.unwrap_or(0..size), buffer, record_bytes_max, each)
        }
    };
    let of_line = |error: &jird::Error| {
        let line = match file.line_at(error.offset()) {
            Ok(line) if file.is_rereadable() => format!(":{line}"),
            _ => String::new(),
        };
        Error::frame(format!("{}{line}: {} (byte {})", file.path.display(), error.kind(), error.offset()))
    };
    result.map_err(|fault| match fault {
        Fault::Ours(error) => error,
        Fault::Line(error) => of_line(&error),
        Fault::Io(error) => match error.get_ref().and_then(|inner| inner.downcast_ref::<jird::Error>()) {
            Some(wrong) => of_line(wrong),
            None => file.error(&error),
        },
    })
}

/// The number of lines of a text that are not blank.
fn records(text: &[u8]) -> u64 {
    let mut records = 0;
    let mut start = 0;
    for end in memchr::memchr_iter(b'\n', text).chain([text.len()]) {
        let line = &text[start..end];
        records += u64::from(line.first().is_some_and(|&byte| byte > b' ') || !line.trim_ascii().is_empty());
        start = end + 1;
    }
    records
}

/// Finds the lines of bad records.
struct Finding<'t> {
    file: &'t InputFile,
    text: &'t [u8],
    offset: u64,
    /// The newlines in this many bytes were counted.
    counted: usize,
    found: Found,
}

impl Finding<'_> {
    /// Adds a bad record whose error is at offset `at` of the text.
    #[cold]
    fn push(&mut self, at: usize, raw: &[u8], what: Wrong) -> ControlFlow<()> {
        let at = at.min(self.text.len());
        if at > self.counted {
            self.found.lines += self.file.layout.newlines(&self.text[self.counted..at]);
            self.counted = at;
        }
        self.found.push(self.found.lines, self.offset + at as u64, what, raw);
        ControlFlow::Continue(())
    }

    /// Counts the remaining lines, if `counts` is set.
    fn end(mut self, counts: bool) -> Found {
        if counts {
            self.found.lines += self.file.layout.newlines(&self.text[self.counted..]);
        }
        self.found
    }
}

/// The line of a byte of a text, and the byte's offset in that line.
fn place(file: &InputFile, text: &[u8], offset: u64, at: usize, lines_before: Option<u64>) -> (u64, usize) {
    let start = text[..at].iter().rposition(|&byte| file.layout.is_newline(byte)).map_or(0, |newline| newline + 1);
    let line = match lines_before {
        Some(before) => before + file.layout.newlines(&text[..start]) + 1,
        None => file.line_at(offset + start as u64).unwrap_or_default(),
    };
    (line, at - start)
}

/// The error for a record that does not fit.
#[cold]
fn unfit(file: &InputFile, text: &[u8], offset: u64, at: usize, words: &str, lines_before: Option<u64>) -> Error {
    let (line, _) = place(file, text, offset, at, lines_before);
    Error::record(format!("{}:{line}: {words}", file.path.display()))
}

/// The error for a bad record. A second walk finds the place.
#[cold]
fn bad_record(
    file: &InputFile,
    text: &[u8],
    offset: u64,
    kind: ErrorKind,
    at: u64,
    lines_before: Option<u64>,
) -> Error {
    let at = usize::try_from(at).map_or(text.len(), |at| at.min(text.len()));
    let start = text[..at].iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1);
    // In layouts with long records, `start` moves to the record's first byte, past blank lines before it.
    let is_long = file.layout.has_long_records();
    let start = start + if is_long { at - start - text[start..at].trim_ascii_start().len() } else { 0 };
    let end = text[at..].iter().position(|&byte| byte == b'\n').map_or(text.len(), |newline| at + newline);
    let located = jird::Error::new(kind, (at - start) as u64).locate(&text[start..end]);
    let (line, column) = place(file, text, offset, at, lines_before);
    let located = located.after_lines(0, offset + start as u64);
    let kind = with_stray_mark(kind.to_string(), &text[at..]);
    let (snippet, caret) = (located.snippet(), located.caret());
    Error::record(format!(
        "{}:{line}:{}: {kind} {}\n  {snippet}\n  {:caret$}^",
        file.path.display(),
        column + 1,
        located.place(),
        "",
    ))
}

/// An input, cut into pieces of work.
#[derive(Debug)]
pub(crate) struct Chunks<'i> {
    input: &'i Input,
    chunks: Vec<Chunk>,
}

#[derive(Clone, Debug)]
struct Chunk {
    file: usize,
    /// `None`: the whole file, which is a stream.
    range: Option<Range<u64>>,
}

impl<'i> Chunks<'i> {
    /// Cuts an input that can be read again.
    pub(crate) fn new(input: &'i Input, chunk_bytes: u64) -> Self {
        let mut chunks = Vec::new();
        for (index, file) in input.files.iter().enumerate() {
            match file.size {
                Some(size) => {
                    chunks.extend(cut(0..size, chunk_bytes).map(|range| Chunk { file: index, range: Some(range) }));
                }
                None => chunks.push(Chunk { file: index, range: None }),
            }
        }
        Self { input, chunks }
    }

    /// Visits every record, with its [place](Input::place), on all threads. The results of the chunks are consumed in
    /// order.
    pub(crate) fn visit<T: Send>(
        &self,
        options: &ScanOptions,
        projection: &Projection,
        make: impl Fn() -> T + Sync,
        visit: impl Fn(&mut T, &Match<'_, '_>, u64) + Sync,
        mut consume: impl FnMut(T) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        let all = !self.input.noted.swap(true, Relaxed);
        let noting: Mutex<Option<(usize, Noting)>> = Mutex::default();
        let note = |file: usize, found: &Found| -> Result<(), Error> {
            let Some(sink) = &options.bad else { return Ok(()) };
            let mut noting = noting.lock().unwrap_or_else(PoisonError::into_inner);
            let (_, noting) = match &mut *noting {
                Some(noting) if noting.0 == file => noting,
                other => other.insert((file, Noting::new(sink, all))),
            };
            noting.take(&self.input.files[file], found)
        };
        // A chunk that is a whole file may have any number of bad records. They are noted at once, so one thread reads
        // all files.
        let notes_at_once = options.bad.is_some() && !self.input.is_anywhere();
        let threads = if notes_at_once { 1 } else { options.threads };
        let mut failed = None;
        let work = |reader: &mut Reader, job: usize| {
            let Chunk { file, range } = self.chunks[job].clone();
            let (mut made, mut found, mut noted) = (make(), Found::default(), Ok(()));
            let read = reader.read(
                &self.input.files[file],
                range,
                projection,
                None,
                |row, offset| {
                    visit(&mut made, row, Input::place(file, offset + row.offset() as u64));
                    Ok(ControlFlow::Continue(()))
                },
                |seen| {
                    found.append(seen.found);
                    if notes_at_once && found.is_large() {
                        noted = note(file, &std::mem::take(&mut found));
                    }
                    if noted.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
                },
            );
            noted.and(read).map(|_| (file, made, found))
        };
        lines::in_order(
            0..self.chunks.len(),
            threads,
            || Reader::new(options),
            work,
            |result| match result.and_then(|(file, made, found)| note(file, &found).map(|()| made)) {
                Ok(made) => consume(made),
                Err(error) => {
                    failed = Some(error);
                    ControlFlow::Break(())
                }
            },
        );
        failed.map_or(Ok(()), Err)
    }
}

/// The pieces of a range, in order.
pub(crate) fn cut(range: Range<u64>, piece_bytes: u64) -> impl ExactSizeIterator<Item = Range<u64>> {
    let pieces = (range.end - range.start).div_ceil(piece_bytes);
    let pieces = usize::try_from(pieces).expect("a file has fewer pieces than there are addresses");
    (0..pieces).map(move |piece| {
        let start = range.start + piece as u64 * piece_bytes;
        start..(start + piece_bytes).min(range.end)
    })
}

//! Reading lines of a file with one set of buffers, and passes over whole inputs.

use super::ScanOptions;
use crate::error::Error;
use crate::input::{Input, InputFile, feeds};
use jird::lines::{self, Row, Scanned, Scanner};
use jird::{Predicate, Projection};
use std::io;
use std::ops::{ControlFlow, Range};

/// Reads and scans with reused buffers. One per thread.
#[derive(Debug)]
pub(crate) struct Reader {
    options: lines::Options,
    scanner: Scanner,
    buffer: Vec<u8>,
}

/// What a [`Reader`] has seen.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen {
    pub(crate) bytes: u64,
    pub(crate) scanned: Scanned,
}

/// What ends a read early.
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
    pub(crate) fn new(options: lines::Options) -> Self {
        Self { options, scanner: Scanner::new(options), buffer: Vec::new() }
    }

    /// Visits the records of a file whose lines begin in `range` (all of it, if there is none) and that pass `filter`, with
    /// the offset of the text that a row's own offset counts from. `piece` is called after each piece of lines.
    pub(crate) fn read(
        &mut self,
        file: &InputFile,
        range: Option<Range<u64>>,
        projection: &Projection,
        filter: Option<&Predicate>,
        mut visit: impl FnMut(Row<'_, '_>, u64) -> ControlFlow<()>,
        mut piece: impl FnMut(Seen) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, Error> {
        let Self { options, scanner, buffer } = self;
        let mut lines_before = 0;
        let is_stream = file.size.is_none();
        let each = |offset: u64, text: &[u8]| -> Result<ControlFlow<()>, Fault> {
            let scanned = scanner.scan(text, projection, filter, |row| visit(row, offset)).map_err(|error| {
                Fault::Ours(bad_record(file, text, offset, &error, is_stream.then_some(lines_before)))
            })?;
            if is_stream {
                lines_before += feeds(text);
            }
            if scanned.stopped {
                return Ok(ControlFlow::Break(()));
            }
            Ok(piece(Seen { bytes: text.len() as u64, scanned }))
        };
        let record_bytes_max = options.record_bytes_max;
        let result = match (file.size, range) {
            (None, _) => lines::read_stream(file.stream()?, buffer, record_bytes_max, each),
            (Some(0), _) => return Ok(ControlFlow::Continue(())),
            (Some(size), range) => {
                let range = range.unwrap_or(0..size);
                lines::read_range(&file.file()?, range, buffer, record_bytes_max, each)
            }
        };
        result.map_err(|fault| match fault {
            Fault::Ours(error) => error,
            Fault::Io(error) => file.error(&error),
            Fault::Line(error) => {
                let line = file.line_at(error.offset()).map_or_else(|_| String::new(), |line| format!(":{line}"));
                Error::record(format!("{}{line}: {} (byte {})", file.path.display(), error.kind(), error.offset()))
            }
        })
    }
}

/// Says where a record is wrong: finds its line by a second walk.
#[cold]
fn bad_record(file: &InputFile, text: &[u8], offset: u64, error: &jird::Error, lines_before: Option<u64>) -> Error {
    let at = usize::try_from(error.offset()).map_or(text.len(), |at| at.min(text.len()));
    let start = text[..at].iter().rposition(|&byte| byte == b'\n').map_or(0, |feed| feed + 1);
    let end = text[at..].iter().position(|&byte| byte == b'\n').map_or(text.len(), |feed| at + feed);
    let line = jird::Error::new(error.kind(), (at - start) as u64).locate(&text[start..end]);
    let lines = match lines_before {
        Some(before) => before + feeds(&text[..start]),
        None => file.line_at(offset + start as u64).map_or(0, |line| line - 1),
    };
    let located = line.after_lines(lines, offset + start as u64);
    let pointer = match located.pointer() {
        "" => String::new(),
        pointer => format!(", at {pointer}"),
    };
    let shown = located.to_string();
    let snippet = shown.split_once('\n').map_or("", |(_, snippet)| snippet);
    Error::record(format!(
        "{}:{}:{}: {} (byte {}{pointer})\n{snippet}",
        file.path.display(),
        located.line(),
        located.column(),
        error.kind(),
        located.error().offset(),
    ))
}

/// An input cut into pieces of work.
#[derive(Debug)]
pub(crate) struct Chunks<'i> {
    input: &'i Input,
    chunks: Vec<Chunk>,
}

#[derive(Clone, Debug)]
struct Chunk {
    file: usize,
    range: Range<u64>,
    /// Bytes of the input before the file.
    base: u64,
}

impl<'i> Chunks<'i> {
    /// Cuts an input that can be read again.
    pub(crate) fn new(input: &'i Input, chunk_bytes: u64) -> Self {
        let mut chunks = Vec::new();
        let mut base = 0;
        for (file, size) in input.files.iter().enumerate().filter_map(|(index, file)| Some((index, file.size?))) {
            chunks.extend(cut(0..size, chunk_bytes).map(|range| Chunk { file, range, base }));
            base += size;
        }
        Self { input, chunks }
    }

    /// Visits every record on all threads, with its offset in the whole input; what was made of each chunk is consumed in
    /// order.
    pub(crate) fn visit<T: Send>(
        &self,
        options: &ScanOptions,
        projection: &Projection,
        make: impl Fn() -> T + Sync,
        visit: impl Fn(&mut T, Row<'_, '_>, u64) + Sync,
        mut consume: impl FnMut(T) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        let mut failed = None;
        let work = |reader: &mut Reader, job: usize| {
            let Chunk { file, range, base } = self.chunks[job].clone();
            let mut made = make();
            reader
                .read(
                    &self.input.files[file],
                    Some(range),
                    projection,
                    None,
                    |row, offset| {
                        let at = base + offset + row.offset() as u64;
                        visit(&mut made, row, at);
                        ControlFlow::Continue(())
                    },
                    |_| ControlFlow::Continue(()),
                )
                .map(|_| made)
        };
        lines::in_order(
            0..self.chunks.len(),
            options.threads,
            || Reader::new(options.lines),
            work,
            |result| match result {
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

/// Pieces of a range, in order.
pub(crate) fn cut(range: Range<u64>, piece_bytes: u64) -> impl ExactSizeIterator<Item = Range<u64>> {
    let pieces = (range.end - range.start).div_ceil(piece_bytes);
    let pieces = usize::try_from(pieces).expect("a file has fewer pieces than there are addresses");
    (0..pieces).map(move |piece| {
        let start = range.start + piece as u64 * piece_bytes;
        start..(start + piece_bytes).min(range.end)
    })
}

//! Reads lines of a file with one set of buffers, and makes passes over whole inputs.

use super::ScanOptions;
use crate::base::error::{Error, with_hint};
use crate::base::interrupt::Interrupt;
use crate::input::{BlockSelection, Input, InputFile, Layout, TableRequest, TakeCells};
use crate::scan::bad::{BadPart, BadSink, Wrong};
use jird::hooks::lines::{Counting, LinePiece, LineReader, Part, drive, ranges};
use jird::lines::{self, Bad, Check, Match, Scanned};
use jird::{
    ErrorKind, Path,
    record::{Predicate, Projection},
};
use jird_formats::Crew;
use std::cell::{Cell, RefCell};
use std::io;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// Reads and scans with reused buffers. Each thread has one.
#[derive(Debug)]
pub(crate) struct Reader {
    /// Where bad records go, if they are left out.
    bad: Option<BadSink>,
    /// Whether all lines are counted.
    counts: bool,
    /// The maximum length of a record, in bytes.
    record_limit: usize,
    lines: LineReader,
    /// Reads the events of stores, which were checked when they came in.
    trusting: LineReader,
    /// The blocks of a store that are read; without them, all.
    chosen: Option<Arc<BlockSelection>>,
    interrupt: Interrupt,
    crew: Crew,
}

/// What a [`Reader`] has seen.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReadCounts {
    pub(crate) bytes: u64,
    /// The bytes of the input that are done: columns of a store may have stood for them.
    pub(crate) done: u64,
    pub(crate) scanned: Scanned,
    /// The bad records that were skipped.
    pub(crate) found: BadPart,
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
        let record_limit = options.lines.record_bytes_max;
        let trusting = lines::Options { check: Check::Trusted, ..options.lines };
        Self {
            bad: options.bad.clone(),
            counts: false,
            record_limit,
            lines: LineReader::new(options.lines),
            trusting: LineReader::new(trusting),
            chosen: None,
            interrupt: options.interrupt.clone(),
            crew: options.crew.clone(),
        }
    }

    /// Reads only these blocks of stores.
    pub(crate) fn choose(&mut self, chosen: Option<Arc<BlockSelection>>) {
        self.chosen = chosen;
    }

    /// Counts the lines of all pieces.
    pub(crate) fn counting(self, counts: bool) -> Self {
        Self { counts, ..self }
    }

    /// The number of lines that the last [`read`](Self::read) has passed on, if it counted all.
    pub(crate) fn lines(&self) -> u64 {
        self.lines.lines().max(self.trusting.lines())
    }

    /// Visits the records that pass `filter` and whose lines begin in `range`, or in the whole file if there is no
    /// range. `visit` also gets the piece of lines that the row stands in. If `visit` returns a message, the record is bad.
    /// `seen` is called after each piece of lines. Where the columns of a store have all that is wanted, `cells` takes the
    /// cells at the paths of the projection, and no record is visited.
    pub(crate) fn read(
        &mut self,
        file: &InputFile,
        range: Option<Range<u64>>,
        (projection, filter): (&Projection, Option<&Predicate>),
        cells: Option<TakeCells<'_>>,
        mut visit: impl FnMut(&Match<'_, '_>, &LinePiece<'_>) -> Result<ControlFlow<()>, String>,
        mut seen: impl FnMut(ReadCounts) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, Error> {
        let Self { bad: sink, counts, record_limit, lines, trusting, chosen, interrupt, crew } = self;
        interrupt.check()?;
        let store = file.store_text();
        let lines = if store.is_some() { trusting } else { lines };
        let passes_by = sink.is_some();
        // If the first bad record stops the query, its line is found by reading the file again up to there: a query
        // without bad records then counts no lines.
        let counting = Counting {
            count: file.layout.counting(),
            all: passes_by || *counts || file.size.is_none() && range.is_none(),
        };
        let place = Places { file, counts: counting.all, record_limit: *record_limit };
        let (found, failed) = (RefCell::new(BadPart::default()), Cell::new(None));
        let push = |piece: &LinePiece<'_>, at: usize, what: Wrong, raw: &[u8]| {
            let at = at.min(piece.text().len());
            found.borrow_mut().push(piece.lines_before(at), piece.offset() + at as u64, what, raw);
            ControlFlow::Continue(())
        };
        let fail = |error: Error| {
            failed.set(Some(error));
            ControlFlow::Break(())
        };
        let visit = |row: &Match<'_, '_>, piece: &LinePiece<'_>| match visit(row, piece) {
            Ok(flow) => flow,
            Err(words) if passes_by => push(piece, row.offset(), Wrong::Unfit(words), row.text()),
            Err(words) => fail(place.unfit(piece, row.offset(), &words)),
        };
        let bad = |bad: &Bad<'_>, piece: &LinePiece<'_>| {
            let at = usize::try_from(bad.error.offset()).map_or(bad.offset, |at| at.max(bad.offset));
            if passes_by {
                let column = (at - bad.offset) as u64 + 1;
                push(piece, at, Wrong::Rule(bad.error.kind(), column), bad.text)
            } else {
                fail(place.bad_record(piece, bad.error.kind(), at))
            }
        };
        let end = |piece: &LinePiece<'_>, scanned: Scanned| match failed.take() {
            Some(error) => Err(Fault::Ours(error)),
            None if scanned.stopped => Ok(ControlFlow::Break(())),
            None => {
                interrupt.check().map_err(Fault::Ours)?;
                let bytes = piece.text().len() as u64;
                let done = store.map_or(bytes, |store| store.note_block(piece.offset(), scanned.matched));
                Ok(seen(ReadCounts { bytes, done, scanned, found: found.take() }))
            }
        };
        // Lines that are left out are not counted.
        let condition = filter.filter(|_| !*counts).map(|filter| (filter.clone(), projection.paths().to_vec()));
        let pass_by = sink.as_ref().map(|bad| bad.rows_of(file));
        let wanted = TableRequest {
            columns: columns(projection),
            condition,
            pass_by,
            interrupt: interrupt.clone(),
            crew: crew.clone(),
        };
        let read = |part: Part<'_>| lines.read(part, counting, (projection, filter), visit, bad, end);
        let read = run(file, range, wanted, (chosen.as_deref(), projection.paths(), cells), read)?;
        // An interrupt also ends a read of cells, without an error.
        interrupt.check()?;
        Ok(read)
    }

    /// Tells whether the query is interrupted.
    pub(crate) fn interrupt(&self) -> &Interrupt {
        &self.interrupt
    }

    /// Counts the records that [`read`](Self::read) would visit, without reading any: the lines that are not blank.
    pub(crate) fn count(
        &mut self,
        file: &InputFile,
        range: Option<Range<u64>>,
        mut seen: impl FnMut(ReadCounts) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, Error> {
        let interrupt = &self.interrupt;
        let each = |_: u64, text: &[u8]| -> Result<ControlFlow<()>, Fault> {
            interrupt.check().map_err(Fault::Ours)?;
            let scanned = Scanned { records: records(text), ..Scanned::default() };
            let bytes = text.len() as u64;
            Ok(seen(ReadCounts { bytes, done: bytes, scanned, found: BadPart::default() }))
        };
        let pass_by = self.bad.as_ref().map(|bad| bad.rows_of(file));
        if let Some(store) = file.store_text() {
            let records = store.events(&range.unwrap_or(0..u64::MAX));
            let scanned = Scanned { records, ..Scanned::default() };
            return Ok(seen(ReadCounts { bytes: 0, done: 0, scanned, found: BadPart::default() }));
        }
        let (interrupt, crew) = (self.interrupt.clone(), self.crew.clone());
        let wanted = TableRequest { columns: Some(Vec::new()), pass_by, interrupt, crew, ..TableRequest::default() };
        run(file, range, wanted, (None, &[], None), |part| self.lines.pieces(part, each))
    }
}

/// The top-level keys that a projection reads. None if it reads whole records.
fn columns(projection: &Projection) -> Option<Vec<String>> {
    projection.keys().map(|keys| keys.into_iter().map(str::to_owned).collect())
}

/// Passes the lines that begin in `range`, or all lines of the file, to `read`. Of a store, those of the chosen blocks,
/// to a reader that looks at some paths.
fn run(
    file: &InputFile,
    range: Option<Range<u64>>,
    wanted: TableRequest,
    (chosen, paths, cells): (Option<&BlockSelection>, &[Path], Option<TakeCells<'_>>),
    read: impl FnOnce(Part<'_>) -> Result<ControlFlow<()>, Fault>,
) -> Result<ControlFlow<()>, Error> {
    let result = match (file.store_text(), file.size, range) {
        (Some(store), _, range) => {
            let pieces = store.pieces(chosen, range.unwrap_or(0..store.bytes()), paths);
            let mut pieces = match cells {
                Some(TakeCells { shown, take }) => pieces.with_cells(paths, TakeCells { shown, take }),
                None => pieces,
            };
            read(Part::Pieces(&mut pieces))
        }
        (None, None, None) => read(Part::Stream(&mut file.stream(wanted)?)),
        (None, None, Some(range)) => read(Part::Range(&file.file()?, range)),
        (None, Some(0), _) => return Ok(ControlFlow::Continue(())),
        (None, Some(size), range) => read(Part::Range(&file.file()?, range.unwrap_or(0..size))),
    };
    let of_line = |error: &jird::Error| {
        let line = match file.line_at(error.offset()) {
            Ok(line) if file.is_rereadable() => format!(":{line}"),
            _ => String::new(),
        };
        Error::frame(format!("{}{line}: {} (byte {})", file.shown(), error.kind(), error.offset()))
    };
    result.map_err(|fault| match fault {
        Fault::Ours(error) => error,
        Fault::Line(error) => of_line(&error),
        Fault::Io(error) => {
            let inner = error.get_ref();
            match (inner.and_then(|inner| inner.downcast_ref()), inner.and_then(|inner| inner.downcast_ref::<Error>()))
            {
                (Some(wrong), _) => of_line(wrong),
                (_, Some(ours)) => ours.clone(),
                _ => file.error(&error),
            }
        }
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

/// Says where in a file something is wrong.
struct Places<'f> {
    file: &'f InputFile,
    /// Whether all lines of the file are counted while it is read. If not, the file is read again up to the line.
    counts: bool,
    /// The maximum length of a record, in bytes.
    record_limit: usize,
}

impl Places<'_> {
    /// The line of byte `at` of a piece, and the byte's offset in that line.
    fn place(&self, piece: &LinePiece<'_>, at: usize) -> (u64, usize) {
        let is_newline = |&byte: &u8| self.file.layout.is_newline(byte);
        let start = piece.text()[..at].iter().rposition(is_newline).map_or(0, |newline| newline + 1);
        let line = if self.counts {
            piece.lines_before(start) + 1
        } else {
            self.file.line_at(piece.offset() + start as u64).unwrap_or_default()
        };
        (line, at - start)
    }

    /// The error for a record that does not fit.
    #[cold]
    fn unfit(&self, piece: &LinePiece<'_>, at: usize, words: &str) -> Error {
        let (line, _) = self.place(piece, at);
        Error::record(format!("{}:{line}: {words}", self.file.shown()))
    }

    /// The error for a bad record. A second walk finds the place.
    #[cold]
    fn bad_record(&self, piece: &LinePiece<'_>, kind: ErrorKind, at: usize) -> Error {
        let (file, text) = (self.file, piece.text());
        let at = at.min(text.len());
        let start = text[..at].iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1);
        // In layouts where other bytes than line feeds are lines, `start` moves to the record's first byte.
        let is_padded = !file.layout.is_newline(b'\n');
        let start = start + if is_padded { at - start - text[start..at].trim_ascii_start().len() } else { 0 };
        let end = text[at..].iter().position(|&byte| byte == b'\n').map_or(text.len(), |newline| at + newline);
        let located = jird::Error::new(kind, (at - start) as u64).locate(&text[start..end]);
        let (line, column) = self.place(piece, at);
        let pointer = match located.pointer() {
            "" => String::new(),
            pointer => format!(", at {pointer}"),
        };
        let rule = with_hint(kind.to_string(), kind, self.record_limit, &text[at..]);
        let is_csv = file.layout == Layout::Lines && line == 1 && looks_like_csv(&text[start..end]);
        let hint = if is_csv { "; `--from csv` reads CSV" } else { "" };
        let (snippet, caret) = (located.snippet(), located.caret());
        Error::record(format!(
            "{}:{line}:{}: {rule} (byte {}{pointer}){hint}\n  {snippet}\n  {:caret$}^",
            file.shown(),
            column + 1,
            piece.offset() + at as u64,
            "",
        ))
    }
}

/// Whether a line that is not JSON may be the header of CSV.
fn looks_like_csv(line: &[u8]) -> bool {
    !line.starts_with(b"{") && !line.starts_with(b"[") && line.iter().any(|byte| b",;|\t".contains(byte))
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
                    chunks.extend(ranges(0..size, chunk_bytes).map(|range| Chunk { file: index, range: Some(range) }));
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
        let note = |file: usize, found: BadPart| match &options.bad {
            Some(sink) => sink.note(&self.input.files[file], 0, found, (all, true)),
            None => Ok(()),
        };
        // A chunk that is a whole file may have any number of bad records. They are noted at once, so one thread reads
        // all files.
        let notes_at_once = options.bad.is_some() && !self.input.is_anywhere();
        let threads = if notes_at_once { 1 } else { options.threads };
        let mut failed = None;
        let work = |reader: &mut Reader, chunk: &Chunk| {
            let (file, range) = (chunk.file, chunk.range.clone());
            let notes_at_once = notes_at_once && range.is_none();
            let (mut made, mut found, mut noted) = (make(), BadPart::default(), Ok(()));
            let read = reader.read(
                &self.input.files[file],
                range,
                (projection, None),
                None,
                |row, piece| {
                    visit(&mut made, row, Input::place(file, piece.offset() + row.offset() as u64));
                    Ok(ControlFlow::Continue(()))
                },
                |seen| {
                    found.append(seen.found);
                    if notes_at_once && found.is_large() {
                        noted = note(file, std::mem::take(&mut found));
                    }
                    if noted.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
                },
            );
            (noted.and(read).map(|_| (file, made, found)), reader.lines())
        };
        let parts = self.chunks.iter().map(|chunk| (chunk.file, chunk));
        drive(
            parts,
            threads,
            || Reader::new(options),
            work,
            |result, lines| {
                let noted = |(file, made, found): (usize, T, BadPart)| {
                    note(file, found.after_lines(lines.start)).map(|()| made)
                };
                match result.and_then(noted) {
                    Ok(made) => consume(made),
                    Err(error) => {
                        failed = Some(error);
                        ControlFlow::Break(())
                    }
                }
            },
        );
        failed.map_or(Ok(()), Err)
    }
}

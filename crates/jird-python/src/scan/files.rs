//! Files of lines, cut into parts that threads read.

use super::failure::Failure;
use super::input::{Input, InputAt, TextPlace};
use super::program::{RESULT, Run};
use super::records::RecordReader;
use core::cell::RefCell;
use core::ops::{ControlFlow, Range};
use jird::event::{Pattern, Place};
use jird::hooks::lines::{Counting, LinePiece, LineReader, Part, StreamPiece, StreamPieces, drive, ranges};
use jird::lines::{Bad, Match, Options, Scanned};
use jird::policy::RECORD_BYTES_MAX;
use jird::record::{Predicate, Projection};
use jird_formats::encoding::Unmarked;
use jird_formats::files::{BadRecord, BadRecords, Compression, OnError, Reader, Text};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Bytes of a file that one thread reads at a time.
const PART_BYTES: u64 = 2 << 20;

/// Files that a scan has opened.
#[derive(Debug)]
pub(super) struct Files(Vec<Opened>);

#[derive(Debug)]
struct Opened {
    /// Its path, or how messages name it.
    path: PathBuf,
    kept: TextPlace,
    content: Content,
    /// Which values of documents are the records; `None` if each line is one.
    records: Option<Pattern>,
}

#[derive(Debug)]
enum Content {
    /// A plain file; threads read these bytes of it. A line belongs to the bytes that hold its first one.
    Plain(Unmarked<InputAt>, Range<u64>),
    /// Nothing: such a file is not opened. It may be a database that is just being made.
    Empty,
    /// What can only be read from the beginning: a compressed file, or a pipe.
    Stream,
    /// What a run of a program writes.
    Run(Arc<Run>),
    /// Chunks that the caller's code hands out. A [`Feed`](super::feed::Feed) reads them; there are no parts.
    Chunks,
}

/// What is looked for in the records.
#[derive(Debug)]
pub(super) struct Search {
    pub(super) projection: Projection,
    pub(super) filter: Option<Predicate>,
    /// What happens to bad records.
    pub(super) on_error: OnError,
    pub(super) threads: usize,
}

/// What a thread makes of a part.
pub(super) trait Work: Send {
    /// What is wrong with a record that must not be taken in. It is asked for where bad records are passed over.
    fn unfit(&self, record: &Match<'_, '_>) -> Option<String> {
        let _ = record;
        None
    }

    /// Takes a record in.
    fn record(&mut self, record: &Match<'_, '_>, offset: u64) -> Result<(), String>;
}

/// What became of a part.
pub(super) struct PartOutcome<W> {
    pub(super) made: W,
    pub(super) file: usize,
    /// The bytes of the part, decompressed.
    pub(super) bytes: u64,
    /// Bad records that were passed over.
    pub(super) skipped: u64,
    /// Those of them that go into the quarantine.
    set_aside: Vec<SetAside>,
    pub(super) failure: Option<Failure>,
}

/// A bad record that goes into the quarantine, with its line, counted within its part.
struct SetAside {
    place: Place,
    kind: &'static str,
    message: String,
    raw: Vec<u8>,
}

/// The kind of a record with a value that is not of its column's type.
const UNFIT: &str = "type";

impl PartOutcome<()> {
    fn new(file: usize, bytes: u64) -> Self {
        Self { made: (), file, bytes, skipped: 0, set_aside: Vec::new(), failure: None }
    }

    fn with<W>(self, made: W) -> PartOutcome<W> {
        let Self { file, bytes, skipped, set_aside, failure, .. } = self;
        PartOutcome { made, file, bytes, skipped, set_aside, failure }
    }
}

enum Piece {
    Range(Range<u64>),
    Lines(StreamPiece),
    Failed(Failure),
}

impl Files {
    /// Opens files. Each is looked at, so that one that is missing is known before the scan begins.
    pub(super) fn open(paths: Vec<PathBuf>) -> Result<Self, Failure> {
        paths
            .into_iter()
            .map(|path| Opened::new(&path).map_err(|error| Failure::io(&path, error)))
            .collect::<Result<_, _>>()
            .map(Self)
    }

    /// The result of a run of a program, which is read once.
    pub(super) fn of_run(run: Arc<Run>) -> Self {
        Self(vec![Opened {
            path: PathBuf::from(RESULT),
            kept: TextPlace::Path,
            content: Content::Run(run),
            records: None,
        }])
    }

    /// A text that is kept, and what messages call it.
    pub(super) fn of_kept(name: &str, kept: TextPlace) -> Result<Self, Failure> {
        let path = PathBuf::from(name);
        Opened::of_kept(path.clone(), kept).map(|opened| Self(vec![opened])).map_err(|error| Failure::io(&path, error))
    }

    /// What messages call chunks that a [`Feed`](super::feed::Feed) reads.
    pub(super) fn of_chunks(name: &str) -> Self {
        Self(vec![Opened { path: PathBuf::from(name), kept: TextPlace::Path, content: Content::Chunks, records: None }])
    }

    /// The same, with the values as records that a pattern leads to in each file.
    pub(super) fn with_records(mut self, pattern: &Pattern) -> Self {
        for opened in &mut self.0 {
            opened.records = Some(pattern.clone());
            if let Content::Plain(..) = opened.content {
                opened.content = Content::Stream;
            }
        }
        self
    }

    /// The pattern that leads to the records; `None` if each line is one.
    pub(super) fn records(&self) -> Option<&Pattern> {
        self.0.first().and_then(|opened| opened.records.as_ref())
    }

    /// What is counted in messages.
    pub(super) fn unit(&self) -> &'static str {
        if self.records().is_some() { "record" } else { "line" }
    }

    /// Only these bytes of the only file: the lines whose first byte is among them.
    pub(super) fn only(mut self, range: &Range<u64>) -> Result<Self, String> {
        match &mut self.0[..] {
            [Opened { content: Content::Plain(_, bytes), .. }] => {
                *bytes = range.start.min(bytes.end)..range.end.min(bytes.end);
            }
            [Opened { content: Content::Empty, .. }] => {}
            [Opened { content: Content::Chunks, .. }] => {
                return Err("range: it is part of one file or of bytes, not of what is read in chunks".to_owned());
            }
            _ => return Err("range: it is part of one file, which may be neither a pipe nor compressed".to_owned()),
        }
        Ok(self)
    }

    /// The bytes of all of them; `None` if one can only be read from the beginning, so that they are not known before.
    pub(super) fn bytes(&self) -> Option<u64> {
        let bytes = |opened: &Opened| match &opened.content {
            Content::Plain(_, bytes) => Some(bytes.end - bytes.start),
            Content::Empty => Some(0),
            Content::Stream | Content::Run(_) | Content::Chunks => None,
        };
        self.0.iter().map(bytes).sum()
    }

    pub(super) fn path(&self, file: usize) -> &Path {
        &self.0[file].path
    }

    /// Reads all parts on threads, and hands what was made of each to `consume`, in order, until it breaks. After a
    /// failure there are no more.
    pub(super) fn scan<W: Work>(
        &self,
        wanted: &Search,
        new: impl Fn() -> W + Sync,
        mut consume: impl FnMut(PartOutcome<W>) -> ControlFlow<()>,
    ) {
        let parts = self
            .0
            .iter()
            .enumerate()
            .flat_map(|(file, opened)| opened.pieces().map(move |piece| (file, (file, piece))));
        let options = Options::default();
        let state = || LineReader::new(options);
        let mut bad_records = match BadRecords::new(&wanted.on_error) {
            Ok(bad_records) => bad_records,
            Err(error) => {
                let mut done = PartOutcome::new(0, 0);
                done.failure = Some(Failure::Refused(error.to_string()));
                let _ = consume(done.with(new()));
                return;
            }
        };
        let work = |reader: &mut LineReader, (file, piece): (usize, Piece)| {
            let mut made = new();
            let done = self.read(reader, wanted, file, piece, &mut made);
            (done.with(made), reader.lines())
        };
        drive(parts, wanted.threads, state, work, |mut done, lines| {
            if done.failure.is_some() || !done.set_aside.is_empty() {
                let found = (done.failure.take(), core::mem::take(&mut done.set_aside));
                done.failure = self.tell(done.file, lines.start, found, &mut bad_records);
            }
            let has_failed = done.failure.is_some();
            let flow = consume(done);
            if has_failed { ControlFlow::Break(()) } else { flow }
        });
    }

    /// The lines before those that are read of a file.
    fn lines_before(&self, file: usize) -> io::Result<u64> {
        match &self.0[file].content {
            // The line with the byte before those that are read is the last that is not read.
            Content::Plain(_, bytes) if bytes.start > 0 => self.line_of(file, bytes.start - 1),
            _ => Ok(0),
        }
    }

    /// Counts the lines of a failure from the start of its file, and sets bad records aside. Returns the failure.
    fn tell(
        &self,
        file: usize,
        lines: u64,
        (failure, set_aside): (Option<Failure>, Vec<SetAside>),
        bad_records: &mut BadRecords,
    ) -> Option<Failure> {
        let before = match self.lines_before(file) {
            Ok(before) => before + lines,
            Err(error) => return Some(Failure::io(self.path(file), error)),
        };
        let name = self.path(file).display().to_string();
        for SetAside { place, kind, message, raw } in set_aside {
            let place = Place { line: place.line + before, ..place };
            let noted = bad_records.note(&BadRecord { file: &name, place, kind, message: &message, raw: &raw });
            if let Err(error) = noted {
                return Some(Failure::Refused(format!("the quarantine: {error}")));
            }
        }
        failure.map(|failure| failure.after_lines(before))
    }

    fn read(
        &self,
        reader: &mut LineReader,
        wanted: &Search,
        file: usize,
        piece: Piece,
        made: &mut dyn Work,
    ) -> PartOutcome<()> {
        match (piece, &self.0[file].content) {
            (Piece::Range(range), Content::Plain(text, _)) => {
                let done = PartOutcome::new(file, range.end - range.start);
                self.read_part(reader, wanted, (0, Part::Range(text, range)), done, made)
            }
            (Piece::Lines(lines), _) => {
                let done = PartOutcome::new(file, lines.len() as u64);
                self.read_part(reader, wanted, (lines.offset(), Part::Stream(&mut &lines[..])), done, made)
            }
            (Piece::Failed(failure), _) => PartOutcome { failure: Some(failure), ..PartOutcome::new(file, 0) },
            (Piece::Range(_), _) => PartOutcome::new(file, 0),
        }
    }

    /// Reads lines of the only file that come after the first `lines` lines of it. `text` begins at an offset of it.
    pub(super) fn read_lines<W: Work>(
        &self,
        reader: &mut LineReader,
        wanted: &Search,
        (text, offset, lines): (&[u8], u64, u64),
        bad_records: &mut BadRecords,
        mut made: W,
    ) -> PartOutcome<W> {
        let done = PartOutcome::new(0, text.len() as u64);
        let mut done = self.read_part(reader, wanted, (offset, Part::Stream(&mut &text[..])), done, &mut made);
        if done.failure.is_some() || !done.set_aside.is_empty() {
            let found = (done.failure.take(), core::mem::take(&mut done.set_aside));
            done.failure = self.tell(0, lines, found, bad_records);
        }
        done.with(made)
    }

    /// Reads a part, which is at offset `base` of its file. `made` is not a type parameter, because this is much code,
    /// which would then be compiled for each type.
    fn read_part(
        &self,
        reader: &mut LineReader,
        wanted: &Search,
        (base, part): (u64, Part<'_>),
        mut done: PartOutcome<()>,
        made: &mut dyn Work,
    ) -> PartOutcome<()> {
        let opened = &self.0[done.file];
        let name = || opened.path.display().to_string();
        let PartOutcome { skipped, set_aside, failure, .. } = &mut done;
        let broken = RefCell::new(None);
        let skips_bad = wanted.on_error != OnError::Stop;
        let passed = RefCell::new((skipped, set_aside));
        let pass = |place: (u64, u64), kind, message: &dyn Fn() -> String, raw: &[u8]| {
            let (skipped, set_aside) = &mut *passed.borrow_mut();
            **skipped += 1;
            if wanted.on_error.quarantine().is_some() {
                let place = Place { line: place.0, offset: place.1, record: 0 };
                set_aside.push(SetAside { place, kind, message: message(), raw: raw.to_vec() });
            }
            ControlFlow::Continue(())
        };
        let record = |row: &Match<'_, '_>, piece: &LinePiece<'_>| {
            let at = piece.offset() + row.offset() as u64;
            if skips_bad && let Some(words) = made.unfit(row) {
                let line = piece.lines_before(row.offset()) + 1;
                return pass((line, base + at), UNFIT, &|| words.clone(), row.text());
            }
            match made.record(row, base + at) {
                Ok(()) => ControlFlow::Continue(()),
                Err(words) => {
                    let line = piece.lines_before(row.offset()) + 1;
                    *broken.borrow_mut() = Some((words, line));
                    ControlFlow::Break(())
                }
            }
        };
        let bad = |bad: &Bad<'_>, piece: &LinePiece<'_>| {
            let located = piece.locate(bad).after_lines(0, base);
            if skips_bad {
                let message = || format!("{} {}", bad.error.kind(), located.place());
                let at = piece.offset() + bad.offset as u64;
                return pass((located.line(), base + at), bad.error.code(), &message, bad.text);
            }
            *failure = Some(Failure::Bad(name(), Box::new(located), bad.text.to_vec()));
            ControlFlow::Break(())
        };
        let end = |_: &LinePiece<'_>, _: Scanned| Ok::<_, io::Error>(ControlFlow::Continue(()));
        let asked = (&wanted.projection, wanted.filter.as_ref());
        let read = reader.read(part, Counting::default(), asked, record, bad, end);
        if let Some((words, line)) = broken.into_inner() {
            done.failure = Some(Failure::Unfit((name(), self.unit()), words, line));
        }
        if let Err(error) = read {
            done.failure = Some(Failure::io(&opened.path, error));
        }
        done
    }

    /// The number of the line that begins at or holds this offset of a file, from one on; reads the file again.
    ///
    /// # Errors
    /// If it cannot be read again.
    pub(super) fn line_of(&self, file: usize, offset: u64) -> io::Result<u64> {
        let opened = &self.0[file];
        if let Content::Run(_) = opened.content {
            return Err(io::Error::other("what a program has written is not there any more"));
        }
        let mut text = opened.reader()?.take(offset);
        let (mut buffer, mut lines) = (vec![0; 1 << 16], 1);
        loop {
            let read = text.read(&mut buffer)?;
            if read == 0 {
                return Ok(lines);
            }
            lines += jird::hooks::lines::newlines(&buffer[..read]);
        }
    }
}

impl Opened {
    fn new(path: &Path) -> io::Result<Self> {
        // A pipe is opened when it is read: its writer may come later, and what was read once is gone.
        let about = std::fs::metadata(path)?;
        if about.is_dir() {
            return Err(io::Error::from(io::ErrorKind::IsADirectory));
        }
        let mut opened = Self { path: path.to_owned(), kept: TextPlace::Path, content: Content::Stream, records: None };
        if about.is_file() && about.len() == 0 {
            opened.content = Content::Empty;
        } else if about.is_file() {
            let text = opened.start()?;
            if text.compression == Compression::None {
                let is_marked = text.is_marked();
                let text = Unmarked { text: InputAt::File(Input::open(path, &about)?), is_marked };
                opened.content = Content::Plain(text, 0..about.len());
            }
        }
        Ok(opened)
    }

    fn of_kept(path: PathBuf, kept: TextPlace) -> io::Result<Self> {
        let mut opened = Self { path, kept, content: Content::Stream, records: None };
        let text = opened.start()?;
        match opened.kept.at() {
            Some((_, 0)) => opened.content = Content::Empty,
            Some((bytes, len)) if text.compression == Compression::None => {
                opened.content = Content::Plain(Unmarked { text: bytes, is_marked: text.is_marked() }, 0..len);
            }
            _ => {}
        }
        Ok(opened)
    }

    /// The lines, decompressed, with blanks for a byte order mark.
    fn reader(&self) -> io::Result<Reader> {
        match (&self.content, &self.records) {
            (Content::Run(run), _) => Ok(Box::new(run.start("ndjson")?)),
            (_, None) => Ok(self.start()?.blank_mark().into_reader()),
            (_, Some(pattern)) => {
                let text = self.start()?.blank_mark().into_reader();
                Ok(Box::new(RecordReader::new(text, pattern.clone())))
            }
        }
    }

    /// The text, decompressed, as it begins.
    fn start(&self) -> io::Result<Text> {
        let text = if let Some(reader) = self.kept.reader() {
            Text::open(reader?, None)?
        } else {
            let input = Input::open(&self.path, &std::fs::metadata(&self.path)?)?;
            Text::open(Box::new(input), Some(&self.path))?
        };
        match text.encoding() {
            Some(encoding) => Err(io::Error::other(encoding.to_string())),
            None => Ok(text),
        }
    }

    fn pieces(&self) -> Box<dyn Iterator<Item = Piece> + Send> {
        match &self.content {
            Content::Plain(_, bytes) => Box::new(ranges(bytes.clone(), PART_BYTES).map(Piece::Range)),
            Content::Empty | Content::Chunks => Box::new(core::iter::empty()),
            Content::Stream | Content::Run(_) => match self.reader() {
                Ok(reader) => Box::new(Stream {
                    path: self.path.clone(),
                    pieces: Some(StreamPieces::new(reader, RECORD_BYTES_MAX)),
                }),
                Err(error) => Box::new(core::iter::once(Piece::Failed(Failure::io(&self.path, error)))),
            },
        }
    }
}

/// The pieces of a stream; after the last one a failure, if there was one.
struct Stream {
    path: PathBuf,
    pieces: Option<StreamPieces<Reader>>,
}

impl Iterator for Stream {
    type Item = Piece;

    fn next(&mut self) -> Option<Piece> {
        match self.pieces.as_mut()?.next() {
            Some(Ok(piece)) => Some(Piece::Lines(piece)),
            Some(Err(error)) => {
                self.pieces = None;
                Some(Piece::Failed(Failure::io(&self.path, error)))
            }
            None => {
                let (offset, _) = self.pieces.take()?.into_rest()?;
                let words = format!("the line at byte {offset} has more than {RECORD_BYTES_MAX} bytes");
                Some(Piece::Failed(Failure::io(&self.path, io::Error::other(words))))
            }
        }
    }
}

//! Bad records on their way to whoever counts them, and sets them aside.

use crate::error::{Error, with_stray_mark};
use crate::input::InputFile;
use jird::ErrorKind;
use jird::event::Place;
use jird_formats::files::{BadRecord, BadRecords, OnError};
use std::io;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The kind of a record that is JSON, but holds a value that its column does not.
const UNFIT: &str = "type";

/// A bad record, found in a piece of a file.
#[derive(Clone, Debug)]
pub(crate) struct Bad {
    /// Lines of the piece before the one where it is wrong.
    pub(crate) lines: u64,
    /// In the file.
    pub(crate) offset: u64,
    pub(crate) what: Wrong,
    /// Its text, within that of all.
    raw: Range<usize>,
}

/// What is wrong with a record.
#[derive(Clone, Debug)]
pub(crate) enum Wrong {
    /// It is no JSON, in this column of its line.
    Rule(ErrorKind, u64),
    /// It holds a value that its column does not; in words.
    Unfit(String),
}

/// What was found in a piece of a file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Found {
    bad: Vec<Bad>,
    /// The texts of the bad records, one behind the other.
    raw: Vec<u8>,
    /// Its lines.
    pub(crate) lines: u64,
}

impl Found {
    /// Whether it takes much memory.
    pub(crate) fn is_large(&self) -> bool {
        self.bad.len() >= 1 << 12 || self.raw.len() >= 1 << 20
    }

    /// Adds a record that is wrong after so many lines of the piece.
    pub(crate) fn push(&mut self, lines: u64, offset: u64, what: Wrong, raw: &[u8]) {
        let start = self.raw.len();
        self.raw.extend_from_slice(raw);
        self.bad.push(Bad { lines, offset, what, raw: start..self.raw.len() });
    }

    /// What the first record breaks, if it is no JSON, and where in its file.
    pub(crate) fn first_rule(&self) -> Option<(ErrorKind, u64)> {
        let first = self.bad.first()?;
        if let Wrong::Rule(kind, _) = first.what { Some((kind, first.offset)) } else { None }
    }

    /// Adds the next piece.
    pub(crate) fn append(&mut self, next: Self) {
        for bad in next.bad {
            self.push(self.lines + bad.lines, bad.offset, bad.what, &next.raw[bad.raw]);
        }
        self.lines += next.lines;
    }
}

/// Where the bad records of all inputs go. A copy is the same one.
#[derive(Clone, Debug)]
pub(crate) struct BadSink {
    records: Arc<Mutex<BadRecords>>,
}

impl BadSink {
    pub(crate) fn new(on_error: &OnError) -> Result<Self, Error> {
        let records = BadRecords::new(on_error).map_err(|error| failed(&error))?;
        Ok(Self { records: Arc::new(Mutex::new(records)) })
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, BadRecords> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sees the quarantine out.
    pub(crate) fn finish(&self) -> Result<(), Error> {
        self.lock().finish().map_err(|error| failed(&error))
    }
}

/// Counts the lines of a file whose pieces come in order, and notes its bad records.
#[derive(Debug)]
pub(crate) struct Noting {
    sink: BadSink,
    /// Whether those that are no JSON are noted here, and not by who reads them too.
    all: bool,
    lines: u64,
}

impl Noting {
    pub(crate) fn new(sink: &BadSink, all: bool) -> Self {
        Self { sink: sink.clone(), all, lines: 0 }
    }

    /// Takes the next piece.
    pub(crate) fn take(&mut self, file: &InputFile, found: &Found) -> Result<(), Error> {
        let name = file.path.display().to_string();
        for bad in &found.bad {
            let line = self.lines + bad.lines + 1;
            let raw = &found.raw[bad.raw.clone()];
            let (kind, message) = match &bad.what {
                Wrong::Rule(kind, column) if self.all => {
                    let wrong = usize::try_from(column - 1).ok().and_then(|at| raw.get(at..));
                    let rule = format!("{kind} at line {line} column {column}");
                    (kind.code(), with_stray_mark(rule, wrong.unwrap_or_default()))
                }
                Wrong::Rule(..) => continue,
                Wrong::Unfit(words) => (UNFIT, format!("{words} at line {line}")),
            };
            let place = Place { line, offset: bad.offset, ..Place::default() };
            let record = BadRecord { file: &name, place, kind, message: &message, raw };
            self.sink.lock().note(&record).map_err(|error| failed(&error))?;
        }
        self.lines += found.lines;
        Ok(())
    }
}

fn failed(error: &io::Error) -> Error {
    Error::output_of("the quarantine", error)
}

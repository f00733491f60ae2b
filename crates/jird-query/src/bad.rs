//! Bad records, on the way to their counter and their quarantine.

use crate::error::{Error, with_stray_mark};
use crate::input::InputFile;
use jird::ErrorKind;
use jird::event::Place;
use jird_formats::files::{BadRecord, BadRecords, OnError};
use std::io;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The kind of a record that is JSON but holds a value that its column cannot hold.
const UNFIT: &str = "type";

/// A bad record, found in a piece of a file.
#[derive(Clone, Debug)]
pub(crate) struct Bad {
    /// The number of lines in the piece before the line of the error.
    pub(crate) lines: u64,
    /// The offset in the file.
    pub(crate) offset: u64,
    pub(crate) what: Wrong,
    /// The record's text, as a range of [`Found`]'s `raw`.
    raw: Range<usize>,
}

/// What is wrong with a record.
#[derive(Clone, Debug)]
pub(crate) enum Wrong {
    /// The record is not JSON. The error is in this column of its line.
    Rule(ErrorKind, u64),
    /// The record holds a value that its column cannot hold; this is the message.
    Unfit(String),
}

/// The bad records of a piece of a file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Found {
    bad: Vec<Bad>,
    /// The texts of the bad records, one after the other.
    raw: Vec<u8>,
    /// The number of lines in the piece.
    pub(crate) lines: u64,
}

impl Found {
    /// Whether the records take much memory.
    pub(crate) fn is_large(&self) -> bool {
        self.bad.len() >= 1 << 12 || self.raw.len() >= 1 << 20
    }

    /// Adds a record whose error comes after `lines` lines of the piece.
    pub(crate) fn push(&mut self, lines: u64, offset: u64, what: Wrong, raw: &[u8]) {
        let start = self.raw.len();
        self.raw.extend_from_slice(raw);
        self.bad.push(Bad { lines, offset, what, raw: start..self.raw.len() });
    }

    /// The rule that the first record breaks, if it is not JSON, and the offset of the error in its file.
    pub(crate) fn first_rule(&self) -> Option<(ErrorKind, u64)> {
        let first = self.bad.first()?;
        if let Wrong::Rule(kind, _) = first.what { Some((kind, first.offset)) } else { None }
    }

    /// Adds the records of the next piece.
    pub(crate) fn append(&mut self, next: Self) {
        for bad in next.bad {
            self.push(self.lines + bad.lines, bad.offset, bad.what, &next.raw[bad.raw]);
        }
        self.lines += next.lines;
    }
}

/// Where the bad records of all inputs go. Clones share one destination.
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

    /// Finishes the quarantine.
    pub(crate) fn finish(&self) -> Result<(), Error> {
        self.lock().finish().map_err(|error| failed(&error))
    }
}

/// Counts the lines of a file whose pieces come in order, and notes its bad records.
#[derive(Debug)]
pub(crate) struct Noting {
    sink: BadSink,
    /// Whether records that are not JSON are noted here. If not, another scan of the same files notes them.
    all: bool,
    lines: u64,
}

impl Noting {
    pub(crate) fn new(sink: &BadSink, all: bool) -> Self {
        Self { sink: sink.clone(), all, lines: 0 }
    }

    /// Takes the bad records of the next piece.
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

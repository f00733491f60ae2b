//! Bad records, on the way to their counter and their quarantine.

use crate::error::{Error, with_hint};
use crate::input::{InputFile, PassBy};
use jird::ErrorKind;
use jird::event::Place;
use jird_formats::BadRow;
use jird_formats::files::{BadRecord, BadRecords, OnError};
use std::io;
use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The kind of a record that is JSON but holds a value that its column cannot hold.
const UNFIT: &str = "type";

/// A bad record, found in a part of a file.
#[derive(Clone, Debug)]
struct Bad {
    /// The number of lines of the part that end before the error.
    lines: u64,
    /// The offset in the file.
    offset: u64,
    what: Wrong,
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

/// Bad records of a part of a file, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Found {
    bad: Vec<Bad>,
    /// The texts of the bad records, one after the other.
    raw: Vec<u8>,
    /// The number of lines of the file before the part.
    lines_before: u64,
}

impl Found {
    /// Whether the records take much memory.
    pub(crate) fn is_large(&self) -> bool {
        self.bad.len() >= 1 << 12 || self.raw.len() >= 1 << 20
    }

    /// Adds a record whose error comes after `lines` lines of the part.
    pub(crate) fn push(&mut self, lines: u64, offset: u64, what: Wrong, raw: &[u8]) {
        let start = self.raw.len();
        self.raw.extend_from_slice(raw);
        self.bad.push(Bad { lines, offset, what, raw: start..self.raw.len() });
    }

    /// Adds later records of the same part.
    pub(crate) fn append(&mut self, next: Self) {
        for bad in next.bad {
            self.push(bad.lines, bad.offset, bad.what, &next.raw[bad.raw]);
        }
    }

    /// The same records, in a part that begins after `lines` lines of its file.
    pub(crate) fn after_lines(self, lines: u64) -> Self {
        Self { lines_before: lines, ..self }
    }
}

/// Where the bad records of all inputs go. Clones share one destination.
#[derive(Clone, Debug)]
pub(crate) struct BadSink {
    records: Arc<Mutex<BadRecords>>,
    /// The maximum length of a record, in bytes.
    record_limit: usize,
}

impl BadSink {
    pub(crate) fn new(on_error: &OnError, record_limit: usize) -> Result<Self, Error> {
        let records = BadRecords::new(on_error).map_err(|error| failed(&error))?;
        Ok(Self { records: Arc::new(Mutex::new(records)), record_limit })
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, BadRecords> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes bad records of a file. Records that are not JSON are noted only if `rules` is set, and those that do
    /// not fit a schema only if `misfits` is; if not, another scan of the same file notes them.
    pub(crate) fn note(&self, file: &InputFile, found: &Found, (rules, misfits): (bool, bool)) -> Result<(), Error> {
        let name = file.path.display().to_string();
        for bad in &found.bad {
            let line = found.lines_before + bad.lines + 1;
            let raw = &found.raw[bad.raw.clone()];
            let (kind, message) = match &bad.what {
                Wrong::Rule(kind, column) if rules => {
                    let wrong = usize::try_from(column - 1).ok().and_then(|at| raw.get(at..));
                    let rule = format!("{kind} at line {line} column {column}");
                    (kind.code(), with_hint(rule, *kind, self.record_limit, wrong.unwrap_or_default()))
                }
                Wrong::Rule(..) => continue,
                Wrong::Unfit(_) if !misfits => continue,
                Wrong::Unfit(words) => (UNFIT, format!("{words}, at line {line}")),
            };
            let place = Place { line, offset: bad.offset, ..Place::default() };
            let record = BadRecord { file: &name, place, kind, message: &message, raw };
            self.lock().note(&record).map_err(|error| failed(&error))?;
        }
        Ok(())
    }

    /// Takes the bad rows of a table. Rows that another scan of it has noted are not noted again.
    pub(crate) fn rows_of(&self, file: &InputFile) -> PassBy {
        let (sink, noted, name) = (self.clone(), Arc::clone(&file.rows_noted), file.path.display().to_string());
        Box::new(move |bad| {
            if noted.fetch_max(bad.place.record + 1, Relaxed) > bad.place.record {
                return Ok(());
            }
            let BadRow { kind, place, message, raw } = bad;
            let record = BadRecord { file: &name, place, kind, message: &message, raw: &raw };
            sink.lock().note(&record).map_err(|error| failed(&error))
        })
    }

    /// Finishes the quarantine.
    pub(crate) fn finish(&self) -> Result<(), Error> {
        self.lock().finish().map_err(|error| failed(&error))
    }
}

fn failed(error: &io::Error) -> Error {
    Error::output_of("the quarantine", error)
}

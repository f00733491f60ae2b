//! Bad records, on the way to their counter and their quarantine.

use crate::base::error::{Error, with_hint};
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
pub(crate) struct Bad {
    /// The number of lines of the part that end before the error.
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

/// Bad records of a part of a file, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct BadPart {
    bad: Vec<Bad>,
    /// The texts of the bad records, one after the other.
    raw: Vec<u8>,
    /// The number of lines of the file before the part.
    lines_before: u64,
}

impl BadPart {
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

    /// The number of lines of the file before the part, as far as they are known.
    #[cfg(feature = "cluster")]
    pub(crate) fn lines_before(&self) -> u64 {
        self.lines_before
    }

    /// The records, with their texts.
    #[cfg(feature = "cluster")]
    pub(crate) fn records(&self) -> impl Iterator<Item = (&Bad, &[u8])> {
        self.bad.iter().map(|bad| (bad, &self.raw[bad.raw.clone()]))
    }

    /// The same records, in a part that begins after `lines` lines of its file.
    pub(crate) fn after_lines(self, lines: u64) -> Self {
        Self { lines_before: lines, ..self }
    }
}

/// Where the bad records of all inputs go. Clones share one destination.
#[derive(Clone, Debug)]
pub(crate) struct BadSink {
    to: To,
    /// The maximum length of a record, in bytes.
    record_limit: usize,
}

/// The destination of bad records.
#[derive(Clone, Debug)]
enum To {
    /// They are counted here, and written to the quarantine.
    Records(Arc<Mutex<BadRecords>>),
    /// They are kept, for the process that asked for the query.
    #[cfg(feature = "cluster")]
    Kept(Arc<Mutex<Vec<BadGroup>>>),
}

/// Bad records that are kept for another process.
#[cfg(feature = "cluster")]
#[derive(Debug)]
pub(crate) struct BadGroup {
    /// The position of their file in its input.
    pub(crate) file: usize,
    pub(crate) what: BadExtent,
}

/// How much is known of bad records where they were found.
#[cfg(feature = "cluster")]
#[derive(Debug)]
pub(crate) enum BadExtent {
    /// Those of a range that begins at this offset. How many lines come before it is not known yet.
    Lines { start: u64, found: BadPart, notes: (bool, bool) },
    /// A row of a table.
    Row(BadRow),
}

impl BadSink {
    pub(crate) fn new(on_error: &OnError, record_limit: usize) -> Result<Self, Error> {
        let records = BadRecords::new(on_error).map_err(|error| failed(&error))?;
        Ok(Self { to: To::Records(Arc::new(Mutex::new(records))), record_limit })
    }

    /// A destination that keeps bad records for another process.
    #[cfg(feature = "cluster")]
    pub(crate) fn keeping(record_limit: usize) -> Self {
        Self { to: To::Kept(Arc::default()), record_limit }
    }

    /// Takes what was kept.
    #[cfg(feature = "cluster")]
    pub(crate) fn take_kept(&self) -> Vec<BadGroup> {
        match &self.to {
            To::Records(_) => Vec::new(),
            To::Kept(kept) => std::mem::take(&mut kept.lock().unwrap_or_else(PoisonError::into_inner)),
        }
    }

    /// How many bad records there were, and the message for the first of them.
    pub(crate) fn seen(&self) -> (u64, Option<String>) {
        match &self.to {
            To::Records(records) => {
                let records = lock(records);
                (records.count(), records.first().map(str::to_owned))
            }
            #[cfg(feature = "cluster")]
            To::Kept(_) => (0, None),
        }
    }

    /// Notes bad records of a file, or of a range of it that begins at `start`. Records that are not JSON are noted only
    /// if `rules` is set, and those that do not fit a schema only if `misfits` is; if not, another scan of the same file
    /// notes them.
    #[cfg_attr(not(feature = "cluster"), expect(clippy::needless_pass_by_value, reason = "elsewhere they are kept"))]
    pub(crate) fn note(
        &self,
        file: &InputFile,
        #[cfg_attr(not(feature = "cluster"), expect(unused_variables, reason = "lines are known here"))] start: u64,
        found: BadPart,
        (rules, misfits): (bool, bool),
    ) -> Result<(), Error> {
        match &self.to {
            To::Records(records) => self.note_lines(records, file, &found, (rules, misfits)),
            #[cfg(feature = "cluster")]
            To::Kept(kept) => {
                if !found.bad.is_empty() {
                    let what = BadExtent::Lines { start, found, notes: (rules, misfits) };
                    kept.lock().unwrap_or_else(PoisonError::into_inner).push(BadGroup { file: file.index, what });
                }
                Ok(())
            }
        }
    }

    fn note_lines(
        &self,
        records: &Mutex<BadRecords>,
        file: &InputFile,
        found: &BadPart,
        (rules, misfits): (bool, bool),
    ) -> Result<(), Error> {
        let name = file.shown();
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
            lock(records).note(&record).map_err(|error| failed(&error))?;
        }
        Ok(())
    }

    /// Takes the bad rows of a table. Rows that another scan of it has noted are not noted again.
    pub(crate) fn rows_of(&self, file: &InputFile) -> PassBy {
        let (to, noted, name) = (self.to.clone(), Arc::clone(&file.rows_noted), file.shown().into_owned());
        #[cfg(feature = "cluster")]
        let index = file.index;
        Box::new(move |bad| {
            if noted.fetch_max(bad.place.record + 1, Relaxed) > bad.place.record {
                return Ok(());
            }
            match &to {
                To::Records(records) => {
                    let BadRow { kind, place, message, raw } = bad;
                    let record = BadRecord { file: &name, place, kind, message: &message, raw: &raw };
                    lock(records).note(&record).map_err(|error| failed(&error))
                }
                #[cfg(feature = "cluster")]
                To::Kept(kept) => {
                    let kept = &mut kept.lock().unwrap_or_else(PoisonError::into_inner);
                    kept.push(BadGroup { file: index, what: BadExtent::Row(bad) });
                    Ok(())
                }
            }
        })
    }

    /// Notes a bad row of a table, which another process found.
    #[cfg(feature = "cluster")]
    pub(crate) fn note_row(&self, record: &BadRecord<'_>) -> Result<(), Error> {
        match &self.to {
            To::Records(records) => lock(records).note(record).map_err(|error| failed(&error)),
            To::Kept(_) => Ok(()),
        }
    }

    /// Finishes the quarantine.
    pub(crate) fn finish(&self) -> Result<(), Error> {
        match &self.to {
            To::Records(records) => lock(records).finish().map_err(|error| failed(&error)),
            #[cfg(feature = "cluster")]
            To::Kept(_) => Ok(()),
        }
    }
}

fn lock(records: &Mutex<BadRecords>) -> MutexGuard<'_, BadRecords> {
    records.lock().unwrap_or_else(PoisonError::into_inner)
}

fn failed(error: &io::Error) -> Error {
    Error::output_of("the quarantine", error)
}

//! What happens to bad records.

use super::open;
use jird::event::Place;
use jird::hooks::{base64, write_object};
use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// What happens to a bad record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum OnError {
    /// It ends the work.
    #[default]
    Stop,
    /// It is skipped and counted.
    Skip,
    /// It is skipped, counted, and written to this new file, from which it can be [read again](super::Quarantined).
    Quarantine(PathBuf),
    /// The same, but the file may hold bad records of other runs, and keeps them.
    QuarantineMore(PathBuf),
}

impl OnError {
    /// The file that bad records are written to.
    pub fn quarantine(&self) -> Option<&Path> {
        match self {
            Self::Stop | Self::Skip => None,
            Self::Quarantine(path) | Self::QuarantineMore(path) => Some(path),
        }
    }
}

impl FromStr for OnError {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            None if text == "stop" => Ok(Self::Stop),
            None if text == "skip" => Ok(Self::Skip),
            Some(("quarantine", file)) if !file.is_empty() => Ok(Self::Quarantine(file.into())),
            Some(("quarantine+", file)) if !file.is_empty() => Ok(Self::QuarantineMore(file.into())),
            _ => Err("it is stop, skip, quarantine=FILE for a new file, or quarantine+=FILE to add to one".to_owned()),
        }
    }
}

/// What follows the message for a record that is longer than the limit, in bytes.
pub fn record_limit_hint(limit: usize) -> String {
    format!("; the limit is {limit} bytes, --record-limit sets another")
}

/// A bad record.
#[derive(Clone, Copy, Debug)]
pub struct BadRecord<'a> {
    /// The file that it comes from.
    pub file: &'a str,
    /// Where it is wrong. In a text: the line, from one, and the byte, from zero. In other formats: line zero, and the
    /// number of records before it.
    pub place: Place,
    /// The broken rule, in one word.
    pub kind: &'a str,
    /// The broken rule, in a sentence.
    pub message: &'a str,
    /// The record's text as it stands in the input. For a format that is not text, the text that its source returns for
    /// it.
    pub raw: &'a [u8],
}

/// Counts the bad records of a run, and writes them to the quarantine if there is one.
#[derive(Debug, Default)]
pub struct BadRecords {
    count: u64,
    first: Option<String>,
    quarantine: Option<Quarantine>,
}

/// The file of bad records.
#[derive(Debug)]
struct Quarantine {
    /// Each line is written whole and at once, so that nothing is lost or cut whenever the program ends.
    file: File,
    /// How much of the file is of other runs.
    before: u64,
    /// How long the file is, if it is one.
    len: u64,
}

impl Quarantine {
    /// Opens the file, or creates it. Unless `more` is set, it must be new or empty.
    fn open(path: &Path, more: bool) -> io::Result<Self> {
        let is_there = path.exists();
        let is_file = !is_there || path.metadata()?.is_file();
        if is_there && is_file {
            // Nothing is added to a database, or to a file that SQLite keeps next to one.
            drop(open(path)?.file()?);
        }
        let mut file = File::options().read(is_file).write(true).create(true).truncate(false).open(path)?;
        if !is_file {
            return Ok(Self { file, before: 0, len: 0 });
        }
        if let Err(TryLockError::WouldBlock) = file.try_lock() {
            return Err(io::Error::new(io::ErrorKind::ResourceBusy, "another run is writing its bad records there"));
        }
        let before = file.seek(SeekFrom::End(0))?;
        if before > 0 && !more {
            return Err(io::Error::new(
                io::ErrorKind::AlreadyExists,
                "it is there already, and may hold bad records of another run; name a new file, or add to this one with \
                 quarantine+=FILE",
            ));
        }
        let mut quarantine = Self { file, before, len: 0 };
        quarantine.end_line()?;
        quarantine.len = quarantine.before;
        Ok(quarantine)
    }

    /// Ends a last line that was left open, so that what follows is not a part of it.
    fn end_line(&mut self) -> io::Result<()> {
        let file = &mut self.file;
        if self.before > 0 {
            let mut last = [0];
            file.seek(SeekFrom::End(-1))?;
            file.read_exact(&mut last)?;
            if last != *b"\n" {
                file.write_all(b"\n")?;
                self.before += 1;
            }
        }
        Ok(())
    }

    /// Adds a line. After an error, nothing of it is there: part of a line is not a valid entry.
    fn add(&mut self, line: &[u8]) -> io::Result<()> {
        if let Err(error) = self.file.write_all(line) {
            self.cut(self.len)?;
            return Err(error);
        }
        self.len += line.len() as u64;
        Ok(())
    }

    /// Takes back what this run has written.
    fn empty(&mut self) -> io::Result<()> {
        self.cut(self.before)
    }

    fn cut(&mut self, len: u64) -> io::Result<()> {
        if self.file.metadata()?.is_file() {
            self.file.set_len(len)?;
            self.file.seek(SeekFrom::Start(len))?;
            self.len = len;
        }
        Ok(())
    }
}

impl BadRecords {
    /// Starts with no bad records. Opens the quarantine.
    ///
    /// # Errors
    /// If the file cannot be created, or exists and is not to be added to. The error names it.
    pub fn new(on_error: &OnError) -> io::Result<Self> {
        let quarantine = on_error.quarantine().map(|path| {
            let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
            Quarantine::open(path, matches!(on_error, OnError::QuarantineMore(_))).map_err(named)
        });
        let quarantine = quarantine.transpose()?;
        Ok(Self { count: 0, first: None, quarantine })
    }

    /// The number of bad records.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// A message about the first one.
    pub fn first(&self) -> Option<&str> {
        self.first.as_deref()
    }

    /// Adds a bad record. In the quarantine it is a line of JSON with `file`, `line` and `offset` (or `record`, counted
    /// from one, if the format has no lines), `kind`, `message`, and `raw`. A text that is not UTF-8 is in `base64`
    /// instead of `raw`.
    ///
    /// # Errors
    /// If the record cannot be written.
    pub fn note(&mut self, bad: &BadRecord<'_>) -> io::Result<()> {
        self.count += 1;
        self.first.get_or_insert_with(|| format!("{}: {}", bad.file, bad.message));
        let Some(quarantine) = &mut self.quarantine else { return Ok(()) };
        let mut line = Vec::with_capacity(bad.raw.len() + 200);
        write_object(&mut line, |object| {
            object.member("file", bad.file);
            match bad.place {
                Place { line: 0, record, .. } => object.member("record", record + 1),
                Place { line, offset, .. } => {
                    object.member("line", line);
                    object.member("offset", offset);
                }
            }
            object.member("kind", bad.kind);
            object.member("message", bad.message);
            match std::str::from_utf8(bad.raw) {
                Ok(raw) => object.member("raw", raw),
                Err(_) => object.member("base64", &base64(bad.raw)),
            }
        });
        line.push(b'\n');
        quarantine.add(&line)
    }

    /// Forgets all bad records, because their input is read again.
    ///
    /// # Errors
    /// If what was written to the quarantine cannot be taken back.
    pub fn forget(&mut self) -> io::Result<()> {
        (self.count, self.first) = (0, None);
        self.quarantine.as_mut().map_or(Ok(()), Quarantine::empty)
    }

    /// Completes the quarantine.
    ///
    /// # Errors
    /// If the quarantine cannot be written.
    pub fn finish(&mut self) -> io::Result<()> {
        self.quarantine.as_mut().map_or(Ok(()), |quarantine| quarantine.file.flush())
    }
}

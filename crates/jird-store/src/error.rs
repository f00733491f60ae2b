//! What can go wrong with a store, and what was found damaged in it.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// An error of a store: what is wrong, in which file, and what to do.
///
/// It can be cloned, because one failed write concerns every producer that waits for it.
#[derive(Clone, Debug)]
pub struct Error {
    kind: ErrorKind,
    message: Box<str>,
}

/// What kind of error it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// There is no store at this place.
    Missing,
    /// There is something at this place already.
    Exists,
    /// Another writer, or another compaction, is at work.
    Locked,
    /// The store was made by a later version, or with other settings.
    Version,
    /// The files do not hold what they should.
    Damaged,
    /// The event is no JSON, or too long.
    Event,
    /// The operating system refused an operation.
    Io(io::ErrorKind),
    /// The writer had failed before, or was finished.
    Closed,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<Box<str>>) -> Self {
        Self { kind, message: message.into() }
    }

    /// An error of the operating system while `doing` something with `path`.
    pub(crate) fn io(doing: &str, path: &Path, error: &io::Error) -> Self {
        /// "Too many open files", of the process and of the system, on all Unix systems.
        const TOO_MANY_FILES: [i32; 2] = [24, 23];
        let hint = match error.kind() {
            kind if is_full(kind) => "; make room and try again",
            io::ErrorKind::FileTooLarge => "; `ulimit -f` allows larger files",
            io::ErrorKind::ReadOnlyFilesystem => "; the file system is read-only",
            _ if error.raw_os_error().is_some_and(|number| TOO_MANY_FILES.contains(&number)) => {
                "; a compaction makes fewer files of the store's, and `ulimit -n` allows more"
            }
            _ => "",
        };
        Self::new(ErrorKind::Io(error.kind()), format!("cannot {doing} {}: {error}{hint}", path.display()))
    }

    /// What kind of error it is.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Whether the disk is full.
    #[must_use]
    pub fn is_full(&self) -> bool {
        matches!(self.kind, ErrorKind::Io(kind) if is_full(kind))
    }

    /// Whether a file was not there.
    pub(crate) fn is_missing_file(&self) -> bool {
        self.kind == ErrorKind::Io(io::ErrorKind::NotFound)
    }
}

/// Whether an operation failed because the disk, or the user's share of it, is full.
fn is_full(error: io::ErrorKind) -> bool {
    matches!(error, io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

/// Something damaged that was left out; the rest was read.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Damage {
    /// The file.
    pub file: PathBuf,
    /// The number of the block in the file; `None` if it is the whole file or not a block.
    pub block: Option<usize>,
    /// How many events were left out, if that is known. It is 0 if only an index is damaged.
    pub events: Option<u64>,
    /// What is wrong.
    pub reason: String,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        if let Some(block) = self.block {
            write!(f, ", block {block}")?;
        }
        write!(f, ": {}", self.reason)?;
        match self.events {
            Some(0) => Ok(()),
            Some(1) => write!(f, "; 1 event was left out"),
            Some(events) => write!(f, "; {events} events were left out"),
            None => write!(f, "; an unknown number of events was left out"),
        }
    }
}

/// How durable an acknowledged batch is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sync {
    /// It survives a loss of power, as far as `fsync` can promise: each commit waits for one, which several share.
    Batch,
    /// It survives the end of the process at once, and a loss of power after this time at the latest.
    Interval(Duration),
    /// It survives the end of the process. When it survives a loss of power is left to the operating system, but for
    /// what is sealed.
    None,
}

/// What was found damaged so far, each place once. Threads share it.
#[derive(Debug, Default)]
pub(crate) struct Damages(Mutex<Vec<Damage>>);

impl Damages {
    /// Notes something damaged, unless something of that file and block is known.
    pub(crate) fn note(&self, damage: Damage) {
        let mut known = self.lock();
        if !known.iter().any(|other| other.file == damage.file && other.block == damage.block) {
            known.push(damage);
        }
    }

    /// Notes another place of a file that has several.
    pub(crate) fn add(&self, damage: Damage) {
        self.lock().push(damage);
    }

    pub(crate) fn list(&self) -> Vec<Damage> {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Damage>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

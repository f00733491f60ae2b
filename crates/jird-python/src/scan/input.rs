//! Input files, and texts that are kept.
//!
//! Closing a file drops all locks that the process has on it, whichever descriptor they were taken by (POSIX,
//! `fcntl`). SQLite uses these locks, and the program may have a copy of SQLite of its own. So a database is not opened
//! where that can be known before, and one that was opened is never closed.

use crate::system::without_end;
use jird::hooks::lines::ReadAt;
use jird_formats::files::{FileId, Reader, Spool};
use pyo3::pybacked::PyBackedBytes;
use std::collections::HashSet;
use std::fs::{self, File, Metadata};
use std::io::{self, Cursor, ErrorKind, Read, Seek};
use std::path::Path;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

/// A file that is read.
#[derive(Debug)]
pub(super) struct Input(Option<File>);

/// How a database begins.
const DATABASE: &[u8] = b"SQLite format 3\0";

/// How the index of a database's write-ahead log begins, on which its readers and writers have locks.
const SHARED: [u8; 4] = 3_007_000_u32.to_ne_bytes();

/// What is not closed.
static KEPT: LazyLock<Mutex<HashSet<FileId>>> = LazyLock::new(Mutex::default);

impl Input {
    /// Opens a file that is not empty, a pipe or a device, about which `about` tells.
    ///
    /// # Errors
    /// If it cannot be opened, or is a database.
    pub(super) fn open(path: &Path, about: &Metadata) -> io::Result<Self> {
        let is_kept = || FileId::of(about).is_some_and(|id| kept().contains(&id));
        if about.is_file() && (is_kept() || is_shared_memory(path)) {
            return Err(refused());
        }
        let input = Self(Some(File::open(path)?));
        if input.is_database()? {
            return Err(refused());
        }
        if about.is_file() {
            // The look at its start has moved the position on Windows.
            input.file().rewind()?;
        }
        Ok(input)
    }

    /// Fails if a file that is to be written to is a database.
    ///
    /// # Errors
    /// If it is.
    pub(super) fn refuse(path: &Path) -> io::Result<()> {
        match fs::metadata(path) {
            Ok(about) if about.is_file() => Self::open(path, &about).map(drop),
            _ => Ok(()),
        }
    }

    fn file(&self) -> &File {
        self.0.as_ref().expect("it is not being dropped")
    }

    /// # Errors
    /// If its kind or its start cannot be read.
    fn is_database(&self) -> io::Result<bool> {
        let mut start = [0; DATABASE.len()];
        // What is read of a pipe is gone from it, on Windows.
        let read = if self.file().metadata()?.is_file() { self.read_start(&mut start)? } else { 0 };
        Ok(start[..read] == *DATABASE || start[..read].starts_with(&SHARED))
    }

    fn read_start(&self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.read_at(buffer, 0) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                read => return read,
            }
        }
    }
}

impl Drop for Input {
    fn drop(&mut self) {
        let about = self.is_database().and_then(|is_database| Ok(is_database.then_some(self.file().metadata()?)));
        let is_closed = match about {
            Ok(None) => true,
            // Where files have no such numbers, closing one ends no locks.
            Ok(Some(about)) => FileId::of(&about).is_none_or(|id| {
                kept().insert(id);
                false
            }),
            // It may be one.
            Err(_) => false,
        };
        if !is_closed {
            core::mem::forget(self.0.take());
        }
    }
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.file().read(buffer)
    }
}

impl ReadAt for Input {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.file().read_at(buffer, offset)
    }
}

/// Where a text is.
#[derive(Debug)]
pub(super) enum TextPlace {
    /// In a file that is opened by its path.
    Path,
    /// In an object of Python.
    Bytes(Memory),
    /// In a copy of what could be read once.
    Spool(Spool),
}

/// The bytes of an object of Python, which never change.
#[derive(Clone, Debug)]
pub(super) struct Memory(pub(super) Arc<PyBackedBytes>);

/// What threads read at any offset.
#[derive(Debug)]
pub(super) enum InputAt {
    File(Input),
    Bytes(Memory),
    Spool(Spool),
}

impl TextPlace {
    /// The text, if it can be read at any offset without its path, and its length.
    pub(super) fn at(&self) -> Option<(InputAt, u64)> {
        match self {
            Self::Path => None,
            Self::Bytes(bytes) => Some((InputAt::Bytes(bytes.clone()), bytes.as_ref().len() as u64)),
            Self::Spool(spool) => Some((InputAt::Spool(spool.clone()), spool.disk_bytes())),
        }
    }

    /// A reader of the text, from its start; `None` if it is found by its path.
    pub(super) fn reader(&self) -> Option<io::Result<Reader>> {
        match self {
            Self::Path => None,
            Self::Bytes(bytes) => Some(Ok(Box::new(Cursor::new(bytes.clone())))),
            Self::Spool(spool) => Some(spool.reader()),
        }
    }
}

impl AsRef<[u8]> for Memory {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl ReadAt for InputAt {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        match self {
            Self::File(file) => file.read_at(buffer, offset),
            Self::Bytes(bytes) => bytes.as_ref().read_at(buffer, offset),
            Self::Spool(spool) => spool.read_at(buffer, offset),
        }
    }
}

fn kept() -> MutexGuard<'static, HashSet<FileId>> {
    KEPT.lock().unwrap_or_else(PoisonError::into_inner)
}

fn refused() -> io::Error {
    io::Error::other("it is an SQLite database, not lines of JSON; jird.convert and jird.query read it")
}

/// Whether it is named as the file that SQLite keeps next to a database in use.
fn is_shared_memory(path: &Path) -> bool {
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    without_end(&path, "-shm").is_some_and(|database| database.is_file())
}

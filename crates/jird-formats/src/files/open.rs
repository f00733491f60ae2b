//! Opening files of this machine for reading: the one place that does.
//!
//! SQLite guards a database with POSIX locks, and a process loses all of its locks on a file as soon as it closes any
//! descriptor of that file ("How To Corrupt An SQLite Database File", section 2.2). Other programs could then change
//! the database under a connection of this process, and what that connection commits could be lost. So nothing but
//! SQLite opens a database, even to look at its first bytes. Whether a file is a database is SQLite's to say: it puts off
//! closing a file while a connection of this process has a lock on it. A file that only turns out to be a database when
//! it is open stays open until the process ends.

use super::system::{CLOSING_ENDS_LOCKS, FileId, id_of};
use super::{FileFormat, MAGIC_BYTES};
use jird::hooks::lines::ReadAt;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

/// A file of this machine.
#[derive(Debug)]
pub enum Local {
    /// A file, a pipe or a device, open for reading.
    File(File),
    /// A database of SQLite. It is not open, because only SQLite opens it.
    Database,
}

/// What SQLite adds to the name of a database for the files that it keeps next to it.
const BESIDE: [&str; 3] = ["-journal", "-wal", "-shm"];

/// Files that are never closed: they turned out to be databases when they were open, or were empty, as a database is
/// until its first commit.
static KEPT: LazyLock<Mutex<HashMap<FileId, File>>> = LazyLock::new(Mutex::default);

/// Opens a file for reading, unless it is a database of SQLite.
///
/// ```
/// use jird_formats::files::{Local, open};
/// # let folder = tempfile::tempdir()?;
/// let path = folder.path().join("data");
/// jird_formats::sqlite::open(&path)?.execute_batch("create table t (a)")?;
/// assert!(matches!(open(&path)?, Local::Database));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If the file cannot be opened, or if it is one that SQLite keeps next to a database.
pub fn open(path: &Path) -> io::Result<Local> {
    let data = path.metadata()?;
    if !data.is_file() {
        return File::open(path).map(Local::File);
    }
    if let Some(database) = database_of(path) {
        let words = format!("it belongs to the database {}, and only SQLite reads it", database.display());
        return Err(io::Error::other(words));
    }
    match id_of(&data).and_then(|id| kept().get(&id).map(starts)) {
        Some(Start::Database) => return Ok(Local::Database),
        Some(Start::Empty) => return empty(),
        Some(Start::Other) | None => {}
    }
    // Databases do not have such names, and SQLite needs more time to look than the system to open a file.
    let is_named_text = FileFormat::of_own_name(path).is_some_and(|format| format != FileFormat::Sqlite);
    if !is_named_text && data.len() > 0 && is_database(path) {
        return Ok(Local::Database);
    }
    let file = File::open(path)?;
    if CLOSING_ENDS_LOCKS && !is_named_text && starts(&file) == Start::Empty {
        keep(file);
        return empty();
    }
    Local::of(file)
}

impl Local {
    /// The same for a file that is open already. If it is a database, it is never closed.
    ///
    /// # Errors
    /// If the system tells nothing about the file.
    pub fn of(file: File) -> io::Result<Self> {
        if CLOSING_ENDS_LOCKS && file.metadata()?.is_file() && starts(&file) == Start::Database {
            keep(file);
            return Ok(Self::Database);
        }
        Ok(Self::File(file))
    }

    /// The file.
    ///
    /// # Errors
    /// If it is a database.
    pub fn file(self) -> io::Result<File> {
        match self {
            Self::File(file) => Ok(file),
            Self::Database => Err(io::Error::new(io::ErrorKind::InvalidData, "it is a database of SQLite")),
        }
    }
}

/// How a file begins.
#[derive(PartialEq, Eq)]
enum Start {
    Empty,
    Database,
    Other,
}

fn starts(file: &File) -> Start {
    let mut start = [0; MAGIC_BYTES];
    match file.read_at(&mut start, 0) {
        Ok(0) => Start::Empty,
        Ok(read) if FileFormat::of_bytes(&start[..read]) == Some(FileFormat::Sqlite) => Start::Database,
        // What cannot be read is reported when it is read.
        _ => Start::Other,
    }
}

/// A file without content. It is another one than the file that stays open.
fn empty() -> io::Result<Local> {
    tempfile::tempfile().map(Local::File)
}

fn keep(file: File) {
    let Some(identity) = file.metadata().ok().and_then(|data| id_of(&data)) else {
        return core::mem::forget(file);
    };
    match kept().entry(identity) {
        Entry::Vacant(place) => _ = place.insert(file),
        Entry::Occupied(_) => core::mem::forget(file),
    }
}

fn kept() -> MutexGuard<'static, HashMap<FileId, File>> {
    KEPT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The database that SQLite keeps this file for.
fn database_of(path: &Path) -> Option<PathBuf> {
    let is_link = path.symlink_metadata().is_ok_and(|data| data.is_symlink());
    let path = if is_link { fs::canonicalize(path).ok()? } else { path.to_owned() };
    let name = path.file_name()?.to_str()?;
    let base = BESIDE.iter().find_map(|suffix| name.strip_suffix(suffix))?;
    let base = path.with_file_name(base);
    let is_there = base.metadata().is_ok_and(|data| data.is_file() && data.len() > 0);
    (is_there && is_database(&base)).then_some(base)
}

#[cfg(feature = "sqlite")]
fn is_database(path: &Path) -> bool {
    crate::sqlite::is_database(path)
}

/// Without SQLite nothing has a lock on a database.
#[cfg(not(feature = "sqlite"))]
fn is_database(_: &Path) -> bool {
    false
}

#[cfg(test)]
mod tests;

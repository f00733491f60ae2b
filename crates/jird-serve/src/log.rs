//! Whether the write-ahead log has changed, seen without a lock.
//!
//! SQLite's readers learn from the head of the log's index (the file `-shm`, which all processes map) whether somebody
//! has committed: a commit changes it before it is visible to anybody, and it is there twice, so that a reader sees
//! whether it is being written ("WAL-mode File Format", section 2.1). To look at these bytes takes one call of the
//! system. `pragma data_version` takes three, two of which lock, and keeps the connections of one process waiting for
//! each other.

use rusqlite::Connection;
use std::fs::File;
use std::mem::ManuallyDrop;
use std::sync::{Arc, Mutex, PoisonError};

/// Both copies of the head.
pub(crate) type Head = [u8; 96];

/// The index of a log, while a connection has it open. It is never closed: closing a file ends all locks that the
/// process has on it, those of SQLite, too.
#[derive(Debug)]
pub(crate) struct Log(ManuallyDrop<File>);

/// The index that was opened last. A new one comes after all connections were closed.
#[derive(Debug, Default)]
pub(crate) struct Logs(Mutex<Option<Arc<Log>>>);

impl Log {
    /// The head, if nobody is writing it.
    pub(crate) fn head(&self) -> Option<Head> {
        let mut head = [0; 96];
        read_at_start(&self.0, &mut head)?;
        let (first, second) = head.split_at(head.len() / 2);
        (first == second).then_some(head)
    }
}

impl Logs {
    /// The index that this connection uses, which has read something; `None` if the database has no write-ahead log, or
    /// if the index cannot be opened.
    pub(crate) fn of(&self, conn: &Connection) -> Option<Arc<Log>> {
        let mode: String = conn.query_row("pragma journal_mode", [], |row| row.get(0)).ok()?;
        if mode != "wal" {
            return None;
        }
        let path = format!("{}-shm", conn.path()?);
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(log) = &*last
            && is_file(&log.0, &path)
        {
            return Some(Arc::clone(log));
        }
        let log = Arc::new(Log(ManuallyDrop::new(File::open(path).ok()?)));
        *last = Some(Arc::clone(&log));
        Some(log)
    }
}

#[cfg(unix)]
fn read_at_start(file: &File, bytes: &mut [u8]) -> Option<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, 0).ok()
}

/// Whether the open file is the one of this path.
#[cfg(unix)]
fn is_file(file: &File, path: &str) -> bool {
    use std::os::unix::fs::MetadataExt;
    let identity = |data: std::fs::Metadata| (data.dev(), data.ino());
    let (open, named) = (file.metadata().map(identity), std::fs::metadata(path).map(identity));
    matches!((open, named), (Ok(open), Ok(named)) if open == named)
}

/// Elsewhere, SQLite is asked.
#[cfg(not(unix))]
fn read_at_start(_: &File, _: &mut [u8]) -> Option<()> {
    None
}

#[cfg(not(unix))]
fn is_file(_: &File, _: &str) -> bool {
    true
}

//! Whether the write-ahead log has changed, seen without a lock.
//!
//! SQLite's readers learn from the head of the log's index whether there was a commit: a commit changes it before it
//! is visible to any reader, and it is there twice, so that a reader sees whether it is being written ("WAL-mode File
//! Format", section 2.1). Every connection has the index (the file `-shm`) mapped into memory, and SQLite says where
//! ("OS Interface Methods", `xShmMap`). So a look at it takes no call of the system. `pragma data_version` takes three,
//! including two locks, and keeps the connections of one process waiting for each other. The file itself must not be
//! opened here: closing it would end SQLite's locks on it.
#![allow(unsafe_code, reason = "SQLite's map of the index has no safe call")]

use rusqlite::Connection;
use rusqlite::ffi::{SQLITE_FCNTL_FILE_POINTER, SQLITE_OK, SQLITE_READONLY, sqlite3_file, sqlite3_file_control};
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU32, Ordering, fence};

/// Both copies of the head, in words.
pub(crate) type Head = [u32; 24];

/// How much of the index SQLite maps at a time.
const REGION_BYTES: c_int = 32 << 10;

/// Whether a connection, which has read something, has the index of a log.
pub(crate) fn has_log(conn: &Connection) -> bool {
    conn.query_row("pragma journal_mode", [], |row| row.get::<_, String>(0)).is_ok_and(|mode| mode == "wal")
}

/// The head of the log's index, if it is not being written, for a connection that [has one](has_log).
pub(crate) fn head(conn: &Connection) -> Option<Head> {
    let words = words(conn)?;
    // What was read of the database before this is older than the head, and what is read afterwards is not.
    fence(Ordering::SeqCst);
    let head = words.each_ref().map(|word| word.load(Ordering::Relaxed));
    fence(Ordering::SeqCst);
    let (first, second) = head.split_at(head.len() / 2);
    (first == second).then_some(head)
}

/// Where the head is.
fn words(conn: &Connection) -> Option<&[AtomicU32; 24]> {
    let mut file: *mut sqlite3_file = null_mut();
    // SAFETY: the handle is that of an open connection, which no other thread uses meanwhile, because `Connection` is not
    // `Sync`. This operation writes one pointer, to the file of the main database, to where the last argument points.
    let told = unsafe {
        sqlite3_file_control(
            conn.handle(),
            c"main".as_ptr(),
            SQLITE_FCNTL_FILE_POINTER,
            (&raw mut file).cast::<c_void>(),
        )
    };
    if told != SQLITE_OK || file.is_null() {
        return None;
    }
    // SAFETY: SQLite has given the pointer just now. The file of a connection is there as long as the connection, and its
    // methods are constants; a file that was not opened has none.
    let methods = unsafe { (*file).pMethods.as_ref() }?;
    let map = methods.xShmMap.filter(|_| methods.iVersion >= 2)?;
    let mut region: *mut c_void = null_mut();
    // SAFETY: `map` is the method of this very file, and is called as SQLite itself calls it: for the first region, of the
    // size that all regions have, without making the file longer.
    let mapped = unsafe { map(file, 0, REGION_BYTES, 0, &raw mut region) };
    if !matches!(mapped, SQLITE_OK | SQLITE_READONLY) || region.is_null() {
        return None;
    }
    // SAFETY: the region has 32 KiB and begins a page of memory, so 96 bytes are there, and aligned. It stays mapped until
    // the connection is closed or leaves the log; it does neither while it is borrowed, because only its own statements
    // could. Other processes write there, hence atomics; any bits are an `AtomicU32`.
    Some(unsafe { &*region.cast::<[AtomicU32; 24]>() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_commit_of_anybody_changes_the_head() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.db");
        let writer = Connection::open(&path).unwrap();
        writer.execute_batch("create table t (a)").unwrap();
        let reader = jird_formats::sqlite::open_read_only(&path).unwrap();
        assert!(!has_log(&reader));
        drop(reader);
        writer.query_row("pragma journal_mode = wal", [], |_| Ok(())).unwrap();
        writer.execute_batch("insert into t values (0)").unwrap();
        let reader = jird_formats::sqlite::open_read_only(&path).unwrap();
        assert!(has_log(&reader));
        let mut last = head(&reader).unwrap();
        for number in 0..100 {
            assert_eq!(head(&reader), Some(last));
            writer.execute("insert into t values (?)", [number]).unwrap();
            let next = head(&reader).unwrap();
            assert_ne!(next, last, "{number}");
            last = next;
            if number % 30 == 0 {
                // The log starts again from its beginning.
                writer.query_row("pragma wal_checkpoint(truncate)", [], |_| Ok(())).unwrap();
                last = head(&reader).unwrap();
            }
        }
    }

    #[test]
    fn a_database_without_a_log_has_no_index() {
        let conn = Connection::open_in_memory().unwrap();
        assert!(!has_log(&conn) && head(&conn).is_none());
    }
}

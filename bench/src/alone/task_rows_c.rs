//! The raw insert loop in C: `peers/task_rows.c`.

#![allow(unsafe_code, reason = "calling C is unsafe; all of it is here")]

use std::ffi::{CString, c_char, c_int, c_void};
use std::path::Path;
use std::ptr::NonNull;

use super::task_rows::{BEGIN, Task};
use crate::copied::copied;
// Links the bundled SQLite, which jird-formats also uses.
use libsqlite3_sys as _;

/// Longer than any message of SQLite about these statements.
const MESSAGE_BYTES_MAX: usize = 4096;

/// `struct task` of the C file.
#[repr(C)]
struct CTask {
    id: i64,
    title: *const c_char,
    title_bytes: c_int,
    done: c_int,
}

/// Tasks in C's layout, with the titles that they point to.
pub(super) struct CTasks {
    laid_out: Vec<CTask>,
    _titles: Vec<String>,
}

impl CTasks {
    pub(super) fn of(tasks: &[Task]) -> Self {
        // The text of a string stays in place when the string moves.
        let titles: Vec<String> = tasks.iter().map(|task| task.title.clone()).collect();
        let laid_out = tasks.iter().zip(&titles).map(|(task, title)| CTask {
            id: task.id,
            title: title.as_ptr().cast(),
            title_bytes: title.len() as c_int,
            done: c_int::from(task.done),
        });
        Self { laid_out: laid_out.collect(), _titles: titles }
    }
}

unsafe extern "C" {
    fn bench_tasks_create(
        path: *const c_char,
        begin: *const c_char,
        rows: c_int,
        numbered: c_int,
        copies: c_int,
    ) -> *mut c_void;
    fn bench_tasks_insert(table: *mut c_void, tasks: *const CTask, count: usize) -> c_int;
    fn bench_tasks_finish(table: *mut c_void) -> c_int;
    fn bench_tasks_error(table: *mut c_void, into: *mut u8, capacity: usize) -> usize;
}

/// How the C loop writes.
pub(super) struct Shape {
    /// Rows per statement.
    pub(super) rows: usize,
    /// Whether statements have row numbers.
    pub(super) numbered: bool,
    /// Whether texts are bound as copies.
    pub(super) copies: bool,
}

/// A table that the C loop writes.
pub(super) struct Table {
    table: NonNull<c_void>,
    /// Rows per statement.
    rows: usize,
}

impl Table {
    /// Creates a database with the table, and begins its transaction.
    pub(super) fn create(path: &Path, Shape { rows, numbered, copies }: Shape) -> Result<Self, String> {
        let path = CString::new(path.as_os_str().as_encoded_bytes()).map_err(|error| error.to_string())?;
        let begin = CString::new(BEGIN).map_err(|error| error.to_string())?;
        let count = c_int::try_from(rows).map_err(|error| error.to_string())?;
        // SAFETY: both strings live until the call returns, and end with a zero byte.
        let table = unsafe {
            bench_tasks_create(path.as_ptr(), begin.as_ptr(), count, c_int::from(numbered), c_int::from(copies))
        };
        let table = NonNull::new(table).ok_or("the C loop cannot make its table")?;
        Ok(Self { table, rows })
    }

    /// Inserts all tasks.
    pub(super) fn insert(&mut self, tasks: &CTasks) -> Result<(), String> {
        if !tasks.laid_out.len().is_multiple_of(self.rows) {
            return Err(format!("the rows are no multiple of {}", self.rows));
        }
        // SAFETY: the table is open (`finish` consumes it). The tasks and their titles live until the call returns.
        // Their number is the number that the call reads, and a multiple of the rows per statement.
        let status = unsafe { bench_tasks_insert(self.table.as_ptr(), tasks.laid_out.as_ptr(), tasks.laid_out.len()) };
        self.checked(status)
    }

    /// Commits and closes the table.
    pub(super) fn finish(self) -> Result<(), String> {
        // SAFETY: the table is open, and is not used again.
        let status = unsafe { bench_tasks_finish(self.table.as_ptr()) };
        if status == 0 { Ok(()) } else { Err(format!("the C loop cannot commit: {status}")) }
    }

    fn checked(&self, status: c_int) -> Result<(), String> {
        if status == 0 {
            return Ok(());
        }
        let words = copied(MESSAGE_BYTES_MAX, |into| {
            // SAFETY: the table is open, and the call writes at most `into.len()` bytes to `into`.
            unsafe { bench_tasks_error(self.table.as_ptr(), into.as_mut_ptr(), into.len()) }
        });
        Err(String::from_utf8_lossy(&words?).into_owned())
    }
}

//! Rows that a request has changed, on their way to its answer.

use crate::base::problem::Problem;
use crate::request::ask::Ask;
use crate::request::catalog::Table;
use crate::request::rows::{self, Format, Out, Stop};
use rusqlite::Connection;
use rusqlite::hooks::Action;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

/// Rows on their way to the answer.
pub(super) struct Returned {
    format: Format,
    out: Whole,
    pub(super) rows: u64,
}

impl Returned {
    pub(super) fn new(format: Format) -> Self {
        Self { format, out: Whole(Vec::new()), rows: 0 }
    }

    /// Writes all of these.
    pub(super) fn write(&mut self, rows: &mut rusqlite::Rows<'_>, ask: &Ask<'_>) -> Result<(), Problem> {
        self.rows += written(rows::write(rows, ask.picks(), self.format, &mut self.out))?;
        Ok(())
    }

    /// Writes one after others. The array is closed at the end.
    fn write_next(&mut self, rows: &mut rusqlite::Rows<'_>, ask: &Ask<'_>) -> Result<(), Problem> {
        let before = self.out.0.len();
        if self.format == Format::Array {
            self.out.0.extend_from_slice(if self.rows == 0 { b"[" } else { b",\n" });
        }
        let count = written(rows::write(rows, ask.picks(), Format::Object, &mut self.out))?;
        match count {
            // It was deleted again, as by a trigger.
            0 => self.out.0.truncate(before),
            _ if self.format == Format::Array => drop(self.out.0.pop()),
            _ => {}
        }
        self.rows += count;
        Ok(())
    }

    /// Closes what [`write_next`](Self::write_next) has opened.
    fn close(&mut self) {
        if self.format == Format::Array {
            self.out.0.extend_from_slice(if self.rows == 0 { b"[]\n" } else { b"]\n" });
        }
    }

    /// # Errors
    /// 406 if one row was asked for, and there are others.
    pub(super) fn text(self) -> Result<Vec<u8>, Problem> {
        if self.format == Format::Object && self.rows != 1 { Err(Problem::not_one(self.rows)) } else { Ok(self.out.0) }
    }
}

fn written(made: Result<u64, Stop>) -> Result<u64, Problem> {
    made.map_err(|stop| match stop {
        Stop::Problem(problem) => problem,
        Stop::Later | Stop::Gone => Problem::busy("the rows are not there in time"),
    })
}

/// The text of no rows.
pub(super) fn none(format: Format) -> Result<Vec<u8>, Problem> {
    let mut returned = Returned::new(format);
    returned.close();
    returned.text()
}

/// The text of the row that is asked for.
pub(super) fn one(conn: &Connection, ask: &Ask<'_>, format: Format) -> Result<Vec<u8>, Problem> {
    read(conn, ask, format)?.text()
}

/// The row that is asked for, as an answer would have it, if there is exactly one.
pub(super) fn current(conn: &Connection, ask: &Ask<'_>) -> Result<Option<Vec<u8>>, Problem> {
    let returned = read(conn, ask, Format::Object)?;
    if returned.rows == 1 { returned.text().map(Some) } else { Ok(None) }
}

/// The first two rows that are asked for.
fn read(conn: &Connection, ask: &Ask<'_>, format: Format) -> Result<Returned, Problem> {
    let problem = |error: rusqlite::Error| Problem::of_reading(&error);
    let (sql, values) = ask.select(2);
    let mut statement = conn.prepare_cached(&sql).map_err(problem)?;
    let mut returned = Returned::new(format);
    returned.write(&mut statement.query(rusqlite::params_from_iter(&values)).map_err(problem)?, ask)?;
    Ok(returned)
}

/// The numbers of the rows that were inserted or updated, in this order.
pub(super) struct Changed(Arc<Mutex<Vec<i64>>>);

impl Changed {
    /// From now on, for one table.
    pub(super) fn watch(conn: &mut Connection, table: &Table) -> Result<Self, Problem> {
        let rows: Arc<Mutex<Vec<i64>>> = Arc::default();
        let (seen, name) = (Arc::clone(&rows), table.info.name().to_owned());
        let hook = move |action, schema: &str, table: &str, number| {
            if action != Action::SQLITE_DELETE && schema == "main" && table == name {
                seen.lock().unwrap_or_else(PoisonError::into_inner).push(number);
            }
        };
        conn.update_hook(Some(hook)).map_err(|error| Problem::of_statement(&error))?;
        Ok(Self(rows))
    }

    /// The rows as they are now, each once.
    pub(super) fn text(
        &self,
        conn: &Connection,
        (table, ask): (&Table, &Ask<'_>),
        format: Format,
    ) -> Result<Option<Vec<u8>>, Problem> {
        // A table without row numbers does not say which rows have changed.
        let Some(number) = table.info.row_number() else { return Ok(None) };
        let problem = |error: rusqlite::Error| Problem::of_reading(&error);
        let sql = format!("{} where {number} = ?1", ask.select_all());
        let mut statement = conn.prepare_cached(&sql).map_err(problem)?;
        let (mut returned, mut seen) = (Returned::new(format), HashSet::new());
        for row in self.0.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            if seen.insert(*row) {
                returned.write_next(&mut statement.query([row]).map_err(problem)?, ask)?;
            }
        }
        returned.close();
        returned.text().map(Some)
    }
}

/// A row, however long.
struct Whole(Vec<u8>);

impl Out for Whole {
    fn text(&mut self) -> &mut Vec<u8> {
        &mut self.0
    }

    fn full(&mut self) -> Result<(), Stop> {
        Ok(())
    }
}

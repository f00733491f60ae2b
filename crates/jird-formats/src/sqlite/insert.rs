//! Inserts rows into a table, many per statement.

use super::database::{TableInfo, quote};
use crate::error::{Error, ErrorKind};
use rusqlite::limits::Limit;
use rusqlite::{Connection, Statement};

/// Rows per statement. One statement with n rows saves n - 1 times the work that SQLite does to begin and end a
/// statement. Larger statements gained nothing.
const ROWS: usize = 100;
/// Parameters per statement, approximately. A statement's program grows with them, and a program that exceeds the
/// first-level cache loses what was gained.
const PARAMETERS: usize = 1500;

/// What happens to an existing row that is kept.
const NOTHING: &str = "nothing";

/// The best number of rows for one statement, if a row has this many columns.
pub(super) fn rows_per_statement(conn: &Connection, columns: usize, wanted: Option<usize>) -> usize {
    if columns == 0 {
        return 1;
    }
    let limit = conn.limit(Limit::SQLITE_LIMIT_VARIABLE_NUMBER).map_or(0, |limit| usize::try_from(limit).unwrap_or(0));
    wanted.unwrap_or(ROWS.min(PARAMETERS / columns)).min(limit / columns).max(1)
}

/// An `insert` into some columns of a table.
#[derive(Debug)]
pub(super) struct Insert<'c> {
    conn: &'c Connection,
    head: String,
    conflict: String,
    /// What happens to an existing row.
    update: String,
    columns: usize,
    /// A statement for one row and one for many, each with its number of rows.
    statements: [Option<(Statement<'c>, usize)>; 2],
}

impl<'c> Insert<'c> {
    /// With `keys`, an existing row of the same key gets the values of the other columns.
    pub(super) fn new(conn: &'c Connection, table: &str, columns: &[&str], keys: &[String]) -> Self {
        let list = |names: &mut dyn Iterator<Item = &str>| names.map(quote).collect::<Vec<_>>().join(", ");
        let head = match columns {
            [] => format!("insert into {} default values", quote(table)),
            columns => format!("insert into {} ({}) values ", quote(table), list(&mut columns.iter().copied())),
        };
        let is_key = |name: &str| keys.iter().any(|key| key.eq_ignore_ascii_case(name));
        let updates: Vec<_> = columns
            .iter()
            .filter(|name| !is_key(name))
            .map(|name| format!("{0} = excluded.{0}", quote(name)))
            .collect();
        let keys = list(&mut keys.iter().map(String::as_str));
        let (conflict, update) = match (keys.is_empty(), updates.is_empty()) {
            (true, _) => (String::new(), String::new()),
            (false, true) => (format!(" on conflict ({keys}) do "), NOTHING.to_owned()),
            (false, false) => (format!(" on conflict ({keys}) do "), format!("update set {}", updates.join(", "))),
        };
        Self { conn, head, conflict, update, columns: columns.len(), statements: [None, None] }
    }

    /// The same, but an existing row of the same key stays as it is.
    pub(super) fn keep_existing(self) -> Self {
        let update = if self.conflict.is_empty() { String::new() } else { NOTHING.to_owned() };
        Self { update, ..self }
    }

    /// The statement for this many rows. The statements for one row and for one other number are kept.
    #[inline]
    pub(super) fn rows(&mut self, rows: usize) -> Result<&mut Statement<'c>, Error> {
        let index = usize::from(rows > 1);
        if !matches!(&self.statements[index], Some((_, has)) if *has == rows) {
            self.statements[index] = Some((self.prepare(rows)?, rows));
        }
        Ok(&mut self.statements[index].as_mut().expect("it was there, or just prepared").0)
    }

    fn prepare(&self, rows: usize) -> Result<Statement<'c>, Error> {
        let row = format!("({})", vec!["?"; self.columns].join(","));
        let rows = if self.columns == 0 { String::new() } else { vec![row; rows].join(",") };
        self.conn.prepare(&format!("{}{rows}{}{}", self.head, self.conflict, self.update)).map_err(|error| match error.to_string() {
            words if words.contains("ON CONFLICT clause does not match") => Error::sqlite(
                "the key is not the primary key of the table, and no unique index has exactly these columns; create one first",
                error,
            ),
            _ => Error::sqlite("preparing to insert", error),
        })
    }
}

/// Knows which row numbers SQLite gives next, so that rows which have exactly these need not state them. SQLite then
/// looks neither for an existing row with the number nor for the number's place. For a task list in its order, this
/// halves the time.
#[derive(Debug)]
pub(super) struct RowNumbers<'c> {
    conn: &'c Connection,
    highest: Statement<'c>,
    /// The next number, valid while the connection's count of changes is `changes`.
    next: Option<i64>,
    changes: u64,
    /// The number of batches to let pass without a check; it grows with the number of misses.
    wait: u32,
    misses: u32,
}

impl<'c> RowNumbers<'c> {
    /// `None` if the table's row numbers have no column, or if SQLite may choose other numbers.
    pub(super) fn of(conn: &'c Connection, table: &TableInfo) -> Result<Option<(usize, Self)>, Error> {
        let Some(column) = table.rowid.filter(|_| table.counts_up) else { return Ok(None) };
        let sql = format!("select max({}) from {}", quote(&table.columns[column].name), quote(&table.name));
        let highest = conn.prepare(&sql).map_err(|error| Error::sqlite("preparing to insert", error))?;
        Ok(Some((column, Self { conn, highest, next: None, changes: u64::MAX, wait: 0, misses: 0 })))
    }

    /// The number that SQLite gives to the first of `count` rows inserted without one. `None` while checking is not
    /// worth its cost.
    pub(super) fn next(&mut self, count: usize) -> Result<Option<i64>, Error> {
        if self.wait > 0 {
            self.wait -= 1;
            return Ok(None);
        }
        let changes = self.conn.total_changes();
        if self.changes != changes {
            let highest: Option<i64> = self
                .highest
                .query_row([], |row| row.get(0))
                .map_err(|error| Error::sqlite("looking for the highest row", error))?;
            (self.next, self.changes) = (highest.unwrap_or(0).checked_add(1), changes);
        }
        Ok(self.next.filter(|next| next.checked_add(count as i64).is_some()))
    }

    /// Records that the rows did not have the next numbers.
    pub(super) fn missed(&mut self) {
        self.wait = (1 << self.misses) - 1;
        self.misses = (self.misses + 1).min(8);
    }

    /// Records that `count` rows were inserted without their numbers.
    ///
    /// # Errors
    /// If the rows got other numbers, because another writer used this connection in between.
    pub(super) fn counted(&mut self, count: usize) -> Result<(), Error> {
        let next = self.next.and_then(|next| next.checked_add(count as i64));
        self.misses = 0;
        (self.next, self.changes) = (next, self.conn.total_changes());
        if next == self.conn.last_insert_rowid().checked_add(1) {
            return Ok(());
        }
        Err(Error::new(ErrorKind::Other, "other code inserted rows on this connection at the same time"))
    }
}

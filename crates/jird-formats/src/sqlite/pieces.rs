//! A table cut into pieces, for connections on several threads.

use super::database::{TableInfo, quote};
use crate::error::{Error, ErrorKind};
use rusqlite::{Connection, OptionalExtension};
use std::sync::Arc;

/// The pieces of a table, cut by row numbers: a given number of rows each, in order.
///
/// Each piece can be read by another connection ([`SqliteQuery::piece`](super::SqliteQuery::piece)), if all of them see
/// [the same state](is_same_state). To find the end of a piece, SQLite steps over its rows, at about 20 ns each.
///
/// ```
/// use jird_formats::sqlite::{TablePieces, rusqlite::Connection};
/// let conn = Connection::open_in_memory()?;
/// conn.execute_batch("create table t(a); insert into t values (1), (2), (3), (4), (5)")?;
/// let pieces: Vec<_> = TablePieces::new(conn, "t", 2)?.expect("the rows have numbers").collect::<Result<_, _>>()?;
/// assert_eq!(pieces.len(), 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct TablePieces {
    conn: Connection,
    /// The SQL that finds the row number at which the next piece begins.
    border: String,
    select: Arc<str>,
    rows: u32,
    /// The row number at which the next piece begins, if there is one.
    next: Option<i64>,
}

/// One of the [`TablePieces`].
#[derive(Clone, Debug)]
pub struct TablePiece {
    select: Arc<str>,
    first: i64,
    last: i64,
}

impl TablePiece {
    pub(super) fn select(&self) -> String {
        format!("{} between {} and {}", self.select, self.first, self.last)
    }
}

impl TablePieces {
    /// Pieces of `rows` rows. `None` if the table's rows have no numbers, or none that a query can name: views, virtual
    /// tables, and tables `without rowid`.
    ///
    /// # Errors
    /// If there is no such table, or if SQLite fails.
    pub fn new(conn: Connection, table: &str, rows: u32) -> Result<Option<Self>, Error> {
        let info = TableInfo::of_table(&conn, table)?;
        let Some(rowid) = info.row_number() else { return Ok(None) };
        let table = quote(&info.name);
        Ok(Some(Self {
            conn,
            border: format!("select {rowid} from {table} where {rowid} >= ?1 order by {rowid} limit 1 offset ?2"),
            // An index that begins with the row number may have another order.
            select: format!("select * from {table} not indexed where {rowid}").into(),
            rows: rows.max(1),
            next: Some(i64::MIN),
        }))
    }

    fn behind(&self, first: i64) -> Result<Option<i64>, rusqlite::Error> {
        self.conn.prepare(&self.border)?.query_row((first, self.rows), |row| row.get(0)).optional()
    }
}

impl Iterator for TablePieces {
    type Item = Result<TablePiece, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let first = self.next.take()?;
        Some(match self.behind(first) {
            Ok(behind) => {
                self.next = behind;
                let last = behind.map_or(i64::MAX, |behind| behind - 1);
                Ok(TablePiece { select: Arc::clone(&self.select), first, last })
            }
            Err(error) => Err(Error::sqlite("reading the row numbers", error)),
        })
    }
}

/// Begins a read transaction on each connection to a database file. Returns whether all of them see the same state
/// until the first one ends its transaction. With a write-ahead log they do not, because others may write in between.
///
/// # Errors
/// SQLite's errors, including the one for a transaction that has already begun.
pub fn is_same_state<'c>(connections: impl IntoIterator<Item = &'c Connection>) -> Result<bool, Error> {
    let failed = |error| Error::sqlite("beginning to read", error);
    for conn in connections {
        conn.execute_batch("begin").map_err(failed)?;
        let mode = |row: &rusqlite::Row<'_>| row.get::<_, String>(0);
        let mode = conn.query_row("pragma main.journal_mode", [], mode).map_err(failed)?;
        // From here on this connection keeps every other one from writing.
        match conn.query_row("select count(*) from main.sqlite_schema", [], |_| Ok(())).map_err(failed) {
            Ok(()) if mode != "wal" => {}
            Err(error) if error.kind() != ErrorKind::Locked => return Err(error),
            Ok(()) | Err(_) => return Ok(false),
        }
    }
    Ok(true)
}

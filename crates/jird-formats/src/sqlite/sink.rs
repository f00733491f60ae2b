//! A table as a sink of rows.

mod pending;
mod seen;
mod table;

use super::database::quote;
use super::insert::{Insert, RowNumbers, rows_per_statement};
use super::scope::Scope;
use super::value::{self, Value};
use super::{Definition, SqliteError, SqliteErrorKind};
use crate::cell::Cell;
use crate::rows::{Row, Rows, Table};
use core::num::NonZeroU64;
use jird::event::{Interest, Place};
use pending::Pending;
use rusqlite::Connection;
use std::collections::{HashMap, HashSet};
use table::{TableColumn, Target};

/// Writes rows into a table of an open database, many per statement, in one transaction: all of them or none. It begins with
/// the first row or column, is committed by `finish`, and rolled back if the sink is dropped before. Within a transaction
/// of the caller's it is a savepoint.
///
/// **No value changes.** A table that the sink makes gets its types at the end, by all of its values: `INTEGER`, `REAL`, `NUMERIC`
/// (both), `TEXT`, `BLOB` or `JSON TEXT` where all are that, and none where they are mixed: SQLite turns the text `12` into a number in an
/// `INTEGER` column and the number into a text in a `TEXT` column, and nothing into anything in a column without type. In a
/// table with types, whoever made it, what would change is refused, unless the sink is told to [`convert`](Self::convert).
///
/// | value | in the table |
/// |---|---|
/// | `null`, and a key that is missing | `NULL`; see below |
/// | `true`, `false` | 1, 0 |
/// | an integer of `i64` (`-0` is 0) | `INTEGER` |
/// | a decimal that is the shortest one of its double, as `0.1` or `1.10` | `REAL`; -0.0 keeps its sign where the column has no type |
/// | any other number | `TEXT`, its digits as they stood; [counted](SqliteReport::exact_as_text) |
/// | a string, `"\u0000"` within it too | `TEXT` |
/// | bytes | `BLOB` |
/// | a point in time | `TEXT`, RFC 3339 |
/// | an array or object | `TEXT`, JSON |
///
/// **Missing.** A key that is missing in a record leaves its column out of the insert if some column of the table has a
/// default, or if rows are updated by key: then the column gets its default, and keeps its value. Elsewhere, and in a table that
/// the sink makes, missing is `NULL`.
///
/// **Names.** SQLite takes `Id` and `id` for the same name. A key finds the column of its very name, else one that differs
/// in case and that no other key has; else it gets a column of another name (`id_2`), which the [report](Self::report) tells.
///
/// Costs: each text is copied into its row, from which it is bound; SQLite then makes a copy of its own. Rows that wait for each
/// other have about a megabyte of text, or are one row; four megabytes of memory are kept for the next.
///
/// ```
/// use jird::event::{self, JsonSource};
/// use jird_formats::sqlite::{SqliteSink, rusqlite::Connection};
/// let conn = Connection::open_in_memory()?;
/// let text = br#"{"id": 1, "title": "Clean"} {"id": 2, "tags": ["a"]}"#;
/// let mut tasks = SqliteSink::create(&conn, "tasks").into_rows();
/// event::copy(&mut JsonSource::from_slice(text), &mut tasks)?;
/// assert_eq!(tasks.table().report().rows, 2);
/// let sql: String = conn.query_row("select sql from sqlite_schema", [], |row| row.get(0))?;
/// assert_eq!(sql, r#"CREATE TABLE "tasks" ("id" INTEGER, "title" TEXT, "tags" JSON TEXT)"#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct SqliteSink<'c> {
    conn: &'c Connection,
    table: String,
    mode: Mode,
    /// What the table is to be, if somebody said; then what it is.
    definition: Option<Definition>,
    options: Options,
    commit_every: Option<NonZeroU64>,
    rows_wanted: Option<usize>,

    target: Option<Target>,
    columns: Vec<TableColumn>,
    /// Those of the key.
    key_columns: Vec<usize>,
    pending: Pending,
    /// What goes to a column of JSON texts, as it is written down.
    json: Vec<u8>,
    inserts: HashMap<Vec<usize>, Insert<'c>>,
    /// The column of the row numbers.
    numbers: Option<(String, RowNumbers<'c>)>,
    /// How many rows wait for each other.
    batch: usize,
    /// What a row lacks is left out of the insert.
    tells_missing: bool,
    /// By lower case, the columns that the table or its definition has, and those that keys have.
    known: HashSet<String>,
    claimed: HashSet<String>,
    new_columns: usize,
    rows_since_commit: u64,
    report: SqliteReport,
    // Dropped last: the statements have to go before the transaction is rolled back.
    scope: Scope<'c>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Options {
    refuses_columns: bool,
    converts: bool,
    json_declared: bool,
}

/// What is done with a table that is there, and with one that is not.
#[derive(Clone, Debug)]
enum Mode {
    Create,
    Append,
    Replace,
    Upsert(Vec<String>),
}

/// What a [`SqliteSink`] has written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SqliteReport {
    /// Rows.
    pub rows: u64,
    /// Numbers that neither `i64` nor `f64` keeps, and that are texts therefore.
    pub exact_as_text: u64,
    /// Values that SQLite changed by the type of their column: -0.0 into 0.0, and what [`SqliteSink::convert`] allows.
    pub converted: u64,
    /// Keys whose column has another name, with that name.
    pub renamed: Vec<(String, String)>,
    /// Columns that were added to a table that was there.
    pub added: Vec<String>,
}

impl<'c> SqliteSink<'c> {
    /// Into a new table; it is an error if there is one of this name.
    pub fn create(conn: &'c Connection, table: &str) -> Self {
        Self::new(conn, table, Mode::Create)
    }

    /// Into a table, which is made if there is none.
    pub fn append(conn: &'c Connection, table: &str) -> Self {
        Self::new(conn, table, Mode::Append)
    }

    /// Into a new table, in place of the one of this name: its rows, indexes and triggers go with it.
    pub fn replace(conn: &'c Connection, table: &str) -> Self {
        Self::new(conn, table, Mode::Replace)
    }

    /// Into a table, which is made if there is none; a row whose key is there already updates it. The key columns need a unique
    /// index, and no record may lack one of them.
    pub fn upsert<'k>(conn: &'c Connection, table: &str, key: impl IntoIterator<Item = &'k str>) -> Self {
        Self::new(conn, table, Mode::Upsert(key.into_iter().map(str::to_owned).collect()))
    }

    fn new(conn: &'c Connection, table: &str, mode: Mode) -> Self {
        Self {
            conn,
            table: table.to_owned(),
            mode,
            definition: None,
            options: Options::default(),
            commit_every: None,
            rows_wanted: None,
            target: None,
            columns: Vec::new(),
            key_columns: Vec::new(),
            pending: Pending::default(),
            json: Vec::new(),
            inserts: HashMap::new(),
            numbers: None,
            batch: 1,
            tells_missing: false,
            known: HashSet::new(),
            claimed: HashSet::new(),
            new_columns: 0,
            rows_since_commit: 0,
            report: SqliteReport::default(),
            scope: Scope::new(conn),
        }
    }

    /// If the table has to be made, it is made like this, under the sink's name. Columns without type get one at the end.
    #[must_use]
    pub fn define(mut self, definition: Definition) -> Self {
        self.definition = Some(definition);
        self
    }

    /// A key that neither the table nor the definition has is an error. Elsewhere it adds a column.
    #[must_use]
    pub fn refuse_new_columns(mut self) -> Self {
        self.options.refuses_columns = true;
        self
    }

    /// Lets SQLite turn texts into numbers and numbers into texts where a column's type says so, and counts them.
    #[must_use]
    pub fn convert(mut self) -> Self {
        self.options.converts = true;
        self
    }

    /// Into columns of the existing table that are declared `JSON…`, every value is written as JSON text: strings with their
    /// quotes. Elsewhere a string is taken to be JSON text already.
    #[must_use]
    pub fn json_declared(mut self) -> Self {
        self.options.json_declared = true;
        self
    }

    /// Commits after so many rows, about, and begins anew: what was committed stays if a later row fails.
    #[must_use]
    pub fn commit_every(mut self, rows: NonZeroU64) -> Self {
        self.commit_every = Some(rows);
        self
    }

    /// Writes so many rows with one statement, as far as SQLite allows; without this, what was found to be fast.
    #[must_use]
    pub fn rows_per_statement(mut self, rows: usize) -> Self {
        self.rows_wanted = Some(rows);
        self
    }

    /// As the sink of events.
    pub fn into_rows(self) -> Rows<Self> {
        Rows::new(self)
    }

    /// What was written so far; complete behind `finish`.
    pub fn report(&self) -> &SqliteReport {
        &self.report
    }

    fn keys(&self) -> &[String] {
        if let Mode::Upsert(keys) = &self.mode { keys } else { &[] }
    }

    /// Into a column in which every value is JSON text, but null.
    #[inline(never)]
    fn put_json(&mut self, row: &mut Row, column: usize, cell: Cell<'_>) {
        if cell.is_null() {
            return row.put(column, cell);
        }
        self.json.clear();
        cell.write_json(&mut self.json);
        row.put(column, Cell::Json(core::str::from_utf8(&self.json).expect("JSON text is UTF-8")));
    }

    fn failed(&self, what: &str) -> impl Fn(rusqlite::Error) -> SqliteError + use<> {
        let what = format!("{what} the table {}", quote(&self.table));
        move |error| SqliteError::sqlite(&what, error)
    }
}

impl Table for SqliteSink<'_> {
    type Error = SqliteError;

    fn add_column(&mut self, name: &str) -> Result<Interest, SqliteError> {
        self.begin()?;
        let column = self.column_for(name)?;
        if self.keys().iter().any(|key| key.eq_ignore_ascii_case(&column.name)) {
            self.key_columns.push(self.columns.len());
        }
        self.claimed.insert(column.name.to_ascii_lowercase());
        self.columns.push(column);
        if !self.tells_missing {
            self.batch = rows_per_statement(self.conn, self.columns.len(), self.rows_wanted);
        }
        Ok(Interest::Take)
    }

    #[inline(always)]
    fn put(&mut self, row: &mut Row, column: usize, cell: Cell<'_>) {
        match cell {
            _ if self.columns[column].is_json => self.put_json(row, column, cell),
            Cell::Number(number) => row.put(column, Cell::Number(value::converted(number))),
            cell => row.put(column, cell),
        }
    }

    fn add_row(&mut self, row: &mut Row, place: Place) -> Result<(), SqliteError> {
        self.begin()?;
        self.check_keys(row)?;
        if self.tells_missing {
            self.gather(row)?;
        }
        self.check_values(row)?;
        self.pending.push(row, place);
        if self.pending.is_full(self.batch) { self.flush() } else { Ok(()) }
    }

    fn finish(&mut self) -> Result<(), SqliteError> {
        self.begin()?;
        self.flush()?;
        if let Some(Target::Planned) = self.target {
            self.make_empty()?;
        }
        self.declare()?;
        self.scope.commit()
    }
}

pub(super) fn is_declared_json(declared: &str) -> bool {
    declared.get(..4).is_some_and(|word| word.eq_ignore_ascii_case("json"))
}

pub(super) fn insert_failed(table: &str, error: rusqlite::Error) -> SqliteError {
    SqliteError::sqlite(format_args!("inserting into the table {}", quote(table)), error)
}

/// A value that a column does not keep.
#[cold]
pub(super) fn unfit(table: &str, column: &str, value: Value<'_>) -> SqliteError {
    let value = match value {
        Value::Text(text) => format!("the text {:?}", text.chars().take(40).collect::<String>()),
        Value::Integer(value) => format!("the integer {value}"),
        Value::Real(value) => format!("the number {value}"),
        Value::Null | Value::Blob(_) => "a value".into(),
    };
    let message = format!("{value} would change in the column {} of {}", quote(column), quote(table));
    SqliteError::new(SqliteErrorKind::Value, message)
}

//! A table as a sink of rows.

mod pending;
mod table;
mod value_kinds;

use super::Definition;
use super::database::quote;
use super::insert::{Insert, RowNumbers, rows_per_statement};
use super::scope::Scope;
use super::value::{self, Value, blob_of, told};
use crate::cell::Cell;
use crate::error::{Error, ErrorKind};
use crate::rows::{Row, Rows, Table};
use core::num::NonZeroU64;
use jird::event::{Interest, Place};
use pending::Pending;
use rusqlite::Connection;
use std::collections::{HashMap, HashSet};
use table::{Form, TableColumn, Target};

/// Writes rows into a table of an open database, many per statement, in one transaction: all of them or none. The
/// transaction begins with the first row or column and is committed by `finish`; if the sink is dropped before, it is
/// rolled back. Within a transaction of the caller, a savepoint is used.
///
/// *No value changes.** A table that the sink creates gets its types at the end, from all values: `INTEGER`, `REAL`,
/// `NUMERIC` (both), `TEXT`, `BLOB` or `JSON TEXT` if all values of a column are of that kind, and no type if they are
/// mixed. The reason is that SQLite turns the text `12` into a number in an `INTEGER` column, and the number into a
/// text in a `TEXT` column, but changes nothing in a column without a type. In an existing table with types, a value
/// that SQLite would change is refused, unless the sink is told to [`convert`](Self::convert).
///
/// | value | in the table |
/// |---|---|
/// | `null`, and a key that is missing | `NULL`; see below |
/// | `true`, `false` | 1, 0 |
/// | an integer of `i64` (`-0` is 0) | `INTEGER` |
/// | the shortest decimal of a double, as `0.1` or `1.10` | `REAL`; -0.0 keeps its sign if the column has no type |
/// | any other number | `TEXT`, its digits as they stood; [counted](SqliteReport::exact_as_text) |
/// | a string, `"\u0000"` within it too | `TEXT` |
/// | bytes | `BLOB` |
/// | a point in time | `TEXT`, RFC 3339 |
/// | an array or object | `TEXT`, JSON |
///
/// *Missing.** If some column of the table has a default, or if rows are updated by key, a key that a record lacks
/// leaves its column out of the insert: a new row then gets the column's default, and an updated row keeps its value.
/// In all other cases, and in a table that the sink creates, missing is `NULL`.
///
/// *Names.** SQLite treats `Id` and `id` as the same name. A key gets the column of exactly its name, or else one that
/// differs in case and that no other key has. Otherwise it gets a column of another name (`id_2`), which the
/// [report](Self::report) lists.
///
/// *Cost.** Each text is copied into its row and bound from there; SQLite then makes a copy of its own. The rows that
/// wait for a statement have about a megabyte of text, or are a single row. Four megabytes of memory are kept for the
/// next rows.
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
    /// The table that the caller defined, if any; later, the table as it is.
    definition: Option<Definition>,
    options: Options,
    commit_every: Option<NonZeroU64>,
    rows_wanted: Option<usize>,

    target: Option<Target>,
    columns: Vec<TableColumn>,
    /// The columns of the key.
    key_columns: Vec<usize>,
    pending: Pending,
    /// The JSON text for a column of JSON texts.
    json: Vec<u8>,
    inserts: HashMap<Vec<usize>, Insert<'c>>,
    /// The column of the row numbers.
    numbers: Option<(String, RowNumbers<'c>)>,
    /// The number of rows that one statement writes.
    batch: usize,
    /// Columns that a row lacks are left out of the insert.
    tells_missing: bool,
    /// The names, in lower case, of the columns of the table or its definition. `claimed` has those that keys use.
    known: HashSet<String>,
    claimed: HashSet<String>,
    new_columns: usize,
    rows_since_commit: u64,
    report: SqliteReport,
    // Dropped last, because the statements must be dropped before the transaction is rolled back.
    scope: Scope<'c>,
}

/// The most rows without keys that wait for the columns of a row with keys.
const KEYLESS_ROWS: usize = 10_000;

#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is asked for by a method of its own")]
struct Options {
    refuses_columns: bool,
    converts: bool,
    json_declared: bool,
    base64_blobs: bool,
    keeps_existing: bool,
    keyless: bool,
}

/// What the sink does with a table that exists, and with one that does not.
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
    /// The number of rows.
    pub rows: u64,
    /// The number of numbers that neither `i64` nor `f64` keeps, and that are therefore stored as texts.
    pub exact_as_text: u64,
    /// The number of values that SQLite changed because of their column's type: -0.0 into 0.0, and what
    /// [`SqliteSink::convert`] allows.
    pub converted: u64,
    /// Keys whose column has another name, with that name.
    pub renamed: Vec<(String, String)>,
    /// Columns that were added to an existing table.
    pub added: Vec<String>,
}

impl<'c> SqliteSink<'c> {
    /// Writes into a new table. It is an error if there is already one of this name.
    pub fn create(conn: &'c Connection, table: &str) -> Self {
        Self::new(conn, table, Mode::Create)
    }

    /// Writes into a table, which is created if it does not exist.
    pub fn append(conn: &'c Connection, table: &str) -> Self {
        Self::new(conn, table, Mode::Append)
    }

    /// Writes into a new table that replaces one of this name, with its rows, indexes and triggers.
    pub fn replace(conn: &'c Connection, table: &str) -> Self {
        Self::new(conn, table, Mode::Replace)
    }

    /// Writes into a table, which is created if it does not exist. If a row's key is already there, the row updates the
    /// existing one. The key columns need a unique index, and no record may lack one of them.
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

    /// If the sink has to create the table, it uses this definition, under the sink's table name. Columns without a
    /// type get one at the end.
    #[must_use]
    pub fn define(mut self, definition: Definition) -> Self {
        self.definition = Some(definition);
        self
    }

    /// Makes it an error if a key is neither in the table nor in the definition. By default such a key adds a column.
    #[must_use]
    pub fn refuse_new_columns(mut self) -> Self {
        self.options.refuses_columns = true;
        self
    }

    /// Lets SQLite turn texts into numbers and numbers into texts where a column's type asks for it, and counts them.
    #[must_use]
    pub fn convert(mut self) -> Self {
        self.options.converts = true;
        self
    }

    /// In columns of an existing table that are declared `JSON…`, every value is written as JSON text, strings with
    /// their quotes. By default a string is taken to be JSON text already.
    #[must_use]
    pub fn json_declared(mut self) -> Self {
        self.options.json_declared = true;
        self
    }

    /// In columns of an existing table that are declared `BLOB`, a string stands for bytes in base64, and any other string
    /// is refused. By default a string is stored as a text there.
    #[must_use]
    pub fn base64_blobs(mut self) -> Self {
        self.options.base64_blobs = true;
        self
    }

    /// Of an [upsert](Self::upsert): a row whose key is already there is left out, and the existing one stays as it is.
    #[must_use]
    pub fn keep_existing(mut self) -> Self {
        self.options.keeps_existing = true;
        self
    }

    /// Of an [upsert](Self::upsert): a record without a value for the key is a new row, whose key SQLite makes.
    #[must_use]
    pub fn allow_keyless(mut self) -> Self {
        self.options.keyless = true;
        self
    }

    /// Commits after about this many rows, and begins a new transaction. What was committed stays if a later row fails.
    #[must_use]
    pub fn commit_every(mut self, rows: NonZeroU64) -> Self {
        self.commit_every = Some(rows);
        self
    }

    /// Writes this many rows with one statement, as far as SQLite allows. The default is a number that was measured to
    /// be fast.
    #[must_use]
    pub fn rows_per_statement(mut self, rows: usize) -> Self {
        self.rows_wanted = Some(rows);
        self
    }

    /// Makes an event sink of it.
    pub fn into_rows(self) -> Rows<Self> {
        Rows::new(self)
    }

    /// What was written so far; complete after `finish`.
    pub fn report(&self) -> &SqliteReport {
        &self.report
    }

    fn keys(&self) -> &[String] {
        if let Mode::Upsert(keys) = &self.mode { keys } else { &[] }
    }

    /// Puts a value into a column in which every value except null is JSON text.
    #[inline(never)]
    fn put_json(&mut self, row: &mut Row, column: usize, cell: Cell<'_>) {
        if cell.is_null() {
            return row.put(column, cell);
        }
        self.json.clear();
        cell.write_json(&mut self.json);
        row.put(column, Cell::Json(core::str::from_utf8(&self.json).expect("JSON text is UTF-8")));
    }

    /// Puts a value into a column in which a string stands for bytes. One that does not is refused with its row.
    #[inline(never)]
    fn put_blob(row: &mut Row, column: usize, cell: Cell<'_>) {
        match cell {
            Cell::Text(text) if let Some(bytes) = blob_of(text) => row.put(column, Cell::Bytes(&bytes)),
            Cell::Number(number) => row.put(column, Cell::Number(value::converted(number))),
            cell => row.put(column, cell),
        }
    }

    fn failed(&self, what: &str) -> impl Fn(rusqlite::Error) -> Error + use<> {
        let what = format!("{what} the table {}", quote(&self.table));
        move |error| Error::sqlite(&what, error)
    }
}

impl Table for SqliteSink<'_> {
    type Error = Error;

    fn add_column(&mut self, name: &str) -> Result<Interest, Error> {
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
            _ if self.columns[column].form == Form::Json => self.put_json(row, column, cell),
            _ if self.columns[column].form == Form::Base64 => Self::put_blob(row, column, cell),
            Cell::Number(number) => row.put(column, Cell::Number(value::converted(number))),
            cell => row.put(column, cell),
        }
    }

    fn add_row(&mut self, row: &mut Row, place: Place) -> Result<(), Error> {
        self.begin()?;
        self.check_keys(row)?;
        if self.tells_missing {
            self.gather(row)?;
        }
        self.check_values(row)?;
        self.pending.push(row, place);
        if self.columns.is_empty() && !self.pending.is_full(KEYLESS_ROWS) {
            // A later row may have the keys that the table is made of.
            return Ok(());
        }
        if self.pending.is_full(self.batch) { self.flush() } else { Ok(()) }
    }

    fn finish(&mut self) -> Result<(), Error> {
        self.begin()?;
        self.flush()?;
        if let Some(Target::Planned) = self.target {
            self.make_empty()?;
        }
        self.declare()?;
        self.scope.commit()
    }
}

pub(super) fn insert_failed(table: &str, error: rusqlite::Error) -> Error {
    Error::sqlite(format_args!("inserting into the table {}", quote(table)), error)
}

/// The error for a value that a column would change.
#[cold]
pub(super) fn unfit(table: &str, column: &str, value: Value<'_>) -> Error {
    let message = format!("{} would change in the column {} of {}", told(value), quote(column), quote(table));
    Error::new(ErrorKind::Unfit, message)
}

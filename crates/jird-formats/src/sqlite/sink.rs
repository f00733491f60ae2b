//! A table as a sink of rows.

use super::affinity::{Affinity, Fit};
use super::database::{TableInfo, quote};
use super::insert::{Insert, RowNumbers, rows_per_statement};
use super::rust::free;
use super::scope::Scope;
use super::value::{self, Stored, Value};
use super::{ColumnDefinition, Definition, SqliteError, SqliteErrorKind, StorageType};
use crate::rows::{Cell, Row, Rows, Table};
use core::num::NonZeroU64;
use core::ops::Range;
use jird::event::{Interest, Place};
use rusqlite::limits::Limit;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, Statement};
use std::collections::{HashMap, HashSet};

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
/// Costs: a row is copied once into a buffer, of at most a megabyte, or one row.
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
    columns: Vec<Column>,
    /// Those of the key.
    key_columns: Vec<usize>,
    pending: Pending,
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

/// The table that is written to.
#[derive(Debug)]
enum Target {
    /// It was there.
    Existing(TableInfo),
    /// It is to be made, when the first rows are written.
    Planned,
    /// The sink made it.
    Made,
}

#[derive(Debug)]
struct Column {
    /// In the table.
    name: String,
    affinity: Affinity,
    /// Every value is written as JSON.
    is_json: bool,
    /// The table has it.
    exists: bool,
    seen: u8,
}

/// What a column has held.
mod seen {
    pub(super) const INTEGER: u8 = 1;
    pub(super) const REAL: u8 = 2;
    pub(super) const TEXT: u8 = 4;
    pub(super) const JSON: u8 = 8;
    pub(super) const BLOB: u8 = 16;
    /// -0.0, which a `REAL` column would not keep when it is copied.
    const NEGATIVE_ZERO: u8 = 32;

    #[inline]
    pub(super) fn of(value: super::Value<'_>) -> u8 {
        use super::Value;
        match value {
            Value::Null => 0,
            Value::Integer(_) => INTEGER,
            Value::Real(value) if value == 0.0 && value.is_sign_negative() => REAL | NEGATIVE_ZERO,
            Value::Real(_) => REAL,
            Value::Text(_) => TEXT,
            Value::Blob(_) => BLOB,
        }
    }
}

/// Rows that wait until a statement is full.
#[derive(Debug, Default)]
struct Pending {
    kept: Vec<Kept>,
    arena: Vec<u8>,
    rows: Vec<(usize, Place)>,
    /// The columns that all of the rows have, where that matters.
    present: Vec<usize>,
}

#[derive(Clone, Debug)]
enum Kept {
    Null,
    Integer(i64),
    Real(f64),
    Text(Range<usize>),
    Blob(Range<usize>),
}

/// Pending rows are written when they have so many bytes.
const PENDING_BYTES: usize = 1 << 20;
/// So many statements are kept, for rows that have different columns.
const INSERTS_MAX: usize = 64;

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

    fn failed(&self, what: &str) -> impl Fn(rusqlite::Error) -> SqliteError + use<> {
        let what = format!("{what} the table {}", quote(&self.table));
        move |error| SqliteError::sqlite(&what, error)
    }

    /// Begins the transaction, and looks what is there.
    fn begin(&mut self) -> Result<(), SqliteError> {
        if self.target.is_some() {
            return Ok(());
        }
        self.scope.begin()?;
        let info = TableInfo::of(self.conn, &self.table)?;
        if info.as_ref().is_some_and(|info| info.is_view) {
            let message = format!("{} is a view, and cannot be written to", quote(&self.table));
            return Err(SqliteError::new(SqliteErrorKind::Exists, message));
        }
        let existing = match (info, &self.mode) {
            (Some(_), Mode::Create) => {
                let message = format!("there is a table {} already", quote(&self.table));
                return Err(SqliteError::new(SqliteErrorKind::Exists, message));
            }
            (Some(info), Mode::Append | Mode::Upsert(_)) => Some(info),
            (None, _) | (_, Mode::Replace) => None,
        };
        let lower = |name: &String| name.to_ascii_lowercase();
        self.known = match (&existing, &self.definition) {
            (Some(info), _) => info.columns.iter().map(|column| lower(&column.name)).collect(),
            (None, Some(definition)) => definition.columns().iter().map(|column| lower(&column.name)).collect(),
            (None, None) => self.keys().iter().map(lower).collect(),
        };
        let has_default = existing.as_ref().is_some_and(|info| info.columns.iter().any(|column| column.has_default));
        self.tells_missing = has_default || !self.keys().is_empty();
        self.target = Some(match existing {
            None => Target::Planned,
            Some(info) => {
                self.numbers = self.row_numbers(&info)?;
                Target::Existing(info)
            }
        });
        Ok(())
    }

    fn row_numbers(&self, info: &TableInfo) -> Result<Option<(String, RowNumbers<'c>)>, SqliteError> {
        // A row that updates another gets no number.
        if !self.keys().is_empty() {
            return Ok(None);
        }
        let numbers = RowNumbers::of(self.conn, info)?;
        Ok(numbers.map(|(column, numbers)| (info.columns[column].name.clone(), numbers)))
    }

    /// Makes the table, or adds the columns that are new.
    fn prepare_table(&mut self) -> Result<(), SqliteError> {
        if let Some(Target::Planned) = self.target {
            return self.make_table();
        }
        let failed = self.failed("adding a column to");
        for column in self.columns.iter_mut().filter(|column| !column.exists) {
            let sql = format!("alter table {} add column {}", quote(&self.table), quote(&column.name));
            self.conn.execute_batch(&sql).map_err(&failed)?;
            column.exists = true;
            match (&self.target, &mut self.definition) {
                (Some(Target::Made), Some(definition)) => definition.columns_mut().push(plain_column(&column.name)),
                _ => self.report.added.push(column.name.clone()),
            }
        }
        Ok(())
    }

    fn make_table(&mut self) -> Result<(), SqliteError> {
        if let Mode::Replace = self.mode {
            let sql = format!("drop table if exists {}", quote(&self.table));
            self.conn.execute_batch(&sql).map_err(self.failed("dropping"))?;
        }
        let given = self.definition.take();
        let mut columns = given.as_ref().map_or_else(Vec::new, |given| given.columns().to_vec());
        let mut has: HashSet<String> = columns.iter().map(|column| column.name.to_ascii_lowercase()).collect();
        for name in self.columns.iter().map(|column| &column.name).chain(self.keys()) {
            if has.insert(name.to_ascii_lowercase()) {
                columns.push(plain_column(name));
            }
        }
        if columns.is_empty() {
            // Rows without a value, which a table cannot have.
            columns.push(plain_column("value"));
        }
        let mut definition = Definition::of_columns(&self.table, columns);
        match (given, self.keys()) {
            (_, keys @ [_, ..]) => definition.set_key(keys),
            (Some(given), []) => definition.set_key(given.key_columns()),
            (None, []) => {}
        }
        self.conn.execute_batch(&definition.to_string()).map_err(self.failed("making"))?;
        self.columns.iter_mut().for_each(|column| column.exists = true);
        self.numbers = self.row_numbers(&TableInfo::of_table(self.conn, &self.table)?)?;
        self.definition = Some(definition);
        self.target = Some(Target::Made);
        Ok(())
    }

    /// No row came.
    fn make_empty(&mut self) -> Result<(), SqliteError> {
        if self.definition.is_some() || !self.columns.is_empty() {
            return self.make_table();
        }
        // Of no rows and no keys no table can be made. One that is replaced by that is emptied.
        if TableInfo::of(self.conn, &self.table)?.is_none() {
            return Ok(());
        }
        let sql = format!("delete from {}", quote(&self.table));
        self.conn.execute_batch(&sql).map_err(self.failed("emptying"))
    }

    /// Declares the columns without type by what they hold. Their values are stored as they would be with it, so that the
    /// table's text is all that has to change ("ALTER TABLE", section 7: `writable_schema`).
    fn declare(&mut self) -> Result<(), SqliteError> {
        let (Some(Target::Made), Some(definition)) = (&self.target, &mut self.definition) else { return Ok(()) };
        let before = definition.to_string();
        let seen: HashMap<&str, u8> = self.columns.iter().map(|column| (column.name.as_str(), column.seen)).collect();
        let key = definition.key_columns().to_vec();
        for column in definition.columns_mut().iter_mut().filter(|column| column.storage == StorageType::Any) {
            column.storage = match seen.get(column.name.as_str()).copied().unwrap_or(0) {
                // A single key of integers would become the row number, which it is not.
                seen::INTEGER if key == [column.name.as_str()] => StorageType::Any,
                seen::INTEGER => StorageType::Integer,
                seen::REAL => StorageType::Real,
                seen if seen == seen::INTEGER | seen::REAL => StorageType::Number,
                seen::JSON => StorageType::Json,
                seen if seen != 0 && seen & !(seen::TEXT | seen::JSON) == 0 => StorageType::Text,
                seen::BLOB => StorageType::Blob,
                _ => StorageType::Any,
            };
        }
        let after = definition.to_string();
        if after == before {
            return Ok(());
        }
        let failed = |error| SqliteError::sqlite(format!("declaring the columns of {}", quote(&self.table)), error);
        let integer = |sql: &str| self.conn.query_row(sql, [], |row| row.get::<_, i64>(0)).map_err(failed);
        let version = integer("pragma schema_version")?;
        let was_writable = integer("pragma writable_schema")?;
        self.conn.execute_batch("pragma writable_schema = on").map_err(failed)?;
        let sql = "update sqlite_schema set sql = ?2 where type = 'table' and name = ?1";
        let updated = self.conn.execute(sql, [self.table.as_str(), after.as_str()]);
        self.conn.execute_batch(&format!("pragma writable_schema = {was_writable}")).map_err(failed)?;
        match updated {
            // Whoever has read the schema reads it again.
            Ok(_) => {
                let sql = format!("pragma schema_version = {}", (version as i32).wrapping_add(1));
                self.conn.execute_batch(&sql).map_err(failed)
            }
            // A connection that defends its schema: the columns stay without type, and hold the same.
            Err(_) => Ok(()),
        }
    }

    /// The column of the table for a key.
    fn column_for(&mut self, key: &str) -> Result<Column, SqliteError> {
        if let Some(column) = self.known_column(key)? {
            return Ok(column);
        }
        if self.options.refuses_columns {
            let message = format!("the table {} has no column {}", quote(&self.table), quote(key));
            return Err(SqliteError::new(SqliteErrorKind::Missing, message));
        }
        self.new_columns += 1;
        let max = [Limit::SQLITE_LIMIT_COLUMN, Limit::SQLITE_LIMIT_VARIABLE_NUMBER]
            .map(|limit| self.conn.limit(limit).ok().and_then(|max| usize::try_from(max).ok()).unwrap_or(0))
            .into_iter()
            .fold(usize::MAX, usize::min);
        if self.known.len() + self.new_columns > max {
            let message = format!("the table {} would have more than {max} columns", quote(&self.table));
            return Err(SqliteError::new(SqliteErrorKind::Columns, message));
        }
        // No SQL can say NUL.
        let plain = key.replace('\0', "\u{fffd}");
        let name = free(&plain, |name| {
            let name = name.to_ascii_lowercase();
            self.claimed.contains(&name) || self.known.contains(&name)
        });
        if name != key {
            self.report.renamed.push((key.to_owned(), name.clone()));
        }
        Ok(Column { name, affinity: Affinity::None, is_json: false, exists: false, seen: 0 })
    }

    /// The column that the table, its definition or its key has for a key of a record.
    fn known_column(&self, key: &str) -> Result<Option<Column>, SqliteError> {
        let plain = |name: &str| Column {
            name: name.to_owned(),
            affinity: Affinity::None,
            is_json: false,
            exists: false,
            seen: 0,
        };
        let found = match (&self.target, &self.definition) {
            (Some(Target::Existing(info)), _) => info.column(key).map(|found| {
                let found = &info.columns[found];
                let is_json = self.options.json_declared && is_declared_json(&found.declared);
                (Column { affinity: found.affinity, is_json, exists: true, ..plain(&found.name) }, found.is_generated)
            }),
            (target, Some(definition)) => find(definition.columns(), key, |column| &column.name).map(|found| {
                let is_json = found.storage == StorageType::Json;
                let exists = matches!(target, Some(Target::Made));
                (Column { affinity: found.storage.affinity(), is_json, exists, ..plain(&found.name) }, false)
            }),
            (_, None) => find(self.keys(), key, String::as_str).map(|found| (plain(found), false)),
        };
        let found = found.filter(|(column, _)| !self.claimed.contains(&column.name.to_ascii_lowercase()));
        if let Some((column, true)) = &found {
            let message = format!("the column {} of {} is generated", quote(&column.name), quote(&self.table));
            return Err(SqliteError::new(SqliteErrorKind::Value, message));
        }
        Ok(found.map(|(column, _)| column))
    }

    /// Keeps a cell until its row is written.
    #[inline]
    fn keep(&mut self, index: usize, cell: Cell<'_>) -> Result<(), SqliteError> {
        let column = &mut self.columns[index];
        let pending = &mut self.pending;
        let start = pending.arena.len();
        if column.is_json {
            let written = value::write_json(cell, &mut pending.arena);
            pending.kept.push(written.map_or(Kept::Null, |()| Kept::Text(start..pending.arena.len())));
            return Ok(());
        }
        let stored = value::store(cell);
        let (value, seen) = match &stored {
            Stored::Plain(value) => (*value, seen::of(*value)),
            Stored::Exact(text) => {
                self.report.exact_as_text += 1;
                (Value::Text(text), seen::TEXT)
            }
            Stored::Json(text) => (Value::Text(text), seen::JSON),
            Stored::Time(text) => (Value::Text(text), seen::TEXT),
        };
        column.seen |= seen;
        match column.affinity.fit(value) {
            Fit::Same => {}
            Fit::Changes if !self.options.converts => return Err(unfit(&self.table, &column.name, value)),
            Fit::Changes | Fit::LosesSign => self.report.converted += 1,
        }
        let mut kept = |bytes: &[u8]| {
            pending.arena.extend_from_slice(bytes);
            start..start + bytes.len()
        };
        let kept = match value {
            Value::Null => Kept::Null,
            Value::Integer(value) => Kept::Integer(value),
            Value::Real(value) if value.is_finite() => Kept::Real(value),
            // SQLite would make NULL of NaN.
            Value::Real(_) => return Err(unfit(&self.table, &column.name, value)),
            Value::Text(text) => Kept::Text(kept(text.as_bytes())),
            Value::Blob(bytes) => Kept::Blob(kept(bytes)),
        };
        pending.kept.push(kept);
        Ok(())
    }

    fn check_keys(&self, row: &Row) -> Result<(), SqliteError> {
        let has = self.key_columns.iter().filter(|column| !row.cell(**column).is_null()).count();
        if has == self.keys().len() {
            return Ok(());
        }
        let keys = self.keys().iter().map(|key| quote(key)).collect::<Vec<_>>().join(", ");
        Err(SqliteError::new(SqliteErrorKind::Value, format!("a record has no value for the key {keys}")))
    }

    /// Waiting rows have the same columns, where that matters: what has others begins anew.
    fn gather(&mut self, row: &Row) -> Result<(), SqliteError> {
        let present = || (0..row.len()).filter(|column| !matches!(row.cell(*column), Cell::Missing));
        if !self.pending.rows.is_empty() && self.pending.present.iter().copied().eq(present()) {
            return Ok(());
        }
        self.flush()?;
        self.pending.present.clear();
        self.pending.present.extend(present());
        self.batch = rows_per_statement(self.conn, self.pending.present.len(), self.rows_wanted);
        Ok(())
    }

    /// Writes the rows that wait.
    fn flush(&mut self) -> Result<(), SqliteError> {
        if self.pending.rows.is_empty() {
            return Ok(());
        }
        self.scope.begin()?;
        self.prepare_table()?;
        if !self.tells_missing && self.pending.present.len() != self.columns.len() {
            self.pending.present = (0..self.columns.len()).collect();
        }
        let present = core::mem::take(&mut self.pending.present);
        let written = self.write(&present);
        self.pending.present = present;
        written?;
        let rows = self.pending.rows.len() as u64;
        self.report.rows += rows;
        self.rows_since_commit += rows;
        self.pending.clear();
        if self.commit_every.is_some_and(|every| self.rows_since_commit >= every.get()) {
            self.rows_since_commit = 0;
            self.scope.commit()?;
            self.scope.begin()?;
        }
        Ok(())
    }

    fn write(&mut self, present: &[usize]) -> Result<(), SqliteError> {
        let rows = self.pending.rows.len();
        if rows > 1 && rows == self.batch {
            let counted = self.counted_column(present)?;
            let left: Vec<usize> = present.iter().copied().filter(|column| Some(*column) != counted).collect();
            match (self.write_together(&left), &mut self.numbers, counted) {
                (Ok(()), Some((_, numbers)), Some(_)) => return numbers.counted(rows),
                (Ok(()), ..) => return Ok(()),
                // One row is to blame, and is found by writing each alone.
                (Err(error), ..) if error.is_of_a_row() && !self.scope.is_lost() => {}
                (Err(error), ..) => return Err(error),
            }
        }
        (0..rows).try_for_each(|row| {
            self.write_alone(present, row).map_err(|error| error.of_record(self.pending.rows[row].1))
        })
    }

    /// The column that needs not be written, since the rows have the numbers which SQLite gives anyway.
    fn counted_column(&mut self, present: &[usize]) -> Result<Option<usize>, SqliteError> {
        let Some((name, numbers)) = &mut self.numbers else { return Ok(None) };
        let column = present.iter().copied().find(|column| self.columns[*column].name == *name);
        let Some(column) = column.filter(|_| present.len() > 1) else { return Ok(None) };
        let Some(first) = numbers.next(self.pending.rows.len())? else { return Ok(None) };
        let counts_up = (0..self.pending.rows.len())
            .zip(first..)
            .all(|(row, next)| matches!(self.pending.cell(row, column), Kept::Integer(number) if *number == next));
        if !counts_up {
            numbers.missed();
        }
        Ok(counts_up.then_some(column))
    }

    fn insert(&mut self, present: &[usize]) -> &mut Insert<'c> {
        if !self.inserts.contains_key(present) {
            if self.inserts.len() >= INSERTS_MAX {
                self.inserts.clear();
            }
            let names: Vec<&str> = present.iter().map(|column| self.columns[*column].name.as_str()).collect();
            let insert = Insert::new(self.conn, &self.table, &names, self.keys());
            self.inserts.insert(present.to_vec(), insert);
        }
        self.inserts.get_mut(present).expect("it is there, or was just put in")
    }

    fn write_together(&mut self, present: &[usize]) -> Result<(), SqliteError> {
        self.insert(present);
        let Self { inserts, pending, table, .. } = self;
        let insert = inserts.get_mut(present).expect("it was just asked for");
        let statement = insert.rows(pending.rows.len())?;
        let mut parameter = 0;
        let bound = (0..pending.rows.len()).try_for_each(|row| {
            present.iter().try_for_each(|column| {
                parameter += 1;
                pending.bind(row, *column, statement, parameter)
            })
        });
        bound.and_then(|()| statement.raw_execute()).map(drop).map_err(|error| insert_failed(table, error))
    }

    fn write_alone(&mut self, present: &[usize], row: usize) -> Result<(), SqliteError> {
        self.insert(present);
        let Self { inserts, pending, table, .. } = self;
        let statement = inserts.get_mut(present).expect("it was just asked for").rows(1)?;
        let bound = present
            .iter()
            .zip(1..)
            .try_for_each(|(column, parameter)| pending.bind(row, *column, statement, parameter));
        bound.and_then(|()| statement.raw_execute()).map(drop).map_err(|error| insert_failed(table, error))
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

    fn add_row(&mut self, row: &Row, place: Place) -> Result<(), SqliteError> {
        self.begin()?;
        self.check_keys(row)?;
        if self.tells_missing {
            self.gather(row)?;
        }
        for column in 0..row.len() {
            self.keep(column, row.cell(column))?;
        }
        self.pending.rows.push((self.pending.kept.len(), place));
        let is_full = self.pending.rows.len() >= self.batch || self.pending.arena.len() > PENDING_BYTES;
        if is_full { self.flush() } else { Ok(()) }
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

impl Pending {
    fn cell(&self, row: usize, column: usize) -> &Kept {
        let start = row.checked_sub(1).map_or(0, |before| self.rows[before].0);
        // A column may be newer than the row.
        if column < self.rows[row].0 - start { &self.kept[start + column] } else { &Kept::Null }
    }

    #[inline]
    fn bind(
        &self,
        row: usize,
        column: usize,
        statement: &mut Statement<'_>,
        parameter: usize,
    ) -> Result<(), rusqlite::Error> {
        let value = match self.cell(row, column) {
            Kept::Null => ValueRef::Null,
            Kept::Integer(value) => ValueRef::Integer(*value),
            Kept::Real(value) => ValueRef::Real(*value),
            Kept::Text(range) => ValueRef::Text(&self.arena[range.clone()]),
            Kept::Blob(range) => ValueRef::Blob(&self.arena[range.clone()]),
        };
        statement.raw_bind_parameter(parameter, ToSqlOutput::Borrowed(value))
    }

    fn clear(&mut self) {
        self.kept.clear();
        self.arena.clear();
        self.rows.clear();
    }
}

/// What has this name, else what differs from it in case only.
fn find<'a, T>(all: &'a [T], name: &str, name_of: impl Fn(&T) -> &str) -> Option<&'a T> {
    let same = all.iter().find(|one| name_of(one) == name);
    same.or_else(|| all.iter().find(|one| name_of(one).eq_ignore_ascii_case(name)))
}

fn plain_column(name: &str) -> ColumnDefinition {
    ColumnDefinition { name: name.to_owned(), storage: StorageType::Any, is_nullable: true }
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

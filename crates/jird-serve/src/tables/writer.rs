//! The one connection that writes, and what requests write with it: bodies straight to bound parameters, each request
//! in a transaction of its own.

use crate::base::error::Error;
use crate::base::problem::Problem;
use crate::cache::readers::{Budget, limit};
use crate::http::tag::Tags;
use crate::request::again::{Meant, meant};
use crate::request::ask::Ask;
use crate::request::catalog::Table;
use crate::request::input::{Input, object};
use crate::request::rows::{self, Format, Out, Stop};
use hyper::StatusCode;
use jird::event::{self, Failure, JsonSource, Source};
use jird_formats::sqlite::{SqliteSink, open, quote};
use jird_formats::{Cell, Row};
use rusqlite::config::DbConfig;
use rusqlite::types::Value;
use rusqlite::{Connection, Statement, Transaction, TransactionBehavior};
use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// How long a write waits for another program's, at most.
const BUSY: Duration = Duration::from_secs(5);

/// Writes, one request after the other.
pub(crate) struct Writer {
    /// `None` after it was closed.
    conn: Mutex<Option<Connection>>,
    budget: Arc<Budget>,
    time: Duration,
    turns: Arc<Semaphore>,
}

/// That it is a request's turn to write.
pub(crate) struct Turn {
    /// When its time is over, in which it waited for its turn, too.
    until: Instant,
    _turn: OwnedSemaphorePermit,
}

/// The connection, while a request writes.
struct Held<'w>(MutexGuard<'w, Option<Connection>>);

impl Deref for Held<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.0.as_ref().expect("it is open while it is held")
    }
}

impl DerefMut for Held<'_> {
    fn deref_mut(&mut self) -> &mut Connection {
        self.0.as_mut().expect("it is open while it is held")
    }
}

/// What a request wrote.
#[derive(Debug, Default)]
pub(crate) struct Written {
    pub(crate) rows: u64,
    /// The row is new.
    pub(crate) is_new: bool,
    /// The key of the one row that was inserted.
    pub(crate) id: Option<String>,
    /// The row as JSON, if it was asked for.
    pub(crate) row: Option<Vec<u8>>,
}

/// What a request says of a row that it writes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Terms {
    /// The tags that the row may have; none: any.
    pub(crate) if_match: Option<Tags>,
    /// There must be no such row.
    pub(crate) is_absent: bool,
    /// The row as it is afterwards is wanted.
    pub(crate) wants_row: bool,
}

impl Writer {
    /// Opens the database for writing. What is acknowledged is on the disk then.
    pub(crate) fn open(path: &Path, time: Duration, is_retired: Arc<AtomicBool>) -> Result<Self, Error> {
        let failed = |error| Error::because("opening the database for writing", error);
        let mut conn = open(path).map_err(failed)?;
        let prepare = |conn: &mut Connection| {
            conn.busy_timeout(BUSY)?;
            conn.query_row("pragma journal_mode = wal", [], |_| Ok(()))?;
            conn.execute_batch("pragma synchronous = full; pragma foreign_keys = on")?;
            limit(conn, is_retired)
        };
        let budget = prepare(&mut conn).map_err(|error| Error::because(path.display(), error))?;
        Ok(Self { conn: Mutex::new(Some(conn)), budget, time, turns: Arc::new(Semaphore::new(1)) })
    }

    /// Waits until no other request writes.
    ///
    /// # Errors
    /// 503 if that takes longer than a request may take.
    pub(crate) async fn turn(&self) -> Result<Turn, Problem> {
        let until = Instant::now() + self.time;
        match timeout(self.time, Arc::clone(&self.turns).acquire_owned()).await {
            Ok(Ok(turn)) => Ok(Turn { until, _turn: turn }),
            _ => Err(Problem::busy("other writes took all the time that this server allows")),
        }
    }

    /// Closes the connection, whose file is not that of its path any more. What is in the write-ahead log comes into the
    /// file, and the log becomes empty, unless it is another database's by now.
    pub(crate) fn close(&self, takes_log: bool) {
        let Some(conn) = self.conn.lock().unwrap_or_else(PoisonError::into_inner).take() else { return };
        // SQLite does it by itself only for a file that is still where it was.
        if takes_log {
            let _ = conn.query_row("pragma wal_checkpoint(truncate)", [], |_| Ok(()));
        }
        // Without this, it could take the log of another file.
        let _ = conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true);
    }

    fn hold(&self, turn: &Turn) -> Result<Held<'_>, Problem> {
        let conn = self.conn.lock().unwrap_or_else(PoisonError::into_inner);
        if conn.is_none() {
            return Err(Problem::busy("the file of the database was replaced"));
        }
        let held = Held(conn);
        let left = turn.until.saturating_duration_since(Instant::now());
        held.busy_timeout(BUSY.min(left)).map_err(|error| Problem::of_statement(&error))?;
        self.budget.grant(left);
        // A write whose time was over may not have had the time to undo what it did.
        if !held.is_autocommit() {
            let _ = held.execute_batch("rollback");
        }
        Ok(held)
    }

    /// Inserts the rows of a body, all of them or none. With `keys`, a row whose key is already there updates that one.
    pub(crate) fn insert(
        &self,
        table: &Table,
        input: &Input<'_>,
        keys: Option<&[String]>,
        wants_row: bool,
        turn: &Turn,
    ) -> Result<Written, Problem> {
        let conn = self.hold(turn)?;
        let name = table.info.name();
        let sink = match keys {
            Some(keys) => SqliteSink::upsert(&conn, name, keys.iter().map(String::as_str)),
            None => SqliteSink::append(&conn, name),
        };
        let mut rows = sink.refuse_new_columns().json_declared().base64_blobs().into_rows();
        // The body was checked.
        let source = JsonSource::from_slice_trusted(input.body());
        match input {
            Input::Object(_) => copy(source, &mut rows, input.body()),
            Input::Array(_) => copy(source.records(crate::request::input::elements()), &mut rows, input.body()),
            Input::Lines(_) => copy(source.lines(), &mut rows, input.body()),
        }?;
        let count = rows.table().report().rows;
        drop(rows);
        let mut written = Written { rows: count, is_new: true, ..Written::default() };
        if let (Input::Object(_), None, Some(key), Some(number)) = (input, keys, table.id, table.info.row_number())
            && conn.changes() == 1
        {
            let sql = format!("select {} from {} where {number} = ?1", table.sql_of(key), table.quoted);
            let id = conn.query_row(&sql, [conn.last_insert_rowid()], |row| row.get::<_, Value>(0)).ok();
            written.id = id.and_then(text_of);
            if let Some(id) = written.id.as_ref().filter(|_| wants_row) {
                written.row = current(&conn, &Ask::of_id(table, id, &[])?)?;
            }
        }
        Ok(written)
    }

    /// Sets the columns of a body in the rows that are asked for. A single row keeps the values that it has already.
    pub(crate) fn update(
        &self,
        table: &Table,
        ask: &Ask<'_>,
        body: &[u8],
        terms: &Terms,
        turn: &Turn,
    ) -> Result<Written, Problem> {
        let body = Given::new(table, body)?;
        if body.columns.is_empty() {
            return Err(Problem::bad("the body has no columns to set"));
        }
        let mut conn = self.hold(turn)?;
        let transaction = begin(&mut conn)?;
        check(&transaction, ask, terms)?;
        let rows = match meant(&transaction, table, ask, &body.columns, &body.row)? {
            Meant::None => 0,
            Meant::One(new) => body.set(&transaction, ask, &new)?.max(1),
            Meant::Several => body.set(&transaction, ask, &body.all())?,
        };
        let row = if terms.wants_row { current(&transaction, ask)? } else { None };
        commit(transaction)?;
        Ok(Written { rows, row, ..Written::default() })
    }

    /// Makes the row of this key what the body says, all of it. It keeps the values that it has already.
    pub(crate) fn put(
        &self,
        table: &Table,
        (id, ask): (&str, &Ask<'_>),
        body: &[u8],
        terms: &Terms,
        turn: &Turn,
    ) -> Result<Written, Problem> {
        let body = Given::new(table, body)?;
        let Some(key) = table.id else { return Err(crate::request::ask::no_row(table, id)) };
        let has_key = body.columns.iter().position(|column| *column == key);
        if let Some(place) = has_key
            && cell_text(body.row.cell(place)).as_deref() != Some(id)
        {
            return Err(Problem::bad("the key in the body is not that of the path"));
        }
        let needed = (0..table.all.len()).filter(|column| {
            !table.info.columns()[*column].is_generated() && *column != key && !body.columns.contains(column)
        });
        let missing: Vec<_> = needed.map(|column| quote(&table.all[column].name)).collect();
        if !missing.is_empty() {
            let detail = format!("PUT needs all columns, and the body lacks {}; PATCH sets some", missing.join(", "));
            return Err(Problem::bad(detail));
        }
        let mut conn = self.hold(turn)?;
        let transaction = begin(&mut conn)?;
        check(&transaction, ask, terms)?;
        let is_new = match meant(&transaction, table, ask, &body.columns, &body.row)? {
            Meant::None => {
                body.insert(&transaction, ask, if has_key.is_none() { Some(key) } else { None })?;
                true
            }
            Meant::One(new) => {
                body.set(&transaction, ask, &new)?;
                false
            }
            Meant::Several => return Err(Problem::new(StatusCode::CONFLICT, "several rows have this key")),
        };
        let row = if terms.wants_row { current(&transaction, ask)? } else { None };
        commit(transaction)?;
        Ok(Written { rows: 1, is_new, row, id: Some(id.to_owned()) })
    }

    /// Deletes the rows that are asked for.
    pub(crate) fn delete(&self, table: &Table, ask: &Ask<'_>, terms: &Terms, turn: &Turn) -> Result<Written, Problem> {
        let mut conn = self.hold(turn)?;
        let transaction = begin(&mut conn)?;
        check(&transaction, ask, terms)?;
        let (condition, values) = ask.condition(1);
        let rows = {
            let sql = format!("delete from {}{condition}", table.quoted);
            let mut statement = transaction.prepare_cached(&sql).map_err(|error| Problem::of_statement(&error))?;
            execute(&mut statement, 1, values)?
        };
        commit(transaction)?;
        Ok(Written { rows, ..Written::default() })
    }
}

/// What a body gives to a row.
struct Given<'t> {
    table: &'t Table,
    columns: Vec<usize>,
    row: Row,
}

impl<'t> Given<'t> {
    fn new(table: &'t Table, body: &[u8]) -> Result<Self, Problem> {
        let (columns, row) = object(table, body)?;
        Ok(Self { table, columns, row })
    }

    /// The places of all of its values.
    fn all(&self) -> Vec<usize> {
        (0..self.columns.len()).collect()
    }

    fn name(&self, place: usize) -> String {
        quote(self.table.info.columns()[self.columns[place]].name())
    }

    /// Sets the values at these places in the rows that are asked for.
    fn set(&self, conn: &Connection, ask: &Ask<'_>, places: &[usize]) -> Result<u64, Problem> {
        if places.is_empty() {
            return Ok(0);
        }
        let sets = (1..).zip(places).map(|(number, place)| format!("{} = ?{number}", self.name(*place)));
        let sets: Vec<String> = sets.collect();
        let (condition, values) = ask.condition(places.len() + 1);
        let sql = format!("update {} set {}{condition}", self.table.quoted, sets.join(", "));
        self.run(conn, &sql, places, values)
    }

    /// Inserts it as a row. `key` is the column of the key that is asked for, if the body lacks it.
    fn insert(&self, conn: &Connection, ask: &Ask<'_>, key: Option<usize>) -> Result<(), Problem> {
        let places: Vec<_> = self.all();
        let mut names: Vec<_> = places.iter().map(|place| self.name(*place)).collect();
        names.extend(key.map(|key| quote(self.table.info.columns()[key].name())));
        let numbers: Vec<_> = (1..=names.len()).map(|number| format!("?{number}")).collect();
        let (names, numbers) = (names.join(", "), numbers.join(", "));
        let sql = format!("insert into {} ({names}) values ({numbers})", self.table.quoted);
        let values = if key.is_some() { ask.condition(1).1 } else { &[] };
        self.run(conn, &sql, &places, values).map(drop)
    }

    fn run(&self, conn: &Connection, sql: &str, places: &[usize], values: &[Value]) -> Result<u64, Problem> {
        let columns = self.table.info.columns();
        if let Some(place) = places.iter().find(|place| columns[self.columns[**place]].is_generated()) {
            let detail = format!("the column {} is computed", self.name(*place));
            return Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, detail));
        }
        let mut statement = conn.prepare_cached(sql).map_err(|error| Problem::of_statement(&error))?;
        for (number, place) in (1..).zip(places) {
            let bound = columns[self.columns[*place]].bind(self.row.cell(*place), &mut statement, number);
            bound.map_err(|error| Problem::of_writing(&error))?;
        }
        execute(&mut statement, places.len() + 1, values)
    }
}

fn begin(conn: &mut Connection) -> Result<Transaction<'_>, Problem> {
    Transaction::new(conn, TransactionBehavior::Immediate).map_err(|error| Problem::of_statement(&error))
}

fn commit(transaction: Transaction<'_>) -> Result<(), Problem> {
    transaction.commit().map_err(|error| Problem::of_statement(&error))
}

/// Whether the row is as the request expects it.
fn check(conn: &Connection, ask: &Ask<'_>, terms: &Terms) -> Result<(), Problem> {
    if terms.if_match.is_none() && !terms.is_absent {
        return Ok(());
    }
    let failed = |detail: &str| Err(Problem::new(StatusCode::PRECONDITION_FAILED, detail));
    match (current(conn, ask)?, &terms.if_match) {
        (Some(_), _) if terms.is_absent => failed("there is such a row already"),
        (None, Some(_)) => failed("there is no such row"),
        (Some(row), Some(tags)) if !tags.have(&row) => failed("the row is not as If-Match says: it was changed"),
        _ => Ok(()),
    }
}

/// The row that is asked for, as an answer would have it.
fn current(conn: &Connection, ask: &Ask<'_>) -> Result<Option<Vec<u8>>, Problem> {
    let problem = |error: rusqlite::Error| Problem::of_reading(&error);
    let (sql, values) = ask.select(1);
    let mut statement = conn.prepare_cached(&sql).map_err(problem)?;
    let mut found = statement.query(rusqlite::params_from_iter(&values)).map_err(problem)?;
    let mut row = Whole(Vec::new());
    match rows::write(&mut found, ask.picks(), Format::Object, &mut row) {
        Ok(0) => Ok(None),
        Ok(_) => Ok(Some(row.0)),
        Err(Stop::Problem(problem)) => Err(problem),
        Err(Stop::Later | Stop::Gone) => Err(Problem::busy("the row is not there in time")),
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

/// Sends the records of a body to a table.
fn copy<S: Source<Error = jird::Error>>(
    mut source: S,
    rows: &mut jird_formats::Rows<SqliteSink<'_>>,
    body: &[u8],
) -> Result<(), Problem> {
    event::copy(&mut source, rows).map_err(|failure| match failure {
        Failure::Source(error) => Problem::of_body(&error, body),
        Failure::Sink(error, _) => Problem::of_writing(&error),
    })
}

/// Binds values, numbered on from `first`, and executes.
fn execute(statement: &mut Statement<'_>, first: usize, values: &[Value]) -> Result<u64, Problem> {
    let bound = values.iter().zip(first..).try_for_each(|(value, number)| statement.raw_bind_parameter(number, value));
    let rows = bound.and_then(|()| statement.raw_execute()).map_err(|error| Problem::of_statement(&error))?;
    Ok(rows as u64)
}

/// A key as it stands in a path.
fn text_of(value: Value) -> Option<String> {
    match value {
        Value::Integer(value) => Some(value.to_string()),
        Value::Text(text) => Some(text),
        Value::Null | Value::Real(_) | Value::Blob(_) => None,
    }
}

/// A cell as it would stand in a path.
fn cell_text(cell: Cell<'_>) -> Option<String> {
    match cell {
        Cell::Text(text) => Some(text.to_owned()),
        Cell::Number(number) => {
            let mut text = Vec::new();
            number.write(&mut text);
            String::from_utf8(text).ok()
        }
        _ => None,
    }
}

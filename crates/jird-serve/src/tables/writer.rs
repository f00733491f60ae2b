//! The one connection that writes, and what requests write with it: bodies straight to bound parameters, each request
//! in a transaction of its own.

use crate::base::error::Error;
use crate::base::problem::Problem;
use crate::base::waits::Waiting;
use crate::cache::readers::{Budget, limit};
use crate::http::etag::Tags;
use crate::request::again::{Meant, meant};
use crate::request::ask::Ask;
use crate::request::catalog::Table;
use crate::request::input::{Input, elements, object};
use crate::request::negotiation::Duplicates;
use crate::request::rows::Format;
use crate::tables::returned::{self, Changed, Returned, none, one};
use hyper::StatusCode;
use jird::edit::{EditError, EditErrorKind};
use jird::event::filter::Project;
use jird::event::{self, Failure, JsonSource, Sink};
use jird_formats::sqlite::{SqliteSink, open, quote};
use jird_formats::{Cell, Row};
use rusqlite::config::DbConfig;
use rusqlite::hooks::Action;
use rusqlite::types::Value;
use rusqlite::{Connection, Statement, Transaction, TransactionBehavior};
use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::runtime::Handle;
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
    waiting: Waiting,
}

/// That it is a request's turn to write.
pub(crate) struct Turn {
    /// When its time is over, in which it waited for its turn, too.
    until: Instant,
    _turn: OwnedSemaphorePermit,
}

/// The connection, while a request writes.
struct ConnectionGuard<'w>(MutexGuard<'w, Option<Connection>>);

impl Deref for ConnectionGuard<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.0.as_ref().expect("it is open while it is held")
    }
}

impl DerefMut for ConnectionGuard<'_> {
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
    /// The rows as JSON, if they were asked for.
    pub(crate) text: Option<Vec<u8>>,
}

/// What tells that a row is already there, and what becomes of the new one then.
pub(crate) type Conflict<'k> = (&'k [String], Duplicates);

/// What a request says of a row that it writes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Terms {
    /// The tags that the row may have; none: any.
    pub(crate) if_match: Option<Tags>,
    /// There must be no such row.
    pub(crate) is_absent: bool,
    /// The rows as they are afterwards are wanted, in this form; or, of those that are deleted, as they were.
    pub(crate) rows: Option<Format>,
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
        Ok(Self {
            conn: Mutex::new(Some(conn)),
            budget,
            time,
            turns: Arc::new(Semaphore::new(1)),
            waiting: Waiting::default(),
        })
    }

    /// Waits until no other request writes.
    ///
    /// # Errors
    /// 503 if that takes longer than a request may take.
    pub(crate) async fn turn(&self) -> Result<Turn, Problem> {
        let until = Instant::now() + self.time;
        let _waits = self.waiting.one();
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

    /// How many wait for their turn.
    pub(crate) fn waiting(&self) -> u64 {
        self.waiting.count()
    }

    /// Begins to write. Waits on this thread, which is one of a runtime's for that.
    ///
    /// # Errors
    /// If it cannot within this time, also because of other requests or programs.
    pub(crate) fn check(&self, time: Duration) -> Result<(), Problem> {
        let until = Instant::now() + time;
        let turn = timeout(time, Arc::clone(&self.turns).acquire_owned());
        let Ok(Ok(turn)) = Handle::current().block_on(turn) else {
            return Err(Problem::busy(format!("other writes take more than {} ms", time.as_millis())));
        };
        let held = self.hold(&Turn { until, _turn: turn })?;
        held.execute_batch("begin immediate; rollback").map_err(|error| Problem::of_statement(&error))
    }

    fn hold(&self, turn: &Turn) -> Result<ConnectionGuard<'_>, Problem> {
        let conn = self.conn.lock().unwrap_or_else(PoisonError::into_inner);
        if conn.is_none() {
            return Err(Problem::busy("the file of the database was replaced"));
        }
        let held = ConnectionGuard(conn);
        let left = turn.until.saturating_duration_since(Instant::now());
        held.busy_timeout(BUSY.min(left)).map_err(|error| Problem::of_statement(&error))?;
        self.budget.grant(left);
        // A write whose time was over may not have had the time to undo what it did.
        if !held.is_autocommit() {
            let _ = held.execute_batch("rollback");
        }
        Ok(held)
    }

    /// Inserts the rows of a body, all of them or none.
    pub(crate) fn insert(
        &self,
        table: &Table,
        (ask, input): (&Ask<'_>, &Input<'_>),
        conflict: Option<Conflict<'_>>,
        terms: &Terms,
        turn: &Turn,
    ) -> Result<Written, Problem> {
        let mut conn = self.hold(turn)?;
        let changed = terms.rows.map(|_| Changed::watch(&mut conn, table)).transpose()?;
        let done = insert(&mut conn, table, (ask, input), conflict, terms.rows.zip(changed.as_ref()));
        if changed.is_some() {
            let _ = conn.update_hook(None::<fn(Action, &str, &str, i64)>);
        }
        done
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
        let body = RowValues::new(table, body)?;
        if body.columns.is_empty() {
            return Err(Problem::bad("the body has no columns to set"));
        }
        let mut conn = self.hold(turn)?;
        let transaction = begin(&mut conn)?;
        check(&transaction, ask, terms)?;
        let written = body.update(&transaction, ask, terms)?;
        commit(transaction)?;
        Ok(written)
    }

    /// Applies a JSON Patch (RFC 6902) to the row that is asked for, which is an object of its columns. What the patch
    /// removes becomes null.
    pub(crate) fn patch(
        &self,
        table: &Table,
        ask: &Ask<'_>,
        patch: &[u8],
        terms: &Terms,
        turn: &Turn,
    ) -> Result<Written, Problem> {
        let mut conn = self.hold(turn)?;
        let transaction = begin(&mut conn)?;
        check(&transaction, ask, terms)?;
        let row = returned::current(&transaction, ask)?.ok_or_else(|| Problem::not_one(0))?;
        let Some(changes) = patched(&row, patch)? else {
            return Ok(Written { rows: 1, text: terms.rows.map(|_| row), ..Written::default() });
        };
        let written = RowValues::new(table, &changes)?.update(&transaction, ask, terms)?;
        commit(transaction)?;
        Ok(written)
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
        let body = RowValues::new(table, body)?;
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
                body.set(&transaction, ask, &new, None)?;
                false
            }
            Meant::Several => return Err(Problem::new(StatusCode::CONFLICT, "several rows have this key")),
        };
        let text = terms.rows.map(|format| one(&transaction, ask, format)).transpose()?;
        commit(transaction)?;
        Ok(Written { rows: 1, is_new, text, id: Some(id.to_owned()) })
    }

    /// Deletes the rows that are asked for.
    pub(crate) fn delete(&self, table: &Table, ask: &Ask<'_>, terms: &Terms, turn: &Turn) -> Result<Written, Problem> {
        let mut conn = self.hold(turn)?;
        let transaction = begin(&mut conn)?;
        check(&transaction, ask, terms)?;
        let (condition, values) = ask.condition(1);
        let mut returned = terms.rows.map(Returned::new);
        let rows = {
            let returning = if returned.is_some() { ask.returning() } else { String::new() };
            let sql = format!("delete from {}{condition}{returning}", table.quoted);
            let mut statement = transaction.prepare_cached(&sql).map_err(|error| Problem::of_statement(&error))?;
            execute(&mut statement, (1, values), ask, returned.as_mut())?
        };
        let text = returned.map(Returned::text).transpose()?;
        commit(transaction)?;
        Ok(Written { rows, text, ..Written::default() })
    }
}

/// What a body gives to a row.
struct RowValues<'t> {
    table: &'t Table,
    columns: Vec<usize>,
    row: Row,
}

impl<'t> RowValues<'t> {
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

    /// Sets all of its values in the rows that are asked for. A single row keeps the values that it has already.
    fn update(&self, conn: &Connection, ask: &Ask<'_>, terms: &Terms) -> Result<Written, Problem> {
        let new = match meant(conn, self.table, ask, &self.columns, &self.row)? {
            Meant::None => None,
            Meant::One(new) => Some(new),
            Meant::Several => Some(self.all()),
        };
        match new {
            None => Ok(Written { text: terms.rows.map(none).transpose()?, ..Written::default() }),
            // It is there, and is as it shall be.
            Some(new) if new.is_empty() => {
                let text = terms.rows.map(|format| one(conn, ask, format)).transpose()?;
                Ok(Written { rows: 1, text, ..Written::default() })
            }
            Some(new) => {
                let mut rows = terms.rows.map(Returned::new);
                let count = self.set(conn, ask, &new, rows.as_mut())?;
                let text = rows.map(Returned::text).transpose()?;
                Ok(Written { rows: count, text, ..Written::default() })
            }
        }
    }

    /// Sets the values at these places in the rows that are asked for.
    fn set(
        &self,
        conn: &Connection,
        ask: &Ask<'_>,
        places: &[usize],
        returned: Option<&mut Returned>,
    ) -> Result<u64, Problem> {
        if places.is_empty() {
            return Ok(0);
        }
        let sets = (1..).zip(places).map(|(number, place)| format!("{} = ?{number}", self.name(*place)));
        let sets: Vec<String> = sets.collect();
        let (condition, values) = ask.condition(places.len() + 1);
        let returning = if returned.is_some() { ask.returning() } else { String::new() };
        let sql = format!("update {} set {}{condition}{returning}", self.table.quoted, sets.join(", "));
        self.run(conn, &sql, places, (ask, values), returned)
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
        self.run(conn, &sql, &places, (ask, values), None).map(drop)
    }

    fn run(
        &self,
        conn: &Connection,
        sql: &str,
        places: &[usize],
        (ask, values): (&Ask<'_>, &[Value]),
        returned: Option<&mut Returned>,
    ) -> Result<u64, Problem> {
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
        execute(&mut statement, (places.len() + 1, values), ask, returned)
    }
}

/// The members that a JSON Patch changes in a row, as an object; `None` if there are none.
fn patched(row: &[u8], patch: &[u8]) -> Result<Option<Vec<u8>>, Problem> {
    let edited = jird::patch::apply(row, patch).map_err(|error| of_patch(&error, patch))?;
    let wrong = |_| Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "the patched row cannot be read");
    let (old, new) = (jird::parse(row).map_err(wrong)?, jird::parse(&edited).map_err(wrong)?);
    if new.root().kind() != jird::Kind::Object {
        return Err(Problem::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            "the patch makes something else of the row than an object",
        ));
    }
    let mut changes = Vec::new();
    jird::hooks::write_object(&mut changes, |object| {
        for (key, value) in new.root().entries() {
            let key = key.as_str().unwrap_or_default();
            if old.root().get(&key).is_none_or(|old| old.raw() != value.raw()) {
                object.raw(&key, value.raw());
            }
        }
        for (key, _) in old.root().entries() {
            let key = key.as_str().unwrap_or_default();
            if new.root().get(&key).is_none() {
                object.raw(&key, b"null");
            }
        }
    });
    Ok((changes.len() > b"{}".len()).then_some(changes))
}

/// 400 if the patch is malformed, 409 if one of its `test` operations fails, 422 if it does not fit the row.
fn of_patch(error: &EditError, patch: &[u8]) -> Problem {
    match (error.kind(), error.text_error()) {
        (_, Some(error)) => Problem::of_body(error, patch),
        (EditErrorKind::Malformed | EditErrorKind::Pointer, _) => Problem::bad(error.to_string()),
        (EditErrorKind::Test, _) => Problem::new(StatusCode::CONFLICT, error.to_string()),
        _ => Problem::new(StatusCode::UNPROCESSABLE_ENTITY, error.to_string()),
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
    match (returned::current(conn, ask)?, &terms.if_match) {
        (Some(_), _) if terms.is_absent => failed("there is such a row already"),
        (None, Some(_)) => failed("there is no such row"),
        (Some(row), Some(tags)) if !tags.have(&row) => failed("the row is not as If-Match says: it was changed"),
        _ => Ok(()),
    }
}

/// Sends the records of a body, which was checked.
fn send(input: &Input<'_>, sink: &mut impl Sink<Error = jird_formats::Error>) -> Result<(), Problem> {
    let source = JsonSource::from_slice_trusted(input.body());
    let sent = match input {
        Input::Object(_) => event::copy(&mut { source }, sink),
        Input::Array(_) => event::copy(&mut source.records(elements()), sink),
        Input::Lines(_) => event::copy(&mut source.lines(), sink),
    };
    sent.map_err(|failure| match failure {
        Failure::Source(error) => Problem::of_body(&error, input.body()),
        Failure::Sink(error, _) => Problem::of_writing(&error),
    })
}

/// Binds values, numbered on from `first`, and executes. The rows that the statement returns, if it does, are written.
fn execute(
    statement: &mut Statement<'_>,
    (first, values): (usize, &[Value]),
    ask: &Ask<'_>,
    returned: Option<&mut Returned>,
) -> Result<u64, Problem> {
    let problem = |error: rusqlite::Error| Problem::of_statement(&error);
    let bound = values.iter().zip(first..).try_for_each(|(value, number)| statement.raw_bind_parameter(number, value));
    bound.map_err(problem)?;
    match returned {
        None => statement.raw_execute().map(|rows| rows as u64).map_err(problem),
        Some(returned) => {
            let mut rows = statement.raw_query();
            returned.write(&mut rows, ask)?;
            Ok(returned.rows)
        }
    }
}

/// Inserts the rows of a body, all of them or none.
fn insert(
    conn: &mut Connection,
    table: &Table,
    (ask, input): (&Ask<'_>, &Input<'_>),
    conflict: Option<Conflict<'_>>,
    wanted: Option<(Format, &Changed)>,
) -> Result<Written, Problem> {
    let transaction = begin(conn)?;
    let name = table.info.name();
    let sink = match conflict {
        Some((keys, duplicates)) => {
            let sink = SqliteSink::upsert(&transaction, name, keys.iter().map(String::as_str)).allow_keyless();
            if duplicates == Duplicates::Ignore { sink.keep_existing() } else { sink }
        }
        None => SqliteSink::append(&transaction, name),
    };
    let mut rows = sink.refuse_new_columns().json_declared().base64_blobs().into_rows();
    match &ask.columns {
        None => send(input, &mut rows)?,
        Some(names) => {
            let pattern = |name: &String| format!("/{}", name.replace('~', "~0").replace('/', "~1")).parse().ok();
            let mut some = Project::new(rows, names.iter().filter_map(pattern));
            send(input, &mut some)?;
            rows = some.into_inner();
        }
    }
    let count = rows.table().report().rows;
    drop(rows);
    let mut written = Written { rows: count, is_new: true, ..Written::default() };
    if let (Input::Object(_), None, Some(key), Some(number)) = (input, conflict, table.id, table.info.row_number())
        && transaction.changes() == 1
    {
        let sql = format!("select {} from {} where {number} = ?1", table.sql_of(key), table.quoted);
        let id = transaction.query_row(&sql, [transaction.last_insert_rowid()], |row| row.get::<_, Value>(0)).ok();
        written.id = id.and_then(text_of);
    }
    if let Some((format, changed)) = wanted {
        written.text = changed.text(&transaction, (table, ask), format)?;
    }
    commit(transaction)?;
    Ok(written)
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

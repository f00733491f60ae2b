//! Connections that read, each with a budget of time, and the queries that run on them.

use crate::base::file::FileId;
use crate::base::problem::Problem;
use crate::cache::answers::{Answers, CachedAnswer, Question};
use crate::log::has_log;
use crate::request::ask::Ask;
use crate::request::functions;
use crate::request::rows::{self, Format, Out, Stop};
use jird_formats::sqlite::open_read_only_within;
use rusqlite::Connection;
use rusqlite::limits::Limit;
use rusqlite::types::Value;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The most connections that wait for requests.
const IDLE_MAX: usize = 16;
/// How long a connection waits for the lock of another program, where it waits.
pub(crate) const LOCK_TIME: Duration = Duration::from_secs(5);
/// Statements that a connection keeps.
const STATEMENTS: usize = 64;
/// The most bytes of a pattern of `like`, with which SQLite may take long for each row.
const PATTERN_BYTES: i32 = 1000;
/// The most bytes of a value: rows of other tables that are within a row are one, too.
const VALUE_BYTES: i32 = 256 << 20;
/// After this many steps of SQLite's virtual machine, a query looks at the clock: some tens of microseconds.
const STEPS: i32 = 1000;

/// The time that a connection may take, and whether its result is still wanted.
#[derive(Debug)]
pub(crate) struct Budget {
    since: Instant,
    /// Nanoseconds after `since`.
    until: AtomicU64,
    /// How often the clock may be looked at: a limit of work, which counts no time that others take.
    looks: AtomicU64,
    is_gone: AtomicBool,
    /// The file that the connection reads is not served any more.
    is_retired: Arc<AtomicBool>,
}

impl Budget {
    pub(crate) fn new(is_retired: Arc<AtomicBool>) -> Self {
        let [until, looks] = [u64::MAX; 2].map(AtomicU64::new);
        Self { since: Instant::now(), until, looks, is_gone: AtomicBool::new(false), is_retired }
    }

    /// A new piece of work begins.
    pub(crate) fn grant(&self, time: Duration) {
        self.grant_little(time, u64::MAX);
    }

    /// A new piece of work begins. It ends after this time, or after this many thousands of SQLite's steps.
    pub(crate) fn grant_little(&self, time: Duration, thousands: u64) {
        self.looks.store(thousands, Ordering::Relaxed);
        let until = self.since.elapsed().saturating_add(time).as_nanos();
        self.until.store(u64::try_from(until).unwrap_or(u64::MAX), Ordering::Relaxed);
        self.is_gone.store(false, Ordering::Relaxed);
    }

    /// A thousand steps were made; whether they were the last ones.
    fn step(&self) -> bool {
        // The thread that works is the only one that writes.
        let left = self.looks.load(Ordering::Relaxed);
        self.looks.store(left.saturating_sub(1), Ordering::Relaxed);
        self.is_over()
    }

    /// Waits for others, which takes none of the time.
    pub(crate) fn wait<T>(&self, wait: impl FnOnce() -> T) -> T {
        let begun = Instant::now();
        let result = wait();
        let waited = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
        // The thread that waits is the only one that writes.
        self.until.store(self.until.load(Ordering::Relaxed).saturating_add(waited), Ordering::Relaxed);
        result
    }

    /// The result is no longer wanted.
    pub(crate) fn give_up(&self) {
        self.is_gone.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_over(&self) -> bool {
        self.is_gone.load(Ordering::Relaxed)
            || self.is_retired.load(Ordering::Relaxed)
            || self.looks.load(Ordering::Relaxed) == 0
            || self.since.elapsed().as_nanos() > self.until.load(Ordering::Relaxed).into()
    }
}

/// Limits a connection: its statements end when the budget is over.
pub(crate) fn limit(conn: &mut Connection, is_retired: Arc<AtomicBool>) -> rusqlite::Result<Arc<Budget>> {
    let budget = Arc::new(Budget::new(is_retired));
    let watched = Arc::clone(&budget);
    conn.progress_handler(STEPS, Some(move || watched.step()))?;
    conn.set_limit(Limit::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, PATTERN_BYTES)?;
    conn.set_limit(Limit::SQLITE_LIMIT_LENGTH, VALUE_BYTES)?;
    conn.set_prepared_statement_cache_capacity(STATEMENTS);
    functions::register(conn)?;
    Ok(budget)
}

/// A connection that reads.
pub(crate) struct Reader {
    conn: Connection,
    /// How long it waits for locks.
    patience: Duration,
    pub(crate) budget: Arc<Budget>,
    answers: Answers,
    _user: Arc<()>,
}

/// All of them.
pub(crate) struct Readers {
    path: PathBuf,
    file: FileId,
    is_retired: Arc<AtomicBool>,
    /// Shared by all readers of the file.
    users: Arc<()>,
    #[expect(clippy::vec_box, reason = "they come and go with each request, and have hundreds of bytes")]
    idle: Mutex<Vec<Box<Reader>>>,
    kept_bytes: usize,
}

impl Readers {
    pub(crate) fn new(path: PathBuf, file: FileId, kept_bytes: usize, is_retired: Arc<AtomicBool>) -> Self {
        Self { path, file, is_retired, users: Arc::default(), idle: Mutex::default(), kept_bytes }
    }

    /// Something that reads the file with a connection of its own; it ends when it is dropped.
    #[cfg(feature = "query")]
    pub(crate) fn user(&self) -> Arc<()> {
        Arc::clone(&self.users)
    }

    /// Closes those that are not in use; whether all are closed. The file is not served any more.
    pub(crate) fn are_closed(&self) -> bool {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
        Arc::strong_count(&self.users) == 1
    }

    /// One that is not in use. It waits for no lock.
    pub(crate) fn take(&self) -> Result<Box<Reader>, Problem> {
        self.take_within(Duration::ZERO)
    }

    /// One that is not in use. It waits this long for locks of others: the first time when it is opened.
    pub(crate) fn take_within(&self, patience: Duration) -> Result<Box<Reader>, Problem> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut reader = idle.map_or_else(|| self.open(patience), Ok)?;
        reader.wait(patience)?;
        Ok(reader)
    }

    /// Takes it back.
    pub(crate) fn give(&self, reader: Box<Reader>) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < IDLE_MAX && !self.is_retired.load(Ordering::Relaxed) {
            idle.push(reader);
        }
    }

    fn open(&self, patience: Duration) -> Result<Box<Reader>, Problem> {
        let failed = |error: jird_formats::Error| Problem::busy(format!("the database cannot be opened: {error}"));
        let user = Arc::clone(&self.users);
        let is_there = || {
            !self.is_retired.load(Ordering::Relaxed) && FileId::of(&self.path).is_some_and(|it| it.is_file(self.file))
        };
        let moved = || Problem::busy("the file of the database was replaced");
        if !is_there() {
            return Err(moved());
        }
        let mut conn = open_read_only_within(&self.path, patience).map_err(failed)?;
        if !is_there() {
            return Err(moved());
        }
        let budget = limit(&mut conn, Arc::clone(&self.is_retired)).map_err(|error| Problem::of_reading(&error))?;
        let answers = Answers::new(has_log(&conn), self.kept_bytes / IDLE_MAX);
        Ok(Box::new(Reader { conn, patience, budget, answers, _user: user }))
    }
}

/// What a query found.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RowCounts {
    pub(crate) rows: u64,
    /// The number of all rows for which the conditions hold, if it was asked for.
    pub(crate) total: Option<u64>,
}

/// What is to be known besides the rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) format: Format,
    /// The number of all rows is wanted.
    pub(crate) counts: bool,
    /// The most rows of an answer to a request without a limit, and the greatest limit.
    pub(crate) rows_max: u64,
    /// There must be exactly one row.
    pub(crate) is_one: bool,
}

impl Plan {
    /// The limit for SQLite: one more than allowed tells that there are too many.
    fn limit(&self, ask: &Ask<'_>) -> Result<u64, Problem> {
        match ask.limit() {
            // A second one tells that there are several.
            limit if self.is_one => Ok(limit.unwrap_or(2).min(2)),
            Some(limit) if limit > self.rows_max => {
                Err(Problem::bad(format!("limit is at most {} here", self.rows_max)))
            }
            Some(limit) => Ok(limit),
            None => Ok(self.rows_max.saturating_add(1)),
        }
    }

    #[cold]
    fn too_many(&self) -> Problem {
        Problem::bad(format!("there are more than {} rows: ask for pages, with limit and offset", self.rows_max))
    }
}

impl Reader {
    /// The connection, for questions about the schema.
    pub(crate) fn conn(&self) -> &Connection {
        &self.conn
    }

    /// From now on it waits this long for locks of others.
    fn wait(&mut self, patience: Duration) -> Result<(), Problem> {
        if self.patience != patience {
            self.conn.busy_timeout(patience).map_err(|error| Problem::of_reading(&error))?;
            self.patience = patience;
        }
        Ok(())
    }

    /// The answers that are kept, after a look whether they are still those that the rows would give; `None` if none is
    /// ever kept. `schema` is the version of the schema.
    pub(crate) fn answers(&mut self, schema: i64) -> Option<&mut Answers> {
        if self.answers.is_off() {
            return None;
        }
        self.answers.look(&self.conn, schema);
        Some(&mut self.answers)
    }

    /// Keeps an answer whose rows were read after the last look at the versions.
    pub(crate) fn keep(&mut self, question: Question, kept: &CachedAnswer) {
        self.answers.keep(question, kept.clone());
    }

    /// Writes the rows that are asked for. `out` gets the count before the first row.
    ///
    /// A long answer waits for its turn, and has no first byte before it is certain that there are not too many rows.
    pub(crate) fn answer<O: Out>(
        &self,
        ask: &Ask<'_>,
        plan: &Plan,
        is_long: bool,
        out: &mut O,
    ) -> Result<RowCounts, Stop> {
        let limit = plan.limit(ask)?;
        if !plan.counts && !is_long {
            return self.rows(ask, plan, limit, out);
        }
        // The count and the rows are of one state of the database.
        let state = self.conn.unchecked_transaction().map_err(|error| self.stop(&error))?;
        // Waits for locks, and for nothing afterwards.
        self.count("select count(*) from (select 1 from sqlite_schema limit 1)", &[])
            .map_err(|error| self.stop(&error))?;
        out.begin();
        let counts_first = plan.counts || ask.limit().is_none() && !plan.is_one;
        if !counts_first {
            return self.rows(ask, plan, limit, out);
        }
        let most = plan.rows_max.saturating_add(ask.offset()).saturating_add(1);
        let (sql, values) = ask.count(if plan.counts { None } else { Some(most) });
        let total = self.count(&sql, &values).map_err(|error| self.stop(&error))?;
        if ask.limit().is_none() && total.saturating_sub(ask.offset()) > plan.rows_max {
            return Err(plan.too_many().into());
        }
        if plan.counts {
            out.total(total);
        }
        let found = self.rows(ask, plan, limit, out)?;
        drop(state);
        Ok(RowCounts { total: plan.counts.then_some(total), ..found })
    }

    fn count(&self, sql: &str, values: &[Value]) -> rusqlite::Result<u64> {
        let mut statement = self.conn.prepare_cached(sql)?;
        let used = values.iter().take(statement.parameter_count());
        let count: i64 = statement.query_row(rusqlite::params_from_iter(used), |row| row.get(0))?;
        Ok(count.unsigned_abs())
    }

    fn rows<O: Out>(&self, ask: &Ask<'_>, plan: &Plan, limit: u64, out: &mut O) -> Result<RowCounts, Stop> {
        let (sql, values) = ask.select(limit);
        let mut statement = self.conn.prepare_cached(&sql).map_err(|error| self.stop(&error))?;
        let mut found = statement.query(rusqlite::params_from_iter(&values)).map_err(|error| self.stop(&error))?;
        let rows = rows::write(&mut found, ask.picks(), plan.format, out).map_err(|stop| match stop {
            Stop::Problem(_) if self.budget.is_gone.load(Ordering::Relaxed) => Stop::Gone,
            stop => stop,
        })?;
        if ask.limit().is_none() && rows > plan.rows_max {
            return Err(plan.too_many().into());
        }
        if plan.is_one && rows != 1 {
            return Err(Problem::not_one(rows).into());
        }
        Ok(RowCounts { rows, total: None })
    }

    fn stop(&self, error: &rusqlite::Error) -> Stop {
        if self.budget.is_gone.load(Ordering::Relaxed) { Stop::Gone } else { Problem::of_reading(error).into() }
    }
}

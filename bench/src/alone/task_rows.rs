//! `sqlite_rows`: inserts existing task objects into a new table, in one transaction. The file is in a memory file
//! system if there is one. All contestants write without a journal and without synchronisation.

use std::time::Instant;

use jird_formats::sqlite::Inserter;
use jird_formats::sqlite::rusqlite::{Connection, params};
use serde::Serialize;

use super::task_rows_c::{CTasks, Shape, Table};
use super::{Contestant, Setting, here, told};
use crate::whole::Report;

/// The statements that all contestants begin with.
pub(super) const BEGIN: &str = "pragma journal_mode = off; pragma synchronous = off;
    create table tasks (id INTEGER PRIMARY KEY, title VARCHAR(220) NOT NULL, done INTEGER);";

/// The number of rows that jird puts into a statement with two parameters for each row.
const ROWS: usize = 100;

/// This many objects are in memory at once. Their creation is not timed.
const CHUNK: usize = 1_000_000;

pub(super) const CONTESTANTS: &[Contestant] = &[
    here("jird", "Inserter::insert_all: many rows per statement, numbers left out while they count up", |setting| {
        jird(setting, None)
    }),
    here("jird-1", "Inserter, one row per statement, numbers left out while they count up", |setting| {
        jird(setting, Some(1))
    }),
    here("rusqlite", "by hand, one row per statement", rusqlite),
    here("c", "one row per statement", |setting| c(setting, Shape { rows: 1, numbered: true, copies: false })),
    here("c-unnumbered", "one row per statement without its number: the shape of jird-1", |setting| {
        c(setting, Shape { rows: 1, numbered: false, copies: false })
    }),
    here("c-many", "100 rows per statement", |setting| c(setting, Shape { rows: ROWS, numbered: true, copies: false })),
    here("c-many-unnumbered", "100 rows per statement without their numbers: the shape of jird", |setting| {
        c(setting, Shape { rows: ROWS, numbered: false, copies: false })
    }),
    here("c-many-copies", "the same with texts bound as copies, as all safe Rust does", |setting| {
        c(setting, Shape { rows: ROWS, numbered: false, copies: true })
    }),
];

/// A row of the table.
#[derive(Debug, Serialize)]
pub(super) struct Task {
    pub(super) id: i64,
    pub(super) title: String,
    pub(super) done: bool,
}

impl Task {
    fn some(range: std::ops::Range<usize>) -> Vec<Self> {
        let task = |number: usize| Self {
            id: number as i64 + 1,
            title: format!("clean room {}", number % 1000),
            done: number.is_multiple_of(3),
        };
        range.map(task).collect()
    }
}

fn jird(setting: &Setting<'_>, rows: Option<usize>) -> Result<Report, String> {
    let conn = open(setting)?;
    let failed = |error: jird_formats::Error| error.to_string();
    let inserter = Inserter::<Task>::new(&conn, "tasks").map_err(failed)?;
    let mut inserter = match rows {
        Some(rows) => inserter.rows_per_statement(rows),
        None => inserter,
    };
    let timings = chunks(setting.rows, nothing, |tasks, ()| inserter.insert_all(tasks).map_err(failed))?;
    let started = Instant::now();
    inserter.finish().map_err(failed)?;
    drop(conn);
    timings.report(started, setting)
}

fn rusqlite(setting: &Setting<'_>) -> Result<Report, String> {
    let conn = open(setting)?;
    let failed = |error: jird_formats::sqlite::rusqlite::Error| error.to_string();
    conn.execute_batch("begin").map_err(failed)?;
    let mut statement = conn.prepare("insert into tasks (id, title, done) values (?, ?, ?)").map_err(failed)?;
    let timings = chunks(setting.rows, nothing, |tasks, ()| {
        for Task { id, title, done } in tasks {
            statement.execute(params![id, title, done]).map_err(failed)?;
        }
        Ok(())
    })?;
    let started = Instant::now();
    drop(statement);
    conn.execute_batch("commit").map_err(failed)?;
    drop(conn);
    timings.report(started, setting)
}

fn c(setting: &Setting<'_>, shape: Shape) -> Result<Report, String> {
    let mut table = Table::create(setting.file, shape)?;
    let timings = chunks(setting.rows, CTasks::of, |_, tasks| table.insert(tasks))?;
    let started = Instant::now();
    table.finish()?;
    timings.report(started, setting)
}

fn open(setting: &Setting<'_>) -> Result<Connection, String> {
    let conn = Connection::open(setting.file).map_err(|error| error.to_string())?;
    conn.execute_batch(BEGIN).map_err(|error| error.to_string())?;
    Ok(conn)
}

fn nothing(_: &[Task]) {}

/// The seconds for each chunk.
struct Timings(Vec<f64>);

/// Inserts the objects in chunks, each laid out as `insert` needs it. Only `insert` is timed.
fn chunks<L>(
    rows: usize,
    lay_out: impl Fn(&[Task]) -> L,
    mut insert: impl FnMut(&[Task], &L) -> Result<(), String>,
) -> Result<Timings, String> {
    let mut seconds = Vec::new();
    for start in (0..rows).step_by(CHUNK) {
        let tasks = Task::some(start..rows.min(start + CHUNK));
        let laid_out = lay_out(&tasks);
        let started = Instant::now();
        insert(&tasks, &laid_out)?;
        seconds.push(started.elapsed().as_secs_f64());
    }
    Ok(Timings(seconds))
}

impl Timings {
    /// Adds the time since `end`, when the last step began. The check of the table that follows is not timed.
    fn report(self, end: Instant, setting: &Setting<'_>) -> Result<Report, String> {
        let inside = self.0.iter().sum::<f64>() + end.elapsed().as_secs_f64();
        let conn = Connection::open(setting.file).map_err(|error| error.to_string())?;
        let sql = "select count(id), sum(id) + 7 * sum(length(title)) + 11 * sum(done) from tasks";
        let (rows, checksum) = conn
            .query_row(sql, [], |row| Ok((row.get::<_, i64>(0)? as u64, row.get::<_, i64>(1)? as u64)))
            .map_err(|error| error.to_string())?;
        let mut report = Report { checksum, ..told(inside, rows) };
        // The first chunk is slower, because it fills the caches.
        let tenth = (self.0.len() / 10).max(1);
        let sum = |chunks: &[f64]| chunks.iter().sum::<f64>();
        let held = sum(&self.0[..tenth]) / sum(&self.0[self.0.len() - tenth..]);
        report.figures.insert("rate held".into(), held);
        Ok(report)
    }
}

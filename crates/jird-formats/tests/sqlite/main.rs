//! Tables as sources and sinks.
#![cfg(feature = "sqlite")]

#[path = "../../../jird/tests/common/mod.rs"]
mod common;
mod conditions;
mod peers;
mod sink;
mod source;
mod trouble;
mod types;

use jird::event::{self, Failure, JsonSink, JsonSource};
use jird_formats::Error;
use jird_formats::sqlite::rusqlite::Connection;
use jird_formats::sqlite::rusqlite::types::Value as Stored;
use jird_formats::sqlite::{SqliteQuery, SqliteReport, SqliteSink};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

pub(crate) fn memory() -> Connection {
    Connection::open_in_memory().unwrap()
}

pub(crate) fn made(sql: &str) -> Connection {
    let conn = memory();
    conn.execute_batch(sql).unwrap();
    conn
}

/// A folder of this test's own.
pub(crate) fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("sqlite").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Writes records into a table.
pub(crate) fn fill(text: &str, sink: SqliteSink<'_>) -> Result<SqliteReport, Error> {
    let mut rows = sink.into_rows();
    match event::copy(&mut JsonSource::from_slice(text.as_bytes()), &mut rows) {
        Ok(()) => Ok(rows.table().report().clone()),
        Err(Failure::Sink(error, _)) => Err(error),
        Err(Failure::Source(error)) => panic!("{error}"),
    }
}

pub(crate) fn try_lines(query: &mut SqliteQuery<'_>) -> Result<String, Error> {
    let mut json = JsonSink::new(Vec::new());
    match event::copy(&mut query.source(), &mut json) {
        Ok(()) => Ok(String::from_utf8(json.into_inner()).unwrap()),
        Err(Failure::Source(error)) => Err(error),
        Err(Failure::Sink(error, _)) => panic!("{error}"),
    }
}

/// What a query finds, as lines of JSON.
pub(crate) fn lines(conn: &Connection, sql: &str) -> String {
    try_lines(&mut SqliteQuery::select(conn, sql).unwrap()).unwrap()
}

pub(crate) fn schema(conn: &Connection, table: &str) -> String {
    conn.query_row("select sql from sqlite_schema where name = ?", [table], |row| row.get(0)).unwrap()
}

pub(crate) fn stored(conn: &Connection, sql: &str) -> Vec<Stored> {
    let mut statement = conn.prepare(sql).unwrap();
    let width = statement.column_count();
    let mut rows = statement.query([]).unwrap();
    let mut all = Vec::new();
    while let Some(row) = rows.next().unwrap() {
        all.extend((0..width).map(|column| row.get::<_, Stored>(column).unwrap()));
    }
    all
}

pub(crate) fn check_integrity(conn: &Connection) {
    let answer: String = conn.query_row("pragma integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(answer, "ok");
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Task {
    pub(crate) id: i64,
    pub(crate) title: String,
    pub(crate) done: bool,
}

pub(crate) fn task(id: i64) -> Task {
    Task { id, title: format!("Task {id}"), done: id % 3 == 0 }
}

//! A list of Rust values as an SQLite table, counted by SQLite:
//!
//!     cargo run --release -p jird-formats --example tasks tasks.db
//!
//! The table is made for the type, and the values go from their `Serialize` to a statement of many rows.

#![allow(clippy::print_stdout, reason = "an example shows what it found")]

use jird_formats::sqlite::rusqlite::Connection;
use jird_formats::sqlite::{Inserter, create_for, open};
use serde::{Deserialize, Serialize};
use std::error::Error;

#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Task {
    pub(crate) id: i64,
    pub(crate) title: String,
    pub(crate) done: bool,
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: tasks FILE.DB")?;
    let connection = open(path)?;
    let titles = ["Clean Room", "Check Mail", "Write Letter"];
    let tasks = titles.into_iter().zip(1..).map(|(title, id)| Task { id, title: title.to_owned(), done: id == 1 });
    println!("wrote {}", write(&connection, tasks)?);
    println!("there are {}", count(&connection)?);
    Ok(())
}

/// Makes the table, and writes all tasks or none; how many.
pub(crate) fn write(connection: &Connection, tasks: impl Iterator<Item = Task>) -> Result<u64, jird_formats::Error> {
    create_for::<Task>(connection, "tasks", &["id"])?;
    let mut inserter = Inserter::new(connection, "tasks")?;
    inserter.insert_all(tasks)?;
    inserter.finish()
}

pub(crate) fn count(connection: &Connection) -> Result<i64, Box<dyn Error>> {
    Ok(connection.query_row("select count(id) from tasks", [], |row| row.get(0))?)
}

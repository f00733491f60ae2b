//! The examples do what they say.
#![cfg(feature = "sqlite")]

#[path = "../../../examples/artists.rs"]
#[allow(dead_code, reason = "its `main` is for the command line")]
mod artists;
#[path = "../../jird/tests/common/mod.rs"]
mod common;
#[path = "../../../examples/tasks.rs"]
#[allow(dead_code, reason = "its `main` is for the command line")]
mod tasks;

use artists::{Artist, of_database, of_document};
use jird_formats::sqlite::rusqlite::Connection;
use serde_json::{Value, json};
use tasks::{Task, count, write};

#[test]
fn artists_are_the_same_from_database_and_document() {
    let Some(root) = common::corpus() else { return };
    let [database, document] =
        ["chinook.db", "ChinookData.json"].map(|name| root.join("tables/chinook").join(name).display().to_string());
    let artists: Vec<Artist> = of_database(&database).unwrap();
    assert_eq!(artists, of_document::<Artist>(&document).unwrap());
    assert_eq!((artists.len(), artists[0].artist_id, &artists[0].name[..]), (275, 1, "AC/DC"));
    let trees: Vec<Value> = of_database(&database).unwrap();
    assert_eq!(trees, of_document::<Value>(&document).unwrap());
    assert_eq!(trees[274], json!({"ArtistId": 275, "Name": "Philip Glass Ensemble"}));
}

#[test]
fn a_list_of_tasks_is_counted_by_sqlite() {
    let connection = Connection::open_in_memory().unwrap();
    let tasks = (1..=1000).map(|id| Task { id, title: format!("Task {id}"), done: id % 3 == 0 });
    assert_eq!(write(&connection, tasks).unwrap(), 1000);
    assert_eq!(count(&connection).unwrap(), 1000);
    assert!(write(&connection, std::iter::empty()).is_err(), "the table is there");
}

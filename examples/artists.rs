//! Chinook's artists, out of its database and out of its JSON document, as Rust values and as trees:
//!
//!     cargo run --release -p jird-formats --example artists chinook.db ChinookData.json
//!
//! Both are sources of the same events, and so are CSV, Arrow and Parquet. Each record becomes a value as it is read, with no tree in
//! between; a tree is a type like any other.

#![allow(clippy::print_stdout, reason = "an example shows what it found")]

use jird::event::{self, Failure, JsonSource, Source};
use jird_formats::sqlite::{SqliteQuery, open_read_only};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::error::Error;
use std::fs::File;

#[derive(Debug, Deserialize, PartialEq)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct Artist {
    pub(crate) artist_id: u32,
    pub(crate) name: String,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let (Some(database), Some(document)) = (args.next(), args.next()) else {
        return Err("usage: artists CHINOOK.DB CHINOOK.JSON".into());
    };
    let artists: Vec<Artist> = of_database(&database)?;
    let same: Vec<Artist> = of_document(&document)?;
    let trees: Vec<Value> = of_document(&document)?;
    assert_eq!(artists, same);
    println!("{} artists, the first: {:?}, as a tree {}", artists.len(), artists[0], trees[0]);
    Ok(())
}

/// The rows of a table.
pub(crate) fn of_database<T: DeserializeOwned>(path: &str) -> Result<Vec<T>, Box<dyn Error>> {
    let connection = open_read_only(path)?;
    let mut table = SqliteQuery::table(&connection, "Artist")?;
    Ok(all(&mut table.source())?)
}

/// The elements of an array somewhere in a document; nothing else of it is kept.
pub(crate) fn of_document<T: DeserializeOwned>(path: &str) -> Result<Vec<T>, Box<dyn Error>> {
    let mut artists = JsonSource::from_reader(File::open(path)?).records("/Artist/*".parse()?);
    Ok(all(&mut artists)?)
}

/// All records of a source, whatever it reads.
fn all<A: Source, T: DeserializeOwned>(source: &mut A) -> Result<Vec<T>, Failure<A::Error, jird::Error>> {
    let mut values = Vec::new();
    event::for_each(source, |_, value| {
        values.push(value);
        Ok(())
    })?;
    Ok(values)
}

//! What is written where: a table for each input or for each of its tables, and targets that appear when they are complete.

use super::feed::Feed;
use super::open::Opened;
use super::table_name;
use crate::target::Target;
use anyhow::Result;
use jird_formats::files::{Compression, Compressor};
use jird_formats::sqlite;
use std::collections::HashMap;
use std::hash::Hash;
use std::path::Path;

/// One table to write: a whole input, or one of its tables.
pub(super) struct Job {
    /// The index of the input.
    pub(super) input: usize,
    /// The table to read, if the user has not named one.
    read: Option<String>,
    pub(super) name: String,
}

impl Job {
    /// Runs the job with its table as the table to read.
    pub(super) fn with_table(self, feed: &mut Feed, run: impl FnOnce(&mut Feed) -> Result<()>) -> Result<()> {
        let asked = feed.reading.table.clone();
        feed.reading.table = self.read.or(asked.clone());
        let done = run(feed);
        feed.reading.table = asked;
        done
    }
}

/// Plans one table for each input, or for each table of an input.
pub(super) fn jobs(inputs: &mut [Opened], feed: &Feed) -> Result<Vec<Job>> {
    let asked = &feed.reading.table;
    let mut jobs = Vec::new();
    for (index, input) in inputs.iter_mut().enumerate() {
        let tables = match super::source::database(input, &feed.reading)? {
            Some(source) if asked.is_none() => sqlite::tables(&source)?,
            _ => Vec::new(),
        };
        if tables.is_empty() {
            let name = asked.clone().unwrap_or_else(|| table_name(Path::new(&input.name)));
            jobs.push(Job { input: index, read: None, name });
        }
        jobs.extend(tables.into_iter().map(|table| Job { input: index, read: Some(table.clone()), name: table }));
    }
    Ok(jobs)
}

/// Two jobs that would write to the same place.
pub(super) fn clash<P: Eq + Hash>(jobs: &[Job], place: impl Fn(&str) -> P) -> Option<(&Job, &Job)> {
    let mut places = HashMap::new();
    jobs.iter().find_map(|job| places.insert(place(&job.name), job).map(|other| (other, job)))
}

/// A target, and its compression.
pub(super) type Out = Compressor<Target>;

/// Writes a target that appears when it is complete.
pub(super) fn once(path: Option<&Path>, write: impl FnOnce(Out) -> Result<Out>) -> Result<()> {
    let compression = path.map_or(Compression::None, Compression::of_name);
    let out = write(compression.compress(Target::create(path)?)?)?;
    Ok(out.finish().and_then(Target::commit)?)
}

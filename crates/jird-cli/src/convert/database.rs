//! Databases as targets: one table for each input.

use super::feed::Feed;
use super::jobs::{Job, clash, jobs};
use super::open::Opened;
use super::{ConvertArgs, source};
use crate::input::LOCKED;
use crate::outcome::{BadData, words};
use crate::target::{Beside, is_device};
use anyhow::{Context, Error, Result, anyhow, bail};
use jird::event::Sink;
use jird_formats::ErrorKind;
use jird_formats::sqlite::rusqlite::{self, Connection, ErrorCode, Transaction, TransactionBehavior};
use jird_formats::sqlite::{self, SqliteSink, TableCopy};
use std::path::Path;

/// Writes one table for each input, all in one transaction. A new database appears when it is complete. With
/// `--commit-every` it is written in place, so that committed rows stay even if something fails.
pub(super) fn write(args: &ConvertArgs, inputs: &mut [Opened], path: &Path, feed: &mut Feed) -> Result<()> {
    let name = path.display().to_string();
    if is_device(path) {
        bail!("{name}: a database is written to a file");
    }
    let jobs = jobs(inputs, feed)?;
    let adds = args.append || !args.key.is_empty();
    if let Some((one, other)) = clash(&jobs, str::to_ascii_lowercase).filter(|_| !adds) {
        let [from, too] = [one, other].map(|job| &inputs[job.input].name);
        let remedy = "convert one after the other with --table NAME, or all into one table with --append";
        bail!("{from} and {too} would both be the table {}; {remedy}", sqlite::quote(&one.name));
    }
    let is_beside = !path.exists() && args.commit_every.is_none();
    let cannot = || format!("cannot write {name}");
    let beside = if is_beside { Some(Beside::create(path).with_context(cannot)?.1) } else { None };
    let at = beside.as_ref().map_or(path, Beside::place);
    let of_target = |error: Error| if error.is::<BadData>() { error } else { with_remedy(error).context(cannot()) };
    let connection = sqlite::open(at).map_err(|error| of_target(error.into()))?;
    if !adds {
        // A table may be copied before the tables that it refers to.
        connection.pragma_update(None, "foreign_keys", false).with_context(cannot)?;
        warn_of_views(args, inputs, feed)?;
    }
    if let Some(rows) = args.commit_every {
        feed.tally.notes.push(format!("committed every {rows} rows: what is there stays if something fails"));
    }
    tables_into(args, inputs, jobs, &connection, feed).map_err(of_target)?;
    connection.close().map_err(|(_, error)| error).with_context(cannot)?;
    match beside {
        Some(beside) => beside.commit().with_context(cannot),
        None => Ok(()),
    }
}

/// Adds advice to errors that do not suggest a remedy themselves.
fn with_remedy(error: Error) -> Error {
    let of_sink = error.chain().find_map(|cause| cause.downcast_ref().map(jird_formats::Error::kind));
    let of_sqlite = || error.downcast_ref::<rusqlite::Error>()?.sqlite_error_code();
    let remedy = match of_sink {
        None if of_sqlite() == Some(ErrorCode::DatabaseBusy) => LOCKED,
        Some(ErrorKind::Locked) => LOCKED,
        Some(ErrorKind::Exists) => "add --append, --replace or --key, or name another table with --table",
        Some(ErrorKind::ReadOnly) => "it, or its folder, is for reading only",
        _ => return error,
    };
    anyhow!("{}; {remedy}", words(&error))
}

fn tables_into(
    args: &ConvertArgs,
    inputs: &mut [Opened],
    jobs: Vec<Job>,
    connection: &Connection,
    feed: &mut Feed,
) -> Result<()> {
    let begin = || Transaction::new_unchecked(connection, TransactionBehavior::Immediate);
    let whole = if args.commit_every.is_none() { Some(begin()?) } else { None };
    for job in jobs {
        let input = &mut inputs[job.input];
        let table = job.name.clone();
        job.with_table(feed, |feed| table_into(args, input, connection, &table, feed))?;
    }
    if let Some(whole) = whole {
        whole.commit()?;
    }
    Ok(())
}

fn table_into(
    args: &ConvertArgs,
    input: &mut Opened,
    connection: &Connection,
    table: &str,
    feed: &mut Feed,
) -> Result<()> {
    if args.key.is_empty() && !args.append && copy(args, input, connection, table, feed)? {
        return Ok(());
    }
    let sink = if !args.key.is_empty() {
        SqliteSink::upsert(connection, table, args.key.iter().map(String::as_str))
    } else if args.append {
        SqliteSink::append(connection, table)
    } else if args.replace {
        SqliteSink::replace(connection, table)
    } else {
        SqliteSink::create(connection, table)
    };
    let mut rows = match args.commit_every {
        Some(rows) => sink.commit_every(rows),
        None => sink,
    }
    .into_rows();
    feed.send(input, &mut rows, 1)?;
    rows.finish()?;
    let report = rows.table().report();
    for (key, column) in &report.renamed {
        feed.tally.notes.push(format!("table {table}: the key {key:?} is the column {column:?}"));
    }
    if report.exact_as_text > 0 {
        feed.tally
            .notes
            .push(format!("table {table}: {} numbers are texts, which keeps them exact", report.exact_as_text));
    }
    Ok(())
}

/// Copies a table of a database with its definition. Returns false, and has written nothing, if its rows must be sent
/// as records instead: they are not wanted as they are, or the definition cannot be copied.
fn copy(args: &ConvertArgs, input: &mut Opened, connection: &Connection, table: &str, feed: &mut Feed) -> Result<bool> {
    if !feed.takes_whole_rows() {
        return Ok(false);
    }
    let Some(from) = source::database(input, &feed.reading)? else { return Ok(false) };
    let copy = match TableCopy::new(&from, table) {
        Ok(copy) => copy.limit(feed.left()),
        Err(error) if error.kind() == ErrorKind::Unsupported => {
            feed.warn(format!("{}: {error}; only its rows are copied", input.name));
            return Ok(false);
        }
        Err(error) => return Err(error).with_context(|| input.name.clone()),
    };
    let copy = match args.commit_every {
        Some(rows) => copy.commit_every(rows),
        None => copy,
    };
    if args.replace {
        connection.execute_batch(&format!("drop table if exists {}", sqlite::quote(table)))?;
    }
    for name in copy.left_out(connection)? {
        feed.warn(format!(
            "{}: {} of the table {} is not copied",
            input.name,
            sqlite::quote(&name),
            sqlite::quote(table)
        ));
    }
    let rows = copy.run(connection)?;
    feed.add(rows, 0);
    Ok(true)
}

/// Names the views of databases whose tables are all copied.
fn warn_of_views(args: &ConvertArgs, inputs: &mut [Opened], feed: &mut Feed) -> Result<()> {
    for input in inputs.iter_mut().filter(|_| args.table.is_none()) {
        let Some(from) = source::database(input, &feed.reading)? else { continue };
        let tables = sqlite::tables(&from)?;
        let views = sqlite::tables_and_views(&from)?.into_iter().filter(|name| !tables.contains(name));
        let views: Vec<_> = views.map(|name| sqlite::quote(&name)).collect();
        if !views.is_empty() {
            feed.warn(format!("{}: views are not copied: {}", input.name, views.join(", ")));
        }
    }
    Ok(())
}

//! Targets: each format with its sink. Columns are planned first where the format needs them.

use super::feed::Feed;
use super::format::Format;
use super::open::Opened;
use super::{ConvertArgs, table_name};
use crate::input::LOCKED;
use crate::outcome::{BadData, words};
use crate::target::{Beside, Target, is_device};
use anyhow::{Context, Error, Result, anyhow, bail};
use jird::event::{JsonSink, Parts, Sink};
use jird_formats::files::{Compression, Compressor};
use jird_formats::sqlite::rusqlite::{self, Connection, ErrorCode, Transaction, TransactionBehavior};
use jird_formats::sqlite::{self, SqliteError, SqliteErrorKind, SqliteSink};
use jird_formats::{
    ArrowError, ArrowOptions, ArrowSink, ColumnPlan, CsvError, CsvErrorKind, CsvSink, Dialect, ParquetOptions,
    ParquetSink, Rows, Schema,
};
use std::collections::HashMap;
use std::fs;
use std::hash::Hash;
use std::path::{Path, PathBuf};

/// Writes all inputs to `target`.
pub(super) fn write(args: &ConvertArgs, inputs: &mut [Opened], target: &Path, feed: &mut Feed) -> Result<()> {
    if is_folder(target) {
        return folder(args, inputs, target, feed);
    }
    let path = (target != Path::new("-")).then_some(target);
    match Format::of_target(args.to, path)? {
        Format::Sqlite => database(args, inputs, path.context("a database is written to a file")?, feed),
        format => file(inputs, path, format, feed),
    }
}

/// Whether the target is a folder, in which one file is made for each input.
pub(super) fn is_folder(target: &Path) -> bool {
    target.is_dir() || target.as_os_str().to_string_lossy().ends_with('/')
}

/// Writes one file for each input, or for each of its tables.
fn folder(args: &ConvertArgs, inputs: &mut [Opened], folder: &Path, feed: &mut Feed) -> Result<()> {
    let format = args.to.unwrap_or(Format::Ndjson);
    if format == Format::Sqlite {
        bail!("a database is one file; name it");
    }
    let jobs = jobs(inputs, feed)?;
    if let Some((one, other)) = clash(&jobs, |name| place(folder, name, format)) {
        let [from, too] = [one, other].map(|job| &inputs[job.input].name);
        bail!("{from} and {too} would both be {}", place(folder, &one.name, format).display());
    }
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    for job in jobs {
        let input = std::slice::from_mut(&mut inputs[job.input]);
        let path = place(folder, &job.name, format);
        job.with_table(feed, |feed| file(input, Some(&path), format, feed))?;
    }
    Ok(())
}

/// One table to write: a whole input, or one of its tables.
struct Job {
    /// The index of the input.
    input: usize,
    /// The table to read, if the user has not named one.
    read: Option<String>,
    name: String,
}

impl Job {
    /// Runs the job with its table as the table to read.
    fn with_table(self, feed: &mut Feed, run: impl FnOnce(&mut Feed) -> Result<()>) -> Result<()> {
        let asked = feed.reading.table.clone();
        feed.reading.table = self.read.or(asked.clone());
        let done = run(feed);
        feed.reading.table = asked;
        done
    }
}

/// Plans one table for each input, or for each table of an input.
fn jobs(inputs: &mut [Opened], feed: &Feed) -> Result<Vec<Job>> {
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
fn clash<P: Eq + Hash>(jobs: &[Job], place: impl Fn(&str) -> P) -> Option<(&Job, &Job)> {
    let mut places = HashMap::new();
    jobs.iter().find_map(|job| places.insert(place(&job.name), job).map(|other| (other, job)))
}

/// The path of a table's file in the folder. Characters that a file name cannot contain become `_`.
fn place(folder: &Path, name: &str, format: Format) -> PathBuf {
    let name: String = name.chars().map(|char| if matches!(char, '/' | '\\' | '\0') { '_' } else { char }).collect();
    folder.join(format!("{name}.{}", format.suffix()))
}

/// Writes all inputs to one file or to standard output.
fn file(inputs: &mut [Opened], path: Option<&Path>, format: Format, feed: &mut Feed) -> Result<()> {
    match format {
        Format::Ndjson | Format::Json => once(path, |out| {
            let sink = JsonSink::new(out);
            let mut sink = if format == Format::Json { sink.array() } else { sink };
            share_all(inputs, feed, &mut sink)?;
            Ok(sink.into_inner())
        }),
        Format::Csv | Format::Tsv => planned(inputs, path, feed, |inputs, out, schema, feed| {
            let dialect = if format == Format::Tsv { Dialect::tsv() } else { Dialect::default() };
            let names = schema.columns().iter().map(jird_formats::Column::name);
            let sink = CsvSink::with_dialect(out, dialect).columns(names);
            let mut rows = if feed.reading.typed { sink.keep_types() } else { sink }.rows();
            share_all(inputs, feed, &mut rows)?;
            Ok(rows.into_table().into_inner())
        }),
        Format::Parquet => planned(inputs, path, feed, |inputs, out, schema, feed| {
            let mut rows = ParquetSink::new(out, &ColumnPlan::of(schema), ParquetOptions::default())?;
            // The sink encodes and compresses in a thread of its own.
            send_all(inputs, feed, &mut rows, 2)?;
            Ok(rows.into_table().into_inner()?)
        }),
        Format::Arrow => planned(inputs, path, feed, |inputs, out, schema, feed| {
            let mut rows = ArrowSink::new(out, &ColumnPlan::of(schema), ArrowOptions::default())?;
            send_all(inputs, feed, &mut rows, 1)?;
            Ok(rows.into_table().into_inner()?)
        }),
        Format::Sqlite | Format::Quarantine => bail!("this is not written by records"),
    }
}

/// Sends all inputs, and finishes the sink, which keeps `sink_threads` threads busy.
fn send_all<S>(inputs: &mut [Opened], feed: &mut Feed, sink: &mut S, sink_threads: usize) -> Result<()>
where
    S: Sink<Error: Into<Error>>,
{
    inputs.iter_mut().try_for_each(|input| feed.send(input, sink, sink_threads))?;
    sink.finish().map_err(Into::into)
}

/// Does the same on all threads, where inputs fall into pieces.
fn share_all<S>(inputs: &mut [Opened], feed: &mut Feed, sink: &mut S) -> Result<()>
where
    S: Parts<Error: Into<Error>>,
{
    inputs.iter_mut().try_for_each(|input| feed.share(input, sink))?;
    sink.finish().map_err(Into::into)
}

/// A target, and its compression.
pub(super) type Out = Compressor<Target>;

/// Writes a target that appears when it is complete.
fn once(path: Option<&Path>, write: impl FnOnce(Out) -> Result<Out>) -> Result<()> {
    let compression = path.map_or(Compression::None, Compression::of_name);
    let out = write(compression.compress(Target::create(path)?)?)?;
    Ok(out.finish().and_then(Target::commit)?)
}

/// The first attempt takes the columns from this many records.
const TRIED_RECORDS: u64 = 1000;

/// Writes a target whose columns must be known before the first row. The first attempt uses the columns of the first
/// records. If a later record has another column, or a value that does not fit, this function reads the whole input for
/// its columns and starts again. Bytes sent to a pipe cannot be taken back, so there the columns of the whole input are
/// found first.
fn planned(
    inputs: &mut [Opened],
    path: Option<&Path>,
    feed: &mut Feed,
    mut write: impl FnMut(&mut [Opened], Out, &Schema, &mut Feed) -> Result<Out>,
) -> Result<()> {
    inputs.iter_mut().try_for_each(Opened::spool)?;
    if path.is_some_and(|path| !is_device(path)) {
        let schema = schema(inputs, feed, Some(TRIED_RECORDS))?;
        match once(path, |out| write(inputs, out, &schema, feed)) {
            Err(error) if is_surprise(&error) => feed.restart()?,
            done => return done,
        }
    }
    let schema = schema(inputs, feed, None)?;
    once(path, |out| write(inputs, out, &schema, feed))
}

/// The columns of the inputs, or of their first `records` records.
fn schema(inputs: &mut [Opened], feed: &mut Feed, records: Option<u64>) -> Result<Schema> {
    let mut rows = Rows::new(Schema::default());
    feed.quietly(records, |feed| inputs.iter_mut().try_for_each(|input| feed.send(input, &mut rows, 1)))?;
    Ok(rows.into_table())
}

/// Whether the error is an unplanned column or an unplanned value.
fn is_surprise(error: &Error) -> bool {
    error.chain().any(|cause| {
        cause.downcast_ref::<CsvError>().is_some_and(|error| error.kind() == CsvErrorKind::LateColumn)
            || matches!(cause.downcast_ref::<ArrowError>(), Some(ArrowError::Late { .. } | ArrowError::Unfit { .. }))
    })
}

/// Writes one table for each input, all in one transaction. A new database appears when it is complete. With
/// `--commit-every` it is written in place, so that committed rows stay even if something fails.
fn database(args: &ConvertArgs, inputs: &mut [Opened], path: &Path, feed: &mut Feed) -> Result<()> {
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
    let of_sink = error.chain().find_map(|cause| cause.downcast_ref::<SqliteError>()).map(SqliteError::kind);
    let of_sqlite = || error.downcast_ref::<rusqlite::Error>()?.sqlite_error_code();
    let remedy = match of_sink {
        None if of_sqlite() == Some(ErrorCode::DatabaseBusy) => LOCKED,
        Some(SqliteErrorKind::Locked) => LOCKED,
        Some(SqliteErrorKind::Exists) => "add --append, --replace or --key, or name another table with --table",
        Some(SqliteErrorKind::ReadOnly) => "it, or its folder, is for reading only",
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

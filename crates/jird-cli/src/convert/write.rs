//! Targets: each format with its sink. Columns are planned first where the format needs them.

use super::feed::Feed;
use super::jobs::{Out, clash, jobs, once};
use super::open::Opened;
use super::{ConvertArgs, Nested, batches, database, parquet};
use crate::format::of_target;
use crate::target::is_device;
use anyhow::{Context, Error, Result, bail};
use jird::event::{JsonSink, Sink};
use jird::hooks::event::Parts;
use jird_formats::files::FileFormat;
use jird_formats::{ArrowOptions, ColumnPlan, ColumnSink, CsvSink, Dialect, ErrorKind, Rows, Schema};
use std::fs;
use std::path::{Path, PathBuf};

/// Writes all inputs to `target`.
pub(super) fn write(args: &ConvertArgs, inputs: &mut [Opened], target: &Path, feed: &mut Feed) -> Result<()> {
    if is_folder(target) {
        return folder(args, inputs, target, feed);
    }
    let path = (target != Path::new("-")).then_some(target);
    let format = of_target(args.to, path)?;
    check(args, format)?;
    match format {
        FileFormat::Sqlite => database::write(args, inputs, path.context("a database is written to a file")?, feed),
        format => file(inputs, path, format, feed),
    }
}

/// Whether this program writes the format, with these arguments.
fn check(args: &ConvertArgs, format: FileFormat) -> Result<()> {
    match format {
        FileFormat::Parquet => parquet::check(),
        FileFormat::Arrow => Ok(()),
        _ if args.nested == Nested::Json => Ok(()),
        _ => bail!("only Arrow and Parquet have types for objects and arrays: leave out --nested types"),
    }
}

/// Whether the target is a folder, in which one file is made for each input.
pub(super) fn is_folder(target: &Path) -> bool {
    target.is_dir() || target.as_os_str().to_string_lossy().ends_with('/')
}

/// Writes one file for each input, or for each of its tables.
fn folder(args: &ConvertArgs, inputs: &mut [Opened], folder: &Path, feed: &mut Feed) -> Result<()> {
    let format = args.to.unwrap_or(FileFormat::Ndjson);
    check(args, format)?;
    if format == FileFormat::Sqlite {
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

/// The path of a table's file in the folder. Characters that a file name cannot contain become `_`.
fn place(folder: &Path, name: &str, format: FileFormat) -> PathBuf {
    let name: String = name.chars().map(|char| if matches!(char, '/' | '\\' | '\0') { '_' } else { char }).collect();
    folder.join(format!("{name}.{}", format.suffix()))
}

/// Writes all inputs to one file or to standard output.
fn file(inputs: &mut [Opened], path: Option<&Path>, format: FileFormat, feed: &mut Feed) -> Result<()> {
    match format {
        FileFormat::Parquet | FileFormat::Arrow if batches::copy(inputs, path, format, feed)? => Ok(()),
        FileFormat::Ndjson | FileFormat::Json => once(path, |out| {
            let sink = JsonSink::new(out);
            let mut sink = if format == FileFormat::Json { sink.array() } else { sink };
            share_all(inputs, feed, &mut sink)?;
            Ok(sink.into_inner())
        }),
        FileFormat::Csv | FileFormat::Tsv => planned(inputs, path, feed, |inputs, out, schema, feed| {
            let dialect = if format == FileFormat::Tsv { Dialect::tsv() } else { Dialect::default() };
            let names = schema.columns().iter().map(jird_formats::Column::name);
            let sink = CsvSink::with_dialect(out, dialect).columns(names);
            let mut rows = if feed.reading.typed { sink.keep_types() } else { sink }.rows();
            share_all(inputs, feed, &mut rows)?;
            Ok(rows.into_table().into_inner())
        }),
        FileFormat::Parquet | FileFormat::Arrow => planned(inputs, path, feed, |inputs, out, schema, feed| {
            let plan = ColumnPlan::of(schema);
            let (mut rows, threads) = if format == FileFormat::Parquet {
                // The sink encodes and compresses in a thread of its own.
                (parquet::sink(out, &plan)?, 2)
            } else {
                (ColumnSink::arrow(out, &plan, ArrowOptions::default())?, 1)
            };
            send_all(inputs, feed, &mut rows, threads)?;
            Ok(rows.into_table().into_inner()?)
        }),
        FileFormat::Sqlite | FileFormat::Quarantine => bail!("this is not written by records"),
    }
}

/// Sends all inputs, and finishes the sink, which keeps `sink_threads` threads busy.
pub(super) fn send_all<S>(inputs: &mut [Opened], feed: &mut Feed, sink: &mut S, sink_threads: usize) -> Result<()>
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
    let schema = Schema::default();
    let mut rows = Rows::new(if feed.nested == Nested::Types { schema.nested() } else { schema });
    feed.quietly(records, |feed| inputs.iter_mut().try_for_each(|input| feed.send(input, &mut rows, 1)))?;
    Ok(rows.into_table())
}

/// Whether the error is an unplanned column or an unplanned value.
fn is_surprise(error: &Error) -> bool {
    error.chain().any(|cause| {
        let kind = cause.downcast_ref().map(jird_formats::Error::kind);
        matches!(kind, Some(ErrorKind::LateColumn | ErrorKind::Unfit))
    })
}

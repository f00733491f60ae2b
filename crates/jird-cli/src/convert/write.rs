//! Targets: each format with its sink. Columns are planned where they must be known first.

use super::feed::Feed;
use super::format::{Format, Packing};
use super::open::Opened;
use super::{Args, table_name};
use crate::target::{Beside, Target};
use anyhow::{Context, Error, Result, bail};
use jird::event::{JsonSink, Sink};
use jird_formats::sqlite::rusqlite::Connection;
use jird_formats::sqlite::{self, SqliteSink};
use jird_formats::{
    ArrowError, ArrowOptions, ArrowSink, ColumnPlan, CsvError, CsvErrorKind, CsvSink, Dialect, ParquetOptions,
    ParquetSink, Rows, Schema,
};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Writes all inputs to the target that was named.
pub(super) fn write(args: &Args, inputs: &mut [Opened], target: &Path, feed: &mut Feed) -> Result<()> {
    let is_folder = target.is_dir() || target.as_os_str().to_string_lossy().ends_with('/');
    if is_folder {
        return folder(args, inputs, target, feed);
    }
    let path = (target != Path::new("-")).then_some(target);
    match Format::of_target(args.to, path)? {
        Format::Sqlite => database(args, inputs, path.context("a database is written to a file")?, feed),
        format => file(inputs, path, format, feed),
    }
}

/// One file for each input, or for each table of it.
fn folder(args: &Args, inputs: &mut [Opened], folder: &Path, feed: &mut Feed) -> Result<()> {
    let format = args.to.unwrap_or(Format::Ndjson);
    if format == Format::Sqlite {
        bail!("a database is one file; name it");
    }
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    for input in inputs {
        let tables = match super::source::database(input, &feed.reading)? {
            Some(connection) if feed.reading.table.is_none() => sqlite::tables(&connection)?,
            _ => Vec::new(),
        };
        let input = std::slice::from_mut(input);
        if tables.is_empty() {
            let name = feed.reading.table.clone().unwrap_or_else(|| table_name(Path::new(&input[0].name)));
            file(input, Some(&place(folder, &name, format)), format, feed)?;
            continue;
        }
        for table in tables {
            let path = place(folder, &table, format);
            feed.reading.table = Some(table);
            let written = file(input, Some(&path), format, feed);
            feed.reading.table = None;
            written?;
        }
    }
    Ok(())
}

/// A file in the folder, whatever a table is called.
fn place(folder: &Path, name: &str, format: Format) -> PathBuf {
    let name: String = name.chars().map(|char| if matches!(char, '/' | '\\' | '\0') { '_' } else { char }).collect();
    folder.join(format!("{name}.{}", format.suffix()))
}

/// All inputs into one file, or standard output.
fn file(inputs: &mut [Opened], path: Option<&Path>, format: Format, feed: &mut Feed) -> Result<()> {
    match format {
        Format::Ndjson | Format::Json => once(path, |out| {
            let sink = JsonSink::new(out);
            let mut sink = if format == Format::Json { sink.array() } else { sink };
            send_all(inputs, feed, &mut sink)?;
            Ok(sink.into_inner())
        }),
        Format::Csv | Format::Tsv => planned(inputs, path, feed, |inputs, out, schema, feed| {
            let dialect = if format == Format::Tsv { Dialect::tsv() } else { Dialect::default() };
            let names = schema.columns().iter().map(jird_formats::Column::name);
            let sink = CsvSink::with_dialect(out, dialect).columns(names);
            let mut rows = if feed.reading.typed { sink.keep_types() } else { sink }.rows();
            send_all(inputs, feed, &mut rows)?;
            Ok(rows.into_table().into_inner())
        }),
        Format::Parquet => planned(inputs, path, feed, |inputs, out, schema, feed| {
            let mut rows = ParquetSink::new(out, &ColumnPlan::of(schema), ParquetOptions::default())?;
            send_all(inputs, feed, &mut rows)?;
            Ok(rows.into_table().into_inner()?)
        }),
        Format::Arrow => planned(inputs, path, feed, |inputs, out, schema, feed| {
            let mut rows = ArrowSink::new(out, &ColumnPlan::of(schema), ArrowOptions::default())?;
            send_all(inputs, feed, &mut rows)?;
            Ok(rows.into_table().into_inner()?)
        }),
        Format::Sqlite => bail!("a database is written by tables"),
    }
}

/// Sends all inputs, and finishes the sink.
fn send_all<S>(inputs: &mut [Opened], feed: &mut Feed, sink: &mut S) -> Result<()>
where
    S: Sink,
    S::Error: Into<Error>,
{
    inputs.iter_mut().try_for_each(|input| feed.send(input, sink))?;
    sink.finish().map_err(Into::into)
}

/// Writes a target that appears when it is complete.
fn once(path: Option<&Path>, write: impl FnOnce(Out) -> Result<Out>) -> Result<()> {
    let name = || path.map_or_else(|| "standard output".to_owned(), |path| path.display().to_string());
    let target = Target::create(path).with_context(|| format!("cannot write {}", name()))?;
    let packing = path.map_or(Packing::None, Packing::of_name);
    let out = write(Out::new(target, packing)?)?;
    out.finish().and_then(Target::commit).with_context(|| format!("cannot write {}", name()))
}

/// The first records that tell the columns, for a first try.
const TRIED_RECORDS: u64 = 1000;

/// Writes a target whose columns must be known before the first row: tries with those of the first records; if another comes
/// later, or a value that does not fit, reads the whole input for its columns and begins anew. What goes to a pipe cannot be taken
/// back, so its columns are found first.
fn planned(
    inputs: &mut [Opened],
    path: Option<&Path>,
    feed: &mut Feed,
    mut write: impl FnMut(&mut [Opened], Out, &Schema, &mut Feed) -> Result<Out>,
) -> Result<()> {
    inputs.iter_mut().try_for_each(Opened::spool)?;
    if path.is_some() {
        let schema = schema(inputs, feed, Some(TRIED_RECORDS))?;
        match once(path, |out| write(inputs, out, &schema, feed)) {
            Err(error) if is_surprise(&error) => feed.restart()?,
            done => return done,
        }
    }
    let schema = schema(inputs, feed, None)?;
    once(path, |out| write(inputs, out, &schema, feed))
}

/// The columns of the inputs, or of their first records.
fn schema(inputs: &mut [Opened], feed: &mut Feed, records: Option<u64>) -> Result<Schema> {
    let mut rows = Rows::new(Schema::default());
    feed.quietly(records, |feed| inputs.iter_mut().try_for_each(|input| feed.send(input, &mut rows)))?;
    Ok(rows.into_table())
}

/// A column, or a value, that was not planned.
fn is_surprise(error: &Error) -> bool {
    error.chain().any(|cause| {
        cause.downcast_ref::<CsvError>().is_some_and(|error| error.kind() == CsvErrorKind::LateColumn)
            || matches!(cause.downcast_ref::<ArrowError>(), Some(ArrowError::Late { .. } | ArrowError::Unfit { .. }))
    })
}

/// One table for each input, all in one transaction.
fn database(args: &Args, inputs: &mut [Opened], path: &Path, feed: &mut Feed) -> Result<()> {
    let is_new = !path.exists();
    let name = path.display().to_string();
    let beside = if is_new { Some(Beside::new(path).with_context(|| format!("cannot write {name}"))?) } else { None };
    let at = beside.as_ref().map_or(path, Beside::place);
    let connection = sqlite::open(at).with_context(|| name.clone())?;
    if let Some(rows) = args.commit_every {
        feed.tally.notes.push(format!("committed every {rows} rows: what is there stays if something fails"));
    }
    tables_into(args, inputs, &connection, feed).with_context(|| name.clone())?;
    connection.close().map_err(|(_, error)| error).with_context(|| name.clone())?;
    match beside {
        Some(beside) => beside.commit().with_context(|| format!("cannot write {name}")),
        None => Ok(()),
    }
}

fn tables_into(args: &Args, inputs: &mut [Opened], connection: &Connection, feed: &mut Feed) -> Result<()> {
    let whole = if args.commit_every.is_none() { Some(connection.unchecked_transaction()?) } else { None };
    for input in inputs {
        let read = match super::source::database(input, &feed.reading)? {
            Some(source) if feed.reading.table.is_none() => sqlite::tables(&source)?,
            _ => Vec::new(),
        };
        if read.is_empty() {
            let table = args.table.clone().unwrap_or_else(|| table_name(Path::new(&input.name)));
            table_into(args, input, connection, &table, feed)?;
            continue;
        }
        for table in read {
            feed.reading.table = Some(table.clone());
            let written = table_into(args, input, connection, &table, feed);
            feed.reading.table = None;
            written?;
        }
    }
    if let Some(whole) = whole {
        whole.commit()?;
    }
    Ok(())
}

fn table_into(args: &Args, input: &mut Opened, connection: &Connection, table: &str, feed: &mut Feed) -> Result<()> {
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
    feed.send(input, &mut rows)?;
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

/// A target, and how it is packed.
pub(super) enum Out {
    Plain(Target),
    Gzip(flate2::write::GzEncoder<Target>),
    Zstd(zstd::Encoder<'static, Target>),
}

impl Out {
    fn new(target: Target, packing: Packing) -> io::Result<Self> {
        Ok(match packing {
            Packing::None => Self::Plain(target),
            Packing::Gzip => Self::Gzip(flate2::write::GzEncoder::new(target, flate2::Compression::default())),
            Packing::Zstd => Self::Zstd(zstd::Encoder::new(target, zstd::DEFAULT_COMPRESSION_LEVEL)?),
        })
    }

    fn finish(self) -> io::Result<Target> {
        let mut target = match self {
            Self::Plain(target) => target,
            Self::Gzip(encoder) => encoder.finish()?,
            Self::Zstd(encoder) => encoder.finish()?,
        };
        target.flush()?;
        Ok(target)
    }
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(out) => out.write(bytes),
            Self::Gzip(out) => out.write(bytes),
            Self::Zstd(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(out) => out.flush(),
            Self::Gzip(out) => out.flush(),
            Self::Zstd(out) => out.flush(),
        }
    }
}

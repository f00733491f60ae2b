//! Each format as a sink and as a source, as `jird convert` uses it.

use crate::told::{self, Record, Told};
use jird::event::{self, JsonSink, JsonSource, Pattern, Sink, Source};
use jird_formats::sqlite::rusqlite::Connection;
use jird_formats::sqlite::{SqliteQuery, SqliteSink};
use jird_formats::{
    ArrowOptions, ColumnPlan, ColumnSink, ColumnSource, CsvSink, CsvSource, ParquetOptions, Rows, Schema,
};
use std::fmt::Display;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Json,
    Ndjson,
    Csv,
    CsvTyped,
    Sqlite,
    Arrow,
    Parquet,
}

impl Format {
    pub(crate) const ALL: [Self; 7] =
        [Self::Json, Self::Ndjson, Self::Csv, Self::CsvTyped, Self::Sqlite, Self::Arrow, Self::Parquet];
}

/// What can be sent any number of times.
pub(crate) trait Sendable {
    fn send<S: Sink<Error: Display>>(&self, sink: &mut S) -> Result<(), String>;

    /// What it tells.
    fn told(&self) -> Result<Vec<Record>, String> {
        let mut told = Told::default();
        self.send(&mut told)?;
        Ok(told.records)
    }
}

impl Sendable for [Record] {
    fn send<S: Sink<Error: Display>>(&self, sink: &mut S) -> Result<(), String> {
        told::send(self, sink).map_err(|error| error.to_string())
    }
}

/// A file of a format.
pub(crate) enum File {
    Bytes(Format, Vec<u8>),
    /// The table `t`.
    Database(Connection),
}

/// Writes whatever is sent.
pub(crate) fn write<F: Sendable + ?Sized>(format: Format, from: &F) -> Result<File, String> {
    let schema = || {
        let mut schema = Rows::new(Schema::default());
        from.send(&mut schema)?;
        Ok::<_, String>(schema.into_table())
    };
    let failed = |error: &dyn Display| error.to_string();
    Ok(File::Bytes(
        format,
        match format {
            Format::Json => {
                let mut sink = JsonSink::new(Vec::new()).array();
                from.send(&mut sink)?;
                sink.into_inner()
            }
            Format::Ndjson => {
                let mut sink = JsonSink::new(Vec::new());
                from.send(&mut sink)?;
                sink.into_inner()
            }
            Format::Csv | Format::CsvTyped => {
                let schema = schema()?;
                let sink = CsvSink::new(Vec::new()).columns(schema.columns().iter().map(jird_formats::Column::name));
                let mut rows = if format == Format::Csv { sink } else { sink.keep_types() }.rows();
                from.send(&mut rows)?;
                rows.into_table().into_inner()
            }
            Format::Sqlite => {
                let conn = Connection::open_in_memory().unwrap();
                from.send(&mut SqliteSink::create(&conn, "t").into_rows())?;
                return Ok(File::Database(conn));
            }
            Format::Arrow => {
                let plan = ColumnPlan::of(&schema()?);
                let mut sink = ColumnSink::arrow(Vec::new(), &plan, ArrowOptions::default()).map_err(|e| failed(&e))?;
                from.send(&mut sink)?;
                sink.into_table().into_inner().map_err(|e| failed(&e))?
            }
            Format::Parquet => {
                let plan = ColumnPlan::of(&schema()?);
                let mut sink =
                    ColumnSink::parquet(Vec::new(), &plan, ParquetOptions::default()).map_err(|e| failed(&e))?;
                from.send(&mut sink)?;
                sink.into_table().into_inner().map_err(|e| failed(&e))?
            }
        },
    ))
}

impl Sendable for File {
    fn send<S: Sink<Error: Display>>(&self, sink: &mut S) -> Result<(), String> {
        let (format, bytes) = match self {
            Self::Bytes(format, bytes) => (format, &bytes[..]),
            Self::Database(conn) => {
                let mut query = SqliteQuery::table(conn, "t").map_err(|error| error.to_string())?.as_declared();
                return copy(query.source(), sink);
            }
        };
        match format {
            Format::Json => copy(JsonSource::from_slice(bytes).records(Pattern::each()), sink),
            Format::Ndjson => copy(JsonSource::from_slice(bytes).lines(), sink),
            Format::Csv => copy(CsvSource::new(bytes), sink),
            Format::CsvTyped => copy(CsvSource::new(bytes).typed(), sink),
            Format::Arrow => copy(ColumnSource::arrow(bytes).map_err(|error| error.to_string())?, sink),
            Format::Parquet => {
                copy(ColumnSource::parquet_bytes(bytes.to_vec()).map_err(|error| error.to_string())?, sink)
            }
            Format::Sqlite => unreachable!("it is a database"),
        }
    }
}

fn copy<A: Source<Error: Display>, S: Sink<Error: Display>>(mut source: A, sink: &mut S) -> Result<(), String> {
    event::copy(&mut source, sink).map_err(|failure| failure.to_string())
}

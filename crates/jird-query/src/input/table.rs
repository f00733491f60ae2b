//! Tables as lines of JSON: CSV, SQLite, Parquet, Arrow, and the records within JSON documents. A thread reads the table and writes its rows, of which the
//! scan then reads the fields that the query wants. Formats that store columns apart read only the wanted ones.

use super::ahead::{Ahead, Blocks};
use jird::event::{self, Failure, JsonSink, JsonSource, Parts, Pattern, Source};
use jird_formats::sqlite::{self, SqliteQuery};
use jird_formats::{ArrowSource, CsvSource, Dialect, Empty, ParquetSource, files::Reader};
use std::fmt::Display;
use std::fs::File;
use std::io;
use std::path::PathBuf;

/// A table that was opened.
pub(super) enum TableFile {
    Csv(Reader),
    Tsv(Reader),
    /// A JSON text, and the values in it that are records.
    Json(Reader, Pattern),
    Arrow(Reader),
    Parquet(File),
    /// A database, and the name of a table in it.
    Sqlite(PathBuf, Option<String>),
}

impl TableFile {
    /// Starts the thread. `columns` are the names of the columns that are read, or none for all.
    pub(super) fn lines(self, columns: Option<Vec<String>>) -> io::Result<Ahead> {
        Ahead::write(move |blocks| self.write(columns.as_deref(), blocks))
    }

    fn write(self, columns: Option<&[String]>, blocks: Blocks<'_>) -> io::Result<()> {
        let typed = |source: CsvSource<Reader>| source.typed().empty(Empty::Null);
        match self {
            Self::Csv(reader) => copy(&mut typed(CsvSource::new(reader)), blocks),
            Self::Tsv(reader) => copy(&mut typed(CsvSource::with_dialect(reader, Dialect::tsv())), blocks),
            Self::Json(reader, records) => copy(&mut JsonSource::from_reader(reader).records(records), blocks),
            Self::Arrow(reader) => {
                let source = ArrowSource::new(reader).map_err(told)?;
                let known: Vec<_> = source.schema().fields().iter().map(|field| field.name().clone()).collect();
                match wanted(&known, columns) {
                    Some(names) => copy(&mut source.columns(names).map_err(told)?, blocks),
                    None => copy(&mut { source }, blocks),
                }
            }
            Self::Parquet(file) => {
                let source = ParquetSource::open(file).map_err(told)?;
                let known: Vec<_> = source.schema().fields().iter().map(|field| field.name().clone()).collect();
                match wanted(&known, columns) {
                    Some(names) => copy(&mut source.columns(names).map_err(told)?, blocks),
                    None => copy(&mut { source }, blocks),
                }
            }
            Self::Sqlite(path, table) => {
                let connection = sqlite::open_read_only(path).map_err(told)?;
                let table = match table {
                    Some(table) => table,
                    None => only_table(sqlite::tables(&connection).map_err(told)?)?,
                };
                let query = SqliteQuery::table(&connection, &table).map_err(told)?;
                let known: Vec<_> = query.columns().map(str::to_owned).collect();
                let query = match wanted(&known, columns) {
                    Some(names) => {
                        let names: Vec<_> = names.map(sqlite::quote).collect();
                        let sql = format!("select {} from {}", names.join(", "), sqlite::quote(&table));
                        SqliteQuery::select(&connection, &sql).map_err(told)?
                    }
                    None => query,
                };
                copy(&mut query.json_declared().source(), blocks)
            }
        }
    }
}

/// The wanted columns among those that a table has. None if all are read: if all are wanted, or none, because there must
/// be rows to count.
fn wanted<'k>(known: &'k [String], columns: Option<&[String]>) -> Option<impl Iterator<Item = &'k str>> {
    let columns = columns?.to_vec();
    let count = known.iter().filter(|name| columns.contains(name)).count();
    let first = known.first().filter(|_| count == 0).cloned();
    let is_wanted = move |name: &&String| columns.contains(name) || first.as_ref() == Some(*name);
    Some(known.iter().filter(is_wanted).map(String::as_str))
}

fn only_table(mut tables: Vec<String>) -> io::Result<String> {
    match (tables.pop(), tables.len()) {
        (Some(table), 0) => Ok(table),
        (None, _) => Err(told("the database has no table")),
        (Some(last), _) => {
            tables.push(last);
            Err(told(format!(
                "the database has several tables; name one behind the file, as in 'FILE::{}': {}",
                tables[0],
                tables.join(", ")
            )))
        }
    }
}

/// Writes all rows as lines.
fn copy<S: Source<Error: Display>>(source: &mut S, blocks: Blocks<'_>) -> io::Result<()> {
    let mut sink = JsonSink::new(blocks);
    event::copy(source, &mut sink).map_err(|failure| match failure {
        Failure::Source(error) => {
            // The rows before the error are read; the reader drops the line that is not complete.
            let _ = sink.flush();
            told(error)
        }
        Failure::Sink(error, place) => told(format!("record {}: {error}", place.record + 1)),
    })
}

fn told(error: impl Display) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error.to_string())
}

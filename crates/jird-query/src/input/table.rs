//! Tables as lines of JSON: CSV, SQLite, Parquet, Arrow, and the records within JSON documents. A thread reads the
//! table and writes its rows, and the scan reads the fields that the query wants from them. Formats that store columns
//! apart read only the wanted ones, and some leave out rows that do not meet the condition.

use super::ahead::{Ahead, SharedBlocks};
#[cfg(feature = "tables")]
use super::remote::AnyFile;
use crate::base::error::Error;
use crate::base::interrupt::Interrupt;
use jird::event::filter::Project;
use jird::event::{Failure, JsonSink, JsonSource, Pattern, Sink};
use jird::record::Predicate;
use jird::{ErrorKind, Path};
#[cfg(feature = "tables")]
use jird_formats::sqlite::{self, SqliteQuery};
use jird_formats::{
    BadRow, ColumnSource, Crew, CsvSource, Dialect, Empty, LenientFault, LenientLayout, LenientOptions, LenientSource,
    Recover,
    files::{Reader, Separated},
};
use std::error::Error as StdError;
use std::fmt::Display;
use std::io::{self, Read, Write};
#[cfg(feature = "tables")]
use std::path::PathBuf;
use std::rc::Rc;

/// A table that was opened.
pub(super) enum TableFile {
    Csv(Reader, Dialect),
    /// A JSON text, and the values in it that are records.
    Json(Reader, Pattern),
    /// A JSON text that need not be strict, and the values in it that are records, if they are given.
    Lenient(Reader, LenientOptions, LenientLayout, Option<Pattern>),
    Arrow(Reader),
    #[cfg(feature = "tables")]
    Parquet(AnyFile),
    /// A database, and the name of a table in it.
    #[cfg(feature = "tables")]
    Sqlite(PathBuf, Option<String>),
}

/// What a query wants of a table.
#[derive(Default)]
pub(crate) struct TableRequest {
    /// The names of the columns that are read; none for all.
    pub(crate) columns: Option<Vec<String>>,
    /// A condition on paths. Rows that do not meet it may be left out.
    pub(crate) condition: Option<(Predicate, Vec<Path>)>,
    /// Takes the bad rows. Without it, the first is an error.
    pub(crate) pass_by: Option<PassBy>,
    /// What ends the query early.
    pub(crate) interrupt: Interrupt,
    /// The threads of the query.
    pub(crate) crew: Crew,
}

/// Takes the bad rows that a query leaves out.
pub(crate) type PassBy = Box<dyn FnMut(BadRow) -> Result<(), Error> + Send>;

impl TableFile {
    /// Has a thread write the rows.
    pub(super) fn lines(self, name: String, wanted: TableRequest) -> io::Result<Ahead> {
        let TableRequest { columns, condition, mut pass_by, interrupt, crew } = wanted;
        Ahead::write(&crew, move |blocks| {
            // A bad row is set aside whole.
            let columns = columns.filter(|_| pass_by.is_none());
            let rows = RowWriter { name: &name, lines: Lines(blocks), pass_by: pass_by.as_mut() };
            self.write(columns.as_deref(), condition.as_ref(), rows, &interrupt)
        })
    }

    #[cfg_attr(not(feature = "tables"), expect(unused_variables, reason = "no table leaves out rows"))]
    fn write(
        self,
        columns: Option<&[String]>,
        condition: Option<&(Predicate, Vec<Path>)>,
        rows: RowWriter<'_, Lines<'_>>,
        interrupt: &Interrupt,
    ) -> io::Result<()> {
        let before = Rc::clone(&rows.lines.0);
        let live = |reader| Live { reader, before };
        match self {
            Self::Csv(reader, dialect) => {
                let source = CsvSource::with_dialect(live(reader), dialect).typed().empty(Empty::Null);
                rows.copy_some(&mut { source }, columns)
            }
            Self::Json(reader, records) => {
                rows.copy(&mut JsonSource::from_reader(live(Box::new(Separated(reader)))).records(records))
            }
            Self::Lenient(reader, options, layout, records) => {
                let source = LenientSource::new(live(reader), options, layout);
                rows.copy(&mut match records {
                    Some(records) => source.records(records),
                    None => source,
                })
            }
            Self::Arrow(reader) => rows.copy_columns(ColumnSource::arrow(reader).map_err(told)?, columns),
            #[cfg(feature = "tables")]
            Self::Parquet(file) => {
                let source = ColumnSource::parquet(file).map_err(told)?;
                let source = match condition {
                    Some((predicate, paths)) => source.skip_groups(predicate, paths).map_err(told)?,
                    None => source,
                };
                rows.copy_columns(source, columns)
            }
            #[cfg(feature = "tables")]
            Self::Sqlite(path, table) => write_sqlite(&path, table, columns, condition, rows, interrupt),
        }
    }
}

/// Writes rows of a table of a database; of the only table, if no table is named.
#[cfg(feature = "tables")]
fn write_sqlite(
    path: &std::path::Path,
    table: Option<String>,
    columns: Option<&[String]>,
    condition: Option<&(Predicate, Vec<Path>)>,
    rows: RowWriter<'_, Lines<'_>>,
    interrupt: &Interrupt,
) -> io::Result<()> {
    let mut connection = sqlite::open_read_only(path).map_err(told)?;
    let watched = interrupt.clone();
    sqlite::stop_when(&mut connection, move || watched.error().is_some()).map_err(told)?;
    let table = match table {
        Some(table) => table,
        None => only_table(sqlite::tables(&connection).map_err(told)?)?,
    };
    let known = SqliteQuery::table(&connection, &table).map_err(told)?;
    let known: Vec<_> = known.columns().map(str::to_owned).collect();
    let names: Vec<_> = match wanted(&known, columns) {
        Some(names) => names.collect(),
        None => known.iter().map(String::as_str).collect(),
    };
    let query = |condition| {
        let query = SqliteQuery::table_where(&connection, &table, names.iter().copied(), condition);
        query.map(SqliteQuery::as_declared).map_err(told)
    };
    // A bad row is set aside whether it meets the condition or not.
    let condition = condition.filter(|_| rows.pass_by.is_none());
    let name = rows.name;
    let copied = rows.copy(&mut query(condition.map(|(predicate, paths)| (predicate, &paths[..])))?.source());
    let is_of_row = |error: &io::Error| matches!(error.get_ref(), Some(inner) if inner.is::<Error>());
    match copied {
        Err(_) if let Some(error) = interrupt.error() => Err(io::Error::other(error)),
        // The error counts the rows that were read. Another reading names the first bad row of the whole table.
        Err(error) if condition.is_some() && is_of_row(&error) => {
            let whole = RowWriter { name, lines: io::sink(), pass_by: None };
            whole.copy(&mut query(None)?.source()).and(Err(error))
        }
        copied => copied,
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

/// Writes rows as lines.
struct RowWriter<'a, W> {
    name: &'a str,
    lines: W,
    pass_by: Option<&'a mut PassBy>,
}

impl<W: Write> RowWriter<'_, W> {
    fn copy<S: Recover<Error: StdError + 'static>>(self, source: &mut S) -> io::Result<()> {
        let mut sink = JsonSink::new(self.lines).keeping_lines();
        let sent = send(self.name, self.pass_by, source, &mut sink);
        // The rows before an error are read.
        sent.and(sink.finish().map_err(told))
    }

    /// Writes only these columns, if they are given. The others are not read.
    fn copy_columns(self, source: ColumnSource<'_>, columns: Option<&[String]>) -> io::Result<()> {
        let known: Vec<_> = source.schema().fields().iter().map(|field| field.name().clone()).collect();
        match wanted(&known, columns) {
            Some(names) => self.copy(&mut source.columns(names).map_err(told)?),
            None => self.copy(&mut { source }),
        }
    }

    /// Writes only these columns, if they are given. The others are not converted.
    fn copy_some<S: Recover<Error: StdError + 'static>>(
        self,
        source: &mut S,
        columns: Option<&[String]>,
    ) -> io::Result<()> {
        let Some(columns) = columns else { return self.copy(source) };
        let pointer = |name: &String| format!("/{}", name.replace('~', "~0").replace('/', "~1"));
        let columns = columns.iter().map(|name| pointer(name).parse().expect("it begins with a slash"));
        let mut sink = Project::new(JsonSink::new(self.lines).keeping_lines(), columns);
        let sent = send(self.name, self.pass_by, source, &mut sink);
        sent.and(sink.into_inner().finish().map_err(told))
    }
}

fn send<S: Recover<Error: StdError + 'static>>(
    name: &str,
    mut pass_by: Option<&mut PassBy>,
    source: &mut S,
    sink: &mut impl Sink<Error: Display>,
) -> io::Result<()> {
    loop {
        match source.send_record(sink) {
            // Here it only hands on the whole row.
            Ok(true) => sink.finish().map_err(told)?,
            Ok(false) => return Ok(()),
            Err(Failure::Sink(error, place)) => return Err(told(format!("record {}: {error}", place.record + 1))),
            // The sink takes back what it has of a bad row.
            Err(Failure::Source(error)) => match (source.bad_row(&error).map_err(told)?, &mut pass_by) {
                (Some(bad), Some(pass_by)) => pass_by(bad).map_err(io::Error::other)?,
                (bad, _) => return Err(wrong(name, &error, bad.is_some())),
            },
        }
    }
}

/// The error that ends a query: of a bad row, or of the whole input.
fn wrong(name: &str, error: &(dyn StdError + 'static), is_of_row: bool) -> io::Error {
    let said = |words| io::Error::other(if is_of_row { Error::record(words) } else { Error::frame(words) });
    match (error.downcast_ref::<LenientFault>(), error.downcast_ref::<jird::Error>()) {
        (Some(fault), _) if fault.as_io().is_none() => said(fault.located(name) + longer(fault.kind())),
        (_, Some(wrong)) if !is_of_row && !wrong.is_io() => said(of_json(name, wrong)),
        _ if is_of_row => said(format!("{name}: {error}")),
        _ => told(error),
    }
}

/// What to do if a text is too long.
fn longer(kind: ErrorKind) -> &'static str {
    if kind == ErrorKind::Size { "; --record-limit sets another" } else { "" }
}

/// What is wrong with a text that is not JSON, and where.
fn of_json(name: &str, wrong: &jird::Error) -> String {
    format!("{name}:{}:{}: {} (byte {})", wrong.line(), wrong.column(), wrong.kind(), wrong.offset())
}

/// Takes the lines of the rows.
struct Lines<'a>(SharedBlocks<'a>);

impl Write for Lines<'_> {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(text)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A text that a program may still be writing: before it is waited for, the rows that are there are sent.
struct Live<'a> {
    reader: Reader,
    before: SharedBlocks<'a>,
}

impl Read for Live<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.before.borrow_mut().send()?;
        self.reader.read(buffer)
    }
}

fn told(error: impl Display) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error.to_string())
}

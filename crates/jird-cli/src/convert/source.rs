//! One source of events for every format.

use super::columns;
use super::open::{Opened, Reader, buffered};
use super::parquet;
use crate::outcome::BadData;
use anyhow::{Context, Error, Result, anyhow, bail};
use jird::event::{Failure, JsonSource, Pattern, Place, Sink, Source};
use jird::lenient::Leniency;
use jird_formats::encoding::{Encoding, stray_mark};
use jird_formats::files::{FileFormat, Quarantined, RECORD_SEPARATOR, Separated};
use jird_formats::sqlite::rusqlite::Connection;
use jird_formats::sqlite::{self, SqliteQuery, SqliteSource};
use jird_formats::{
    BadRow, ColumnSource, CsvSource, Dialect, DialectChoice, Empty, ErrorKind, LenientFault, LenientLayout,
    LenientOptions, LenientSource, Recover,
};

/// How to read an input.
#[derive(Clone, Debug, Default)]
pub(super) struct Reading {
    pub(super) from: Option<FileFormat>,
    pub(super) records: Option<Pattern>,
    pub(super) table: Option<String>,
    /// Whether CSV values get types.
    pub(super) typed: bool,
    /// Whether bad records are skipped; then no event of a bad record may be sent.
    pub(super) check_first: bool,
    /// The maximum length of a record that is in memory, in bytes.
    pub(super) record_limit: usize,
    /// What is read besides strict JSON.
    pub(super) leniency: Leniency,
    /// The wanted columns, for formats where reading fewer columns saves work.
    pub(super) columns: Option<Vec<String>>,
    /// How CSV is written, if given.
    pub(super) csv: DialectChoice,
}

/// A source of any format.
pub(super) enum AnySource<'c> {
    Json(JsonSource<jird::de::IoRead<Reader>>),
    /// Lines of JSON, from a reader.
    Lines(JsonSource<jird::de::IoRead<Reader>>),
    /// A JSON text that need not be strict.
    Lenient(Box<LenientSource<Reader>>),
    /// Some of those lines, in memory.
    Piece(JsonSource<jird::de::SliceRead<'c>>),
    Csv(Box<CsvSource<Reader>>),
    Sqlite(SqliteSource<'c>),
    /// Arrow or Parquet.
    Columns(Box<ColumnSource<'static>>),
}

/// The database, if the input is one.
pub(super) fn database(opened: &mut Opened, reading: &Reading) -> Result<Option<Connection>> {
    let format = match reading.from.or(opened.format_of_name()) {
        _ if opened.is_database && reading.from.is_none() => Some(FileFormat::Sqlite),
        Some(format) => Some(format),
        None if opened.path().is_some() => FileFormat::of_bytes(&opened.read()?.start),
        None => None,
    };
    if format != Some(FileFormat::Sqlite) {
        return Ok(None);
    }
    if reading.leniency != Leniency::STRICT {
        bail!("{}: {}", opened.name, LenientLayout::refusal(FileFormat::Sqlite));
    }
    if opened.is_remote() {
        bail!("{}: a database is read from a file of this machine; copy it here first", opened.name);
    }
    let path = opened.path().context("a database is read from its file, not from standard input")?;
    opened.check_unpacked()?;
    opened.leave_uncounted();
    crate::input::database(path).map(Some)
}

/// The content of an input, before anything of it was read.
pub(super) enum Content {
    /// Lines of JSON.
    Lines(Reader),
    /// A table.
    Table(Connection, String),
    /// One or several documents, and the pattern of the records in them.
    Json(Reader, Pattern),
    /// A JSON text that need not be strict.
    Lenient(Box<LenientSource<Reader>>),
    Csv(Box<CsvSource<Reader>>),
    /// Arrow or Parquet.
    Columns(Box<ColumnSource<'static>>),
}

impl Content {
    /// Passes a source of the content to `read`.
    pub(super) fn read<T>(self, reading: &Reading, read: impl FnOnce(&mut AnySource<'_>) -> Result<T>) -> Result<T> {
        match self {
            Self::Lines(reader) => {
                let source = JsonSource::from_reader(reader).lines().record_bytes_max(reading.record_limit);
                read(&mut AnySource::Lines(if reading.check_first { source.check_first() } else { source }))
            }
            Self::Table(connection, table) => {
                let mut query = SqliteQuery::table(&connection, &table)?.as_declared();
                read(&mut AnySource::Sqlite(query.source()))
            }
            Self::Json(reader, records) => {
                let source = JsonSource::from_reader(reader).record_bytes_max(reading.record_limit);
                read(&mut AnySource::Json(source.records(records)))
            }
            Self::Lenient(source) => read(&mut AnySource::Lenient(source)),
            Self::Csv(source) => read(&mut AnySource::Csv(source)),
            Self::Columns(source) => read(&mut AnySource::Columns(source)),
        }
    }
}

/// Opens an input.
pub(super) fn content(opened: &mut Opened, reading: &Reading) -> Result<Content> {
    if let Some(connection) = database(opened, reading)? {
        let table = match &reading.table {
            Some(table) => table.clone(),
            None => only_table(&connection).with_context(|| opened.name.clone())?,
        };
        // Reports a missing table before anything else happens.
        SqliteQuery::table(&connection, &table).with_context(|| opened.name.clone())?;
        return Ok(Content::Table(connection, table));
    }
    let named = reading.from.or(opened.format_of_name());
    if reading.leniency != Leniency::STRICT {
        return lenient(named, opened, reading);
    }
    if named == Some(FileFormat::Parquet) {
        return of_parquet(opened, reading);
    }
    let text = opened.read()?;
    let is_csv = reading.csv.is_given().then_some(FileFormat::Csv);
    let Some(format) = named.or_else(|| FileFormat::of_bytes(&text.start)).or(is_csv) else {
        if let Some(encoding) = text.encoding() {
            return Err(wrong_encoding(&opened.name, encoding));
        }
        bail!("{}: neither the name nor the content says which format this is; name it with --from", opened.name);
    };
    let is_json = matches!(format, FileFormat::Ndjson | FileFormat::Json | FileFormat::Quarantine);
    if let Some(encoding) = text.encoding().filter(|_| !format.is_binary()) {
        return Err(wrong_encoding(&opened.name, encoding));
    }
    let text = if is_json { text.blank_mark() } else { text };
    let first = text.start.trim_ascii_start().first();
    let (is_array, is_sequence) = (first == Some(&b'['), first == Some(&RECORD_SEPARATOR));
    let reader = buffered(text);
    Ok(match format {
        FileFormat::Ndjson if reading.records.is_none() => Content::Lines(reader),
        FileFormat::Quarantine => Content::Lines(Reader::new(Box::new(Quarantined::new(reader)))),
        FileFormat::Json | FileFormat::Ndjson => {
            let pattern = match &reading.records {
                Some(pattern) => pattern.clone(),
                None if is_array => Pattern::each(),
                None => Pattern::default(),
            };
            let reader = if is_sequence { Reader::new(Box::new(Separated(reader))) } else { reader };
            Content::Json(reader, pattern)
        }
        FileFormat::Csv | FileFormat::Tsv => {
            let dialect = reading.csv.of(if format == FileFormat::Tsv { Dialect::tsv() } else { Dialect::default() });
            let source = CsvSource::with_dialect(reader, dialect).record_bytes_max(reading.record_limit);
            Content::Csv(Box::new(if reading.typed { source.typed().empty(Empty::Null) } else { source }))
        }
        FileFormat::Arrow => wanted(ColumnSource::arrow(reader).map_err(Error::from), opened, reading)?,
        FileFormat::Parquet => of_parquet(opened, reading)?,
        FileFormat::Sqlite => bail!("{}: a database is read from its file", opened.name),
    })
}

/// A JSON text that need not be strict: lines, or one document.
fn lenient(named: Option<FileFormat>, opened: &mut Opened, reading: &Reading) -> Result<Content> {
    let text = opened.read()?;
    let layout = LenientLayout::of_file(named, &text.start, reading.leniency);
    let layout = layout.map_err(|refusal| anyhow!("{}: {refusal}", opened.name))?;
    if let Some(encoding) = text.encoding() {
        return Err(wrong_encoding(&opened.name, encoding));
    }
    let options = LenientOptions { leniency: reading.leniency, bytes_max: reading.record_limit };
    let source = LenientSource::new(buffered(text.blank_mark()), options, layout);
    Ok(Content::Lenient(Box::new(match &reading.records {
        Some(pattern) => source.records(pattern.clone()),
        None => source,
    })))
}

fn wrong_encoding(name: &str, encoding: Encoding) -> Error {
    BadData(format!("{name}: {encoding}")).into()
}

fn of_parquet(opened: &mut Opened, reading: &Reading) -> Result<Content> {
    parquet::check().with_context(|| opened.name.clone())?;
    wanted(parquet::source(opened.file()?), opened, reading)
}

/// The wanted columns of a source. If one is missing, the error names the nearest.
fn wanted(source: Result<ColumnSource<'static>>, opened: &Opened, reading: &Reading) -> Result<Content> {
    let source = source.with_context(|| opened.name.clone())?;
    let Some(names) = &reading.columns else { return Ok(Content::Columns(Box::new(source))) };
    let known: Vec<_> = source.schema().fields().iter().map(|field| field.name().as_str()).collect();
    if let Some(message) = columns::missing(names, &known) {
        bail!("{}: {message}", opened.name);
    }
    let source = source.columns(names.iter().map(String::as_str)).with_context(|| opened.name.clone())?;
    Ok(Content::Columns(Box::new(source)))
}

fn only_table(connection: &Connection) -> Result<String> {
    let mut tables = sqlite::tables(connection)?;
    match (tables.pop(), tables.is_empty()) {
        (Some(table), true) => Ok(table),
        (None, _) => bail!("the database has no table"),
        (Some(last), false) => {
            tables.push(last);
            bail!("the database has several tables; choose one with --table: {}", tables.join(", "))
        }
    }
}

impl AnySource<'_> {
    /// Whether each record has keys of its own, which are not those of a table.
    pub(super) fn has_any_keys(&self) -> bool {
        matches!(self, Self::Json(_) | Self::Lines(_) | Self::Lenient(_) | Self::Piece(_))
    }

    /// For pieces: how many records were begun, including those before the piece.
    pub(super) fn records(&self) -> u64 {
        match self {
            Self::Piece(source) => source.records_begun(),
            Self::Sqlite(source) => source.records_begun(),
            Self::Json(_) | Self::Lines(_) | Self::Lenient(_) | Self::Csv(_) | Self::Columns(_) => 0,
        }
    }

    /// Recovers from an error of a record. Returns the bad record, or `None` if the source cannot go on.
    pub(super) fn recover(&mut self, error: &Error) -> Result<Option<BadRow>> {
        match self {
            Self::Lines(source) => bad_line(source, error),
            Self::Piece(source) => bad_line(source, error),
            Self::Lenient(source) => of_lenient(error).map_or(Ok(None), |fault| Ok(source.bad_row(fault)?)),
            Self::Csv(source) => bad_row(&mut **source, error),
            Self::Sqlite(source) => bad_row(source, error),
            Self::Columns(source) => bad_row(&mut **source, error),
            Self::Json(_) => Ok(None),
        }
    }

    /// Adds to the error of a line that a byte order mark stands there, if one does.
    pub(super) fn with_stray_mark(&mut self, error: Error) -> Error {
        let is_value = error.downcast_ref::<jird::Error>().is_some_and(|error| error.code() == "value");
        let bad = match self {
            Self::Lines(source) if is_value => bad_line(source, &error),
            Self::Piece(source) if is_value => bad_line(source, &error),
            _ => return error,
        };
        match bad {
            Ok(Some(bad)) => error.context(bad.message),
            _ => error,
        }
    }

    /// Whether this is an error of one record, which can be left out.
    pub(super) fn can_leave_out(&self, error: &Error) -> bool {
        match self {
            Self::Lines(_) | Self::Piece(_) => bad_json(error).is_some(),
            Self::Json(_) => false,
            Self::Lenient(source) => of_lenient(error).is_some_and(|fault| source.can_recover(fault)),
            _ => of_table(error).is_some_and(jird_formats::Error::is_of_record),
        }
    }

    /// Whether this source can check a record before it sends any event of it.
    pub(super) fn checks_first(&self) -> bool {
        match self {
            // CSV with typed columns does not, but those are not used here.
            Self::Json(_) | Self::Lines(_) | Self::Lenient(_) | Self::Piece(_) | Self::Csv(_) => true,
            Self::Sqlite(_) | Self::Columns(_) => false,
        }
    }
}

/// The error of a text that is not JSON.
fn bad_json(error: &Error) -> Option<&jird::Error> {
    error.downcast_ref::<jird::Error>().filter(|error| !error.is_io())
}

/// The bad record of a table; `None` if the error is one of the file, from which the source cannot recover.
fn bad_row<S: Recover<Error = jird_formats::Error>>(source: &mut S, error: &Error) -> Result<Option<BadRow>> {
    of_table(error).map_or(Ok(None), |error| Ok(source.bad_row(error)?))
}

/// The error of a table.
pub(super) fn of_table(error: &Error) -> Option<&jird_formats::Error> {
    error.downcast_ref()
}

/// Why a text that need not be strict JSON is refused.
pub(super) fn of_lenient(error: &Error) -> Option<&LenientFault> {
    error.downcast_ref()
}

fn bad_line<'de, R: jird::de::Read<'de>>(source: &mut JsonSource<R>, error: &Error) -> Result<Option<BadRow>> {
    let Some(wrong) = bad_json(error) else { return Ok(None) };
    let raw = source.skip_line(wrong)?;
    let place = Place { record: source.place().record, offset: wrong.offset(), line: wrong.line() as u64 };
    // If the record was not checked first, `raw` may contain lines before the bad one.
    let line = raw.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
    let found = wrong.column().checked_sub(1).and_then(|at| line.get(at..)).unwrap_or_default();
    let words = match stray_mark(found).or_else(|| stray_mark(line)) {
        Some(mark) => format!("{wrong}; {mark}"),
        None => wrong.to_string(),
    };
    Ok(Some(BadRow { kind: wrong.code(), place, message: words, raw }))
}

impl Source for AnySource<'_> {
    type Error = Error;

    fn send_record<S: Sink>(&mut self, sink: &mut S) -> Result<bool, Failure<Error, S::Error>> {
        match self {
            Self::Json(source) | Self::Lines(source) => source.send_record(sink).map_err(erased),
            Self::Piece(source) => source.send_record(sink).map_err(erased),
            Self::Lenient(source) => source.send_record(sink).map_err(erased),
            Self::Csv(source) => source.send_record(sink).map_err(erased),
            Self::Sqlite(source) => source.send_record(sink).map_err(erased),
            Self::Columns(source) => source.send_record(sink).map_err(erased),
        }
    }
}

fn erased<A: Into<Error>, B>(failure: Failure<A, B>) -> Failure<Error, B> {
    match failure {
        Failure::Source(error) => Failure::Source(error.into()),
        Failure::Sink(error, place) => Failure::Sink(error, place),
    }
}

/// Errors of an input. If the data is at fault, the exit code is 1.
pub(super) struct BadInput;

impl BadInput {
    /// `advice` follows the message.
    pub(super) fn of(name: &str, error: Error, advice: &str) -> Error {
        let is_data = error.downcast_ref::<jird::Error>().is_some_and(|error| !error.is_io())
            || of_lenient(&error).is_some_and(|fault| fault.as_io().is_none())
            || of_table(&error).is_some_and(|error| {
                let of_text = [ErrorKind::Header, ErrorKind::Dialect, ErrorKind::Columns, ErrorKind::Missing];
                error.is_of_record() || error.is_of_header() || of_text.contains(&error.kind())
            });
        let words = format!("{name}: {}", crate::outcome::words(&error));
        if is_data { BadData(words + advice).into() } else { error.context(name.to_owned()) }
    }
}

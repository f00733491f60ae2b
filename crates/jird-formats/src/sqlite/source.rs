//! A table or a query as a source.

use super::affinity::{is_declared_boolean, is_declared_json};
use super::database::{check_schema, free, quote};
use super::pieces::TablePiece;
use crate::bad_value::{RawRecord, Untold};
use crate::error::{Error, ErrorKind};
use jird::event::{Failure, Interest, JsonText, Key, Numeral, Place, Row, Scalar, Sink, Source};
use rusqlite::fallible_streaming_iterator::FallibleStreamingIterator;
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, Rows, Statement};

/// Sends the rows of a table or of a `select`. Each row is a record: an object with a member for each column.
///
/// | in SQLite | sent as |
/// |---|---|
/// | `NULL` | null |
/// | `INTEGER` | an integer, or [a boolean](Self::as_declared) on request |
/// | `REAL` | a double |
/// | `TEXT` | a string, or [JSON](Self::as_declared) on request |
/// | `BLOB` | bytes |
///
/// An infinity is an error of its record that names row and column, or [null](Self::infinite_as_null). A text that is
/// not UTF-8 is an error of its record, or [bytes](Self::broken_text_as_bytes).
///
/// If columns of a `select` have the same name, the later ones get a number: `id`, `id_2`. Keys are numbered by column.
/// A value that the sink skips is not read. A row costs no allocation.
///
/// ```
/// use jird::event::{self, JsonSink};
/// use jird_formats::sqlite::{SqliteQuery, rusqlite::Connection};
/// let conn = Connection::open_in_memory()?;
/// let mut query = SqliteQuery::select(&conn, "select 26.0067 as price, x'48' as \"bytes\", null as note")?;
/// let mut json = JsonSink::new(Vec::new());
/// event::copy(&mut query.source(), &mut json)?;
/// assert_eq!(json.into_inner(), b"{\"price\":26.0067,\"bytes\":\"SA==\",\"note\":null}\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct SqliteQuery<'c> {
    statement: Statement<'c>,
    columns: Vec<SourceColumn>,
    odd: Odd,
}

#[derive(Debug)]
struct SourceColumn {
    name: String,
    /// The type in its table's definition.
    declared: String,
    is_json: bool,
    is_boolean: bool,
}

impl SourceColumn {
    #[inline]
    fn integer(&self, value: i64) -> Scalar<'static> {
        match value {
            0 | 1 if self.is_boolean => Scalar::Bool(value == 1),
            value => Scalar::Number(Numeral::I64(value)),
        }
    }
}

/// What happens to values that JSON cannot represent.
#[derive(Clone, Copy, Debug, Default)]
struct Odd {
    infinite_as_null: bool,
    broken_text_as_bytes: bool,
}

impl<'c> SqliteQuery<'c> {
    /// The rows of a piece.
    ///
    /// # Errors
    /// SQLite's errors. The connection must see the same state as the one that made the pieces.
    pub fn piece(conn: &'c Connection, piece: &TablePiece) -> Result<Self, Error> {
        Self::prepare(conn, &piece.select())
    }

    /// The rows of a `select`, or of another statement that returns rows and changes nothing.
    ///
    /// # Errors
    /// If the statement is not such a statement or has parameters, or if SQLite fails.
    pub fn select(conn: &'c Connection, sql: &str) -> Result<Self, Error> {
        check_schema(conn)?;
        Self::prepare(conn, sql)
    }

    fn prepare(conn: &'c Connection, sql: &str) -> Result<Self, Error> {
        Self::prepare_with(conn, sql, &[])
    }

    /// A `select` with the values of its parameters.
    pub(super) fn prepare_with(conn: &'c Connection, sql: &str, values: &[Value]) -> Result<Self, Error> {
        let mut statement = conn.prepare(sql).map_err(|error| Error::sqlite("preparing the query", error))?;
        let refused = |why| Err(Error::new(ErrorKind::Other, format!("the query {why}: {sql}")));
        if statement.column_count() == 0 {
            return refused("returns no rows");
        }
        if !statement.readonly() {
            return refused("writes");
        }
        if statement.parameter_count() > values.len() {
            return refused("has parameters");
        }
        bind_all(&mut statement, values).map_err(|error| Error::sqlite("preparing the query", error))?;
        let mut columns: Vec<SourceColumn> = Vec::new();
        for column in statement.columns() {
            let name = free_of(&columns, column.name());
            let declared = column.decl_type().unwrap_or_default().to_owned();
            columns.push(SourceColumn { name, declared, is_json: false, is_boolean: false });
        }
        Ok(Self { statement, columns, odd: Odd::default() })
    }

    /// Sends values as what their columns are declared for. The texts of columns declared `JSON…` become the values that
    /// they denote, objects, arrays, numbers, strings; a text that is not JSON becomes an error. 0 and 1 in columns
    /// declared `BOOL…` become false and true; other values there stay what they are.
    #[must_use]
    pub fn as_declared(mut self) -> Self {
        for column in &mut self.columns {
            column.is_json |= is_declared_json(&column.declared);
            column.is_boolean = is_declared_boolean(&column.declared);
        }
        self
    }

    /// Sends the texts of columns given by name as the JSON values that they denote.
    ///
    /// # Errors
    /// If there is no column of this name.
    pub fn json_columns<'n>(mut self, names: impl IntoIterator<Item = &'n str>) -> Result<Self, Error> {
        for name in names {
            let Some(column) = self.columns.iter_mut().find(|column| column.name == name) else {
                return Err(Error::new(ErrorKind::Missing, format!("there is no column {}", quote(name))));
            };
            column.is_json = true;
        }
        Ok(self)
    }

    /// Sends infinities as null, and [counts](SqliteSource::nulls_made) them.
    #[must_use]
    pub fn infinite_as_null(mut self) -> Self {
        self.odd.infinite_as_null = true;
        self
    }

    /// Sends texts that are not UTF-8 as bytes.
    #[must_use]
    pub fn broken_text_as_bytes(mut self) -> Self {
        self.odd.broken_text_as_bytes = true;
        self
    }

    /// The names of the columns.
    pub fn columns(&self) -> impl ExactSizeIterator<Item = &str> {
        self.columns.iter().map(|column| column.name.as_str())
    }

    /// The rows, from the first one on.
    pub fn source(&mut self) -> SqliteSource<'_> {
        self.source_behind(0)
    }

    /// The rows, with places counted as if `records` records came before them.
    pub fn source_behind(&mut self, records: u64) -> SqliteSource<'_> {
        let Self { statement, columns, odd } = self;
        let has_json = columns.iter().any(|column| column.is_json);
        let (odd, nulls_made, json) = (*odd, 0, Vec::new());
        SqliteSource { rows: statement.raw_query(), columns, has_json, odd, records, nulls_made, json }
    }
}

/// Binds values to the parameters `?1`, `?2`, … A statement may use fewer than there are values.
pub(super) fn bind_all(statement: &mut Statement<'_>, values: &[Value]) -> rusqlite::Result<()> {
    let mut numbered = values.iter().zip(1..=statement.parameter_count());
    numbered.try_for_each(|(value, number)| statement.raw_bind_parameter(number, value))
}

/// A name that no earlier column has.
fn free_of(columns: &[SourceColumn], name: &str) -> String {
    free(name, |name| columns.iter().any(|other| other.name == name))
}

/// The rows of a [`SqliteQuery`], as records.
pub struct SqliteSource<'q> {
    rows: Rows<'q>,
    columns: &'q [SourceColumn],
    has_json: bool,
    odd: Odd,
    records: u64,
    nulls_made: u64,
    /// A JSON text without its white space.
    json: Vec<u8>,
}

impl SqliteSource<'_> {
    /// The number of infinities that were sent as null.
    pub fn nulls_made(&self) -> u64 {
        self.nulls_made
    }

    /// The number of records that were sent or bad, plus those counted before the first one.
    pub fn records_begun(&self) -> u64 {
        self.records
    }

    /// The record that the last [error of a record](Error::is_of_record) is about, as JSON. The values that JSON cannot
    /// represent are written as `Infinity`, `not JSON: "…"`, or a string with bytes that are not UTF-8.
    ///
    /// # Errors
    /// SQLite's errors.
    pub fn bad_record(&self) -> Result<Vec<u8>, Error> {
        let mut record = RawRecord::default();
        let Some(values) = self.rows.get() else { return Ok(record.into_text()) };
        let Ok(()) = record.begin_record(Place::default());
        let Ok(()) = record.begin_object();
        for (number, column) in self.columns.iter().enumerate() {
            let value = values.get_ref(number).map_err(|error| Error::sqlite("reading a row", error))?;
            let Ok(_) = record.key(Key::new(&column.name));
            match ColumnValue::of(value, column, self.odd, &mut Vec::new()) {
                Ok(told) => {
                    let Ok(()) = told.send(&mut record);
                }
                Err(untold) => record.untold(&untold),
            }
        }
        let Ok(()) = record.end_object();
        Ok(record.into_text())
    }
}

impl Source for SqliteSource<'_> {
    type Error = Error;

    fn send_record<S: Sink>(&mut self, sink: &mut S) -> Result<bool, Failure<Error, S::Error>> {
        let place = Place { record: self.records, ..Place::default() };
        let broken = |error| Failure::Source(Error::sqlite("reading a row", error).at(place));
        let Some(values) = self.rows.next().map_err(broken)? else { return Ok(false) };
        let row = SqliteRow {
            values,
            columns: self.columns,
            odd: self.odd,
            place,
            nulls_made: &mut self.nulls_made,
            json: &mut self.json,
        };
        // A row of scalars cannot hold JSON.
        let sent = if self.has_json { row.send(sink) } else { sink.row(row) };
        self.records += 1;
        sent.map(|()| true)
    }
}

/// The query's current row.
struct SqliteRow<'a> {
    values: &'a rusqlite::Row<'a>,
    columns: &'a [SourceColumn],
    odd: Odd,
    place: Place,
    nulls_made: &'a mut u64,
    json: &'a mut Vec<u8>,
}

impl Row for SqliteRow<'_> {
    type Error = Error;

    fn place(&self) -> Place {
        self.place
    }

    #[inline]
    fn columns(&self) -> usize {
        self.columns.len()
    }

    #[inline]
    fn name(&self, column: usize) -> &str {
        &self.columns[column].name
    }

    #[inline]
    fn scalar(&self, column: usize) -> Option<Scalar<'_>> {
        match self.values.get_ref(column).ok()? {
            ValueRef::Null => Some(Scalar::Null),
            ValueRef::Integer(value) => Some(self.columns[column].integer(value)),
            ValueRef::Real(value) => value.is_finite().then_some(Scalar::Number(Numeral::F64(value))),
            ValueRef::Blob(bytes) => Some(Scalar::Bytes(bytes)),
            ValueRef::Text(_) if self.columns[column].is_json => None,
            ValueRef::Text(bytes) => match core::str::from_utf8(bytes) {
                Ok(text) => Some(Scalar::String(text)),
                Err(_) => self.odd.broken_text_as_bytes.then_some(Scalar::Bytes(bytes)),
            },
        }
    }

    fn send<S: Sink>(self, sink: &mut S) -> Result<(), Failure<Error, S::Error>> {
        let Self { values, columns, odd, place, nulls_made, json } = self;
        let stopped = |error| Failure::Sink(error, place);
        let broken = |error| Failure::Source(Error::sqlite("reading a row", error).at(place));
        sink.begin_record(place).map_err(stopped)?;
        sink.begin_object().map_err(stopped)?;
        for (number, column) in columns.iter().enumerate() {
            if sink.key(Key::numbered(&column.name, number as u32)).map_err(stopped)? == Interest::Skip {
                continue;
            }
            let value = values.get_ref(number).map_err(broken)?;
            match ColumnValue::of(value, column, odd, json) {
                Ok(told) => {
                    *nulls_made += u64::from(matches!(told, ColumnValue::MadeNull));
                    told.send(sink).map_err(stopped)?;
                }
                Err(untold) => {
                    return Err(Failure::Source(Error::of_value(&column.name, &untold).at(place)));
                }
            }
        }
        sink.end_object().map_err(stopped)?;
        sink.end_record().map_err(stopped)
    }
}

/// A value, in the form of its event.
enum ColumnValue<'a> {
    Scalar(Scalar<'a>),
    Json(JsonText<'a>),
    /// An infinity that is to be sent as null.
    MadeNull,
}

impl<'a> ColumnValue<'a> {
    /// The value of a column. `json` receives a JSON text without its white space.
    #[inline]
    fn of(value: ValueRef<'a>, column: &SourceColumn, odd: Odd, json: &'a mut Vec<u8>) -> Result<Self, Untold<'a>> {
        Ok(Self::Scalar(match value {
            ValueRef::Null => Scalar::Null,
            ValueRef::Integer(value) => column.integer(value),
            ValueRef::Real(value) if value.is_finite() => Scalar::Number(Numeral::F64(value)),
            ValueRef::Real(_) if odd.infinite_as_null => return Ok(Self::MadeNull),
            ValueRef::Real(value) => return Err(Untold::NotFinite(value)),
            ValueRef::Blob(bytes) => Scalar::Bytes(bytes),
            ValueRef::Text(bytes) => match core::str::from_utf8(bytes) {
                Ok(text) if !column.is_json => Scalar::String(text),
                Ok(text) => return JsonText::check(bytes, json).map(Self::Json).map_err(|_| Untold::NotJson(text)),
                Err(_) if odd.broken_text_as_bytes => Scalar::Bytes(bytes),
                Err(_) => return Err(Untold::NotUtf8(bytes)),
            },
        }))
    }

    #[inline]
    fn send<S: Sink>(self, sink: &mut S) -> Result<(), S::Error> {
        match self {
            Self::Scalar(scalar) => scalar.send(sink),
            Self::Json(text) => sink.json(text),
            Self::MadeNull => sink.null(),
        }
    }
}

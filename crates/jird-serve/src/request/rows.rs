//! Rows straight to the bytes of an answer: SQLite's values are written as JSON where they lie, with nothing between.

use crate::base::problem::Problem;
use crate::request::catalog::{Kind, Pick};
use hyper::StatusCode;
use jird::event::{Interest, JsonText, Key, Numeral, Place, Scalar, Sink};
use jird::hooks::{base64, write_string};
use jird_formats::{CsvSink, Error};
use rusqlite::types::ValueRef;
use rusqlite::{Row, Rows};
use std::cell::RefCell;
use std::io;
use std::rc::Rc;

/// The form of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Format {
    /// One object.
    Object,
    /// An array of objects.
    Array,
    /// An object on each line.
    Lines,
    Csv,
}

impl Format {
    pub(crate) fn media_type(self) -> &'static str {
        match self {
            Self::Object | Self::Array => "application/json",
            Self::Lines => "application/x-ndjson",
            Self::Csv => "text/csv; charset=utf-8",
        }
    }
}

/// Where an answer's bytes go.
pub(crate) trait Out {
    /// Takes more bytes.
    fn text(&mut self) -> &mut Vec<u8>;
    /// There are about [`CHUNK`] bytes or more.
    fn full(&mut self) -> Result<(), Stop>;
    /// The work begins: there is nothing more to wait for.
    fn begin(&mut self) {}
    /// The number of all rows is known.
    fn total(&mut self, total: u64) {
        let _ = total;
    }
}

/// How many bytes are handed on at a time, about.
pub(crate) const CHUNK: usize = 64 << 10;

/// Why an answer stops before its end.
#[derive(Debug)]
pub(crate) enum Stop {
    /// It takes more than an answer that is made at once may take.
    Later,
    /// The client is gone.
    Gone,
    Problem(Problem),
}

impl From<Problem> for Stop {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

/// Writes all rows, and returns their number. Takes memory for a chunk and a row.
pub(crate) fn write(rows: &mut Rows<'_>, picks: &[Pick], format: Format, out: &mut impl Out) -> Result<u64, Stop> {
    let (begin, separator, end) = match format {
        Format::Csv => return write_csv(rows, picks, out),
        Format::Object => ("", "", "\n"),
        Format::Lines => ("", "\n", "\n"),
        Format::Array => ("[", ",\n", "]\n"),
    };
    let mut scratch = Vec::new();
    let mut count = 0;
    out.text().extend_from_slice(begin.as_bytes());
    while let Some(row) = rows.next().map_err(|error| Problem::of_reading(&error))? {
        let text = out.text();
        if count > 0 {
            text.extend_from_slice(separator.as_bytes());
        }
        write_object(row, picks, text, &mut scratch)?;
        count += 1;
        if out.text().len() >= CHUNK {
            out.full()?;
        }
    }
    if count > 0 || format == Format::Array {
        out.text().extend_from_slice(end.as_bytes());
    }
    Ok(count)
}

/// Writes a row as an object.
fn write_object(row: &Row<'_>, picks: &[Pick], text: &mut Vec<u8>, scratch: &mut Vec<u8>) -> Result<(), Problem> {
    let mut before = b'{';
    for (index, pick) in picks.iter().enumerate() {
        text.push(before);
        text.extend_from_slice(&pick.head);
        before = b',';
        let value = row.get_ref(index).map_err(|error| Problem::of_reading(&error))?;
        write_value(value, pick, text, scratch)?;
    }
    text.extend_from_slice(if picks.is_empty() { b"{}" } else { b"}" });
    Ok(())
}

/// Writes a value as it is shown.
#[inline(always)]
pub(crate) fn write_value(
    value: ValueRef<'_>,
    pick: &Pick,
    text: &mut Vec<u8>,
    scratch: &mut Vec<u8>,
) -> Result<(), Problem> {
    match value {
        ValueRef::Null => text.extend_from_slice(b"null"),
        ValueRef::Integer(value @ (0 | 1)) if pick.kind == Kind::Bool => {
            text.extend_from_slice(if value == 1 { b"true" } else { b"false" });
        }
        ValueRef::Integer(value) => Numeral::I64(value).write(text),
        ValueRef::Real(value) if value.is_finite() => Numeral::F64(value).write(text),
        ValueRef::Real(value) => write_string(infinite(value), text),
        ValueRef::Blob(bytes) => write_string(&base64(bytes), text),
        ValueRef::Text(bytes) => match (core::str::from_utf8(bytes), pick.kind) {
            (Err(_), _) => return Err(not_utf8(pick)),
            (Ok(content), Kind::Json) => match JsonText::check(bytes, scratch) {
                Ok(json) => text.extend_from_slice(json.as_str().as_bytes()),
                Err(_) => write_string(content, text),
            },
            (Ok(content), _) => write_string(content, text),
        },
    }
    Ok(())
}

/// What JSON has no number for.
fn infinite(value: f64) -> &'static str {
    if value > 0.0 { "Infinity" } else { "-Infinity" }
}

#[cold]
fn not_utf8(pick: &Pick) -> Problem {
    let detail = format!("a row has a text in {:?} that is not UTF-8", pick.name);
    Problem::new(StatusCode::INTERNAL_SERVER_ERROR, detail)
}

/// The rows as CSV, with a header.
fn write_csv(rows: &mut Rows<'_>, picks: &[Pick], out: &mut impl Out) -> Result<u64, Stop> {
    let spill = Spill::default();
    let names = picks.iter().map(|pick| pick.name.as_str());
    let mut csv = CsvSink::new(spill.clone()).columns(names).rows();
    let failed = |error: Error| Stop::from(Problem::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()));
    let mut count = 0;
    while let Some(row) = rows.next().map_err(|error| Problem::of_reading(&error))? {
        send(row, picks, count, &mut csv, failed)?;
        count += 1;
        spill.pour(out)?;
    }
    csv.finish().map_err(failed)?;
    spill.pour(out)?;
    Ok(count)
}

/// Sends a row as events.
fn send<S: Sink>(
    row: &Row<'_>,
    picks: &[Pick],
    record: u64,
    sink: &mut S,
    failed: impl Fn(S::Error) -> Stop,
) -> Result<(), Stop> {
    sink.begin_record(Place { record, ..Place::default() }).map_err(&failed)?;
    sink.begin_object().map_err(&failed)?;
    for (index, pick) in picks.iter().enumerate() {
        if sink.key(Key::numbered(&pick.name, index as u32)).map_err(&failed)? == Interest::Skip {
            continue;
        }
        let scalar = match row.get_ref(index).map_err(|error| Problem::of_reading(&error))? {
            ValueRef::Null => Scalar::Null,
            ValueRef::Integer(value @ (0 | 1)) if pick.kind == Kind::Bool => Scalar::Bool(value == 1),
            ValueRef::Integer(value) => Scalar::Number(Numeral::I64(value)),
            ValueRef::Real(value) if value.is_finite() => Scalar::Number(Numeral::F64(value)),
            ValueRef::Real(value) => Scalar::String(infinite(value)),
            ValueRef::Blob(bytes) => Scalar::Bytes(bytes),
            ValueRef::Text(bytes) => Scalar::String(core::str::from_utf8(bytes).map_err(|_| not_utf8(pick))?),
        };
        scalar.send(sink).map_err(&failed)?;
    }
    sink.end_object().map_err(&failed)?;
    sink.end_record().map_err(&failed)
}

/// A writer whose bytes its maker takes.
#[derive(Clone, Default)]
struct Spill(Rc<RefCell<Vec<u8>>>);

impl Spill {
    fn pour(&self, out: &mut impl Out) -> Result<(), Stop> {
        let mut bytes = self.0.borrow_mut();
        if bytes.is_empty() {
            return Ok(());
        }
        out.text().append(&mut bytes);
        if out.text().len() >= CHUNK { out.full() } else { Ok(()) }
    }
}

impl io::Write for Spill {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

//! Reads a record's fields as values: one by one, or as events.

use super::CsvType;
use super::records::{Record, undouble_into};
use super::scan::{Field, Form};
use super::source::{CsvColumn, Empty, Plan};
use crate::error::{Error, ErrorKind};
use core::cell::Cell;
use jird::Number;
use jird::event::{Failure, Interest, Key, Numeral, Place, Row, Scalar, Sink};

/// A record, and the description of its fields.
pub(super) struct CsvRow<'a> {
    pub(super) record: Record<'a>,
    pub(super) plan: &'a Plan,
    pub(super) scratch: &'a mut String,
    /// Space for the contents of fields with doubled quotes.
    pub(super) spare: Cell<&'a mut [u8]>,
}

impl CsvRow<'_> {
    /// A field's content; `None` if there is no space for it.
    #[inline(always)]
    fn content(&self, field: Field) -> Option<&str> {
        let raw = self.record.raw(field);
        if field.form == Form::Doubled { self.undoubled(raw) } else { Some(raw) }
    }

    #[inline(never)]
    fn undoubled(&self, raw: &str) -> Option<&str> {
        let spare = self.spare.take();
        let len = undouble_into(raw, self.record.quote(), spare)?;
        let (content, spare) = spare.split_at_mut(len);
        self.spare.set(spare);
        core::str::from_utf8(content).ok()
    }
}

impl Row for CsvRow<'_> {
    type Error = Error;

    #[inline]
    fn place(&self) -> Place {
        self.record.place
    }

    #[inline(always)]
    fn columns(&self) -> usize {
        self.record.fields.len()
    }

    #[inline(always)]
    fn name(&self, column: usize) -> &str {
        &self.plan.columns[column].name
    }

    #[inline(always)]
    fn is_missing(&self, column: usize) -> bool {
        let field = self.record.fields[column];
        self.plan.empty == Empty::Missing && field.form == Form::Plain && field.start == field.end
    }

    #[inline(always)]
    fn scalar(&self, column: usize) -> Option<Scalar<'_>> {
        let (field, column_type) = (self.record.fields[column], self.plan.columns[column].column_type);
        let text = self.content(field)?;
        if field.form == Form::Plain
            && (text.is_empty() || !self.plan.nulls.is_empty())
            && self.plan.absent(text, column_type).is_some()
        {
            return Some(Scalar::Null);
        }
        match column_type {
            CsvType::Auto if field.form == Form::Plain => Some(auto(text)),
            CsvType::Text | CsvType::Auto => Some(Scalar::String(text)),
            CsvType::Number => Numeral::new(text).map(Scalar::Number),
            CsvType::Bool => text.parse().ok().map(Scalar::Bool),
            CsvType::Json => None,
        }
    }

    #[inline(always)]
    fn send<S: Sink>(self, sink: &mut S) -> Result<(), Failure<Error, S::Error>> {
        let Self { record, plan, scratch, .. } = self;
        send(&record, plan, scratch, sink).map_err(|stop| match stop {
            RowStop::Sink(error) => Failure::Sink(error, record.place),
            RowStop::Type(error) => Failure::Source(error),
        })
    }
}

/// Space for the contents of a record's fields with doubled quotes.
#[derive(Debug, Default)]
pub(super) struct Spare(Vec<u8>);

impl Spare {
    /// As many bytes as the record may need.
    #[inline(always)]
    pub(super) fn for_doubled(&mut self, record: &Record<'_>) -> &mut [u8] {
        if record.has_doubled { self.grown(record.len()) } else { &mut [] }
    }

    #[cold]
    fn grown(&mut self, len: usize) -> &mut [u8] {
        if self.0.len() < len {
            self.0.resize(len, 0);
        }
        &mut self.0
    }
}

/// Why sending a record stopped.
enum RowStop<E> {
    Sink(E),
    Type(Error),
}

impl<E> From<E> for RowStop<E> {
    #[inline(always)]
    fn from(error: E) -> Self {
        Self::Sink(error)
    }
}

/// Sends a record.
#[inline(always)]
fn send<S: Sink>(
    record: &Record<'_>,
    plan: &Plan,
    scratch: &mut String,
    sink: &mut S,
) -> Result<(), RowStop<S::Error>> {
    sink.begin_record(record.place)?;
    sink.begin_object()?;
    for (number, (column, &field)) in plan.columns.iter().zip(record.fields).enumerate() {
        let key = Key::numbered(&column.name, number as u32);
        if field.form == Form::Plain && (field.start == field.end || !plan.nulls.is_empty()) {
            let absent = plan.absent(record.content(field, scratch), column.column_type);
            if absent == Some(Empty::Missing) {
                continue;
            }
            if absent == Some(Empty::Null) {
                if sink.key(key)? == Interest::Take {
                    sink.null()?;
                }
                continue;
            }
        }
        if sink.key(key)? == Interest::Skip {
            continue;
        }
        let text = record.content(field, scratch);
        match column.column_type {
            CsvType::Auto if field.form == Form::Plain => send_auto(text, sink)?,
            CsvType::Text | CsvType::Auto => sink.string(text)?,
            _ => send_as(column, text, record.place, sink)?,
        }
    }
    sink.end_object()?;
    Ok(sink.end_record()?)
}

/// Sends a field with its column's declared type.
#[inline(never)]
fn send_as<S: Sink>(column: &CsvColumn, text: &str, place: Place, sink: &mut S) -> Result<(), RowStop<S::Error>> {
    let column_type = column.column_type;
    if column_type == CsvType::Number
        && let Some(number) = Number::new(text)
    {
        return Ok(sink.number(Numeral::Text(number))?);
    }
    if column_type == CsvType::Bool
        && let Ok(value) = text.parse()
    {
        return Ok(sink.bool(value)?);
    }
    if column_type == CsvType::Json && jird::validate(text.as_bytes()).is_ok() {
        return Ok(crate::Cell::Json(text).send(sink)?);
    }
    let message = format!("a field of column `{}` is not {column_type}", column.name);
    Err(RowStop::Type(Error::new(ErrorKind::Type, message).in_column(&column.name).at(place)))
}

/// The value that a field without quotes looks like.
#[inline(always)]
fn auto(text: &str) -> Scalar<'_> {
    match text.as_bytes().first() {
        Some(b'-' | b'0'..=b'9') => Numeral::new(text).map_or(Scalar::String(text), Scalar::Number),
        Some(b't') if text == "true" => Scalar::Bool(true),
        Some(b'f') if text == "false" => Scalar::Bool(false),
        _ => Scalar::String(text),
    }
}

/// Sends [`auto`]'s value. A number is sent with its text, which most sinks write.
#[inline(always)]
fn send_auto<S: Sink>(text: &str, sink: &mut S) -> Result<(), S::Error> {
    match text.as_bytes().first() {
        Some(b'-' | b'0'..=b'9') => match Number::new(text) {
            Some(number) => sink.number(Numeral::Text(number)),
            None => sink.string(text),
        },
        Some(b't') if text == "true" => sink.bool(true),
        Some(b'f') if text == "false" => sink.bool(false),
        _ => sink.string(text),
    }
}

/// Whether [`auto`] would read the text as something other than a string.
pub(super) fn is_value(text: &str) -> bool {
    matches!(text.as_bytes().first(), Some(b'-' | b'0'..=b'9')) && Number::new(text).is_some()
        || matches!(text, "true" | "false")
}

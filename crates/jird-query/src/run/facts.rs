//! `describe`, `summarize` and `show tables`: rows about the columns of a query, and about names.
//!
//! The columns are found in the result of the query, so what is described is what a query would get. A summary asks a
//! second query for its figures, which knows how values of several kinds are compared and counted.

use crate::base::error::Error;
use crate::sql;
use jird::event::{Failure, JsonSource, Source};
use jird::hooks::{ObjectWriter, write_object};
use jird_formats::{FieldFacts, FieldKind, Fields};
use std::io::{self, Write};

/// The name of the table of these rows.
pub(crate) const TABLE: &str = "facts:";

/// A query and where to write its result, as JSON lines.
pub(crate) type Ask<'a> = &'a mut dyn FnMut(sql::Parsed, &mut dyn Write) -> Result<(), Error>;

/// Rows of JSON, and how many values they do not tell of, because there are too many names.
pub(crate) type FactRows = (Vec<u8>, u64);

/// The fields of a query's result, one row each.
pub(crate) fn describe(query: sql::Parsed, ask: Ask<'_>) -> Result<FactRows, Error> {
    let facts = facts(query, ask)?;
    let mut rows = Vec::new();
    for field in named(&facts) {
        write_row(&field, &mut rows, |row| {
            row.member("present", field.facts.present());
            row.member("null", field.facts.met(FieldKind::Null).0);
            row.member("missing", facts.missing(field.facts));
            row.object("kinds", |kinds| {
                values(field.facts).for_each(|kind| kinds.member(kind.name(), field.facts.met(kind).0));
            });
        });
    }
    Ok((rows, facts.beyond()))
}

/// One query has the figures of this many columns: planning takes more than linear time.
const COLUMNS_MAX: usize = 40;

/// The figures of a summary: their names, how they are computed, and whether they are of numbers only.
const FIGURES: [(&str, &str, bool); 8] = [
    ("min", "min({})", false),
    ("max", "max({})", false),
    ("approx_unique", "approx_distinct({})", false),
    ("avg", "avg({})", true),
    ("std", "stddev({})", true),
    ("q25", "quantile_cont({}, 0.25)", true),
    ("q50", "quantile_cont({}, 0.5)", true),
    ("q75", "quantile_cont({}, 0.75)", true),
];

/// The columns of a query's result, one row of figures each; of the records of files, also the fields of objects in them.
pub(crate) fn summarize(query: &sql::Parsed, ask: Ask<'_>) -> Result<FactRows, Error> {
    let reads_records = query.is_all_records();
    let facts = facts(query.clone(), ask)?;
    let is_column = |field: &Field<'_>| match field.keys {
        [_] => !reads_records || has_values(field.facts),
        [] => false,
        _ => reads_records && has_values(field.facts),
    };
    let columns: Vec<_> = named(&facts).into_iter().filter(is_column).collect();
    let mut rows = Vec::new();
    for columns in columns.chunks(COLUMNS_MAX) {
        let figures = query.summary(&figures(columns))?;
        let mut line = Vec::new();
        ask(figures, &mut line)?;
        let answer = jird::parse(&line).map_err(|error| Error::internal(error.to_string()))?;
        for (at, field) in columns.iter().enumerate() {
            let count = facts.records();
            let values: u64 = values(field.facts).map(|kind| field.facts.met(kind).0).sum();
            #[expect(clippy::cast_precision_loss, reason = "it is rounded anyway")]
            let share = count.saturating_sub(values) as f64 * 100.0 / count.max(1) as f64;
            write_row(field, &mut rows, |row| {
                for (name, ..) in FIGURES {
                    let value = answer.root().get(figure(at, name).as_str());
                    row.raw(name, value.map_or(b"null", jird::Value::raw));
                }
                row.member("count", count);
                row.raw("null_percentage", ((share * 100.0).round() / 100.0).to_string().as_bytes());
            });
        }
    }
    Ok((rows, facts.beyond()))
}

/// The expressions of the figures of columns, with their names.
fn figures(columns: &[Field<'_>]) -> String {
    let mut all = Vec::new();
    for (at, field) in columns.iter().enumerate() {
        let is_number = |kind| matches!(kind, FieldKind::Integer | FieldKind::Float);
        let has_numbers = values(field.facts).any(is_number);
        let path = field.keys.iter().map(|key| format!("\"{}\"", key.replace('"', "\"\"")));
        let path = std::iter::once(format!("\"{}\"", sql::SUMMARIZED)).chain(path).collect::<Vec<_>>().join(".");
        for (name, call, _) in FIGURES.iter().filter(|(.., of_numbers)| has_numbers || !of_numbers) {
            all.push(format!("{} as \"{}\"", call.replace("{}", &path), figure(at, name)));
        }
    }
    all.join(", ")
}

/// Names, one row each.
pub(crate) fn names(names: &[[String; 3]]) -> Vec<u8> {
    let mut rows = Vec::new();
    for row in names {
        write_object(&mut rows, |object| {
            ["name", "type", "definition"].iter().zip(row).for_each(|(key, text)| object.member(key, text));
        });
        rows.push(b'\n');
    }
    rows
}

/// What a figure of a column is called.
fn figure(at: usize, name: &str) -> String {
    format!("{at}:{name}")
}

/// The kinds of the values of a field that are not null.
fn values(facts: &FieldFacts) -> impl Iterator<Item = FieldKind> {
    facts.kinds().filter(|kind| *kind != FieldKind::Null)
}

/// Whether a field has values other than objects, whose fields have rows of their own.
fn has_values(facts: &FieldFacts) -> bool {
    facts.kinds().any(|kind| kind != FieldKind::Object) || facts.kinds().next().is_none()
}

/// A field, or the record if it is not an object.
struct Field<'f> {
    name: &'f str,
    keys: &'f [Box<str>],
    facts: &'f FieldFacts,
}

/// The fields of records, in order.
fn named(facts: &Fields) -> Vec<Field<'_>> {
    let fields = facts.in_order().into_iter();
    fields.map(|facts| Field { name: facts.name(), keys: facts.keys().unwrap_or_default(), facts }).collect()
}

/// What the result of a query holds.
fn facts(query: sql::Parsed, ask: Ask<'_>) -> Result<Fields, Error> {
    let mut facts = FactLines { facts: Fields::default(), rest: Vec::new() };
    ask(query, &mut facts)?;
    facts.take(true).map_err(|error| Error::output(&error))?;
    Ok(facts.facts)
}

/// Takes the lines of a result.
struct FactLines {
    facts: Fields,
    /// The start of a line whose end is not there yet.
    rest: Vec<u8>,
}

impl FactLines {
    fn take(&mut self, is_over: bool) -> io::Result<()> {
        let whole = match memchr::memrchr(b'\n', &self.rest) {
            _ if is_over => self.rest.len(),
            Some(end) => end + 1,
            None => return Ok(()),
        };
        let mut records = JsonSource::from_slice(&self.rest[..whole]);
        loop {
            match records.send_record(&mut self.facts) {
                Ok(true) => {}
                Ok(false) => break,
                Err(Failure::Source(error)) => return Err(io::Error::other(error.to_string())),
                Err(Failure::Sink(never, _)) => match never {},
            }
        }
        self.rest.drain(..whole);
        Ok(())
    }
}

impl Write for FactLines {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        self.rest.extend_from_slice(text);
        self.take(false)?;
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes the row of a field: its name and type, and the rest.
fn write_row(field: &Field<'_>, rows: &mut Vec<u8>, rest: impl FnOnce(&mut ObjectWriter<'_>)) {
    write_object(rows, |row| {
        row.member("column_name", field.name);
        row.member("column_type", &field.facts.type_name());
        rest(row);
    });
    rows.push(b'\n');
}

//! Results as text.

mod cell;
mod csv;
mod json;
mod table;

pub(crate) use cell::write_string;

use crate::sql::{Output, OutputKind};
use arrow::array::RecordBatch;
use arrow::error::ArrowError;
use std::io;

/// How a result is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// Columns for people.
    Table,
    /// One JSON object a line.
    Ndjson,
    /// One JSON array of objects.
    Json,
    /// Comma-separated values with a header, RFC 4180.
    Csv,
}

/// A column of the result, as it is to be printed.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) kind: OutputKind,
    /// Whether all values of a column of JSON text are texts: then they are printed without quotes where quotes are noise.
    pub(crate) is_text: bool,
}

impl Column {
    pub(crate) fn new(output: Output, is_text: bool) -> Self {
        Self { name: output.name, kind: output.kind, is_text }
    }
}

/// Turns batches into text.
pub(crate) trait Writer {
    /// Appends the text of a batch.
    fn batch(&mut self, batch: &RecordBatch, out: &mut Vec<u8>) -> Result<(), WriteError>;

    /// Appends what comes after the last batch.
    fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), WriteError>;
}

/// What can go wrong with printing.
#[derive(Debug)]
pub(crate) enum WriteError {
    Arrow(ArrowError),
    Io(io::Error),
}

impl From<ArrowError> for WriteError {
    fn from(error: ArrowError) -> Self {
        Self::Arrow(error)
    }
}

impl From<io::Error> for WriteError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// The writer of a format.
pub(crate) fn writer(format: Format, columns: Vec<Column>) -> Box<dyn Writer> {
    match format {
        Format::Table => Box::new(table::Table::new(columns)),
        Format::Ndjson => Box::new(json::Json::lines(columns)),
        Format::Json => Box::new(json::Json::array(columns)),
        Format::Csv => Box::new(csv::Csv::new(columns)),
    }
}

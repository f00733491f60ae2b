//! Results as text, or as files for other programs.

mod apart;
mod binary;
#[cfg_attr(not(feature = "sql"), path = "no_cast.rs")]
mod cast;
mod cell;
mod csv;
mod finite;
mod json;
mod lines;
mod parted;
pub(crate) mod report;
mod table;

pub(crate) use finite::{with_nulls, without_infinities};
pub(crate) use parted::Parted;
pub use parted::Parts;

use crate::sql::{Output, Style};
use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, SchemaRef};
use jird_formats::ErrorKind;
use std::io;

/// The format of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// A table with aligned columns, for people.
    Table,
    /// One line per field, for wide records.
    Lines,
    /// One JSON object per line.
    Ndjson,
    /// One JSON array of objects.
    Json,
    /// Comma-separated values with a header, RFC 4180.
    Csv,
    /// Apache Parquet.
    #[cfg(feature = "tables")]
    Parquet,
    /// Apache Arrow, as a file.
    Arrow,
    /// Apache Arrow, as a stream.
    ArrowStream,
}

impl Format {
    /// The kind of columns that the format needs.
    pub(crate) fn style(self) -> Style {
        match self {
            Self::Ndjson | Self::Json => Style::Json,
            Self::Csv | Self::Table | Self::Lines => Style::Cells,
            #[cfg(feature = "tables")]
            Self::Parquet => Style::Typed,
            Self::Arrow | Self::ArrowStream => Style::Typed,
        }
    }

    /// Whether the format is binary, and not for people to read.
    pub fn is_binary(self) -> bool {
        self.style() == Style::Typed
    }
}

/// Turns batches into text.
pub(crate) trait Writer {
    /// Receives the columns, before anything else.
    fn begin(&mut self, _schema: &SchemaRef) -> Result<(), WriteError> {
        Ok(())
    }

    /// Appends the text of a batch.
    fn batch(&mut self, batch: &RecordBatch, out: &mut Vec<u8>) -> Result<(), WriteError>;

    /// Whether rows are held back until others come.
    fn holds_back(&self) -> bool {
        false
    }

    /// Appends the rows that are held back, because no others come for now.
    fn pause(&mut self, _out: &mut Vec<u8>) {}

    /// Appends what comes after the last batch.
    fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), WriteError>;
}

/// The errors of writing a result.
#[derive(Debug)]
pub(crate) enum WriteError {
    Arrow(ArrowError),
    /// The format cannot hold the result.
    Format(String),
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

impl From<jird_formats::Error> for WriteError {
    fn from(error: jird_formats::Error) -> Self {
        match error.kind() {
            ErrorKind::Io => Self::Io(error.into()),
            _ => Self::Format(error.to_string()),
        }
    }
}

/// The writer of a result in parts.
pub(crate) fn parted_writer(format: Format, columns: Vec<Output>, parted: &Parted) -> Box<dyn Writer> {
    Box::new(parted::PartedWriter::new(format, columns, parted.clone()))
}

/// The writer of a format; `width` is the width of the terminal. If there are `keys`, the result is one column of records
/// that have these keys.
pub(crate) fn writer(format: Format, columns: Vec<Output>, keys: &[String], width: Option<usize>) -> Box<dyn Writer> {
    if !keys.is_empty() {
        let columns = apart::columns(keys);
        return Box::new(apart::Apart::new(keys, writer(format, columns, &[], width)));
    }
    match format {
        Format::Lines => Box::new(lines::Lines::new(columns)),
        #[cfg(feature = "tables")]
        Format::Parquet => Box::new(binary::Binary::parquet()),
        Format::Arrow => Box::new(binary::Binary::arrow()),
        Format::ArrowStream => Box::new(binary::Binary::arrow_stream()),
        Format::Table => Box::new(table::Table::new(columns, width)),
        Format::Ndjson => Box::new(json::Json::lines(columns)),
        Format::Json => Box::new(json::Json::array(columns)),
        Format::Csv => Box::new(csv::Csv::new(columns)),
    }
}

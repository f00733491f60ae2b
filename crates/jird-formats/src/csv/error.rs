//! What can be wrong with CSV, and where.

use core::fmt;
use jird::event::Place;
use std::io;

/// What can be wrong with CSV.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CsvErrorKind {
    /// A record or the header is not UTF-8.
    Utf8,
    /// The input ends within quotes.
    Unclosed,
    /// A record is longer than the limit.
    Size,
    /// A record has more fields, or fewer, than there are columns.
    Fields,
    /// There are more than 2^20 columns.
    Columns,
    /// A field does not have its column's type.
    Type,
    /// A column that the caller named does not exist.
    NoColumn,
    /// The header could not be read, so the fields have no names.
    Header,
    /// The dialect is invalid.
    Dialect,
    /// A key came for the first time after the header was written.
    LateColumn,
    /// The dialect cannot represent a field.
    Quote,
    /// Reading or writing failed.
    Io,
}

impl CsvErrorKind {
    /// A short name for it, which never changes.
    pub fn code(self) -> &'static str {
        match self {
            Self::Utf8 => "utf8",
            Self::Unclosed => "unclosed",
            Self::Size => "size",
            Self::Fields => "fields",
            Self::Columns => "columns",
            Self::Type => "type",
            Self::NoColumn => "no_column",
            Self::Header => "header",
            Self::Dialect => "dialect",
            Self::LateColumn => "late_column",
            Self::Quote => "quote",
            Self::Io => "io",
        }
    }
}

/// Why CSV could not be read or written. The size is one word.
///
/// ```
/// use jird::event::{self, JsonSink};
/// use jird_formats::{CsvErrorKind, CsvSource};
/// let mut source = CsvSource::new("a,b\n1,2\n3\n".as_bytes());
/// let error = event::copy(&mut source, &mut JsonSink::new(Vec::new())).unwrap_err();
/// assert_eq!(error.to_string(), "1 field where there are 2 columns, in record 2 at line 3 (byte 8)");
/// let event::Failure::Source(error) = error else { panic!() };
/// assert_eq!((error.kind(), error.place().line), (CsvErrorKind::Fields, 3));
/// ```
#[derive(Debug)]
pub struct CsvError(Box<Inner>);

#[derive(Debug)]
struct Inner {
    kind: CsvErrorKind,
    message: String,
    place: Place,
    /// The error's place is in the header, which is not a record.
    of_header: bool,
    io: Option<io::Error>,
}

impl CsvError {
    #[cold]
    pub(super) fn new(kind: CsvErrorKind, message: impl Into<String>, place: Place) -> Self {
        Self(Box::new(Inner { kind, message: message.into(), place, of_header: false, io: None }))
    }

    /// The same error, in the header. The header is not a record, and without it there are no records.
    pub(super) fn of_header(mut self) -> Self {
        self.0.of_header = true;
        self
    }

    /// Whether the error is in the header, so that no record can be read.
    pub fn is_of_header(&self) -> bool {
        self.0.of_header
    }

    /// The kind of error.
    pub fn kind(&self) -> CsvErrorKind {
        self.0.kind
    }

    /// The record; the offset in the input of the offending byte, or of the record's first byte; and its one-based
    /// line. The line is zero for an error while writing.
    pub fn place(&self) -> Place {
        self.0.place
    }
}

impl fmt::Display for CsvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { message, place, of_header, .. } = &*self.0;
        match (place.line, of_header) {
            (0, _) => f.write_str(message),
            (line, true) => write!(f, "{message}, in the header at line {line} (byte {})", place.offset),
            (_, false) => write!(f, "{message}, in {place}"),
        }
    }
}

impl std::error::Error for CsvError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.io.as_ref().map(|error| error as _)
    }
}

impl From<io::Error> for CsvError {
    #[cold]
    fn from(error: io::Error) -> Self {
        let (kind, message, place) = (CsvErrorKind::Io, error.to_string(), Place::default());
        Self(Box::new(Inner { kind, message, place, of_header: false, io: Some(error) }))
    }
}

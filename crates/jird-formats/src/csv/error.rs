//! What can be wrong, and where.

use core::fmt;
use jird::event::Place;
use std::io;

/// What can be wrong with CSV.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CsvErrorKind {
    /// A record, or the header, is not UTF-8.
    Utf8,
    /// The input ends within quotes.
    Unclosed,
    /// A record is longer than allowed.
    Size,
    /// A record has more fields, or fewer, than there are columns.
    Fields,
    /// There are more than 2^20 columns.
    Columns,
    /// A field is not of its column's type.
    Type,
    /// There is no column of a name that was asked for.
    NoColumn,
    /// The header was not read, so that what follows has no names.
    Header,
    /// A dialect that makes no sense.
    Dialect,
    /// A key came for the first time when the header was written already.
    LateColumn,
    /// A field that the dialect has no way to write.
    Quote,
    /// Reading or writing failed.
    Io,
}

impl CsvErrorKind {
    /// A short text for it, which stays the same.
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

/// Why CSV could not be read or written. One word wide.
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
    /// The place is the header's, which is no record.
    of_header: bool,
    io: Option<io::Error>,
}

impl CsvError {
    #[cold]
    pub(super) fn new(kind: CsvErrorKind, message: impl Into<String>, place: Place) -> Self {
        Self(Box::new(Inner { kind, message: message.into(), place, of_header: false, io: None }))
    }

    /// The same of the header, which is no record and without which there are none.
    pub(super) fn of_header(mut self) -> Self {
        self.0.of_header = true;
        self
    }

    /// Whether the header is wrong: then no record can be read.
    pub fn is_of_header(&self) -> bool {
        self.0.of_header
    }

    /// What is wrong.
    pub fn kind(&self) -> CsvErrorKind {
        self.0.kind
    }

    /// Which record; the offending byte, or the record's first, from the start of the input; and its one-based line, which is zero
    /// when something was written.
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

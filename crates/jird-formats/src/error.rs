//! What can go wrong with a table, and where.

use core::fmt;
use jird::event::Place;
use std::error::Error as StdError;
use std::io;

/// Why a table could not be read or written. The size is one word.
///
/// ```
/// use jird::event::{self, JsonSink};
/// use jird_formats::{CsvSource, ErrorKind};
/// let mut source = CsvSource::new("a,b\n1,2\n3\n".as_bytes());
/// let error = event::copy(&mut source, &mut JsonSink::new(Vec::new())).unwrap_err();
/// assert_eq!(error.to_string(), "1 field where there are 2 columns, in record 2 at line 3 (byte 8)");
/// let event::Failure::Source(error) = error else { panic!() };
/// assert_eq!((error.kind(), error.place().unwrap().line), (ErrorKind::Fields, 3));
/// assert!(error.is_of_record());
/// ```
#[derive(Debug)]
pub struct Error(Box<Inner>);

#[derive(Debug)]
struct Inner {
    kind: ErrorKind,
    message: String,
    column: Option<String>,
    place: Option<Place>,
    /// The place is in the header, which is not a record.
    of_header: bool,
    cause: Option<Box<dyn StdError + Send + Sync>>,
}

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Reading or writing failed, a file cannot be opened, or the disk is full.
    Io,
    /// The file is damaged, ends early, or does not have its format.
    Malformed,
    /// The file uses a feature that is not supported: a compression, an encryption, a version. Or the definition of a
    /// table cannot be used in another database.
    Unsupported,
    /// Another connection held a lock for longer than this connection's busy timeout.
    Locked,
    /// The database, or the connection, is read-only.
    ReadOnly,

    /// A text, record or header is not UTF-8.
    Utf8,
    /// The input ends within quotes.
    Unclosed,
    /// A record is longer than the limit.
    Size,
    /// A record has more fields, or fewer, than there are columns.
    Fields,
    /// A field does not have its column's type.
    Type,
    /// A double is NaN or infinite.
    NotFinite,
    /// A time of day is before the start of the day or after its end.
    Time,
    /// A text is not JSON, in a column of JSON texts.
    Json,
    /// A key of a map is null.
    Key,
    /// The type of a union's element is not among the union's types.
    Union,

    /// The header could not be read, so the fields have no names.
    Header,
    /// The dialect is invalid, or cannot represent a field.
    Dialect,
    /// There are more columns than the format allows.
    Columns,
    /// There is no such table or column.
    Missing,
    /// A table of this name already exists.
    Exists,
    /// A key has no column, and columns can no longer be added.
    LateColumn,
    /// A value would have to change to fit its column.
    Unfit,
    /// A row breaks a rule of its table: `NOT NULL`, `UNIQUE`, `CHECK`, a foreign key, or the types of a strict table.
    Constraint,
    /// Anything else, such as an error in the SQL, or a sink that was not finished.
    Other,
}

impl ErrorKind {
    /// A short name for it, which never changes.
    pub fn code(self) -> &'static str {
        match self {
            Self::Io => "io",
            Self::Malformed => "malformed",
            Self::Unsupported => "unsupported",
            Self::Locked => "locked",
            Self::ReadOnly => "read_only",
            Self::Utf8 => "utf8",
            Self::Unclosed => "unclosed",
            Self::Size => "size",
            Self::Fields => "fields",
            Self::Type => "type",
            Self::NotFinite => "not_finite",
            Self::Time => "time",
            Self::Json => "json",
            Self::Key => "key",
            Self::Union => "union",
            Self::Header => "header",
            Self::Dialect => "dialect",
            Self::Columns => "columns",
            Self::Missing => "missing",
            Self::Exists => "exists",
            Self::LateColumn => "late_column",
            Self::Unfit => "unfit",
            Self::Constraint => "constraint",
            Self::Other => "other",
        }
    }
}

impl Error {
    #[cold]
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        let message = message.into();
        Self(Box::new(Inner { kind, message, column: None, place: None, of_header: false, cause: None }))
    }

    /// The same error, at this place.
    pub(crate) fn at(mut self, place: Place) -> Self {
        self.0.place = Some(place);
        self
    }

    /// The same error, in the header. The header is not a record, and without it there are no records.
    #[cfg(feature = "csv")]
    pub(crate) fn in_header(mut self) -> Self {
        self.0.of_header = true;
        self
    }

    /// The same error, naming the column.
    pub(crate) fn in_column(mut self, name: &str) -> Self {
        self.0.column = Some(name.to_owned());
        self
    }

    pub(crate) fn caused_by(mut self, cause: impl StdError + Send + Sync + 'static) -> Self {
        self.0.cause = Some(Box::new(cause));
        self
    }

    /// What is wrong.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The record, or for text the offending byte of it and its one-based line; `None` if that is not known.
    pub fn place(&self) -> Option<Place> {
        self.0.place
    }

    /// The name of the column, if one column is at fault.
    pub fn column(&self) -> Option<&str> {
        self.0.column.as_deref()
    }

    /// Whether the error is in the header, so that no record can be read.
    pub fn is_of_header(&self) -> bool {
        self.0.of_header
    }

    /// Whether one record that was read is at fault. Its source goes on with the next record. Events of the bad record
    /// may have come before the error. To keep them from a sink that must not see them, use a
    /// [`Recording`](jird::hooks::event::Recording).
    pub fn is_of_record(&self) -> bool {
        use ErrorKind::{Fields, Json, Key, NotFinite, Size, Time, Type, Unclosed, Union, Utf8};
        let is_kind =
            matches!(self.0.kind, Utf8 | Unclosed | Size | Fields | Type | NotFinite | Time | Json | Key | Union);
        is_kind && !self.0.of_header
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { message, place, of_header, .. } = &*self.0;
        match place {
            None => f.write_str(message),
            Some(place) if *of_header => {
                write!(f, "{message}, in the header at line {} (byte {})", place.line, place.offset)
            }
            Some(place) => write!(f, "{message}, in {place}"),
        }
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.cause.as_deref().map(|cause| cause as _)
    }
}

impl From<io::Error> for Error {
    #[cold]
    fn from(error: io::Error) -> Self {
        Self::new(ErrorKind::Io, error.to_string()).caused_by(error)
    }
}

/// The error of reading or writing itself, if it is one.
impl From<Error> for io::Error {
    fn from(mut error: Error) -> Self {
        match error.0.cause.take().map(<dyn StdError + Send + Sync>::downcast::<Self>) {
            Some(Ok(cause)) => *cause,
            cause => {
                error.0.cause = cause.and_then(Result::err);
                Self::new(io::ErrorKind::InvalidData, error)
            }
        }
    }
}

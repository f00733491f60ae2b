//! What can go wrong with columns.

use crate::bad_value::BadValue;
use core::fmt;
use std::io;

/// Why an Arrow or Parquet file was not read, or not written.
#[derive(Debug)]
#[non_exhaustive]
pub enum ArrowError {
    /// Reading or writing failed.
    Io(io::Error),
    /// The file is damaged, or ends early.
    Malformed(String),
    /// The file uses a feature that is not supported: a compression, an encryption, a version.
    Unsupported(String),
    /// There is no column of this name.
    NoColumn(String),
    /// A record has a value that JSON cannot represent. The source goes on with the next record. Events of the bad
    /// record may have come before the error. To keep them from a sink that must not see them, use a
    /// [`Recording`](jird::hooks::event::Recording).
    BadValue(BadValue),
    /// The sink was not finished, so what it wrote is not a complete file.
    Unfinished,
    /// A key has no column in the plan.
    Late {
        /// The key.
        column: String,
    },
    /// A value does not fit its column.
    Unfit {
        /// The column.
        column: String,
        /// The type that the column holds.
        holds: String,
    },
}

impl ArrowError {
    /// The value that makes a record a bad one, if this is an error of a record and not of the file.
    pub fn bad_value(&self) -> Option<&BadValue> {
        if let Self::BadValue(value) = self { Some(value) } else { None }
    }
}

impl fmt::Display for ArrowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::Malformed(what) => write!(f, "malformed file: {what}"),
            Self::Unsupported(what) => write!(f, "not supported: {what}"),
            Self::NoColumn(name) => write!(f, "there is no column {name:?}"),
            Self::BadValue(value) => value.fmt(f),
            Self::Unfinished => f.write_str("the sink was not finished"),
            Self::Late { column } => write!(f, "the key {column:?} has no column in the plan"),
            Self::Unfit { column, holds } => write!(f, "the value does not fit column {column:?}, which holds {holds}"),
        }
    }
}

impl std::error::Error for ArrowError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            _ => None,
        }
    }
}

impl From<io::Error> for ArrowError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<arrow_schema::ArrowError> for ArrowError {
    fn from(error: arrow_schema::ArrowError) -> Self {
        match error {
            arrow_schema::ArrowError::IoError(_, error) => Self::Io(error),
            arrow_schema::ArrowError::NotYetImplemented(what) => Self::Unsupported(what),
            other => Self::Malformed(other.to_string()),
        }
    }
}

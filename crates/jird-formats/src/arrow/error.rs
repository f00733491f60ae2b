//! What can go wrong with columns.

use core::fmt;
use std::io;

/// Why an Arrow or Parquet file was not read, or not written.
#[derive(Debug)]
#[non_exhaustive]
pub enum ArrowError {
    /// Reading or writing failed.
    Io(io::Error),
    /// The file is not what it ought to be, or ends early.
    Malformed(String),
    /// The file has something that is not read here: a compression, an encryption, a version.
    Unsupported(String),
    /// There is no column of this name.
    NoColumn(String),
    /// A value that is not a number, or infinite, for which events have nothing.
    NotFinite {
        /// Its column.
        column: String,
    },
    /// A column of JSON texts has one that is none.
    NotJson {
        /// The column.
        column: String,
        /// What is wrong with it.
        error: jird::Error,
    },
    /// The sink was not finished, and what it wrote is no file yet.
    Unfinished,
    /// A key for which the plan has no column.
    Late {
        /// The key.
        column: String,
    },
    /// A value that its column cannot hold.
    Unfit {
        /// The column.
        column: String,
        /// What it holds.
        holds: String,
    },
}

impl fmt::Display for ArrowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::Malformed(what) => write!(f, "malformed file: {what}"),
            Self::Unsupported(what) => write!(f, "not supported: {what}"),
            Self::NoColumn(name) => write!(f, "no column {name:?}"),
            Self::NotFinite { column } => write!(f, "NaN or infinite in column {column:?}"),
            Self::NotJson { column, error } => write!(f, "not JSON in column {column:?}: {error}"),
            Self::Unfinished => f.write_str("the sink was not finished"),
            Self::Late { column } => write!(f, "no column was planned for the key {column:?}"),
            Self::Unfit { column, holds } => write!(f, "column {column:?} holds {holds}, which this value is not"),
        }
    }
}

impl std::error::Error for ArrowError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            Self::NotJson { error, .. } => Some(error),
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

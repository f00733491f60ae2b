//! Errors of files of columns.

use crate::error::{Error, ErrorKind};
use arrow_schema::ArrowError;
use core::fmt::Display;

#[cold]
pub(crate) fn malformed(what: impl Display) -> Error {
    Error::new(ErrorKind::Malformed, format!("malformed file: {what}"))
}

#[cold]
pub(crate) fn unsupported(what: impl Display) -> Error {
    Error::new(ErrorKind::Unsupported, format!("not supported: {what}"))
}

/// The sink was not finished, so what it wrote is not a complete file.
#[cold]
pub(crate) fn unfinished() -> Error {
    Error::new(ErrorKind::Other, "the sink was not finished")
}

#[cold]
pub(crate) fn missing(column: &str) -> Error {
    Error::new(ErrorKind::Missing, format!("there is no column {column:?}"))
}

/// A key came that the plan has no column for.
#[cold]
pub(crate) fn unplanned(key: &str) -> Error {
    Error::new(ErrorKind::LateColumn, format!("the key {key:?} has no column in the plan")).in_column(key)
}

impl From<ArrowError> for Error {
    #[cold]
    fn from(error: ArrowError) -> Self {
        match error {
            ArrowError::IoError(_, error) => error.into(),
            ArrowError::NotYetImplemented(what) => unsupported(what),
            other => malformed(other),
        }
    }
}

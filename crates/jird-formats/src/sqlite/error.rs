//! SQLite's errors as ours.

use crate::error::{Error, ErrorKind};
use core::fmt;
use rusqlite::ErrorCode;

impl Error {
    /// An error of SQLite that occurred while doing `what`.
    #[cold]
    pub(super) fn sqlite(what: impl fmt::Display, error: rusqlite::Error) -> Self {
        Self::new(kind_of(&error), format!("{what}: {error}")).caused_by(error)
    }

    /// Whether a row that was written is at fault, and not the database.
    pub(super) fn is_of_a_row(&self) -> bool {
        matches!(self.kind(), ErrorKind::Constraint | ErrorKind::Unfit)
    }
}

fn kind_of(error: &rusqlite::Error) -> ErrorKind {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => ErrorKind::Locked,
        Some(ErrorCode::ReadOnly) => ErrorKind::ReadOnly,
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => ErrorKind::Malformed,
        Some(
            ErrorCode::CannotOpen | ErrorCode::SystemIoFailure | ErrorCode::DiskFull | ErrorCode::PermissionDenied,
        ) => ErrorKind::Io,
        Some(ErrorCode::ConstraintViolation | ErrorCode::TypeMismatch) => ErrorKind::Constraint,
        Some(ErrorCode::TooBig) => ErrorKind::Unfit,
        _ => ErrorKind::Other,
    }
}

//! What can go wrong with a database.

use core::fmt;
use jird::event::Place;
use rusqlite::ErrorCode;

/// Why a database could not be read or written.
#[derive(Debug)]
pub struct SqliteError {
    kind: SqliteErrorKind,
    message: String,
    source: Option<Box<rusqlite::Error>>,
}

/// Which kind of trouble it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SqliteErrorKind {
    /// Somebody else holds a lock, and kept it for longer than the connection's busy timeout.
    Locked,
    /// The database, or the connection, is for reading only.
    ReadOnly,
    /// The file is no database, or a broken one.
    NotADatabase,
    /// The file cannot be opened, read or written, or the disk is full.
    File,
    /// A row breaks a rule of its table: `NOT NULL`, `UNIQUE`, `CHECK`, a foreign key, or the types of a strict table.
    Constraint,
    /// There is a table of this name.
    Exists,
    /// There is no such table or column.
    Missing,
    /// More columns than SQLite allows.
    Columns,
    /// A value that the table's column, or JSON, does not have and that would have to change.
    Value,
    /// Anything else, such as an error in the SQL.
    Other,
}

impl SqliteError {
    /// Which kind of trouble it is.
    pub fn kind(&self) -> SqliteErrorKind {
        self.kind
    }

    pub(super) fn new(kind: SqliteErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), source: None }
    }

    /// An error of SQLite, while doing `what`.
    pub(super) fn sqlite(what: impl fmt::Display, error: rusqlite::Error) -> Self {
        Self { kind: kind_of(&error), message: format!("{what}: {error}"), source: Some(Box::new(error)) }
    }

    /// Whether it is the fault of a row, and not of the database.
    pub(super) fn is_of_a_row(&self) -> bool {
        matches!(self.kind, SqliteErrorKind::Constraint | SqliteErrorKind::Value)
    }

    /// The same, of this record.
    pub(super) fn of_record(self, place: Place) -> Self {
        Self { message: format!("{}, in {place}", self.message), ..self }
    }
}

fn kind_of(error: &rusqlite::Error) -> SqliteErrorKind {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => SqliteErrorKind::Locked,
        Some(ErrorCode::ReadOnly) => SqliteErrorKind::ReadOnly,
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => SqliteErrorKind::NotADatabase,
        Some(
            ErrorCode::CannotOpen | ErrorCode::SystemIoFailure | ErrorCode::DiskFull | ErrorCode::PermissionDenied,
        ) => SqliteErrorKind::File,
        Some(ErrorCode::ConstraintViolation | ErrorCode::TypeMismatch) => SqliteErrorKind::Constraint,
        Some(ErrorCode::TooBig) => SqliteErrorKind::Value,
        _ => SqliteErrorKind::Other,
    }
}

impl fmt::Display for SqliteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for SqliteError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_ref().map(|error| &**error as _)
    }
}

//! What can go wrong with a database.

use crate::bad_value::BadValue;
use core::fmt;
use jird::event::Place;
use rusqlite::ErrorCode;

/// Why a database could not be read or written.
#[derive(Debug)]
pub struct SqliteError {
    kind: SqliteErrorKind,
    message: String,
    source: Option<Box<rusqlite::Error>>,
    value: Option<BadValue>,
}

/// The kind of error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SqliteErrorKind {
    /// Another connection held a lock for longer than this connection's busy timeout.
    Locked,
    /// The database, or the connection, is read-only.
    ReadOnly,
    /// The file is not a database, or is damaged.
    NotADatabase,
    /// The file cannot be opened, read or written, or the disk is full.
    File,
    /// A row breaks a rule of its table: `NOT NULL`, `UNIQUE`, `CHECK`, a foreign key, or the types of a strict table.
    Constraint,
    /// A table of this name already exists.
    Exists,
    /// There is no such table or column.
    Missing,
    /// The definition of a table cannot be used in another database.
    Definition,
    /// More columns than SQLite allows.
    Columns,
    /// A value that the table's column, or JSON, cannot represent and that would have to change.
    Value,
    /// Anything else, such as an error in the SQL.
    Other,
}

impl SqliteError {
    /// The kind of error.
    pub fn kind(&self) -> SqliteErrorKind {
        self.kind
    }

    pub(super) fn new(kind: SqliteErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), source: None, value: None }
    }

    /// An error of SQLite that occurred while doing `what`.
    pub(super) fn sqlite(what: impl fmt::Display, error: rusqlite::Error) -> Self {
        let message = format!("{what}: {error}");
        Self { kind: kind_of(&error), message, source: Some(Box::new(error)), value: None }
    }

    /// The error for a row with a value that JSON cannot represent.
    #[cold]
    pub(super) fn of_value(value: BadValue) -> Self {
        Self { kind: SqliteErrorKind::Value, message: value.to_string(), source: None, value: Some(value) }
    }

    /// The value that makes a record a bad one, if this is an error of a record that was read, and not of the database.
    pub fn bad_value(&self) -> Option<&BadValue> {
        self.value.as_ref()
    }

    /// Whether a row is at fault, and not the database.
    pub(super) fn is_of_a_row(&self) -> bool {
        matches!(self.kind, SqliteErrorKind::Constraint | SqliteErrorKind::Value)
    }

    /// The same error, naming this record.
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

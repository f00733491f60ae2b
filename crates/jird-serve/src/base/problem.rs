//! The response to a failed request: problem details (RFC 9457).

use hyper::StatusCode;
use jird::Located;
use jird::hooks::write_object;
use jird_formats::{Error, ErrorKind};
use rusqlite::ErrorCode;
use rusqlite::ffi::{
    SQLITE_CONSTRAINT_CHECK, SQLITE_CONSTRAINT_FOREIGNKEY, SQLITE_CONSTRAINT_NOTNULL, SQLITE_CONSTRAINT_PRIMARYKEY,
    SQLITE_CONSTRAINT_ROWID, SQLITE_CONSTRAINT_UNIQUE,
};

/// Why a request fails. Its JSON has the members `title`, `status` and `detail`, and for a body that is not JSON also
/// `line`, `column`, `offset` and `pointer`; and for clients of PostgREST `message`, which is `detail`, `code`, `details`
/// and `hint`.
#[derive(Debug)]
pub(crate) struct Problem {
    pub(crate) status: StatusCode,
    detail: String,
    place: Option<Box<Located>>,
    /// A line and a character in it, counted from one, if what is wrong is no JSON.
    at: Option<(u64, u64)>,
    /// The server has too much to do just now.
    pub(crate) is_busy: bool,
    /// Seconds until it is worth to ask again.
    pub(crate) retry_after: Option<u32>,
    /// The methods that the resource has, for the status 405.
    pub(crate) allow: Option<&'static str>,
    /// What clients of PostgREST tell it by.
    pub(crate) code: Code,
    /// More of it than `detail` says.
    details: Option<&'static str>,
}

/// What clients of PostgREST tell a problem by: its own codes, and those of `PostgreSQL`'s errors that it passes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Code {
    /// The request makes no sense.
    Request,
    /// There are no rows, or several, and one was asked for.
    NotOne,
    /// The table or row does not exist.
    Unknown,
    /// No foreign key is between two tables.
    NoLink,
    /// Several foreign keys are.
    SeveralLinks,
    /// The server has no time or no place.
    Busy,
    Unique,
    ForeignKey,
    NotNull,
    Check,
    Unfit,
    DiskFull,
    /// Anything else.
    Other,
}

impl Code {
    fn text(self) -> &'static str {
        match self {
            Self::Request => "PGRST100",
            Self::NotOne => "PGRST116",
            Self::Unknown => "PGRST205",
            Self::NoLink => "PGRST200",
            Self::SeveralLinks => "PGRST201",
            Self::Busy => "PGRST003",
            Self::Unique => "23505",
            Self::ForeignKey => "23503",
            Self::NotNull => "23502",
            Self::Check => "23514",
            Self::Unfit => "22P02",
            Self::DiskFull => "53100",
            Self::Other => "XX000",
        }
    }
}

impl Problem {
    #[cold]
    pub(crate) fn new(status: StatusCode, detail: impl Into<String>) -> Self {
        let code = match status {
            StatusCode::NOT_FOUND => Code::Unknown,
            StatusCode::UNPROCESSABLE_ENTITY => Code::Unfit,
            StatusCode::SERVICE_UNAVAILABLE => Code::Busy,
            status if status.is_client_error() => Code::Request,
            _ => Code::Other,
        };
        Self {
            status,
            detail: detail.into(),
            place: None,
            at: None,
            is_busy: false,
            retry_after: None,
            allow: None,
            code,
            details: None,
        }
    }

    /// The request itself is wrong.
    #[cold]
    pub(crate) fn bad(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, detail)
    }

    /// The same problem, at a line and a character of a text that is no JSON.
    #[cfg(feature = "query")]
    #[cold]
    pub(crate) fn at(self, place: Option<(u64, u64)>) -> Self {
        Self { at: place, ..self }
    }

    /// The same problem, by another code.
    #[cold]
    pub(crate) fn coded(self, code: Code) -> Self {
        Self { code, ..self }
    }

    /// One row was asked for, and there are others.
    #[cold]
    pub(crate) fn not_one(rows: u64) -> Self {
        // Clients look for the second words.
        let (detail, details) = match rows {
            0 => ("one row was asked for, and there is none", "The result contains 0 rows"),
            _ => ("one row was asked for, and there are several", "The result contains several rows"),
        };
        Self { code: Code::NotOne, details: Some(details), ..Self::new(StatusCode::NOT_ACCEPTABLE, detail) }
    }

    /// The server has too much to do.
    #[cold]
    pub(crate) fn busy(detail: impl Into<String>) -> Self {
        Self { is_busy: true, retry_after: Some(1), ..Self::new(StatusCode::SERVICE_UNAVAILABLE, detail) }
    }

    /// The resource does not have the method.
    #[cold]
    pub(crate) fn method(allow: &'static str) -> Self {
        let detail = format!("this resource has the methods {allow}");
        Self { allow: Some(allow), ..Self::new(StatusCode::METHOD_NOT_ALLOWED, detail) }
    }

    /// The body is not JSON, or not of the form that it should have.
    #[cold]
    pub(crate) fn of_body(error: &jird::Error, body: &[u8]) -> Self {
        let located = error.locate(body);
        let detail = format!("the body: {located:#}");
        Self { place: Some(Box::new(located)), ..Self::bad(detail) }
    }

    /// The same for a line of the body, with its number and the offset of its first byte.
    #[cold]
    pub(crate) fn of_line(error: &jird::Error, line: &[u8], number: u64, offset: u64) -> Self {
        let located = error.locate(line).after_lines(number - 1, offset);
        let detail = format!("the body: {located:#}");
        Self { place: Some(Box::new(located)), ..Self::bad(detail) }
    }

    /// The disk is full.
    #[cold]
    pub(crate) fn full(detail: impl Into<String>) -> Self {
        let problem = Self::new(StatusCode::INSUFFICIENT_STORAGE, detail);
        Self { retry_after: Some(10), code: Code::DiskFull, ..problem }
    }

    /// An error of SQLite while it read.
    #[cold]
    pub(crate) fn of_reading(error: &rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::OperationInterrupted) => Self::busy("the query took longer than this server allows"),
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::busy("the database is locked"),
            // Rows that were changed are read, too.
            Some(ErrorCode::ConstraintViolation) => Self::of_statement(error),
            _ if is_of_schema(error) => Self::busy("the schema has changed just now: ask again"),
            _ => Self::new(StatusCode::INTERNAL_SERVER_ERROR, format!("reading the database: {error}")),
        }
    }

    /// An error of SQLite while it wrote.
    #[cold]
    pub(crate) fn of_writing(error: &Error) -> Self {
        let cause = std::error::Error::source(error).and_then(|cause| cause.downcast_ref::<rusqlite::Error>());
        if cause.is_some_and(|cause| cause.sqlite_error_code() == Some(ErrorCode::OperationInterrupted)) {
            return Self::busy("the write took longer than this server allows, and was rolled back");
        }
        if cause.is_some_and(is_full) {
            return Self::full("the disk is full, and nothing was written");
        }
        if cause.is_some_and(is_of_schema) {
            return Self::busy("the schema has changed just now: ask again");
        }
        let status = match error.kind() {
            _ if cause.is_some_and(|cause| cause.to_string().contains("ON CONFLICT clause does not match")) => {
                StatusCode::BAD_REQUEST
            }
            ErrorKind::Locked => return Self::busy("the database is locked by another program"),
            ErrorKind::Missing => StatusCode::BAD_REQUEST,
            ErrorKind::Constraint if cause.is_some_and(is_conflict) => StatusCode::CONFLICT,
            ErrorKind::Constraint | ErrorKind::Unfit => StatusCode::UNPROCESSABLE_ENTITY,
            ErrorKind::Exists => StatusCode::METHOD_NOT_ALLOWED,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Self::new(status, error.to_string()).coded_by(cause)
    }

    /// The same problem, by the code of what an error of SQLite broke.
    #[cold]
    fn coded_by(self, cause: Option<&rusqlite::Error>) -> Self {
        match cause.and_then(rusqlite::Error::sqlite_extended_error_code) {
            Some(SQLITE_CONSTRAINT_PRIMARYKEY | SQLITE_CONSTRAINT_ROWID | SQLITE_CONSTRAINT_UNIQUE) => {
                self.coded(Code::Unique)
            }
            Some(SQLITE_CONSTRAINT_FOREIGNKEY) => self.coded(Code::ForeignKey),
            Some(SQLITE_CONSTRAINT_NOTNULL) => self.coded(Code::NotNull),
            Some(SQLITE_CONSTRAINT_CHECK) => self.coded(Code::Check),
            _ => self,
        }
    }

    /// As [`of_writing`](Self::of_writing), for an error of the binding itself.
    #[cold]
    pub(crate) fn of_statement(error: &rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::ConstraintViolation) if is_conflict(error) => {
                Self::new(StatusCode::CONFLICT, error.to_string()).coded_by(Some(error))
            }
            Some(ErrorCode::ConstraintViolation | ErrorCode::TypeMismatch | ErrorCode::TooBig) => {
                Self::new(StatusCode::UNPROCESSABLE_ENTITY, error.to_string()).coded_by(Some(error))
            }
            Some(ErrorCode::OperationInterrupted) => {
                Self::busy("the write took longer than this server allows, and was rolled back")
            }
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                Self::busy("the database is locked by another program")
            }
            _ if is_full(error) => Self::full("the disk is full, and nothing was written"),
            _ if is_of_schema(error) => Self::busy("the schema has changed just now: ask again"),
            _ => Self::new(StatusCode::INTERNAL_SERVER_ERROR, format!("writing to the database: {error}")),
        }
    }

    /// The JSON text of the problem.
    pub(crate) fn json(&self) -> Vec<u8> {
        let mut text = Vec::new();
        write_object(&mut text, |object| {
            object.member("title", self.status.canonical_reason().unwrap_or("Error"));
            object.member("status", self.status.as_u16());
            object.member("detail", &self.detail);
            object.member("message", &self.detail);
            object.member("code", self.code.text());
            object.member("details", self.details);
            object.member("hint", None::<&str>);
            if let Some((line, column)) = self.at {
                object.member("line", line);
                object.member("column", column);
            }
            if let Some(place) = &self.place {
                object.member("line", place.line());
                object.member("column", place.column());
                object.member("offset", place.error().offset());
                object.member("pointer", place.pointer());
            }
        });
        text.push(b'\n');
        text
    }
}

fn is_full(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::DiskFull)
}

/// Whether a statement names what the schema does not have any more. The catalog is read again every second.
fn is_of_schema(error: &rusqlite::Error) -> bool {
    let words = error.to_string();
    ["no such column", "no such table", "has no column named"].iter().any(|start| words.contains(start))
}

/// Whether a row stands in the way of another one.
fn is_conflict(error: &rusqlite::Error) -> bool {
    let conflicts =
        [SQLITE_CONSTRAINT_FOREIGNKEY, SQLITE_CONSTRAINT_PRIMARYKEY, SQLITE_CONSTRAINT_ROWID, SQLITE_CONSTRAINT_UNIQUE];
    error.sqlite_extended_error_code().is_some_and(|code| conflicts.contains(&code))
}

impl core::fmt::Display for Problem {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(&self.detail)
    }
}

//! What ends a scan.

use super::program::ProgramError;
use super::records::BadDocument;
use crate::error;
use jird::Located;
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use std::io;
use std::path::Path;

/// Why a scan has ended early. Each names its file.
#[derive(Debug)]
pub(super) enum Failure {
    /// A line that is not JSON: the file, the place, and the line.
    Bad(String, Box<Located>, Vec<u8>),
    /// A value that is not of its column's type: the file and what is counted in it, the words, and the number of the line.
    Unfit((String, &'static str), String, u64),
    /// A document that is not JSON: the file, and what is wrong.
    BadDocument(String, jird::Error),
    Io(String, io::Error),
    /// A query, in the words of the program that was to answer it.
    Refused(String),
    /// A thread has panicked.
    Lost,
}

impl Failure {
    pub(super) fn io(path: &Path, error: io::Error) -> Self {
        match error.downcast::<ProgramError>() {
            Ok(ProgramError(words)) => Self::Refused(words),
            Err(error) => match error.downcast::<BadDocument>() {
                Ok(BadDocument(error)) => Self::BadDocument(path.display().to_string(), error),
                Err(error) => Self::Io(path.display().to_string(), error),
            },
        }
    }

    /// As if the part with this failure had `lines` more lines before it.
    pub(super) fn after_lines(self, lines: u64) -> Self {
        match self {
            Self::Bad(name, located, line) => Self::Bad(name, Box::new(located.after_lines(lines, 0)), line),
            Self::Unfit(name, words, line) => Self::Unfit(name, words, line + lines),
            other => other,
        }
    }

    pub(super) fn words(&self) -> String {
        match self {
            Self::Bad(name, located, _) => format!("{name}: {located}"),
            Self::Unfit((name, unit), words, line) => format!("{name}, {unit} {line}: {words}"),
            Self::BadDocument(name, error) => format!("{name}: {error}"),
            Self::Io(name, error) => format!("{name}: {error}"),
            Self::Refused(words) => words.clone(),
            Self::Lost => "a thread of the scan has failed".to_owned(),
        }
    }

    /// The exception. That of a bad line is about the line as a text of its own; its message names the file and line.
    pub(super) fn into_error(self, py: Python<'_>) -> PyErr {
        match self {
            Self::Bad(name, located, line) => {
                let words = format!("{name}, line {}: {}", located.line(), located.error().kind());
                let code = located.error().code();
                error::decode(py, &line, &words, code, located.column() as usize - 1, located.pointer())
            }
            Self::BadDocument(name, error) => error::in_document(py, &name, &error),
            Self::Unfit(..) => PyValueError::new_err(self.words()),
            Self::Io(name, error) => match error.raw_os_error() {
                // So that it is a FileNotFoundError and the like.
                Some(code) => {
                    let words = error.to_string();
                    let words = words.split(" (os error ").next().unwrap_or_default().to_owned();
                    PyOSError::new_err((code, words, name))
                }
                None => PyOSError::new_err(format!("{name}: {error}")),
            },
            Self::Refused(words) => error::query(py, &words),
            Self::Lost => PyRuntimeError::new_err("a thread of the scan has failed"),
        }
    }
}

//! Why a value is not as the type wants it.

use crate::error;
use jird::{Kind, Value};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use std::borrow::Cow;

/// Why a value cannot be made, in one word.
pub(super) struct Fault(Box<Cause>);

enum Cause {
    /// The text is not as the type wants it: the words, their code, and the offset.
    Wrong(String, &'static str, usize),
    /// A constructor refused what stands at this offset, in these words.
    Refused(Option<String>, PyErr, usize),
    /// An exception that the text did not cause.
    Raised(PyErr),
}

impl From<PyErr> for Fault {
    #[cold]
    fn from(error: PyErr) -> Self {
        Self(Box::new(Cause::Raised(error)))
    }
}

impl Fault {
    /// The exception that is set.
    #[cold]
    pub(super) fn fetch(py: Python<'_>) -> Self {
        PyErr::fetch(py).into()
    }

    /// `value` is not what is wanted.
    #[cold]
    pub(super) fn expected(wanted: &str, value: Value<'_>) -> Self {
        Self::wrong(format!("expected {wanted}, found {}", shown(value)), "type", value)
    }

    /// `value` is beyond a limit.
    #[cold]
    pub(super) fn beyond(wanted: &str, value: Value<'_>) -> Self {
        Self::wrong(format!("expected {wanted}, found {}", shown(value)), "limit", value)
    }

    /// Something is wrong with `value`.
    #[cold]
    pub(super) fn wrong(words: String, code: &'static str, value: Value<'_>) -> Self {
        Self(Box::new(Cause::Wrong(words, code, value.offset())))
    }

    /// A constructor raised an exception about `value`. ValueError and TypeError are about the text, others are not.
    #[cold]
    pub(super) fn raised(py: Python<'_>, error: PyErr, value: Value<'_>) -> Self {
        if error.is_instance_of::<PyValueError>(py) || error.is_instance_of::<PyTypeError>(py) {
            return Self(Box::new(Cause::Refused(None, error, value.offset())));
        }
        error.into()
    }

    /// A constructor raised an exception about `value`, which in words is this.
    #[cold]
    pub(super) fn refused(words: String, error: PyErr, value: Value<'_>) -> Self {
        Self(Box::new(Cause::Refused(Some(words), error, value.offset())))
    }

    /// Whether another type may still fit.
    pub(super) fn is_of_text(&self) -> bool {
        !matches!(*self.0, Cause::Raised(_))
    }

    /// The exception.
    pub(super) fn into_error(self, py: Python<'_>, text: &[u8]) -> PyErr {
        let (words, code, offset, cause) = match *self.0 {
            Cause::Raised(error) => return error,
            Cause::Wrong(words, code, offset) => (words, code, offset, None),
            Cause::Refused(words, error, offset) => {
                let own = || error.value(py).str().map_or_else(|_| "refused".to_owned(), |words| words.to_string());
                (words.unwrap_or_else(own), "refused", offset, Some(error))
            }
        };
        let place = jird::Error::new(jird::ErrorKind::Range, offset as u64).locate(text);
        let raised = error::decode(py, text, &words, code, offset, place.pointer());
        if cause.is_some() {
            raised.set_cause(py, cause);
        }
        raised
    }
}

/// What there is instead, in a few words.
fn shown(value: Value<'_>) -> Cow<'static, str> {
    const MOST: usize = 40;
    match value.kind() {
        Kind::Null => "null".into(),
        Kind::Object => "an object".into(),
        Kind::Array => "an array".into(),
        Kind::Bool => String::from_utf8_lossy(value.raw()).into_owned().into(),
        kind @ (Kind::Number | Kind::String) => {
            let raw = String::from_utf8_lossy(value.raw());
            let cut = raw.char_indices().nth(MOST).map(|(at, _)| at);
            let name = kind.name();
            match cut {
                Some(cut) => format!("the {name} {}…", &raw[..cut]).into(),
                None => format!("the {name} {raw}").into(),
            }
        }
    }
}

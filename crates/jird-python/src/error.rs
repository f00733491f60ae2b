//! The exceptions `JSONDecodeError`, `JSONEncodeError` and `QueryError`, which are classes of Python in `jird.errors`.

use jird::Error;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyString, PyType};

/// A class of `jird.errors`, looked up once.
fn class<'py>(py: Python<'py>, slot: &PyOnceLock<Py<PyType>>, name: &str) -> PyResult<Bound<'py, PyType>> {
    slot.import(py, "jird.errors", name).cloned()
}

/// A `JSONDecodeError`: `words` about the byte at `offset` of `text`, which is in the value that `path` leads to.
#[cold]
pub(crate) fn decode(py: Python<'_>, text: &[u8], words: &str, code: &str, offset: usize, path: &str) -> PyErr {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    // Before any code of Python runs, which could change the text if it is in a buffer.
    let doc = PyString::new(py, &String::from_utf8_lossy(text));
    let offset = offset.min(text.len());
    // Characters that begin before the error: `doc[pos]` is the one with the error.
    let valid = core::str::from_utf8(&text[..offset]).map_or_else(|error| error.valid_up_to(), str::len);
    let pos = text[..valid].iter().filter(|&&byte| byte & 0xC0 != 0x80).count();
    let raise =
        || class(py, &CLASS, "JSONDecodeError")?.call1((words, doc, pos, path, code, offset)).map(PyErr::from_value);
    raise().unwrap_or_else(|error| error)
}

/// A `JSONDecodeError` of a text that is not JSON.
#[cold]
pub(crate) fn not_json(py: Python<'_>, text: &[u8], error: &Error) -> PyErr {
    let place = error.locate(text);
    let offset = usize::try_from(error.offset()).unwrap_or(usize::MAX);
    // The words without the place, which the class adds in Python's way.
    let words = match error.encoding() {
        Some(encoding) => format!("{}: {encoding}", error.kind()),
        None => error.kind().to_string(),
    };
    decode(py, text, &words, error.code(), offset, place.pointer())
}

/// A `JSONDecodeError` in a document that is not in memory, and what messages call that.
#[cold]
pub(crate) fn in_document(py: Python<'_>, name: &str, error: &Error) -> PyErr {
    let words = format!("{name}: {}", error.kind());
    let raise = || {
        let class = py.import("jird.errors")?.getattr("JSONDecodeError")?;
        let about = (words, error.path(), error.code(), error.offset(), error.line(), error.column());
        class.call_method1("_of_document", about).map(PyErr::from_value)
    };
    raise().unwrap_or_else(|error| error)
}

/// A `JSONDecodeError` for input that is not text.
#[cold]
pub(crate) fn no_text(py: Python<'_>, cause: &PyErr) -> PyErr {
    let words = cause.value(py).str().map_or_else(|_| "the input is no text".to_owned(), |words| words.to_string());
    let error = decode(py, b"", &words, "input", 0, "");
    error.set_cause(py, Some(cause.clone_ref(py)));
    error
}

/// A `JSONEncodeError` with this message and cause.
#[cold]
pub(crate) fn encode(py: Python<'_>, words: &str, cause: Option<PyErr>) -> PyErr {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let raise = || {
        let message = PyString::new(py, words);
        class(py, &CLASS, "JSONEncodeError")?.call1((message,)).map(PyErr::from_value)
    };
    let error = raise().unwrap_or_else(|error| error);
    if cause.is_some() {
        error.set_cause(py, cause);
    }
    error
}

/// A `QueryError` with this message.
#[cold]
pub(crate) fn query(py: Python<'_>, words: &str) -> PyErr {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let raise = || class(py, &CLASS, "QueryError")?.call1((words,)).map(PyErr::from_value);
    raise().unwrap_or_else(|error| error)
}

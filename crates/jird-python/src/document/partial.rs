//! `Partial`: a document that is still arriving.

use crate::error;
use crate::loads::{Builder, Keeps, with_reader};
use crate::raw::text::Text;
use jird::partial::PartialDocument;
use pyo3::prelude::*;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A JSON text that arrives in pieces, as a language model or a slow connection sends it, and its value so far.
///
/// The pieces may be cut anywhere. All of them together take time linear in their bytes. Strings are there as far as they have
/// arrived, in whole characters; `whole_strings=True` withholds those that are not closed. Numbers, true, false and null are
/// withheld until they cannot go on, and keys until their value begins. Threads may share a Partial.
#[pyclass(frozen, module = "jird")]
pub(crate) struct Partial(Mutex<Arriving>);

struct Arriving {
    document: PartialDocument,
    /// The bytes of all pieces that were taken.
    len: usize,
}

#[pymethods]
impl Partial {
    #[new]
    #[pyo3(signature = (*, whole_strings=false))]
    fn new(whole_strings: bool) -> Self {
        let document = PartialDocument::new();
        let document = if whole_strings { document.withhold_strings() } else { document };
        Self(Mutex::new(Arriving { document, len: 0 }))
    }

    /// Takes the next piece: bytes, bytearray, memoryview or str. Raises JSONDecodeError as soon as a byte rules out a JSON text;
    /// the value before it stays.
    #[pyo3(signature = (data, /))]
    fn push(&self, data: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = data.py();
        let text = Text::of(data).map_err(|cause| error::no_text(py, &cause))?;
        let mut arriving = self.lock();
        let pushed = arriving.document.push(text.bytes());
        if let Err(cause) = pushed {
            let mut all = arriving.document.received();
            all.truncate(arriving.len);
            all.extend_from_slice(text.bytes());
            // Making the exception runs code of Python.
            drop(arriving);
            return Err(error::not_json(py, &all, &cause));
        }
        arriving.len += text.bytes().len();
        Ok(())
    }

    /// Says that the text ends here. Raises JSONDecodeError if it is not all of a JSON text.
    fn finish(&self, py: Python<'_>) -> PyResult<()> {
        let mut arriving = self.lock();
        let Err(cause) = arriving.document.finish() else { return Ok(()) };
        let all = arriving.document.received();
        drop(arriving);
        Err(error::not_json(py, &all, &cause))
    }

    /// The value so far, rebuilt by each call; `default` if none has begun.
    #[pyo3(signature = (default=None))]
    fn value<'py>(&self, py: Python<'py>, default: Option<Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
        let Some(text) = self.snapshot() else { return Ok(default.unwrap_or_else(|| py.None().into_bound(py))) };
        with_reader(py, |reader| {
            let root =
                reader.parser.parse(text.as_bytes()).map_err(|error| error::not_json(py, text.as_bytes(), &error))?;
            Builder::new(py, text.as_bytes(), &mut reader.making, Keeps::Last).root(root)
        })
    }

    /// The JSON text of the value so far, which `loads(partial.text(), type=T)` decodes; None if no value has begun.
    fn text(&self) -> Option<String> {
        self.snapshot()
    }

    /// Whether the value is complete: only white space can follow.
    #[getter]
    fn complete(&self) -> bool {
        self.lock().document.is_complete()
    }
}

impl Partial {
    fn lock(&self) -> MutexGuard<'_, Arriving> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn snapshot(&self) -> Option<String> {
        self.lock().document.snapshot().map(|so_far| so_far.text().to_owned())
    }
}

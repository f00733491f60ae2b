//! Text that is JSON already.

use crate::raw::encode::{Encoder, Failure, because};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

/// JSON text, as bytes or str, that `dumps` writes as it is. Nothing is checked, except that a str is UTF-8.
#[pyclass(frozen, module = "jird")]
pub(crate) struct Fragment {
    /// The text.
    #[pyo3(get)]
    contents: Py<PyAny>,
}

#[pymethods]
impl Fragment {
    #[new]
    #[pyo3(signature = (contents, /))]
    fn new(contents: Py<PyAny>) -> Self {
        Self { contents }
    }
}

/// Writes the text of a fragment.
pub(super) fn write<'py>(encoder: &mut Encoder<'_, 'py>, fragment: &Bound<'py, Fragment>) -> Result<(), Failure> {
    let contents = fragment.get().contents.bind(encoder.py);
    if let Ok(bytes) = contents.cast::<PyBytes>() {
        encoder.out.bytes(bytes.as_bytes());
    } else if let Ok(text) = contents.cast::<PyString>() {
        let text = text.to_str().map_err(|_| because("str is not valid UTF-8: surrogates not allowed"))?;
        encoder.out.bytes(text.as_bytes());
    } else {
        return Err(because("a Fragment must hold bytes or str"));
    }
    encoder.out.byte(b',');
    Ok(())
}

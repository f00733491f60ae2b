//! The numbers of an array as a buffer.

use jird::{Document, Kind, Value};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMemoryView};

/// An array with at least this many numbers is read without the interpreter's lock.
const DETACHED_MIN: usize = 4096;

/// A memoryview of all numbers in `array`, in this format.
pub(super) fn view<'py>(
    py: Python<'py>,
    document: &Document<'_>,
    array: Value<'_>,
    format: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let read = || match format {
        "d" => Ok(numbers(array, |number| number.as_f64().map(f64::to_ne_bytes))),
        "q" => Ok(numbers(array, |number| number.as_i64().map(i64::to_ne_bytes))),
        "Q" => Ok(numbers(array, |number| number.as_u64().map(u64::to_ne_bytes))),
        _ => Err(()),
    };
    let read = if array.raw().len() < DETACHED_MIN { read() } else { py.detach(read) };
    let read =
        read.map_err(|()| PyValueError::new_err(format!("the format must be 'd', 'q' or 'Q', not {format:?}")))?;
    let bytes = read.map_err(|offset| {
        let place = jird::Error::new(jird::ErrorKind::Data, offset as u64).locate(document.text());
        PyValueError::new_err(format!("the value at {} is no number of the format {format:?}", place.pointer()))
    })?;
    PyMemoryView::from(PyBytes::new(py, &bytes).as_any())?.call_method1("cast", (format,))
}

/// The numbers in `array`, or the offset of a value that is none.
fn numbers(array: Value<'_>, number: impl Fn(Value<'_>) -> Option<[u8; 8]>) -> Result<Vec<u8>, usize> {
    let mut bytes = Vec::with_capacity(8 * array.len());
    for value in array.descendants() {
        if value.kind() != Kind::Array {
            bytes.extend_from_slice(&number(value).ok_or_else(|| value.offset())?);
        }
    }
    Ok(bytes)
}

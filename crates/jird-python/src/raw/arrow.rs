//! Streams of Arrow batches that others make.

use arrow_array::ffi_stream::{ArrowArrayStreamReader, FFI_ArrowArrayStream};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

/// The stream that an object gives by the Arrow PyCapsule interface.
///
/// # Errors
/// If the object has no `__arrow_c_stream__`, or the stream has failed or is used up.
pub(crate) fn stream(object: &Bound<'_, PyAny>) -> PyResult<ArrowArrayStreamReader> {
    let py = object.py();
    let Some(method) = object.getattr_opt(intern!(py, "__arrow_c_stream__"))? else {
        let kind = object.get_type().name()?;
        return Err(PyTypeError::new_err(format!("{kind} is no stream of Arrow: it has no __arrow_c_stream__")));
    };
    let capsule = method.call0()?.cast_into::<PyCapsule>().map_err(PyErr::from)?;
    let pointer = capsule.pointer_checked(Some(c"arrow_array_stream"))?;
    // SAFETY: a capsule of this name holds a pointer to an `ArrowArrayStream`, by the Arrow PyCapsule interface, which
    // lives as long as the capsule does. The stream is moved out, as the interface wants, and what is left there says
    // so.
    let reader = unsafe { ArrowArrayStreamReader::from_raw(pointer.as_ptr().cast::<FFI_ArrowArrayStream>()) };
    reader.map_err(|error| PyValueError::new_err(error.to_string()))
}

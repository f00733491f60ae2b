//! The bytes of what was passed as a text.

use super::encode::text_of;
use core::ffi::c_char;
use core::mem::MaybeUninit;
use core::slice;
use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyMemoryView, PyString};

/// A text, and the object that it is in, which never changes: it is a `bytes` or a `str`.
///
/// All other buffers are copied first. To hold a buffer keeps it where it is, and not as it is: code in C writes into it
/// without the interpreter's lock, as `readinto` and other processes do with a map.
pub(crate) enum Text<'py> {
    Bytes(Bound<'py, PyBytes>),
    /// Invariant: `PyUnicode_AsUTF8AndSize` has succeeded.
    Str(Bound<'py, PyString>),
}

impl<'py> Text<'py> {
    /// The text in a `bytes`, `bytearray`, `memoryview` or `str`.
    ///
    /// # Errors
    /// If it is none of them, or a `str` with a surrogate, or a `memoryview` of what is not contiguous.
    #[inline]
    pub(crate) fn of(object: &Bound<'py, PyAny>) -> PyResult<Self> {
        if let Ok(bytes) = object.cast::<PyBytes>() {
            Ok(Self::Bytes(bytes.clone()))
        } else if let Ok(text) = object.cast::<PyString>() {
            text.to_str()?;
            Ok(Self::Str(text.clone()))
        } else if object.is_instance_of::<PyMemoryView>() || object.is_instance_of::<PyByteArray>() {
            copied(object).map(Self::Bytes)
        } else {
            let kind = object.get_type().name()?;
            Err(PyTypeError::new_err(format!("the input must be bytes, bytearray, memoryview or str, not {kind}")))
        }
    }

    /// The object that the bytes are in.
    pub(crate) fn owner(&self) -> Bound<'py, PyAny> {
        match self {
            Self::Bytes(bytes) => bytes.clone().into_any(),
            Self::Str(text) => text.clone().into_any(),
        }
    }

    /// The bytes. They stay where they are and as they are as long as the object lives.
    #[inline(always)]
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Self::Bytes(bytes) => bytes.as_bytes(),
            Self::Str(text) => text.to_str().map_or(&[], str::as_bytes),
        }
    }
}

/// The bytes of a `bytes` or a `str`; `None` of anything else, and of a `str` with surrogates.
#[inline(always)]
pub(crate) fn bytes_of<'a>(object: &'a Bound<'_, PyAny>) -> Option<&'a [u8]> {
    let object = object.as_ptr();
    // SAFETY: the object lives as long as the reference, and is a `bytes` where it is read as one, or a `str`. Neither changes.
    unsafe {
        if ffi::PyBytes_Check(object) != 0 {
            let (data, len) = (ffi::PyBytes_AS_STRING(object), ffi::Py_SIZE(object));
            Some(slice::from_raw_parts(data.cast(), len as usize))
        } else if ffi::PyUnicode_Check(object) != 0 {
            text_of(object).map(str::as_bytes)
        } else {
            None
        }
    }
}

/// A copy of a contiguous buffer.
fn copied<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
    let py = object.py();
    let mut view = MaybeUninit::<ffi::Py_buffer>::zeroed();
    // SAFETY: this thread is attached, `object` lives, and there is room for a view. It is initialised if the call
    // succeeds, does not move, and is released. A simple buffer is `len` bytes at `buf`, which stay there until then.
    // Python's code copies them: others may write to them meanwhile, and no reference of Rust's is ever made to them.
    unsafe {
        if ffi::PyObject_GetBuffer(object.as_ptr(), view.as_mut_ptr(), ffi::PyBUF_SIMPLE) != 0 {
            return Err(PyErr::fetch(py));
        }
        let buffer = view.assume_init_mut();
        let copy = ffi::PyBytes_FromStringAndSize(buffer.buf.cast::<c_char>(), buffer.len);
        let copy = Bound::from_owned_ptr_or_err(py, copy);
        ffi::PyBuffer_Release(buffer);
        Ok(copy?.cast_into_unchecked())
    }
}

//! The bytes of what was passed as a text.

use core::ffi::c_int;
use core::mem::MaybeUninit;
use core::slice;
use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyMemoryView, PyString};

/// A text, and the object that it is in.
pub(crate) struct Text<'py> {
    held: Held<'py>,
}

enum Held<'py> {
    Bytes(Bound<'py, PyBytes>),
    /// Invariant: `PyUnicode_AsUTF8AndSize` has succeeded.
    Str(Bound<'py, PyString>),
    Buffer(Buffer<'py>),
}

/// A contiguous buffer of an object.
struct Buffer<'py> {
    view: Box<ffi::Py_buffer>,
    _attached: Python<'py>,
}

impl<'py> Text<'py> {
    /// The text in a `bytes`, `bytearray`, `memoryview` or `str`.
    ///
    /// # Errors
    /// If it is none of them, or a `str` with a surrogate, or a `memoryview` of what is not contiguous.
    #[inline]
    pub(crate) fn of(object: &Bound<'py, PyAny>) -> PyResult<Self> {
        let held = if let Ok(bytes) = object.cast::<PyBytes>() {
            Held::Bytes(bytes.clone())
        } else if let Ok(text) = object.cast::<PyString>() {
            text.to_str()?;
            Held::Str(text.clone())
        } else if object.is_instance_of::<PyMemoryView>() || object.is_instance_of::<PyByteArray>() {
            Held::Buffer(Buffer::of(object)?)
        } else {
            let kind = object.get_type().name()?;
            return Err(PyTypeError::new_err(format!(
                "the input must be bytes, bytearray, memoryview or str, not {kind}"
            )));
        };
        Ok(Self { held })
    }

    /// Whether the bytes cannot change as long as the object lives. Otherwise they cannot as long as this thread is
    /// attached and no code of Python runs.
    #[inline]
    pub(crate) fn is_fixed(&self) -> bool {
        !matches!(self.held, Held::Buffer(_))
    }

    /// The object that the bytes are in, if they are fixed.
    pub(crate) fn owner(&self) -> Option<Bound<'py, PyAny>> {
        match &self.held {
            Held::Bytes(bytes) => Some(bytes.clone().into_any()),
            Held::Str(text) => Some(text.clone().into_any()),
            Held::Buffer(_) => None,
        }
    }

    /// The bytes. No code of Python may run as long as they are in use, unless [`is_fixed`](Self::is_fixed).
    #[inline(always)]
    pub(crate) fn bytes(&self) -> &[u8] {
        match &self.held {
            Held::Bytes(bytes) => bytes.as_bytes(),
            Held::Str(text) => text.to_str().map_or(&[], str::as_bytes),
            Held::Buffer(buffer) => buffer.bytes(),
        }
    }
}

impl<'py> Buffer<'py> {
    fn of(object: &Bound<'py, PyAny>) -> PyResult<Self> {
        let mut view = Box::new(MaybeUninit::<ffi::Py_buffer>::zeroed());
        // SAFETY: this thread is attached, `object` lives, and there is room for a view, which stays where it is. It is
        // initialised if the call succeeds.
        unsafe {
            let got: c_int = ffi::PyObject_GetBuffer(object.as_ptr(), view.as_mut_ptr(), ffi::PyBUF_SIMPLE);
            if got != 0 {
                return Err(PyErr::fetch(object.py()));
            }
            Ok(Self { view: view.assume_init(), _attached: object.py() })
        }
    }

    fn bytes(&self) -> &[u8] {
        if self.view.len == 0 {
            return &[];
        }
        // SAFETY: a simple buffer is `len` bytes at `buf`, which stay there until it is released. This thread is
        // attached and runs no code of Python as long as the slice is in use (see `Text::bytes`), so nobody writes to
        // it.
        unsafe { slice::from_raw_parts(self.view.buf.cast(), self.view.len as usize) }
    }
}

impl Drop for Buffer<'_> {
    fn drop(&mut self) {
        // SAFETY: this thread is attached, and the view was filled by `PyObject_GetBuffer`.
        unsafe { ffi::PyBuffer_Release(&raw mut *self.view) };
    }
}

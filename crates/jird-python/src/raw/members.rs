//! The members of a dict, one by one.

use core::ptr;
use pyo3::exceptions::PyRuntimeError;
use pyo3::ffi::{self, Py_ssize_t};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Goes through a dict. Code of Python may run meanwhile: if the dict changes its size, that is an error.
pub(crate) struct Members<'a, 'py> {
    dict: &'a Bound<'py, PyDict>,
    at: Py_ssize_t,
    len: usize,
}

impl<'a, 'py> Members<'a, 'py> {
    pub(crate) fn of(dict: &'a Bound<'py, PyDict>) -> Self {
        Self { dict, at: 0, len: dict.len() }
    }

    /// The next key and its value; `None` after the last.
    #[inline(always)]
    pub(crate) fn next(&mut self) -> PyResult<Option<(Bound<'py, PyAny>, Bound<'py, PyAny>)>> {
        if self.dict.len() != self.len {
            return Err(PyRuntimeError::new_err("a dict changed its size while it was written"));
        }
        let py = self.dict.py();
        let (mut key, mut value) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: it is a dict, and the pointers are to be written. What they point to is borrowed from the dict, and
        // held by references of its own before anything else happens.
        unsafe {
            if ffi::PyDict_Next(self.dict.as_ptr(), &raw mut self.at, &raw mut key, &raw mut value) == 0 {
                return Ok(None);
            }
            Ok(Some((Bound::from_borrowed_ptr(py, key), Bound::from_borrowed_ptr(py, value))))
        }
    }
}

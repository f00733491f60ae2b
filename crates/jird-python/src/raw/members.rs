//! The members of a dict, one by one: by Python's functions, and straight from its table.

use core::ptr;
use pyo3::exceptions::PyRuntimeError;
use pyo3::ffi::{self, Py_ssize_t, PyObject};
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

/// All members as they are now. The dict may change afterwards.
pub(crate) fn copied<'py>(dict: &Bound<'py, PyDict>) -> Vec<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    copied_from(dict, 0)
}

/// The same from a position of `PyDict_Next` on.
pub(super) fn copied_from<'py>(
    dict: &Bound<'py, PyDict>,
    mut at: Py_ssize_t,
) -> Vec<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    let py = dict.py();
    let mut members = Vec::with_capacity(dict.len());
    let (mut key, mut value) = (ptr::null_mut(), ptr::null_mut());
    // SAFETY: it is a dict, and the pointers are to be written. What they point to is borrowed from the dict, and held
    // by references of its own before anything else happens. No code of Python runs meanwhile.
    unsafe {
        while ffi::PyDict_Next(dict.as_ptr(), &raw mut at, &raw mut key, &raw mut value) != 0 {
            members.push((Bound::from_borrowed_ptr(py, key), Bound::from_borrowed_ptr(py, value)));
        }
    }
    members
}

/// Whether this Python has the layout of [`Head`]: older ones have another, and later ones may.
const IS_KNOWN: bool = cfg!(all(Py_3_11, not(Py_3_14)));

/// The entries of a dict whose keys all are exactly `str`, and whose values are in its table.
pub(super) struct Entries {
    first: *const Entry,
    len: Py_ssize_t,
}

/// What Python calls `PyDictUnicodeEntry`. The value of a member that was removed is null.
#[repr(C)]
struct Entry {
    key: *mut PyObject,
    value: *mut PyObject,
}

/// What Python calls `PyDictKeysObject`, from 3.11 to 3.13 with the interpreter's lock. After it come the indices, `1
/// << log2_index_bytes` bytes of them, and then the entries.
#[repr(C)]
struct Head {
    references: Py_ssize_t,
    log2_size: u8,
    log2_index_bytes: u8,
    kind: u8,
    version: u32,
    usable: Py_ssize_t,
    entries: Py_ssize_t,
}

impl Entries {
    /// What `kind` is if all keys are `str`, and the values are in the table.
    const UNICODE: u8 = 1;

    /// The table of a dict, if it is of this kind.
    ///
    /// # Safety
    /// It is a dict, and the table is not used after it could have changed.
    #[inline(always)]
    pub(super) unsafe fn of(dict: *mut PyObject) -> Option<Self> {
        if !IS_KNOWN {
            return None;
        }
        // SAFETY: it is a dict, whose keys are behind a pointer that is never null, and have this layout. The bytes of
        // the indices and the entries are in the same allocation.
        unsafe {
            let head = (*dict.cast::<ffi::PyDictObject>()).ma_keys.cast::<Head>();
            if (*head).kind != Self::UNICODE {
                return None;
            }
            let first = head.add(1).byte_add(1 << (*head).log2_index_bytes).cast::<Entry>();
            Some(Self { first, len: (*head).entries })
        }
    }

    /// The next key, which is exactly a `str`, and its value, from this position on, which moves as that of
    /// `PyDict_Next` does.
    ///
    /// # Safety
    /// The dict lives, and has not changed.
    #[inline(always)]
    pub(super) unsafe fn next(&self, at: &mut Py_ssize_t) -> Option<(*mut PyObject, *mut PyObject)> {
        while *at < self.len {
            // SAFETY: there are `len` entries.
            let Entry { key, value } = unsafe { self.first.add(*at as usize).read() };
            *at += 1;
            if !value.is_null() {
                return Some((key, value));
            }
        }
        None
    }
}

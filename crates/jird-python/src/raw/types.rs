//! What Python knows of a class, read from its object.

use pyo3::ffi::{self, PyObject, PyTypeObject};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyType};

unsafe extern "C" {
    /// Of CPython since 2.2. It also gives the class its version.
    fn _PyType_Lookup(class: *mut PyTypeObject, name: *mut PyObject) -> *mut PyObject;
}

/// Whether this Python gives its classes versions as [`TypeState`] reads them: later ones may do it in another way.
const IS_KNOWN: bool = cfg!(all(Py_3_11, not(Py_3_14)));

/// The bit of a class whose version holds: `Py_TPFLAGS_VALID_VERSION_TAG`.
const HAS_VERSION: core::ffi::c_ulong = 1 << 19;

/// A class as it is now. After a change of the class or of one of its bases, it has another state, and no two classes ever
/// have the same: Python's own caches of attributes rely on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TypeState {
    address: usize,
    version: u32,
}

impl TypeState {
    /// Of the class of an object. `None` if Python has given the class no version: it has none before the first look for an
    /// attribute, and after very many changes.
    #[inline]
    pub(crate) fn of(object: &Bound<'_, PyAny>) -> Option<Self> {
        // SAFETY: the reference shows that the object lives.
        unsafe { Self::of_pointer(object.as_ptr()) }
    }

    /// The same.
    ///
    /// # Safety
    /// `object` lives.
    #[inline]
    pub(super) unsafe fn of_pointer(object: *mut PyObject) -> Option<Self> {
        // SAFETY: the object lives, so that its class does.
        unsafe {
            let class: *mut PyTypeObject = ffi::Py_TYPE(object);
            let (version, flags) = ((*class).tp_version_tag, (*class).tp_flags);
            let is_valid = IS_KNOWN && version != 0 && flags & HAS_VERSION != 0;
            is_valid.then(|| Self { address: class.addr(), version })
        }
    }

    /// A number that differs for most classes.
    #[inline]
    pub(crate) fn mixed(self) -> usize {
        // Classes are far from each other.
        (self.address >> 4).wrapping_mul(0x9E37_79B1) >> 7
    }
}

/// A builtin class that a class is, or is derived from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Base {
    Str,
    Int,
    List,
    Dict,
}

impl Base {
    /// Of the class of an object. Its objects have the layout of the builtin class, whatever code of Python does.
    #[inline]
    pub(crate) fn of_object(object: &Bound<'_, PyAny>) -> Option<Self> {
        // SAFETY: the reference shows that the object lives, so that its class does.
        unsafe { Self::of(ffi::Py_TYPE(object.as_ptr())) }
    }

    /// The same.
    ///
    /// # Safety
    /// `class` lives.
    #[inline(always)]
    pub(super) unsafe fn of(class: *mut PyTypeObject) -> Option<Self> {
        const ANY: core::ffi::c_ulong = ffi::Py_TPFLAGS_UNICODE_SUBCLASS
            | ffi::Py_TPFLAGS_LONG_SUBCLASS
            | ffi::Py_TPFLAGS_LIST_SUBCLASS
            | ffi::Py_TPFLAGS_DICT_SUBCLASS;
        // SAFETY: the class lives.
        let flags = unsafe { (*class).tp_flags } & ANY;
        Some(match flags {
            0 => return None,
            ffi::Py_TPFLAGS_UNICODE_SUBCLASS => Self::Str,
            ffi::Py_TPFLAGS_LONG_SUBCLASS => Self::Int,
            ffi::Py_TPFLAGS_LIST_SUBCLASS => Self::List,
            _ => Self::Dict,
        })
    }
}

/// What a class or one of its bases has under a name, as instances would find it. The class itself is not asked: code of its
/// metaclass could answer differently each time.
pub(crate) fn in_class<'py>(class: &Bound<'py, PyType>, name: &Bound<'py, PyString>) -> Option<Bound<'py, PyAny>> {
    // SAFETY: both live. The result is borrowed from the class, or null without an exception.
    unsafe { Bound::from_borrowed_ptr_or_opt(class.py(), _PyType_Lookup(class.as_type_ptr(), name.as_ptr())) }
}

/// Whether each instance of `class` is one of `base`, whatever it says itself.
#[inline]
pub(crate) fn is_derived(class: &Bound<'_, PyType>, base: &Bound<'_, PyType>) -> bool {
    // SAFETY: both are classes, which live.
    unsafe { ffi::PyType_IsSubtype(class.as_type_ptr(), base.as_type_ptr()) != 0 }
}

/// Whether what a class has under a name is a slot.
pub(crate) fn is_slot(found: &Bound<'_, PyAny>) -> bool {
    // SAFETY: the object lives; its class is only compared.
    unsafe { ffi::Py_TYPE(found.as_ptr()) == &raw mut ffi::PyMemberDescr_Type }
}

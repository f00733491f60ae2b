//! Functions and methods whose arguments PyO3 does not take apart: it does so by a description of them, which takes as long as
//! a short text. All else is as for the functions that it wraps: it knows that the thread is attached, releases what was
//! dropped elsewhere, and makes exceptions of panics.
//!
//! Here, a call has arguments without names, and the function says whether it takes them. If it does not, the function that
//! PyO3 wraps is called: it knows the names and the defaults, and what to say of mistakes.

use super::make::NewObject;
use core::ffi::CStr;
use core::marker::PhantomData;
use core::ptr;
use pyo3::Borrowed;
use pyo3::ffi::{self, Py_ssize_t, PyMethodDef, PyMethodDefPointer, PyObject};
use pyo3::impl_::trampoline::{MethodDef, fastcall_cfunction_with_keywords};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;
use std::ffi::CString;

/// The function that PyO3 wraps, after [`install`].
pub(crate) type Wrapped = PyOnceLock<Py<PyAny>>;

/// A function of a module, or a method of a class.
pub(crate) trait Entry {
    const WRAPPED: &'static Wrapped;

    /// The result; `None` if there is an exception, which is set, or if the function that PyO3 wraps is to be called, for
    /// which nothing was done yet. `owner` is the module, or the instance.
    fn call<'py>(owner: &Bound<'py, PyAny>, arguments: Arguments<'_, 'py>) -> NewObject<'py>;
}

/// The arguments of a call. None has a name.
#[derive(Clone, Copy)]
pub(crate) struct Arguments<'a, 'py> {
    /// Invariant: there are `len` objects, which live as long as `'a`.
    first: *const *mut PyObject,
    len: usize,
    py: Python<'py>,
    lives: PhantomData<&'a PyObject>,
}

impl<'a, 'py> Arguments<'a, 'py> {
    #[inline(always)]
    pub(crate) fn len(self) -> usize {
        self.len
    }

    /// The argument at a place.
    #[inline(always)]
    pub(crate) fn get(self, at: usize) -> Option<Borrowed<'a, 'py, PyAny>> {
        // SAFETY: there are more than `at` objects, which live.
        (at < self.len).then(|| unsafe { Borrowed::from_ptr(self.py, *self.first.add(at)) })
    }

    /// The argument at a place, unless it is `None`.
    #[inline(always)]
    pub(crate) fn some(self, at: usize) -> Option<Borrowed<'a, 'py, PyAny>> {
        self.get(at).filter(|found| !found.is_none())
    }

    /// The argument, if there is one.
    #[inline(always)]
    pub(crate) fn only(self) -> Option<Borrowed<'a, 'py, PyAny>> {
        if self.len == 1 { self.get(0) } else { None }
    }
}

/// Lets Python call `E` instead of what a module or a class has under this name, with the same words about it.
pub(crate) fn install<E: Entry>(place: &Bound<'_, PyAny>, name: &'static CStr) -> PyResult<()> {
    let py = place.py();
    let key = name.to_string_lossy();
    let wrapped = place.getattr(&*key)?;
    let signature = wrapped.getattr(intern!(py, "__text_signature__"))?;
    let words = wrapped.getattr(intern!(py, "__doc__"))?;
    let words = CString::new(format!("{key}{signature}\n--\n\n{words}"))?;
    let definition = PyMethodDef {
        ml_name: name.as_ptr(),
        ml_meth: PyMethodDefPointer { PyCFunctionFastWithKeywords: fastcall_cfunction_with_keywords::<Called<E>> },
        ml_flags: ffi::METH_FASTCALL | ffi::METH_KEYWORDS,
        ml_doc: words.into_raw(),
    };
    let definition = Box::leak(Box::new(definition));
    // SAFETY: this thread is attached, and all objects live. The definition, its name and its words are never freed, and the
    // function is of the kind that the flags say.
    let made = unsafe {
        let made = if let Ok(class) = place.cast::<PyType>() {
            ffi::PyDescr_NewMethod(class.as_type_ptr(), definition)
        } else {
            let module = wrapped.getattr(intern!(py, "__module__"))?;
            ffi::PyCFunction_NewEx(definition, place.as_ptr(), module.as_ptr())
        };
        Bound::from_owned_ptr_or_err(py, made)?
    };
    E::WRAPPED.get_or_init(py, || wrapped.unbind());
    place.setattr(&*key, made)
}

/// What Python calls, by PyO3's frame around it.
struct Called<E>(PhantomData<E>);

impl<E: Entry> MethodDef<fastcall_cfunction_with_keywords::Func> for Called<E> {
    const METH: fastcall_cfunction_with_keywords::Func = called::<E>;
}

/// # Safety
/// As for every function of the kind `METH_FASTCALL | METH_KEYWORDS`: `owner` lives; at `arguments` are `len` objects and
/// then one for each of the `names`, which is a tuple or null; and all of them live until it returns.
#[expect(clippy::unnecessary_wraps, reason = "as PyO3's frame calls it")]
unsafe fn called<E: Entry>(
    py: Python<'_>,
    owner: *mut PyObject,
    arguments: *const *mut PyObject,
    len: Py_ssize_t,
    names: *mut PyObject,
) -> PyResult<*mut PyObject> {
    // SAFETY: Python promises it.
    let owner = unsafe { Borrowed::from_ptr(py, owner) };
    if names.is_null() {
        let given = Arguments { first: arguments, len: len as usize, py, lives: PhantomData };
        match E::call(&owner, given) {
            Some(made) => return Ok(made.into_ptr()),
            None if PyErr::occurred(py) => return Ok(ptr::null_mut()),
            None => {}
        }
    }
    // SAFETY: Python promises it.
    Ok(unsafe { call_wrapped::<E>(owner, arguments, len as usize, names) })
}

/// Calls the function that PyO3 wraps.
///
/// # Safety
/// As of [`called`].
#[cold]
#[inline(never)]
unsafe fn call_wrapped<E: Entry>(
    owner: Borrowed<'_, '_, PyAny>,
    arguments: *const *mut PyObject,
    len: usize,
    names: *mut PyObject,
) -> *mut PyObject {
    let Some(wrapped) = E::WRAPPED.get(owner.py()) else { unreachable!("it is set before Python can call this") };
    // SAFETY: all objects live. A method that is taken from its class is called with the instance as its first argument.
    unsafe {
        if ffi::Py_TYPE(wrapped.as_ptr()) != &raw mut ffi::PyMethodDescr_Type {
            return ffi::PyObject_Vectorcall(wrapped.as_ptr(), arguments, len, names);
        }
        let named = if names.is_null() { 0 } else { ffi::PyTuple_GET_SIZE(names) as usize };
        let mut all = vec![owner.as_ptr()];
        all.extend((0..len + named).map(|at| *arguments.add(at)));
        ffi::PyObject_Vectorcall(wrapped.as_ptr(), all.as_ptr(), 1 + len, names)
    }
}

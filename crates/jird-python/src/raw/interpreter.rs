//! Which interpreter of the process this is.

use pyo3::{Python, ffi};

/// Whether it is the main interpreter, and no sub-interpreter.
pub(crate) fn is_main(_attached: Python<'_>) -> bool {
    // SAFETY: this thread is attached, as the token shows; the pointers are only compared.
    unsafe { core::ptr::eq(ffi::PyInterpreterState_Get(), ffi::PyInterpreterState_Main()) }
}

//! Classes of modules that a program may not have imported.

use crate::raw::encode::Failure;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyString, PyType};

/// A class of a module, if the module has been imported: there are no instances otherwise.
pub(super) fn loaded<'py>(
    py: Python<'py>,
    slot: &PyOnceLock<Py<PyType>>,
    module: &Bound<'py, PyString>,
    name: &Bound<'py, PyString>,
) -> Result<Option<Bound<'py, PyType>>, Failure> {
    static MODULES: PyOnceLock<Py<PyDict>> = PyOnceLock::new();
    if let Some(class) = slot.get(py) {
        return Ok(Some(class.bind(py).clone()));
    }
    let modules = MODULES.get_or_try_init(py, || {
        PyResult::Ok(py.import("sys")?.getattr("modules")?.cast_into::<PyDict>().map_err(PyErr::from)?.unbind())
    })?;
    let Some(module) = modules.bind(py).get_item(module)? else { return Ok(None) };
    // A module that is being imported just now has no class yet, and one of that name may be something else.
    let Some(class) = module.getattr_opt(name)?.and_then(|class| class.cast_into::<PyType>().ok()) else {
        return Ok(None);
    };
    Ok(Some(slot.get_or_init(py, || class.unbind()).bind(py).clone()))
}

//! An encoder whose `default` and options are given once.

use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// Serializes values with the same `default` and options each time: `jird.Encoder(default, option).encode(obj)` is
/// `jird.dumps(obj, default, option | jird.OPT_SERIALIZE_TYPES)`, which is explained there. Threads may share it.
/// Raises JSONEncodeError if the options are not known.
#[pyclass(frozen, module = "jird")]
pub(crate) struct Encoder {
    default: Option<Py<PyAny>>,
    option: u32,
}

#[pymethods]
impl Encoder {
    #[new]
    #[pyo3(signature = (default=None, option=None))]
    fn new(py: Python<'_>, default: Option<Py<PyAny>>, option: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        Ok(Self { default, option: super::given_options(py, option)? | super::SERIALIZE_TYPES })
    }

    /// What the collector of cycles follows.
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.default)
    }

    /// Serializes a value to JSON, as bytes of UTF-8.
    #[pyo3(signature = (obj, /))]
    fn encode<'py>(&self, obj: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
        let py = obj.py();
        super::write(obj, self.default.as_ref().map(|default| default.bind(py).clone()), self.option)
    }
}

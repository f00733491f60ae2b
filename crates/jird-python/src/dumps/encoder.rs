//! An encoder whose `default` and options are given once.

use crate::raw::entry::{Arguments, Entry, Wrapped};
use crate::raw::make::NewObject;
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
        self.text(obj).ok_or_else(|| PyErr::fetch(py))
    }
}

impl Encoder {
    /// The text of a value. `None` with Python's exception set.
    fn text<'py>(&self, obj: &Bound<'py, PyAny>) -> Option<Bound<'py, PyBytes>> {
        super::write(obj, self.default.as_ref().map(|default| default.bind(obj.py()).clone()), self.option)
    }
}

/// [`Encoder::encode`]
pub(crate) struct Encode;

static WRAPPED: Wrapped = Wrapped::new();

impl Entry for Encode {
    const WRAPPED: &'static Wrapped = &WRAPPED;

    fn call<'py>(encoder: &Bound<'py, PyAny>, arguments: Arguments<'_, 'py>) -> NewObject<'py> {
        let (encoder, object) = (encoder.cast::<Encoder>().ok()?, arguments.only()?);
        encoder.get().text(&object).map(Bound::into_any)
    }
}

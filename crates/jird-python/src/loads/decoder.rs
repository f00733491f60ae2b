//! A decoder of texts to values of one type, which is looked up once.

use super::typed::Functions;
use super::{Typed, read, read_text};
use crate::raw::entry::{Arguments, Entry, Wrapped};
use crate::raw::make::NewObject;
use crate::raw::text::bytes_of;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;

/// Decodes texts to values of one type: `jird.Decoder(T).decode(data)` is `jird.loads(data, type=T)`, without looking up what
/// must be done for T in each call. Without a type, it is `jird.loads(data)`.
///
/// `dec_hook` makes values of types that are a TypeError without it: it is called with the type and the value that `loads` makes
/// without a type, and returns an instance of the type. `strict=False` also takes strings for the numbers, booleans and null
/// that are in them, 0 and 1 for booleans, 2.0 for an int, and numbers for the seconds of a timedelta, or since 1970 of a
/// datetime. `float_hook` makes the numbers with a point or an exponent that no type describes, as in `jird.Decoder()`, `dict` or
/// `Any`: it is called with the number's text. Threads may share a decoder. Raises TypeError if the type cannot be made from JSON.
#[pyclass(frozen, module = "jird")]
pub(crate) struct Decoder {
    typed: Option<Typed>,
    /// The type, or None.
    #[pyo3(get)]
    r#type: Py<PyAny>,
    hook: Option<Py<PyAny>>,
    float_hook: Option<Py<PyAny>>,
}

#[pymethods]
impl Decoder {
    #[new]
    #[pyo3(signature = (r#type=None, *, strict=true, dec_hook=None, float_hook=None))]
    fn new(
        py: Python<'_>,
        r#type: Option<Bound<'_, PyAny>>,
        strict: bool,
        dec_hook: Option<Bound<'_, PyAny>>,
        float_hook: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let functions = Functions { hook: dec_hook.as_ref(), float_hook: float_hook.as_ref() };
        let has_functions = dec_hook.is_some() || float_hook.is_some();
        let typed = match &r#type {
            None if float_hook.is_some() => Some(Typed::with(py.get_type::<PyAny>().as_any(), functions, true)?),
            None => None,
            Some(wanted) if strict && !has_functions => Some(Typed::of(wanted)?),
            Some(wanted) => Some(Typed::with(wanted, functions, strict)?),
        };
        Ok(Self {
            typed,
            r#type: r#type.map_or_else(|| py.None(), Bound::unbind),
            hook: dec_hook.map(Bound::unbind),
            float_hook: float_hook.map(Bound::unbind),
        })
    }

    /// Deserializes a JSON text, given as bytes, bytearray, memoryview or str, to a value of the decoder's type. Raises
    /// JSONDecodeError where the text is not JSON, or not as the type wants it.
    #[pyo3(signature = (data, /))]
    fn decode<'py>(&self, data: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        read(data, self.typed.as_ref())
    }

    /// What the collector of cycles follows.
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.r#type)?;
        visit.call(&self.hook)?;
        visit.call(&self.float_hook)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("jird.Decoder({})", self.r#type.bind(py).repr()?))
    }
}

/// [`Decoder::decode`]
pub(crate) struct Decode;

static WRAPPED: Wrapped = Wrapped::new();

impl Entry for Decode {
    const WRAPPED: &'static Wrapped = &WRAPPED;

    fn call<'py>(decoder: &Bound<'py, PyAny>, arguments: Arguments<'_, 'py>) -> NewObject<'py> {
        let (decoder, data) = (decoder.cast::<Decoder>().ok()?, arguments.only()?);
        read_text(data.py(), bytes_of(&data)?, decoder.get().typed.as_ref())
    }
}

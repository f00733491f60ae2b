//! Values by the hooks of `json`.

use crate::loads::{HookedReader, Hooks, with_root};
use pyo3::prelude::*;

/// Reads a text as `json.loads` does, with its hooks. A text that is not JSON by RFC 8259 is a JSONDecodeError before
/// any hook is called, so that `json` can be asked for it.
#[pyfunction]
#[pyo3(signature = (data, object_hook, object_pairs_hook, parse_float, parse_int, /))]
pub(crate) fn json_loads<'py>(
    data: &Bound<'py, PyAny>,
    object_hook: Option<Py<PyAny>>,
    object_pairs_hook: Option<Py<PyAny>>,
    parse_float: Option<Py<PyAny>>,
    parse_int: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let hooks = Hooks { object: object_hook, pairs: object_pairs_hook, float: parse_float, int: parse_int };
    with_root(data, |root, mut builder| HookedReader { builder: &mut builder, hooks: &hooks }.value(root))
}

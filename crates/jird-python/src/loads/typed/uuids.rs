//! UUIDs of texts, made without code of Python where the class is as expected.

use crate::raw::objects::Slots;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyType};

/// The class `uuid.UUID`, and how its instances are made.
pub(super) struct UuidOf {
    class: Py<PyAny>,
    /// Its slots `int` and `is_safe`, and what the second one has.
    slots: Option<(Slots, Py<PyAny>)>,
}

impl UuidOf {
    pub(super) fn new(class: &Bound<'_, PyAny>) -> Self {
        let py = class.py();
        let slots = || {
            let names = ["int", "is_safe"].map(|name| PyString::intern(py, name));
            let slots = Slots::of(class.cast::<PyType>().map_err(PyErr::from)?, &names)?;
            let unknown = py.import("uuid")?.getattr("SafeUUID")?.getattr("unknown")?;
            PyResult::Ok((slots, unknown.unbind()))
        };
        Self { slots: slots().ok(), class: class.clone().unbind() }
    }

    /// Whether no code of Python runs.
    pub(super) fn is_quiet(&self) -> bool {
        self.slots.is_some()
    }
}

/// The UUID of a text; `None` if it is none.
pub(super) fn uuid_of<'py>(py: Python<'py>, of: &UuidOf, text: &[u8]) -> Option<PyResult<Bound<'py, PyAny>>> {
    let number = uuid_number(text)?;
    let made = || {
        let number = number.into_pyobject(py)?.into_any();
        let Some((slots, unknown)) = &of.slots else {
            let arguments = PyDict::new(py);
            arguments.set_item(intern!(py, "int"), number)?;
            return of.class.bind(py).call((), Some(&arguments));
        };
        let mut instance = slots.instance(py)?;
        instance.set(0, number);
        instance.set(1, unknown.bind(py).clone());
        Ok(instance.finish(false))
    };
    Some(made())
}

fn uuid_number(text: &[u8]) -> Option<u128> {
    const HYPHENS: [usize; 4] = [8, 13, 18, 23];
    let has_hyphens = text.len() == 36;
    if !has_hyphens && text.len() != 32 {
        return None;
    }
    let mut number = 0;
    for (at, &byte) in text.iter().enumerate() {
        if has_hyphens && HYPHENS.contains(&at) {
            if byte != b'-' {
                return None;
            }
        } else {
            number = number << 4 | u128::from(char::from(byte).to_digit(16)?);
        }
    }
    Some(number)
}

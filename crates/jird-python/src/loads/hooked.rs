//! Values by hooks: functions of the caller that make some of them.

use super::Builder;
use crate::raw::make;
use jird::value::MachineNumber;
use jird::{Kind, Value};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyList, PyTuple};

/// What is called for values.
#[derive(Default)]
pub(crate) struct Hooks {
    /// With each dict.
    pub(crate) object: Option<Py<PyAny>>,
    /// With the pairs of each object.
    pub(crate) pairs: Option<Py<PyAny>>,
    /// With the text of each number that has a point or an exponent.
    pub(crate) float: Option<Py<PyAny>>,
    /// With the text of each other number.
    pub(crate) int: Option<Py<PyAny>>,
}

/// Makes values. The builder's text must be fixed: code of Python runs.
pub(crate) struct HookedReader<'h, 'b, 'm, 'py> {
    pub(crate) builder: &'b mut Builder<'m, 'py>,
    pub(crate) hooks: &'h Hooks,
}

impl<'py> HookedReader<'_, '_, '_, 'py> {
    /// Recursion is bounded: a text of the default policy has at most 1024 levels, and the stack is looked at.
    pub(crate) fn value(&mut self, value: Value<'_>) -> PyResult<Bound<'py, PyAny>> {
        self.builder.stack.check()?;
        match value.kind() {
            Kind::Number => self.number(value),
            Kind::Object => self.object(value),
            Kind::Array => {
                // Not made in its size: the hooks could find it before it is full.
                let list = PyList::empty(self.builder.py);
                for element in value.elements() {
                    list.append(self.value(element)?)?;
                }
                Ok(list.into_any())
            }
            Kind::String | Kind::Bool | Kind::Null => {
                self.builder.value(value).ok_or_else(|| PyErr::fetch(self.builder.py))
            }
        }
    }

    fn number(&mut self, value: Value<'_>) -> PyResult<Bound<'py, PyAny>> {
        let py = self.builder.py;
        let hook = if value.is_integer() { &self.hooks.int } else { &self.hooks.float };
        let text = || value.as_number().map_or("", |number| number.text());
        if let Some(hook) = hook {
            return hook.bind(py).call1((text(),));
        }
        let made = match value.machine_number() {
            Some(MachineNumber::I64(number)) => make::int(py, number),
            Some(MachineNumber::U64(number)) => make::uint(py, number),
            Some(MachineNumber::F64(number)) => make::float(py, number),
            // Python's own words, if it has too many digits.
            None if value.is_integer() => return py.get_type::<PyInt>().call1((text(),)),
            None => make::float(py, text().parse().unwrap_or(f64::INFINITY)),
        };
        made.ok_or_else(|| PyErr::fetch(py))
    }

    fn object(&mut self, object: Value<'_>) -> PyResult<Bound<'py, PyAny>> {
        let py = self.builder.py;
        if let Some(hook) = &self.hooks.pairs {
            let pairs = PyList::empty(py);
            for (key, value) in object.entries() {
                let key = self.builder.key(key).ok_or_else(|| PyErr::fetch(py))?.into_key();
                pairs.append(PyTuple::new(py, [key, self.value(value)?])?)?;
            }
            return hook.bind(py).call1((pairs,));
        }
        let dict = PyDict::new(py);
        for (key, value) in object.entries() {
            let key = self.builder.key(key).ok_or_else(|| PyErr::fetch(py))?.into_key();
            dict.set_item(key, self.value(value)?)?;
        }
        match &self.hooks.object {
            Some(hook) => hook.bind(py).call1((dict,)),
            None => Ok(dict.into_any()),
        }
    }
}

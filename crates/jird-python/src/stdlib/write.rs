//! The text that `json.dumps` writes.

use super::text;
use crate::raw::make;
use crate::raw::members::Members;
use crate::raw::stack::Stack;
use pyo3::exceptions::{PyRecursionError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};

/// The most containers that may be open at once, and answers of `default`.
const DEPTH_MAX: usize = 1000;

/// Writes a value as `json.dumps` does.
///
/// `default` is called for values that are not known, and always given. `indent` is what stands at the beginning of a
/// line for each level, or None.
#[pyfunction]
#[pyo3(signature = (obj, default, has_default, skipkeys, ensure_ascii, check_circular, allow_nan, sort_keys, indent, separators, /))]
#[expect(clippy::too_many_arguments, clippy::fn_params_excessive_bools, reason = "they are json's")]
pub(crate) fn json_dumps<'py>(
    obj: &Bound<'py, PyAny>,
    default: Bound<'py, PyAny>,
    has_default: bool,
    skipkeys: bool,
    ensure_ascii: bool,
    check_circular: bool,
    allow_nan: bool,
    sort_keys: bool,
    indent: Option<Vec<u8>>,
    separators: (Bound<'py, PyString>, Bound<'py, PyString>),
) -> PyResult<Bound<'py, PyAny>> {
    let py = obj.py();
    let (item, key) = (separators.0.to_str()?.into(), separators.1.to_str()?.into());
    let ways =
        Ways { default, has_default, skipkeys, ensure_ascii, check_circular, allow_nan, sort_keys, indent, item, key };
    let stack = Stack::here();
    let mut writer = Writer { py, ways: &ways, out: Vec::new(), open: Vec::new(), has_surrogates: false, stack };
    writer.value(obj)?;
    if writer.has_surrogates {
        let bytes = PyBytes::new(py, &writer.out);
        return bytes.call_method1(intern!(py, "decode"), (intern!(py, "utf-8"), intern!(py, "surrogatepass")));
    }
    let text = String::from_utf8(writer.out).map_err(|_| PyValueError::new_err("the text is not UTF-8"))?;
    make::string(py, &text).ok_or_else(|| PyErr::fetch(py))
}

#[expect(clippy::struct_excessive_bools, reason = "they are json's")]
struct Ways<'py> {
    default: Bound<'py, PyAny>,
    has_default: bool,
    skipkeys: bool,
    ensure_ascii: bool,
    check_circular: bool,
    allow_nan: bool,
    sort_keys: bool,
    indent: Option<Vec<u8>>,
    item: Box<str>,
    key: Box<str>,
}

struct Writer<'w, 'py> {
    py: Python<'py>,
    ways: &'w Ways<'py>,
    out: Vec<u8>,
    /// The objects that are being written.
    open: Vec<Bound<'py, PyAny>>,
    /// Whether `out` has surrogates as if they were characters.
    has_surrogates: bool,
    stack: Stack,
}

impl<'py> Writer<'_, 'py> {
    fn value(&mut self, object: &Bound<'py, PyAny>) -> PyResult<()> {
        if let Ok(text) = object.cast::<PyString>() {
            self.string(text)
        } else if object.is_none() {
            self.bytes(b"null")
        } else if let Ok(truth) = object.cast::<PyBool>() {
            self.bytes(if truth.is_true() { b"true" } else { b"false" })
        } else if let Ok(int) = object.cast::<PyInt>() {
            self.int(int)
        } else if let Ok(float) = object.cast::<PyFloat>() {
            let text = self.float(float.value())?;
            self.bytes(text.as_bytes())
        } else if let Ok(list) = object.cast::<PyList>() {
            self.within(object, |writer| writer.elements(list.iter(), list.is_empty()))
        } else if let Ok(tuple) = object.cast::<PyTuple>() {
            self.within(object, |writer| writer.elements(tuple.iter(), tuple.is_empty()))
        } else if let Ok(dict) = object.cast::<PyDict>() {
            self.within(object, |writer| writer.dict(dict))
        } else {
            self.within(object, |writer| {
                let answer = writer.ways.default.call1((object,))?;
                writer.value(&answer)
            })
        }
    }

    #[expect(clippy::unnecessary_wraps, reason = "it ends functions that may fail")]
    fn bytes(&mut self, bytes: &[u8]) -> PyResult<()> {
        self.out.extend_from_slice(bytes);
        Ok(())
    }

    fn string(&mut self, text: &Bound<'py, PyString>) -> PyResult<()> {
        if let Ok(text) = text.to_str() {
            text::string(&mut self.out, text.as_bytes(), self.ways.ensure_ascii);
            return Ok(());
        }
        let (utf8, pass) = (intern!(self.py, "utf-8"), intern!(self.py, "surrogatepass"));
        // Of `str`, whatever a subclass says.
        let encoded = self.py.get_type::<PyString>().call_method1(intern!(self.py, "encode"), (text, utf8, pass))?;
        let encoded = encoded.cast_into::<PyBytes>().map_err(PyErr::from)?;
        self.has_surrogates |= !self.ways.ensure_ascii;
        text::string(&mut self.out, encoded.as_bytes(), self.ways.ensure_ascii);
        Ok(())
    }

    fn int(&mut self, int: &Bound<'py, PyInt>) -> PyResult<()> {
        let text = self.digits(int)?;
        self.bytes(text.as_bytes())
    }

    /// The digits, whatever a subclass says of them.
    fn digits(&self, int: &Bound<'py, PyInt>) -> PyResult<String> {
        if let Ok(value) = int.extract::<i64>() {
            return Ok(value.to_string());
        }
        self.py.get_type::<PyInt>().call_method1(intern!(self.py, "__repr__"), (int,))?.extract()
    }

    fn float(&self, value: f64) -> PyResult<String> {
        let mut text = String::new();
        text::float(&mut text, value);
        if !self.ways.allow_nan && !value.is_finite() {
            let shown = PyFloat::new(self.py, value).repr()?;
            return Err(PyValueError::new_err(format!("Out of range float values are not JSON compliant: {shown}")));
        }
        Ok(text)
    }

    /// Calls `write`, in which `object` is open.
    fn within(&mut self, object: &Bound<'py, PyAny>, write: impl FnOnce(&mut Self) -> PyResult<()>) -> PyResult<()> {
        if self.ways.check_circular && self.open.iter().any(|open| open.is(object)) {
            return Err(PyValueError::new_err("Circular reference detected"));
        }
        if self.open.len() == DEPTH_MAX {
            return Err(PyRecursionError::new_err("maximum recursion depth exceeded while encoding a JSON object"));
        }
        self.stack.check()?;
        self.open.push(object.clone());
        write(self)?;
        self.open.pop();
        Ok(())
    }

    fn elements(&mut self, elements: impl Iterator<Item = Bound<'py, PyAny>>, is_empty: bool) -> PyResult<()> {
        if is_empty {
            return self.bytes(b"[]");
        }
        self.out.push(b'[');
        for (index, element) in elements.enumerate() {
            self.begin(index == 0);
            self.value(&element)?;
        }
        self.end(b']');
        Ok(())
    }

    /// What stands before a member or element.
    fn begin(&mut self, is_first: bool) {
        if !is_first {
            self.out.extend_from_slice(self.ways.item.as_bytes());
        }
        // A container is being written, so at least one is open. Results of `default` are not levels.
        self.line(0);
    }

    fn end(&mut self, bracket: u8) {
        self.line(1);
        self.out.push(bracket);
    }

    fn line(&mut self, less: usize) {
        if let Some(indent) = &self.ways.indent {
            let is_level = |open: &&Bound<'_, PyAny>| {
                open.is_instance_of::<PyDict>() || open.is_instance_of::<PyList>() || open.is_instance_of::<PyTuple>()
            };
            let levels = self.open.iter().filter(is_level).count() - less;
            self.out.push(b'\n');
            for _ in 0..levels {
                self.out.extend_from_slice(indent);
            }
        }
    }

    fn dict(&mut self, dict: &Bound<'py, PyDict>) -> PyResult<()> {
        if dict.is_empty() {
            return self.bytes(b"{}");
        }
        self.out.push(b'{');
        let mut is_first = true;
        if !self.ways.has_default && !self.ways.sort_keys && dict.is_exact_instance_of::<PyDict>() {
            let mut members = Members::of(dict);
            while let Some((key, value)) = members.next()? {
                self.member(&key, &value, &mut is_first)?;
            }
        } else {
            // A subclass may have its own.
            let items = dict.call_method0(intern!(self.py, "items"))?;
            let items = self.py.get_type::<PyList>().call1((items,))?.cast_into::<PyList>().map_err(PyErr::from)?;
            if self.ways.sort_keys {
                items.sort()?;
            }
            for item in items.iter() {
                let (key, value) = item
                    .extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>()
                    .map_err(|_| PyValueError::new_err("items must return 2-tuples"))?;
                self.member(&key, &value, &mut is_first)?;
            }
        }
        if is_first {
            self.out.push(b'}');
        } else {
            self.end(b'}');
        }
        Ok(())
    }

    fn member(&mut self, key: &Bound<'py, PyAny>, value: &Bound<'py, PyAny>, is_first: &mut bool) -> PyResult<()> {
        let text = if key.is_instance_of::<PyString>() {
            None
        } else if let Ok(float) = key.cast::<PyFloat>() {
            Some(self.float(float.value())?)
        } else if let Ok(truth) = key.cast::<PyBool>() {
            Some(if truth.is_true() { "true" } else { "false" }.to_owned())
        } else if key.is_none() {
            Some("null".to_owned())
        } else if let Ok(int) = key.cast::<PyInt>() {
            Some(self.digits(int)?)
        } else if self.ways.skipkeys {
            return Ok(());
        } else {
            let name = key.get_type().name()?;
            return Err(PyTypeError::new_err(format!("keys must be str, int, float, bool or None, not {name}")));
        };
        self.begin(*is_first);
        *is_first = false;
        match text {
            Some(text) => text::string(&mut self.out, text.as_bytes(), true),
            None => self.string(key.cast::<PyString>().map_err(PyErr::from)?)?,
        }
        self.out.extend_from_slice(self.ways.key.as_bytes());
        self.value(value)
    }
}

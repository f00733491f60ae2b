//! `Document`, which is a value of a parsed text, and its iterator.

use super::numbers;
use crate::error;
use crate::loads::{Builder, DETACHED_MIN, Keeps, with_reader};
use crate::raw::document_text::DocumentText;
use crate::raw::make;
use crate::raw::text::Text;
use jird::hooks::{pointer_index, pointer_key};
use jird::value::MachineNumber;
use jird::{JsonPath, Kind, Layout, Value};
use pyo3::exceptions::{PyIndexError, PyKeyError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PySlice, PyString};
use std::sync::Arc;

/// A value of a parsed JSON text: an object, an array, or the scalar that is all of the text.
///
/// It holds the text, and makes values of Python only when they are asked for. Objects and arrays come as Documents,
/// everything else as str, int, float, bool or None. A Document never changes, can be read again and again, and may be
/// shared between threads.
#[pyclass(frozen, module = "jird", name = "Document")]
pub(crate) struct Document {
    held: Arc<DocumentText>,
    /// Invariant: the place of a value of the document.
    place: usize,
}

/// Parses a JSON text, given as bytes, bytearray, memoryview or str, into a Document.
///
/// All of the text is checked, as by `loads`; values are made when they are asked for. Bytes and str are held and not
/// copied, other buffers are copied. Raises JSONDecodeError.
#[pyfunction]
#[pyo3(signature = (data, /))]
pub(crate) fn parse(data: &Bound<'_, PyAny>) -> PyResult<Document> {
    let py = data.py();
    let text = Text::of(data).map_err(|cause| error::no_text(py, &cause))?;
    match DocumentText::parse(py, &text, DETACHED_MIN) {
        Ok(held) => Ok(Document { place: held.document().place_of(held.document().root()), held: Arc::new(held) }),
        Err(error) => Err(error::not_json(py, text.bytes(), &error)),
    }
}

impl Document {
    #[inline]
    fn value(&self) -> Value<'_> {
        self.held.document().at_place(self.place).expect("it is the place of a value")
    }

    /// An object or array as a Document, anything else as a value of Python.
    fn show<'py>(&self, py: Python<'py>, value: Value<'_>) -> PyResult<Bound<'py, PyAny>> {
        if value.kind().is_container() {
            let document = Self { held: Arc::clone(&self.held), place: self.held.document().place_of(value) };
            return Ok(Bound::new(py, document)?.into_any());
        }
        self.build(py, value)
    }

    #[inline]
    fn build<'py>(&self, py: Python<'py>, value: Value<'_>) -> PyResult<Bound<'py, PyAny>> {
        // Most scalars need nothing of a reader.
        let made = match value.kind() {
            Kind::String => value.as_str().map(|text| make::string(py, &text)),
            Kind::Number => match value.machine_number() {
                Some(MachineNumber::I64(number)) => Some(make::int(py, number)),
                Some(MachineNumber::F64(number)) => Some(make::float(py, number)),
                _ => None,
            },
            Kind::Bool => value.as_bool().map(|truth| Some(make::bool(py, truth))),
            Kind::Null => Some(Some(make::none(py))),
            Kind::Object | Kind::Array => None,
        };
        match made {
            Some(made) => made.ok_or_else(|| PyErr::fetch(py)),
            None => self.build_whole(py, value),
        }
    }

    #[inline(never)]
    fn build_whole<'py>(&self, py: Python<'py>, value: Value<'_>) -> PyResult<Bound<'py, PyAny>> {
        let text = self.held.document().text();
        with_reader(py, |reader| Builder::new(py, text, &mut reader.making, Keeps::Last).root(value))
    }

    /// The last member with this key, which is the one that `loads` keeps.
    fn member(&self, key: &str) -> Option<Value<'_>> {
        self.value().entries().filter(|(found, _)| found.is_str(key)).map(|(_, value)| value).last()
    }

    /// The element at an index, which counts from the end if it is negative.
    fn element(&self, index: isize) -> Option<Value<'_>> {
        let value = self.value();
        let index = if index < 0 { value.len().checked_sub(index.unsigned_abs())? } else { index.unsigned_abs() };
        value.at(index)
    }

    fn slice<'py>(&self, slice: &Bound<'py, PySlice>) -> PyResult<Bound<'py, PyAny>> {
        let py = slice.py();
        let value = self.value();
        let chosen = slice.indices(value.len() as isize)?;
        let (step, count) = (chosen.step, chosen.slicelength);
        if count == 0 {
            return Ok(PyList::empty(py).into_any());
        }
        // The elements are visited once, from the first to the last of the slice.
        let first = if step > 0 { chosen.start } else { chosen.start + step * (count as isize - 1) };
        let elements = value.elements().skip(first.unsigned_abs()).step_by(step.unsigned_abs()).take(count);
        let mut shown = elements.map(|value| self.show(py, value)).collect::<PyResult<Vec<_>>>()?;
        if step < 0 {
            shown.reverse();
        }
        Ok(PyList::new(py, shown)?.into_any())
    }

    /// The children as they are shown; of an object its values.
    fn children<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let value = self.value();
        let mut shown = Vec::with_capacity(value.len());
        for (_, member) in value.entries() {
            shown.push(self.show(py, member)?);
        }
        for element in value.elements() {
            shown.push(self.show(py, element)?);
        }
        PyList::new(py, shown)
    }

    fn wrong_kind(&self, wanted: &str) -> PyErr {
        PyTypeError::new_err(format!("the document is {}, not {wanted}", article(self.value().kind())))
    }

    fn object(&self) -> PyResult<Value<'_>> {
        Some(self.value()).filter(|value| value.kind() == Kind::Object).ok_or_else(|| self.wrong_kind("an object"))
    }
}

fn article(kind: Kind) -> &'static str {
    match kind {
        Kind::Null => "null",
        Kind::Bool => "a boolean",
        Kind::Number => "a number",
        Kind::String => "a string",
        Kind::Object => "an object",
        Kind::Array => "an array",
    }
}

#[pymethods]
impl Document {
    /// The kind of the value: "object", "array", "string", "number", "boolean" or "null".
    #[getter]
    fn kind(&self) -> &'static str {
        self.value().kind().name()
    }

    /// The value's text as it stands in the document, as bytes.
    #[getter]
    fn raw<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.value().raw())
    }

    /// The value and everything in it as dict, list, str, int, float, bool and None, as `loads` makes them.
    fn as_py<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.build(py, self.value())
    }

    /// The number of members or elements.
    fn __len__(&self) -> PyResult<usize> {
        let value = self.value();
        if value.kind().is_container() { Ok(value.len()) } else { Err(self.wrong_kind("an object or array")) }
    }

    fn __bool__(&self, py: Python<'_>) -> PyResult<bool> {
        let value = self.value();
        if value.kind().is_container() { Ok(!value.is_empty()) } else { self.build(py, value)?.is_truthy() }
    }

    fn __getitem__<'py>(&self, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = key.py();
        match self.value().kind() {
            Kind::Object => {
                let Ok(text) = key.cast::<PyString>() else { return Err(PyKeyError::new_err(key.clone().unbind())) };
                // A key with a surrogate is in no document.
                let found = text.to_str().ok().and_then(|text| self.member(text));
                found.map_or_else(|| Err(PyKeyError::new_err(key.clone().unbind())), |value| self.show(py, value))
            }
            Kind::Array => {
                if let Ok(slice) = key.cast::<PySlice>() {
                    return self.slice(slice);
                }
                let found = self.element(key.extract()?);
                found.map_or_else(
                    || Err(PyIndexError::new_err("document index out of range")),
                    |value| self.show(py, value),
                )
            }
            _ => Err(self.wrong_kind("an object or array")),
        }
    }

    /// The value of a key of an object; `default` if it has none.
    #[pyo3(signature = (key, default=None, /))]
    fn get<'py>(&self, py: Python<'py>, key: &str, default: Option<Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
        self.object()?;
        match self.member(key) {
            Some(value) => self.show(py, value),
            None => Ok(default.unwrap_or_else(|| py.None().into_bound(py))),
        }
    }

    /// The value that a JSON Pointer (RFC 6901) leads to, as "/users/0/name". Raises KeyError if it leads nowhere.
    #[pyo3(signature = (pointer, /))]
    fn at_pointer<'py>(&self, py: Python<'py>, pointer: &str) -> PyResult<Bound<'py, PyAny>> {
        let nowhere = || PyKeyError::new_err(pointer.to_owned());
        let mut here = Self { held: Arc::clone(&self.held), place: self.place };
        let steps = pointer.strip_prefix('/').or(pointer.is_empty().then_some("")).ok_or_else(nowhere)?;
        if !pointer.is_empty() {
            for step in steps.split('/') {
                let found = match here.value().kind() {
                    Kind::Object => here.member(&pointer_key(step).ok_or_else(nowhere)?),
                    Kind::Array => pointer_index(step).and_then(|index| here.value().at(index)),
                    _ => None,
                };
                here.place = here.held.document().place_of(found.ok_or_else(nowhere)?);
            }
        }
        self.show(py, here.value())
    }

    /// The values that a JSONPath (RFC 9535) finds in this value, as "$.users[?@.age > 17].name": a list, in the order of the
    /// standard. Of members with one key, a name finds the first. Raises ValueError if the path is wrong, or goes through the
    /// value far too often, as several `..` can.
    #[pyo3(signature = (path, /))]
    fn path<'py>(&self, py: Python<'py>, path: &str) -> PyResult<Bound<'py, PyList>> {
        let path = JsonPath::new(path).map_err(|error| PyValueError::new_err(error.to_string()))?;
        let nodes = path.find_all(self.value()).map_err(|error| PyValueError::new_err(error.to_string()))?;
        PyList::new(py, nodes.into_iter().map(|value| self.show(py, value)).collect::<PyResult<Vec<_>>>()?)
    }

    /// Whether an object has a key, or an array an equal element.
    fn __contains__(&self, wanted: &Bound<'_, PyAny>) -> PyResult<bool> {
        match self.value().kind() {
            Kind::Object => {
                let text = wanted.cast::<PyString>().ok().and_then(|text| text.to_str().ok());
                Ok(text.is_some_and(|text| self.member(text).is_some()))
            }
            Kind::Array => {
                for element in self.value().elements() {
                    if self.build(wanted.py(), element)?.eq(wanted)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            _ => Err(self.wrong_kind("an object or array")),
        }
    }

    /// The keys of an object in the order of the document, as a list; a repeated key each time.
    fn keys<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let entries = self.object()?.entries();
        PyList::new(py, entries.map(|(key, _)| self.build(py, key)).collect::<PyResult<Vec<_>>>()?)
    }

    /// The values of an object, as a list.
    fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.object()?;
        self.children(py)
    }

    /// The members of an object, as a list of keys and values.
    fn items<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let (keys, values) = (self.keys(py)?, self.children(py)?);
        PyList::new(py, keys.iter().zip(values.iter()))
    }

    /// Over the keys of an object, or the elements of an array.
    fn __iter__(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let value = self.value();
        match value.kind() {
            Kind::Object => Ok(self.keys(py)?.try_iter()?.into_any().unbind()),
            Kind::Array => {
                let held = Arc::clone(&self.held);
                let next = value.elements().next().map_or(0, |first| self.held.document().place_of(first));
                let iter = Iter { of: Self { held, place: self.place }, next, left: value.len() };
                Ok(Py::new(py, iter)?.into_any())
            }
            _ => Err(self.wrong_kind("an object or array")),
        }
    }

    /// All numbers in an array, and in the arrays in it, in order: a read-only memoryview of the format "d" (float),
    /// "q" (int of 64 bits) or "Q" (the same, unsigned), which numpy reads without copying. Raises ValueError, with the
    /// path, for a value that is not such a number.
    #[pyo3(signature = (format="d", /))]
    fn as_buffer<'py>(&self, py: Python<'py>, format: &str) -> PyResult<Bound<'py, PyAny>> {
        if self.value().kind() != Kind::Array {
            return Err(self.wrong_kind("an array"));
        }
        numbers::view(py, self.held.document(), self.value(), format)
    }

    fn __repr__(&self) -> String {
        const SHOWN: usize = 60;
        let value = self.value();
        let text = String::from_utf8_lossy(value.raw());
        let cut = text.floor_char_boundary(SHOWN);
        let more = if cut < text.len() { "…" } else { "" };
        format!("<jird.Document {}: {}{more}>", article(value.kind()), &text[..cut])
    }

    /// The text that a notebook shows: with a line for each value, or the beginning of it as it stands if it is long.
    fn _repr_html_(&self) -> String {
        const SHOWN: usize = 4 << 10;
        let raw = self.value().raw();
        let lines = if raw.len() <= SHOWN { jird::format(raw, Layout::Indent(2)).ok() } else { None };
        let text = String::from_utf8_lossy(lines.as_deref().unwrap_or(raw));
        let cut = text.floor_char_boundary(2 * SHOWN);
        let more = if cut < text.len() { "…" } else { "" };
        let shown = text[..cut].replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        format!("<pre>{shown}{more}</pre>")
    }

    /// The keys that a notebook offers for completion.
    fn _ipython_key_completions_<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        if self.value().kind() == Kind::Object { self.keys(py) } else { Ok(PyList::empty(py)) }
    }
}

/// The elements of an array, one after the other.
#[pyclass(module = "jird", name = "DocumentIterator")]
pub(crate) struct Iter {
    of: Document,
    /// The place of the next element, if there is one.
    next: usize,
    left: usize,
}

#[pymethods]
impl Iter {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        if self.left == 0 {
            return Ok(None);
        }
        let document = self.of.held.document();
        let value = document.at_place(self.next).expect("an element is left");
        let shown = self.of.show(py, value)?;
        self.next = document.place_behind(value);
        self.left -= 1;
        Ok(Some(shown))
    }

    fn __length_hint__(&self) -> usize {
        self.left
    }
}

//! What the walk in `raw/encode` does not know.

use super::{
    Fragment, PASSTHROUGH_DATACLASS, PASSTHROUGH_DATETIME, PASSTHROUGH_SUBCLASS, SERIALIZE_NUMPY, STRICT_INTEGER,
    fragment, is_on, numpy, time,
};
use crate::error;
use crate::raw::encode::{Encoder, Failure, because};
use crate::raw::members;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDate, PyDateTime, PyDict, PyInt, PyList, PyString, PyTime, PyType};

/// How often `default` may answer with a value that only `default` knows.
const ANSWERS_MAX: usize = 254;

/// Writes `object`, and a comma.
pub(super) fn write<'py>(encoder: &mut Encoder<'_, 'py>, object: &Bound<'py, PyAny>) -> Result<(), Failure> {
    if let Ok(int) = object.cast_exact::<PyInt>() {
        return large_int(encoder, int);
    }
    if let Ok(fragment) = object.cast::<Fragment>() {
        return fragment::write(encoder, fragment);
    }
    if !is_on(encoder, PASSTHROUGH_DATETIME)
        && let Some(text) = any_time(encoder, object)?
    {
        encoder.out.string(&text, b',');
        return Ok(());
    }
    if let Some(text) = uuid(encoder.py, object)? {
        encoder.out.string(&text, b',');
        return Ok(());
    }
    if let Some(value) = enum_value(encoder.py, object)? {
        return encoder.object(&value);
    }
    if !is_on(encoder, PASSTHROUGH_SUBCLASS)
        && let Some(written) = subclass(encoder, object)
    {
        return written;
    }
    if !is_on(encoder, PASSTHROUGH_DATACLASS)
        && let Some(fields) = data_fields(object)?
    {
        return data_class(encoder, object, &fields);
    }
    if is_on(encoder, SERIALIZE_NUMPY)
        && let Some(written) = numpy::write(encoder, object)?
    {
        return Ok(written);
    }
    ask(encoder, object)
}

/// An integer beyond 64 bits, or beyond 53 where these are the limit.
fn large_int(encoder: &mut Encoder<'_, '_>, int: &Bound<'_, PyInt>) -> Result<(), Failure> {
    if is_on(encoder, STRICT_INTEGER) {
        return Err(because("Integer exceeds 53-bit range"));
    }
    let digits = digits(int)?;
    encoder.out.bytes(digits.as_bytes());
    encoder.out.byte(b',');
    Ok(())
}

/// The digits of an `int` or a subclass of it, whatever that says of its text.
pub(super) fn digits(int: &Bound<'_, PyInt>) -> Result<String, Failure> {
    if let Ok(value) = int.extract::<i64>() {
        return Ok(value.to_string());
    }
    let py = int.py();
    let digits = py.get_type::<PyInt>().call_method1(intern!(py, "__repr__"), (int,)).map_err(|cause| {
        let words = cause.value(py).to_string();
        Failure::from(error::encode(py, &words, Some(cause)))
    })?;
    Ok(digits.extract()?)
}

/// A `datetime`, `date` or `time` as text. Not their subclasses, as in orjson.
fn any_time<'py>(encoder: &Encoder<'_, 'py>, object: &Bound<'py, PyAny>) -> Result<Option<String>, Failure> {
    if let Ok(found) = object.cast_exact::<PyDateTime>() {
        return time::date_time(encoder, found).map(Some);
    }
    if let Ok(found) = object.cast_exact::<PyDate>() {
        return Ok(Some(time::date(found)));
    }
    if let Ok(found) = object.cast_exact::<PyTime>() {
        return time::time(encoder, found).map(Some);
    }
    Ok(None)
}

/// The text of a `uuid.UUID`.
pub(super) fn uuid<'py>(py: Python<'py>, object: &Bound<'py, PyAny>) -> Result<Option<String>, Failure> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let Some(class) = loaded(py, &CLASS, intern!(py, "uuid"), intern!(py, "UUID"))? else { return Ok(None) };
    if !object.get_type().is(&class) {
        return Ok(None);
    }
    let number: u128 = object.getattr(intern!(py, "int"))?.extract()?;
    let digits = format!("{number:032x}");
    let part = |from, to| &digits[from..to];
    Ok(Some([part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32)].join("-")))
}

/// The value of a member of an `enum.Enum`.
pub(super) fn enum_value<'py>(
    py: Python<'py>,
    object: &Bound<'py, PyAny>,
) -> Result<Option<Bound<'py, PyAny>>, Failure> {
    static META: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let Some(meta) = loaded(py, &META, intern!(py, "enum"), intern!(py, "EnumMeta"))? else { return Ok(None) };
    if !object.get_type().is_instance(&meta)? {
        return Ok(None);
    }
    Ok(Some(object.getattr(intern!(py, "value"))?))
}

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

/// Writes an instance of a subclass of a builtin type as that type.
fn subclass<'py>(encoder: &mut Encoder<'_, 'py>, object: &Bound<'py, PyAny>) -> Option<Result<(), Failure>> {
    if let Ok(text) = object.cast::<PyString>() {
        let text = text.to_str().map_err(|_| because("str is not valid UTF-8: surrogates not allowed"));
        return Some(text.map(|text| encoder.out.string(text, b',')));
    }
    if let Ok(int) = object.cast::<PyInt>() {
        return Some(int_subclass(encoder, int));
    }
    if let Ok(list) = object.cast::<PyList>() {
        return Some(encoder.elements(list));
    }
    if let Ok(dict) = object.cast::<PyDict>() {
        return Some(if encoder.settings.has_other_dicts {
            (encoder.settings.other_dict)(encoder, dict)
        } else {
            encoder.members(dict)
        });
    }
    None
}

fn int_subclass(encoder: &mut Encoder<'_, '_>, int: &Bound<'_, PyInt>) -> Result<(), Failure> {
    const EXACT_MAX: i64 = (1 << 53) - 1;
    match int.extract::<i64>() {
        Ok(value) if !is_on(encoder, STRICT_INTEGER) || (-EXACT_MAX..=EXACT_MAX).contains(&value) => {
            encoder.out.i64(value);
            Ok(())
        }
        _ => large_int(encoder, int),
    }
}

/// The fields of an instance of a data class.
fn data_fields<'py>(object: &Bound<'py, PyAny>) -> Result<Option<Bound<'py, PyDict>>, Failure> {
    let py = object.py();
    // Of the type, because a class that is itself the value has the attribute too.
    let Some(fields) = object.get_type().getattr_opt(intern!(py, "__dataclass_fields__"))? else { return Ok(None) };
    Ok(fields.cast_into::<PyDict>().ok())
}

/// Writes an instance of a data class: the attributes that it has in its `__dict__`, or, if it has slots, its fields.
/// Those whose names begin with an underscore are private.
fn data_class<'py>(
    encoder: &mut Encoder<'_, 'py>,
    object: &Bound<'py, PyAny>,
    fields: &Bound<'py, PyDict>,
) -> Result<(), Failure> {
    let py = encoder.py;
    let has_slots = object.get_type().getattr_opt(intern!(py, "__slots__"))?.is_some();
    let attributes = object.getattr_opt(intern!(py, "__dict__"))?.and_then(|found| found.cast_into::<PyDict>().ok());
    encoder.open(b'{')?;
    match attributes {
        Some(attributes) if !has_slots => {
            // As they were: `default` may set an attribute, as the first use of a `cached_property` does.
            for (name, value) in members::copied(&attributes) {
                let name = name.cast::<PyString>().map_err(|_| because("Dict key must be str"))?;
                attribute(encoder, name, &value)?;
            }
        }
        _ => {
            for (name, field) in members::copied(fields) {
                if is_field(&field)? {
                    let name = name.cast::<PyString>().map_err(|_| because("Dict key must be str"))?;
                    attribute(encoder, name, &object.getattr(name)?)?;
                }
            }
        }
    }
    encoder.close(b'}');
    Ok(())
}

fn attribute<'py>(
    encoder: &mut Encoder<'_, 'py>,
    name: &Bound<'py, PyString>,
    value: &Bound<'py, PyAny>,
) -> Result<(), Failure> {
    let name = name.to_str().map_err(|_| because("str is not valid UTF-8: surrogates not allowed"))?;
    if name.starts_with('_') {
        return Ok(());
    }
    encoder.key(name);
    encoder.object(value)
}

/// Whether it is a field and not a `ClassVar` or an `InitVar`.
fn is_field(field: &Bound<'_, PyAny>) -> Result<bool, Failure> {
    static FIELD: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let py = field.py();
    let kind = FIELD.get_or_try_init(py, || PyResult::Ok(py.import("dataclasses")?.getattr("_FIELD")?.unbind()))?;
    Ok(field.getattr(intern!(py, "_field_type"))?.is(kind.bind(py)))
}

/// Asks `default` for what to write instead.
fn ask<'py>(encoder: &mut Encoder<'_, 'py>, object: &Bound<'py, PyAny>) -> Result<(), Failure> {
    let unknown = || -> Result<String, Failure> {
        let name = object.get_type().fully_qualified_name()?;
        Ok(format!("Type is not JSON serializable: {name}"))
    };
    let Some(default) = encoder.settings.default.clone() else { return Err(because(unknown()?)) };
    if encoder.settings.answers == ANSWERS_MAX {
        return Err(because("default serializer exceeds recursion limit"));
    }
    let answer = match default.call1((object,)) {
        Ok(answer) => answer,
        Err(cause) => return Err(error::encode(encoder.py, &unknown()?, Some(cause)).into()),
    };
    encoder.settings.answers += 1;
    let written = encoder.object(&answer);
    encoder.settings.answers -= 1;
    written
}

//! What the walk in `raw/encode` does not know.

use super::kinds::{self, DataClass, Exact, Kind, ValueAttribute};
use super::time;
use super::{
    Fragment, PASSTHROUGH_DATACLASS, SERIALIZE_NUMPY, SERIALIZE_TYPES, STRICT_INTEGER, fragment, is_on, numpy,
};
use crate::error;
use crate::raw::encode::{Encoder, Failure, Simple, because};
use crate::raw::objects::SlotOf;
use crate::raw::short_text::ShortText;
use crate::raw::types::Base;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDate, PyDateTime, PyDict, PyInt, PyList, PyNotImplemented, PyString, PyTime, PyTzInfo};

/// How often `default` may answer with a value that only `default` knows.
const ANSWERS_MAX: usize = 255;

/// Writes `object`, and a comma.
pub(super) fn write<'py>(encoder: &mut Encoder<'_, 'py>, object: &Bound<'py, PyAny>) -> Result<(), Failure> {
    if let Ok(int) = object.cast_exact::<PyInt>() {
        return large_int(encoder, int);
    }
    let Kind { exact, value, base, data, numpy } = kinds::of(object)?;
    if let Some(exact) = exact
        && let Some(written) = exactly(encoder, object, exact)?
    {
        return Ok(written);
    }
    // An enum of strings or numbers is written as these, as in orjson and json.
    if let Some(base) = base.filter(|_| encoder.settings.has_subclasses) {
        return subclass(encoder, object, base);
    }
    if let Some(attribute) = value {
        return encoder.object(&enum_value(object, attribute)?);
    }
    if let Some(class) = data.filter(|_| !is_on(encoder, PASSTHROUGH_DATACLASS)) {
        return data_class(encoder, object, &class);
    }
    if let Some(of) = numpy.filter(|_| is_on(encoder, SERIALIZE_NUMPY))
        && let Some(written) = numpy::write(encoder, object, of)?
    {
        return Ok(written);
    }
    if is_on(encoder, SERIALIZE_TYPES)
        && let Some(found) = plain(object)?
    {
        return encoder.object(&found);
    }
    ask(encoder, object)
}

/// Writes an object of exactly this class; `None` if the options leave it to `default`.
#[inline]
fn exactly<'py>(
    encoder: &mut Encoder<'_, 'py>,
    object: &Bound<'py, PyAny>,
    exact: Exact,
) -> Result<Option<()>, Failure> {
    let text = match exact {
        Exact::Fragment => {
            return match object.cast::<Fragment>() {
                Ok(fragment) => fragment::write(encoder, fragment).map(Some),
                Err(_) => Ok(None),
            };
        }
        Exact::Uuid => uuid(encoder, object)?,
        _ if !encoder.settings.has_times => return Ok(None),
        Exact::DateTime | Exact::Date | Exact::Time => {
            encoder.note(object, simple_time(encoder.py, exact)?);
            match any_time(encoder, object)? {
                Some(text) => text,
                None => return Ok(None),
            }
        }
    };
    encoder.out.short_string(&text);
    Ok(Some(()))
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
pub(super) fn any_time<'py>(
    encoder: &Encoder<'_, 'py>,
    object: &Bound<'py, PyAny>,
) -> Result<Option<ShortText>, Failure> {
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

/// How the walk writes dates and times from now on.
fn simple_time(py: Python<'_>, exact: Exact) -> PyResult<Simple> {
    Ok(match exact {
        Exact::Date => Simple::Date,
        Exact::Time => Simple::Time,
        _ => Simple::DateTime(PyTzInfo::utc(py)?.as_ptr().addr()),
    })
}

/// The text of a `uuid.UUID`. The walk writes others from now on.
pub(super) fn uuid<'py>(encoder: &mut Encoder<'_, 'py>, object: &Bound<'py, PyAny>) -> Result<ShortText, Failure> {
    if let Some(slot) = SlotOf::new(object, intern!(encoder.py, "int")) {
        encoder.note(object, Simple::Uuid(slot));
    }
    Ok(ShortText::uuid(object.getattr(intern!(object.py(), "int"))?.extract()?))
}

/// The value of a member of an `enum.Enum`.
pub(super) fn enum_value<'py>(
    object: &Bound<'py, PyAny>,
    attribute: ValueAttribute,
) -> Result<Bound<'py, PyAny>, Failure> {
    let py = object.py();
    Ok(object.getattr(match attribute {
        ValueAttribute::Own => intern!(py, "_value_"),
        ValueAttribute::Overridden => intern!(py, "value"),
    })?)
}

/// Writes an instance of a subclass of a builtin type as that type.
fn subclass<'py>(encoder: &mut Encoder<'_, 'py>, object: &Bound<'py, PyAny>, base: Base) -> Result<(), Failure> {
    match base {
        Base::Str => {
            let text = object.cast::<PyString>().map_err(PyErr::from)?.to_str();
            let text = text.map_err(|_| because("str is not valid UTF-8: surrogates not allowed"))?;
            encoder.out.string(text, b',');
            Ok(())
        }
        Base::Int => int_subclass(encoder, object.cast::<PyInt>().map_err(PyErr::from)?),
        Base::List => encoder.elements(object.cast::<PyList>().map_err(PyErr::from)?),
        Base::Dict => {
            let dict = object.cast::<PyDict>().map_err(PyErr::from)?;
            if encoder.settings.has_other_dicts {
                (encoder.settings.other_dict)(encoder, dict)
            } else {
                encoder.members(dict)
            }
        }
    }
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

/// Writes an instance of a data class: the attributes that it has in its `__dict__`, or, if it has slots, its fields.
/// Those whose names begin with an underscore are private.
fn data_class<'py>(
    encoder: &mut Encoder<'_, 'py>,
    object: &Bound<'py, PyAny>,
    class: &DataClass,
) -> Result<(), Failure> {
    let py = encoder.py;
    encoder.open(b'{')?;
    let attributes = match class {
        DataClass::Attributes => object.getattr_opt(intern!(py, "__dict__"))?,
        DataClass::Fields(_) => None,
        DataClass::Keyed(fields) => {
            for (name, key) in fields.iter() {
                let value = object.getattr(name.bind(py))?;
                encoder.key(key);
                encoder.object(&value)?;
            }
            encoder.close(b'}');
            return Ok(());
        }
    };
    if let Some(attributes) = attributes.and_then(|found| found.cast_into::<PyDict>().ok()) {
        encoder.attributes(&attributes)?;
    } else {
        let found;
        let fields = match class {
            DataClass::Fields(fields) => &fields[..],
            DataClass::Attributes | DataClass::Keyed(_) => {
                found = kinds::fields_of(&object.get_type())?;
                &found
            }
        };
        for name in fields {
            let name = name.bind(py);
            encoder.attribute(name, &object.getattr(name)?)?;
        }
    }
    encoder.close(b'}');
    Ok(())
}

/// What stands for a value of a type that `loads` makes and JSON has no kind for; `None` if it is of no such type.
fn plain<'py>(object: &Bound<'py, PyAny>) -> Result<Option<Bound<'py, PyAny>>, Failure> {
    static PLAIN: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let py = object.py();
    let plain = PLAIN.get_or_try_init(py, || PyResult::Ok(py.import("jird._encode")?.getattr("plain")?.unbind()))?;
    let found = match plain.bind(py).call1((object,)) {
        Ok(found) => found,
        Err(cause) => return Err(error::encode(py, &unknown(object)?, Some(cause)).into()),
    };
    Ok((!found.is(PyNotImplemented::get(py))).then_some(found))
}

/// What is said of an object that is not written.
fn unknown(object: &Bound<'_, PyAny>) -> PyResult<String> {
    let name = object.get_type().fully_qualified_name()?;
    Ok(format!("Type is not JSON serializable: {name}"))
}

/// Asks `default` for what to write instead.
fn ask<'py>(encoder: &mut Encoder<'_, 'py>, object: &Bound<'py, PyAny>) -> Result<(), Failure> {
    let Some(default) = encoder.settings.default.clone() else { return Err(because(unknown(object)?)) };
    if encoder.settings.answers == ANSWERS_MAX {
        return Err(because("default serializer exceeds recursion limit"));
    }
    let answer = match default.call1((object,)) {
        Ok(answer) => answer,
        Err(cause) => return Err(error::encode(encoder.py, &unknown(object)?, Some(cause)).into()),
    };
    encoder.settings.answers += 1;
    let written = encoder.object(&answer);
    encoder.settings.answers -= 1;
    written
}

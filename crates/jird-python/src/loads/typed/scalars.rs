//! Strings and numbers that stand for something else, and the choice by a tag.

use super::decoder::{DecodeResult, Decoder, wanted};
use super::fault::Fault;
use super::plan::{Choice, Limit, LimitKind, Step, Tag, Union};
use super::times;
use super::uuids::{UuidOf, uuid_of};
use crate::raw::make::{self, Keeps};
use jird::{Kind, Value};
use pyo3::exceptions::{PyAttributeError, PyTypeError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyString, PyTuple};

/// The member of an enum, or value of a `Literal`.
pub(super) fn choice<'py>(decoder: &mut Decoder<'_, 'py>, choice: &Choice, value: Value<'_>) -> DecodeResult<'py> {
    let py = decoder.py;
    let found = match value.kind() {
        Kind::String => value.as_str().and_then(|text| choice.strings.get(text.as_bytes())),
        Kind::Bool => value.as_bool().and_then(|truth| choice.bools[usize::from(truth)].as_ref()),
        Kind::Null => choice.null.as_ref(),
        Kind::Number if value.is_integer() => value.as_i64().and_then(|number| choice.ints.get(&number)),
        _ => None,
    };
    if let Some(found) = found {
        return Ok(found.bind(py).clone());
    }
    let is_number = value.kind() == Kind::Number;
    let wrong = || Fault::expected(&wanted_of(choice), value);
    let may_be_other = is_number && !choice.others.is_empty();
    let may_be_asked = choice.fallback.is_some() && !value.kind().is_container();
    if !may_be_other && !may_be_asked {
        return Err(wrong());
    }
    let made = decoder.any(value)?;
    for (candidate, object) in &choice.others {
        if is_number && candidate.bind(py).eq(&made)? {
            return Ok(object.bind(py).clone());
        }
    }
    match &choice.fallback {
        // An enum says by a ValueError that it does not know the value.
        Some(class) => class.bind(py).call1((made,)).map_err(|error| Fault::raised(py, error, value)),
        None => Err(wrong()),
    }
}

fn wanted_of(choice: &Choice) -> String {
    format!("one of {}", choice.shown)
}

/// The step that the tag of an object chooses.
pub(super) fn tagged(union: &Union, object: Value<'_>, keeps: Keeps) -> Result<usize, Fault> {
    let Some(tag) = &union.tag else { return Err(Fault::expected(&union.name, object)) };
    let mut tags = object.entries().filter(|(key, _)| key.is_str(&tag.key)).map(|(_, value)| value);
    let found = match keeps {
        Keeps::First => tags.next(),
        Keeps::Last => tags.last(),
    };
    let Some(found) = found else {
        let words = format!("{} needs the field {:?}, which is missing", union.name, tag.key);
        return Err(Fault::wrong(words, "missing", object));
    };
    chosen(tag, found)
}

/// The step that the first element of an array chooses.
pub(super) fn tagged_array(union: &Union, array: Value<'_>) -> Result<usize, Fault> {
    let Some(tag) = &union.array_tag else { return Err(Fault::expected(&union.name, array)) };
    let Some(first) = array.elements().next() else {
        let words = format!("{} needs a first element that says which it is, and the array is empty", union.name);
        return Err(Fault::wrong(words, "missing", array));
    };
    chosen(tag, first)
}

fn chosen(tag: &Tag, found: Value<'_>) -> Result<usize, Fault> {
    let step = match found.kind() {
        Kind::String => found.as_str().and_then(|text| tag.strings.get(text.as_bytes())),
        Kind::Number if found.is_integer() => found.as_i64().and_then(|number| tag.ints.get(&number)),
        _ => None,
    };
    step.copied().ok_or_else(|| Fault::expected(&format!("one of {}", tag.shown), found))
}

/// `decimal.Decimal` of a number's text, or of a string.
pub(super) fn decimal<'py>(decoder: &mut Decoder<'_, 'py>, class: &Py<PyAny>, value: Value<'_>) -> DecodeResult<'py> {
    let text = value.as_number().map(|number| number.text().into()).or_else(|| value.as_str());
    let text = text.ok_or_else(|| Fault::expected(&wanted(&Step::Decimal(class.clone_ref(decoder.py))), value))?;
    class.bind(decoder.py).call1((&*text,)).map_err(|error| {
        // `decimal.InvalidOperation` is an ArithmeticError.
        if error.is_instance_of::<pyo3::exceptions::PyArithmeticError>(decoder.py) {
            return Fault::expected(&wanted(&Step::Decimal(class.clone_ref(decoder.py))), value);
        }
        Fault::raised(decoder.py, error, value)
    })
}

/// `uuid.UUID` of its usual form, or without the hyphens.
pub(super) fn uuid<'py>(
    decoder: &mut Decoder<'_, 'py>,
    step: &Step,
    of: &UuidOf,
    value: Value<'_>,
) -> DecodeResult<'py> {
    let text = value.as_str().unwrap_or_default();
    let made = uuid_of(decoder.py, of, text.as_bytes());
    Ok(made.ok_or_else(|| Fault::expected(&wanted(step), value))??)
}

/// What a key of a dict stands for.
pub(super) fn key<'py>(decoder: &mut Decoder<'_, 'py>, step: &Step, key: Value<'_>) -> DecodeResult<'py> {
    let py = decoder.py;
    match step {
        Step::Choice(choice) => {
            let text = key.as_str().unwrap_or_default();
            let number = || text.parse::<i64>().ok().filter(|number| number.to_string() == *text);
            let found = choice.strings.get(text.as_bytes()).or_else(|| choice.ints.get(&number()?));
            found.map(|found| found.bind(py).clone()).ok_or_else(|| Fault::expected(&wanted(step), key))
        }
        Step::Int => {
            let text = key.as_str().unwrap_or_default();
            // An integer by JSON's grammar.
            if !jird::Number::new(&text).is_some_and(jird::Number::is_integer) {
                return Err(Fault::expected(&wanted(step), key));
            }
            py.get_type::<PyInt>().call1((&*text,)).map_err(|error| Fault::raised(py, error, key))
        }
        Step::Decimal(class) => decimal(decoder, class, key),
        Step::Uuid(of) => uuid(decoder, step, of, key),
        Step::Any | Step::Hooked(_) | Step::Str => decoder.any(key),
        Step::Float => {
            let text = key.as_str().unwrap_or_default();
            let number = jird::Number::new(&text).and_then(jird::Number::to_f64);
            number.and_then(|number| make::float(py, number)).ok_or_else(|| Fault::expected(&wanted(step), key))
        }
        Step::Converted(of, convert, _) => {
            let plan = decoder.plan;
            let made = self::key(decoder, &plan.steps[*of], key)?;
            convert.bind(py).call1((made,)).map_err(|error| Fault::raised(py, error, key))
        }
        Step::Limited { of, limits, is_lenient } => {
            let plan = decoder.plan;
            let made = self::key(decoder, &plan.steps[*of], key)?;
            check_limits(limits, *is_lenient, &made, key)?;
            Ok(made)
        }
        Step::DateTime | Step::Date | Step::Time => times::time(py, step, key),
        // `_KEYS` of `_types.py` lets no other step be a key, and texts are made before they come here.
        _ => Err(Fault::expected(&wanted(step), key)),
    }
}

/// Whether what was made of `value` is within its limits.
pub(super) fn check_limits(
    limits: &[Limit],
    is_lenient: bool,
    made: &Bound<'_, PyAny>,
    value: Value<'_>,
) -> Result<(), Fault> {
    let py = made.py();
    for limit in limits {
        let bound = limit.value.bind(py);
        let holds = match limit.kind {
            LimitKind::Above => made.gt(bound),
            LimitKind::AtLeast => made.ge(bound),
            LimitKind::Below => made.lt(bound),
            LimitKind::AtMost => made.le(bound),
            LimitKind::MultipleOf => made.rem(bound).and_then(|rest| Ok(!rest.is_truthy()?)),
            LimitKind::MinLength => made.len().and_then(|len| bound.le(len)),
            LimitKind::MaxLength => made.len().and_then(|len| bound.ge(len)),
            LimitKind::Pattern => bound.call1((made,)).map(|found| !found.is_none()),
            LimitKind::Predicate => bound.call1((made,)).and_then(|holds| holds.is_truthy()),
            LimitKind::Zone => {
                let zone = made.getattr(intern!(py, "tzinfo"));
                zone.and_then(|zone| Ok(zone.is_none() != bound.is_truthy()?))
            }
        };
        let is_about_others = |error: &PyErr| {
            let is_of_kind = error.is_instance_of::<PyTypeError>(py) || error.is_instance_of::<PyAttributeError>(py);
            is_lenient && limit.kind != LimitKind::Predicate && is_of_kind
        };
        let holds = match holds {
            Err(error) if is_about_others(&error) => Ok(true),
            // Of a value without a time zone, it is the type that has no such limit.
            Err(error) if error.is_instance_of::<PyAttributeError>(py) && limit.kind == LimitKind::Zone => {
                Err(Fault::beyond(&limit_in_words(limit, value.kind()), value))
            }
            holds => holds.map_err(|error| Fault::raised(py, error, value)),
        };
        if !holds? {
            return Err(Fault::beyond(&limit_in_words(limit, value.kind()), value));
        }
    }
    Ok(())
}

fn limit_in_words(Limit { kind, shown, .. }: &Limit, of: Kind) -> String {
    let part = match of {
        Kind::Object => "member",
        Kind::Array => "element",
        _ => "character",
    };
    let parts = if shown == "1" { part.to_owned() } else { format!("{part}s") };
    match kind {
        LimitKind::Above => format!("a value above {shown}"),
        LimitKind::AtLeast => format!("a value of at least {shown}"),
        LimitKind::Below => format!("a value below {shown}"),
        LimitKind::AtMost => format!("a value of at most {shown}"),
        LimitKind::MultipleOf => format!("a multiple of {shown}"),
        LimitKind::MinLength => format!("at least {shown} {parts}"),
        LimitKind::MaxLength => format!("at most {shown} {parts}"),
        LimitKind::Pattern => format!("a string that matches {shown}"),
        LimitKind::Predicate => format!("a value for which {shown} holds"),
        LimitKind::Zone if shown == "True" => "a time with a time zone".into(),
        LimitKind::Zone => "a time without a time zone".into(),
    }
}

/// The fault for a `ValidationError` of pydantic: the first of its errors, with the path in the model.
pub(super) fn refused_by_model(py: Python<'_>, error: PyErr, value: Value<'_>) -> Fault {
    let first = || -> PyResult<(String, Vec<Bound<'_, PyAny>>)> {
        let errors = error.value(py).call_method0(intern!(py, "errors"))?;
        let first = errors.get_item(0)?;
        let place = first.get_item("loc")?.cast_into::<PyTuple>().map_err(PyErr::from)?;
        Ok((first.get_item("msg")?.extract()?, place.iter().collect()))
    };
    let Ok((words, place)) = first() else { return Fault::raised(py, error, value) };
    // Some parts of the place name a member of a union, and lead nowhere.
    let mut here = value;
    for part in place {
        let inner = match part.cast::<PyString>() {
            Ok(key) => key.to_str().ok().and_then(|key| here.get(key)),
            Err(_) => part.extract().ok().and_then(|index| here.at(index)),
        };
        here = inner.unwrap_or(here);
    }
    Fault::refused(words, error, here)
}

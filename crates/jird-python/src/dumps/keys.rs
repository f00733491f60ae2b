//! Dicts that are written sorted, or whose keys are not strings.

use super::{NON_STR_KEYS, SORT_KEYS, is_on, other, time};
use crate::raw::encode::{Encoder, Failure, because};
use crate::raw::members;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDate, PyDateTime, PyDict, PyFloat, PyInt, PyString, PyTime};

/// Writes a dict: its keys become text, and are sorted by their UTF-8 if that was asked for. Equal keys keep their
/// order.
pub(super) fn write<'py>(encoder: &mut Encoder<'_, 'py>, dict: &Bound<'py, PyDict>) -> Result<(), Failure> {
    let mut members = Vec::with_capacity(dict.len());
    let texts = is_on(encoder, NON_STR_KEYS);
    // As they were: what makes a text of a key may change the dict, and so may `default`.
    for (key, value) in members::copied(dict) {
        let text = match key.cast::<PyString>() {
            Ok(text) => utf8(text)?.to_owned(),
            Err(_) if texts => text_of(encoder, &key)?,
            Err(_) => return Err(because("Dict key must be str")),
        };
        members.push((text, value));
    }
    if is_on(encoder, SORT_KEYS) {
        members.sort_by(|(one, _), (other, _)| one.cmp(other));
    }
    encoder.open(b'{')?;
    for (key, value) in members {
        encoder.key(&key);
        encoder.object(&value)?;
    }
    encoder.close(b'}');
    Ok(())
}

fn utf8<'a>(text: &'a Bound<'_, PyString>) -> Result<&'a str, Failure> {
    text.to_str().map_err(|_| because("str is not valid UTF-8: surrogates not allowed"))
}

/// What a key that is not a string is written as.
fn text_of<'py>(encoder: &Encoder<'_, 'py>, key: &Bound<'py, PyAny>) -> Result<String, Failure> {
    if key.is_none() {
        return Ok("null".into());
    }
    if let Ok(truth) = key.cast_exact::<PyBool>() {
        return Ok(if truth.is_true() { "true" } else { "false" }.into());
    }
    if let Some(value) = other::enum_value(encoder.py, key)? {
        // The value may be another member, or the same.
        encoder.check_stack()?;
        return match value.cast::<PyString>() {
            Ok(text) => Ok(utf8(text)?.to_owned()),
            Err(_) => text_of(encoder, &value),
        };
    }
    if let Ok(int) = key.cast::<PyInt>() {
        return other::digits(int);
    }
    if let Ok(float) = key.cast_exact::<PyFloat>() {
        return Ok(text_of_float(float.value()));
    }
    if let Ok(time) = key.cast_exact::<PyDateTime>() {
        return time::date_time(encoder, time);
    }
    if let Ok(date) = key.cast_exact::<PyDate>() {
        return Ok(time::date(date));
    }
    if let Ok(time) = key.cast_exact::<PyTime>() {
        return time::time(encoder, time);
    }
    match other::uuid(encoder.py, key)? {
        Some(text) => Ok(text),
        None => Err(because("Dict key must a type serializable with OPT_NON_STR_KEYS")),
    }
}

fn text_of_float(value: f64) -> String {
    if !value.is_finite() {
        return "null".into();
    }
    jird::to_string(&value).unwrap_or_default()
}

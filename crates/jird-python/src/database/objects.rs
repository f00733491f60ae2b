//! Objects → frames of rows.

use super::cells::Cell;
use super::{HEAD, close};
use crate::dumps::json_text;
use jird::{Kind, Number};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyByteArray, PyBytes, PyDict, PyFloat, PyInt, PyIterator, PyString, PyTuple};

/// Rows that a frame has at most.
const ROWS_MAX: usize = 4096;

/// A frame with as many bytes gets no more rows.
const FRAME_BYTES: usize = 4 << 20;

/// A frame with the values of the next objects, and whether there are no more.
///
/// Of a dict the items of these names are taken, of a tuple the elements, and of everything else the attributes. What SQLite
/// has no type for is written as `dumps` writes it.
#[pyfunction]
#[pyo3(signature = (objects, names, /))]
pub(crate) fn frame_of<'py>(
    objects: &Bound<'py, PyIterator>,
    names: Vec<Bound<'py, PyString>>,
) -> PyResult<(Bound<'py, PyBytes>, bool)> {
    let mut frame = vec![0; HEAD];
    let mut objects = objects.clone();
    let (mut rows, mut is_over) = (0, false);
    while !is_over && rows < ROWS_MAX && frame.len() < FRAME_BYTES {
        match objects.next() {
            Some(object) => add(&mut frame, &object?, &names)?,
            None => is_over = true,
        }
        rows += 1;
    }
    close(&mut frame);
    Ok((PyBytes::new(objects.py(), &frame), is_over))
}

fn add(frame: &mut Vec<u8>, object: &Bound<'_, PyAny>, names: &[Bound<'_, PyString>]) -> PyResult<()> {
    if let Ok(dict) = object.cast::<PyDict>() {
        items(frame, dict, names)
    } else if let Ok(tuple) = object.cast::<PyTuple>() {
        if tuple.len() != names.len() {
            return Err(PyValueError::new_err(format!("a row has {} values, not {}", names.len(), tuple.len())));
        }
        tuple.iter().try_for_each(|value| cell(frame, &value))
    } else {
        names.iter().try_for_each(|name| cell(frame, &object.getattr(name)?))
    }
}

fn items(frame: &mut Vec<u8>, dict: &Bound<'_, PyDict>, names: &[Bound<'_, PyString>]) -> PyResult<()> {
    let mut found = 0;
    for name in names {
        match dict.get_item(name)? {
            Some(value) => {
                found += 1;
                cell(frame, &value)?;
            }
            None => Cell::Null.write(frame),
        }
    }
    if found < dict.len() {
        let is_known = |key: &Bound<'_, PyAny>| names.iter().any(|name| name.as_any().eq(key).unwrap_or(false));
        let other = dict.keys().iter().find(|key| !is_known(key));
        let other = other.map_or_else(String::new, |key| key.to_string());
        return Err(PyValueError::new_err(format!("the table has no column {other:?}")));
    }
    Ok(())
}

fn cell(frame: &mut Vec<u8>, value: &Bound<'_, PyAny>) -> PyResult<()> {
    let cell = if let Ok(text) = value.cast_exact::<PyString>() {
        Cell::Text(text.to_str()?)
    } else if let Ok(int) = value.cast_exact::<PyInt>() {
        Cell::Int(int.extract().map_err(|_| too_large())?)
    } else if let Ok(float) = value.cast_exact::<PyFloat>() {
        Cell::Float(float.value())
    } else if value.is_none() {
        Cell::Null
    } else if let Ok(truth) = value.cast_exact::<PyBool>() {
        Cell::Bool(truth.is_true())
    } else {
        return other(frame, value);
    };
    cell.write(frame);
    Ok(())
}

/// Bytes, decimals, and what `dumps` writes: a string as its content, and everything else as JSON.
#[inline(never)]
fn other(frame: &mut Vec<u8>, value: &Bound<'_, PyAny>) -> PyResult<()> {
    if let Ok(bytes) = value.cast::<PyBytes>() {
        Cell::Bytes(bytes.as_bytes()).write(frame);
        return Ok(());
    }
    if let Ok(bytes) = value.cast::<PyByteArray>() {
        Cell::Bytes(&bytes.to_vec()).write(frame);
        return Ok(());
    }
    if is_decimal(value)? {
        return decimal(frame, value);
    }
    let text = json_text(value)?;
    let document = jird::parse(text.as_bytes()).map_err(|error| PyTypeError::new_err(error.to_string()))?;
    let root = document.root();
    let string = root.as_str();
    match root.kind() {
        Kind::Null => Cell::Null,
        Kind::Bool => Cell::Bool(root.as_bool().unwrap_or_default()),
        Kind::String => Cell::Text(string.as_deref().unwrap_or_default()),
        Kind::Number if root.is_integer() => Cell::Int(root.as_i64().ok_or_else(too_large)?),
        Kind::Number => Cell::Float(root.as_f64().unwrap_or(f64::NAN)),
        Kind::Object | Kind::Array => Cell::Text(root.raw_str().unwrap_or_default()),
    }
    .write(frame);
    Ok(())
}

/// Whether it is a `decimal.Decimal`, and not one of a subclass, which may say anything of its digits.
fn is_decimal(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    let class = value.get_type();
    Ok(class.name()? == "Decimal" && class.module()? == "decimal")
}

/// An integer, or the float that is written with these digits; else the digits as text.
fn decimal(frame: &mut Vec<u8>, value: &Bound<'_, PyAny>) -> PyResult<()> {
    let digits = value.str()?;
    let digits = digits.to_str()?;
    let number = Number::new(digits)
        .ok_or_else(|| PyValueError::new_err(format!("{digits} is a Decimal that SQLite has no number for")))?;
    let float = PyFloat::new(value.py(), number.to_f64().unwrap_or(f64::INFINITY));
    let cell = if let Some(int) = number.as_i64() {
        Cell::Int(int)
    } else if value.get_type().call1((float.repr()?,))?.eq(value)? {
        Cell::Float(float.value())
    } else {
        Cell::Text(digits)
    };
    cell.write(frame);
    Ok(())
}

#[cold]
fn too_large() -> PyErr {
    PyValueError::new_err("the integer has more than 64 bits, which is more than SQLite holds")
}

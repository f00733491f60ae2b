//! Types of columns as the caller gives them: `{"a": int, "b": "json", "user": {"id": int, "tags": [str]}}`.

use super::kinds::Kind;
use crate::raw::members;
use jird_formats::ColumnType;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};
use std::sync::Arc;

/// How deep types may be nested. Readers of Arrow refuse types that are nested much deeper.
const DEPTH_MAX: usize = 32;

/// The types of columns.
///
/// # Errors
/// TypeError and ValueError, which say what is wrong.
pub(super) fn column_types(types: &Bound<'_, PyDict>) -> PyResult<Vec<(String, Kind)>> {
    let column = |(name, given): (Bound<'_, PyAny>, Bound<'_, PyAny>)| Ok((name.extract()?, kind_of(&given, 0)?));
    members::copied(types).into_iter().map(column).collect()
}

fn kind_of(given: &Bound<'_, PyAny>, depth: usize) -> PyResult<Kind> {
    if depth == DEPTH_MAX {
        return Err(PyValueError::new_err(format!("types: they are nested more than {DEPTH_MAX} deep")));
    }
    if let Ok(fields) = given.cast::<PyDict>() {
        let field = |(name, given): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
            let name = name.extract::<String>()?;
            match kind_of(&given, depth + 1)? {
                Kind::Offset => {
                    Err(PyValueError::new_err("types: \"offset\" is the type of a column, not of a field in it"))
                }
                kind => Ok((name, kind)),
            }
        };
        let fields = members::copied(fields).into_iter().map(field).collect::<PyResult<Arc<[_]>>>()?;
        // Arrow has such structs, and some of its readers do not.
        return if fields.is_empty() {
            Err(PyValueError::new_err("types: an object needs at least one key; \"json\" takes any object"))
        } else {
            Ok(Kind::Struct(fields))
        };
    }
    if let Some(elements) = elements_of(given)? {
        return match kind_of(&elements, depth + 1)? {
            Kind::Offset => Err(PyValueError::new_err("types: \"offset\" is the type of a column, not of an element")),
            kind => Ok(Kind::List(Arc::new(kind))),
        };
    }
    named(given)
}

/// The type of the elements, of `[int]` and `list[int]`.
fn elements_of<'py>(given: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = given.py();
    if let Ok(list) = given.cast::<PyList>() {
        return match list.len() {
            1 => list.get_item(0).map(Some),
            len => Err(PyValueError::new_err(format!("types: an array is a list of one type, not of {len}"))),
        };
    }
    let Some(origin) = given.getattr_opt(intern!(py, "__origin__"))? else { return Ok(None) };
    let arguments = given.getattr(intern!(py, "__args__"))?.cast_into::<PyTuple>().map_err(PyErr::from)?;
    if origin.is(py.get_type::<PyList>()) && arguments.len() == 1 { arguments.get_item(0).map(Some) } else { Ok(None) }
}

fn named(given: &Bound<'_, PyAny>) -> PyResult<Kind> {
    let word = if given.is_instance_of::<PyString>() {
        given.clone()
    } else {
        given.getattr_opt(intern!(given.py(), "__name__"))?.map_or_else(|| given.repr().map(Bound::into_any), Ok)?
    };
    Ok(match word.extract::<String>()?.as_str() {
        "bool" => Kind::Of(ColumnType::Bool),
        "int" => Kind::Of(ColumnType::Int64),
        "uint" => Kind::Of(ColumnType::UInt64),
        "decimal" => Kind::Of(ColumnType::Decimal),
        "float" => Kind::Of(ColumnType::Float64),
        "str" | "text" => Kind::Of(ColumnType::Text),
        "json" => Kind::Of(ColumnType::Json),
        "date" => Kind::Date,
        "any" => Kind::Any,
        "offset" => Kind::Offset,
        other => {
            return Err(PyTypeError::new_err(format!(
                "types: {other:?} is none of bool, int, float, str, date, \"uint\", \"decimal\", \"json\", \"any\" and \
                 \"offset\", and no list or dict of them"
            )));
        }
    })
}

//! Rows of objects: the interpreter's thread takes the values out, and another one writes them.

use crate::dumps::json_text;
use core::ops::Range;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyByteArray, PyBytes, PyDict, PyFloat, PyInt, PyString, PyTuple};
use serde_core::ser::{Serialize, SerializeMap, Serializer};
use std::sync::Arc;

/// A value of a row. Texts, bytes and JSON are ranges of the chunk's text.
enum Cell {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(Range<usize>),
    Bytes(Range<usize>),
}

/// Some rows.
pub(super) struct Chunk {
    names: Arc<[String]>,
    cells: Vec<Cell>,
    bytes: Vec<u8>,
}

/// A row of a chunk.
pub(super) struct Row {
    chunk: Arc<Chunk>,
    index: usize,
}

impl Chunk {
    pub(super) fn new(names: Arc<[String]>, rows: usize) -> Self {
        Self { cells: Vec::with_capacity(names.len() * rows), names, bytes: Vec::new() }
    }

    /// The number of rows.
    pub(super) fn len(&self) -> usize {
        self.cells.len().checked_div(self.names.len()).unwrap_or(0)
    }

    /// The bytes of text that it holds.
    pub(super) fn text_bytes(&self) -> usize {
        self.bytes.len()
    }

    pub(super) fn into_rows(self) -> impl Iterator<Item = Row> {
        let rows = self.len();
        let chunk = Arc::new(self);
        (0..rows).map(move |index| Row { chunk: Arc::clone(&chunk), index })
    }

    /// Adds the values of an object: items of a dict, elements of a tuple, and attributes of everything else.
    pub(super) fn add(&mut self, object: &Bound<'_, PyAny>, fields: &[Bound<'_, PyString>]) -> PyResult<()> {
        let before = self.cells.len();
        let added = if let Ok(dict) = object.cast::<PyDict>() {
            self.items(dict, fields)
        } else if let Ok(tuple) = object.cast::<PyTuple>() {
            self.elements(tuple, fields.len())
        } else {
            fields.iter().try_for_each(|field| self.cell(&object.getattr(field)?))
        };
        if added.is_err() {
            self.cells.truncate(before);
        }
        added
    }

    fn items(&mut self, dict: &Bound<'_, PyDict>, fields: &[Bound<'_, PyString>]) -> PyResult<()> {
        let mut found = 0;
        for field in fields {
            match dict.get_item(field)? {
                Some(value) => {
                    found += 1;
                    self.cell(&value)?;
                }
                None => self.cells.push(Cell::Null),
            }
        }
        if found < dict.len() {
            let is_known = |key: &Bound<'_, PyAny>| fields.iter().any(|field| field.as_any().eq(key).unwrap_or(false));
            let other = dict.keys().iter().find(|key| !is_known(key));
            let other = other.map_or_else(String::new, |key| key.to_string());
            return Err(PyValueError::new_err(format!("the table has no column {other:?}")));
        }
        Ok(())
    }

    fn elements(&mut self, tuple: &Bound<'_, PyTuple>, count: usize) -> PyResult<()> {
        if tuple.len() != count {
            return Err(PyValueError::new_err(format!("a row has {count} values, not {}", tuple.len())));
        }
        tuple.iter().try_for_each(|value| self.cell(&value))
    }

    fn cell(&mut self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let cell = if let Ok(text) = value.cast_exact::<PyString>() {
            Cell::Text(self.kept(text.to_str()?.as_bytes()))
        } else if let Ok(int) = value.cast_exact::<PyInt>() {
            Cell::Int(integer(int)?)
        } else if let Ok(float) = value.cast_exact::<PyFloat>() {
            Cell::Float(float.value())
        } else if value.is_none() {
            Cell::Null
        } else if let Ok(truth) = value.cast_exact::<PyBool>() {
            Cell::Bool(truth.is_true())
        } else {
            self.other(value)?
        };
        self.cells.push(cell);
        Ok(())
    }

    fn kept(&mut self, bytes: &[u8]) -> Range<usize> {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        start..self.bytes.len()
    }

    /// Bytes, and what `dumps` writes: a string as its content, and everything else as JSON.
    #[inline(never)]
    fn other(&mut self, value: &Bound<'_, PyAny>) -> PyResult<Cell> {
        if let Ok(bytes) = value.cast::<PyBytes>() {
            return Ok(Cell::Bytes(self.kept(bytes.as_bytes())));
        }
        if let Ok(bytes) = value.cast::<PyByteArray>() {
            return Ok(Cell::Bytes(self.kept(&bytes.to_vec())));
        }
        let text = json_text(value)?;
        let document = jird::parse(text.as_bytes()).map_err(|error| PyTypeError::new_err(error.to_string()))?;
        let root = document.root();
        Ok(match root.kind() {
            jird::Kind::Null => Cell::Null,
            jird::Kind::Bool => Cell::Bool(root.as_bool().unwrap_or_default()),
            jird::Kind::String => Cell::Text(self.kept(root.as_str().unwrap_or_default().as_bytes())),
            jird::Kind::Number if root.is_integer() => match root.as_i64() {
                Some(number) => Cell::Int(number),
                None => return Err(too_large()),
            },
            jird::Kind::Number => Cell::Float(root.as_f64().unwrap_or(f64::NAN)),
            jird::Kind::Object | jird::Kind::Array => Cell::Text(self.kept(text.as_bytes())),
        })
    }
}

fn integer(int: &Bound<'_, PyInt>) -> PyResult<i64> {
    int.extract().map_err(|_| too_large())
}

#[cold]
fn too_large() -> PyErr {
    PyValueError::new_err("the integer has more than 64 bits, which is more than SQLite holds")
}

impl Serialize for Row {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Chunk { names, cells, bytes } = &*self.chunk;
        let mut map = serializer.serialize_map(Some(names.len()))?;
        let text = |range: &Range<usize>| &bytes[range.clone()];
        for (name, cell) in names.iter().zip(&cells[self.index * names.len()..]) {
            map.serialize_key(name)?;
            match cell {
                Cell::Null => map.serialize_value(&None::<bool>)?,
                Cell::Bool(value) => map.serialize_value(value)?,
                Cell::Int(value) => map.serialize_value(value)?,
                Cell::Float(value) => map.serialize_value(value)?,
                Cell::Text(range) => map.serialize_value(core::str::from_utf8(text(range)).unwrap_or_default())?,
                Cell::Bytes(range) => map.serialize_value(&Bytes(text(range)))?,
            }
        }
        map.end()
    }
}

/// Bytes, and no list of numbers.
pub(super) struct Bytes<'b>(pub(super) &'b [u8]);

impl Serialize for Bytes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self.0)
    }
}

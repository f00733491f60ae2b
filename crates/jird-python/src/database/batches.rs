//! A stream of Arrow → frames of its batches, and the rows of such a frame.

use super::cells::Bytes;
use super::{HEAD, close};
use crate::raw::arrow;
use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::ArrowArrayStreamReader;
use arrow_array::types::{
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchReader};
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, DataType};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_core::ser::{Serialize, SerializeMap, Serializer};
use std::sync::{Arc, Mutex, PoisonError};

/// Rows of a frame, so that one side can work while the other does.
const ROWS_MAX: usize = 1 << 16;

/// The batches of a stream of Arrow, one after the other, as frames.
#[pyclass(frozen, module = "jird._jird", name = "Frames")]
pub(crate) struct Frames(Mutex<Reading>);

struct Reading {
    stream: ArrowArrayStreamReader,
    /// What is left of the batch that was read last.
    rest: Option<RecordBatch>,
}

#[pymethods]
impl Frames {
    /// Of what has `__arrow_c_stream__`, for a table with these columns.
    #[new]
    #[pyo3(signature = (stream, columns, /))]
    fn new(stream: &Bound<'_, PyAny>, columns: Vec<String>) -> PyResult<Self> {
        let stream = arrow::stream(stream)?;
        for field in stream.schema().fields() {
            if !columns.contains(field.name()) {
                return Err(PyValueError::new_err(format!("the table has no column {:?}", field.name())));
            }
            if !is_held(field.data_type()) {
                return Err(PyTypeError::new_err(format!(
                    "the column {:?} is of the type {}, which SQLite has not",
                    field.name(),
                    field.data_type()
                )));
            }
        }
        Ok(Self(Mutex::new(Reading { stream, rest: None })))
    }

    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let frame = py.detach(|| self.0.lock().unwrap_or_else(PoisonError::into_inner).frame());
        let frame = frame.map_err(|error| PyTypeError::new_err(error.to_string()))?;
        Ok(frame.map(|frame| PyBytes::new(py, &frame)))
    }
}

impl Reading {
    /// The next rows as a stream of Arrow of its own.
    fn frame(&mut self) -> Result<Option<Vec<u8>>, ArrowError> {
        let Some(batch) = self.rest.take().map_or_else(|| self.stream.next().transpose(), |rest| Ok(Some(rest)))?
        else {
            return Ok(None);
        };
        let count = batch.num_rows().min(ROWS_MAX);
        if count < batch.num_rows() {
            self.rest = Some(batch.slice(count, batch.num_rows() - count));
        }
        let mut writer = StreamWriter::try_new(vec![0; HEAD], &batch.schema())?;
        writer.write(&alone(&batch.slice(0, count))?)?;
        let mut frame = writer.into_inner()?;
        close(&mut frame);
        Ok(Some(frame))
    }
}

/// The batch without texts of other rows, which views hold too.
fn alone(batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
    let columns = batch.columns().iter().map(|column| match column.as_string_view_opt() {
        Some(views) => Arc::new(views.gc()) as ArrayRef,
        None => Arc::clone(column),
    });
    RecordBatch::try_new(batch.schema(), columns.collect())
}

/// The rows of a frame.
pub(super) fn rows(frame: &[u8]) -> Result<Vec<Row>, ArrowError> {
    let mut all = Vec::new();
    for batch in StreamReader::try_new(frame, None)? {
        let batch = Arc::new(batch?);
        all.extend((0..batch.num_rows()).map(|index| Row { batch: Arc::clone(&batch), index }));
    }
    Ok(all)
}

/// A row of a batch.
pub(super) struct Row {
    batch: Arc<RecordBatch>,
    index: usize,
}

fn is_held(kind: &DataType) -> bool {
    use DataType::{
        Binary, Boolean, Float32, Float64, Int8, Int16, Int32, Int64, LargeBinary, LargeUtf8, Null, UInt8, UInt16,
        UInt32, UInt64, Utf8, Utf8View,
    };
    matches!(
        kind,
        Null | Boolean
            | Int8
            | Int16
            | Int32
            | Int64
            | UInt8
            | UInt16
            | UInt32
            | UInt64
            | Float32
            | Float64
            | Utf8
            | LargeUtf8
            | Utf8View
            | Binary
            | LargeBinary
    )
}

impl Serialize for Row {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (schema, at) = (self.batch.schema_ref(), self.index);
        let mut map = serializer.serialize_map(Some(schema.fields().len()))?;
        for (field, column) in schema.fields().iter().zip(self.batch.columns()) {
            map.serialize_key(field.name())?;
            if column.is_null(at) || column.data_type() == &DataType::Null {
                map.serialize_value(&None::<bool>)?;
                continue;
            }
            match column.data_type() {
                DataType::Boolean => map.serialize_value(&column.as_boolean().value(at))?,
                DataType::Int64 => map.serialize_value(&column.as_primitive::<Int64Type>().value(at))?,
                DataType::Int32 => map.serialize_value(&column.as_primitive::<Int32Type>().value(at))?,
                DataType::Int16 => map.serialize_value(&column.as_primitive::<Int16Type>().value(at))?,
                DataType::Int8 => map.serialize_value(&column.as_primitive::<Int8Type>().value(at))?,
                DataType::UInt64 => map.serialize_value(&column.as_primitive::<UInt64Type>().value(at))?,
                DataType::UInt32 => map.serialize_value(&column.as_primitive::<UInt32Type>().value(at))?,
                DataType::UInt16 => map.serialize_value(&column.as_primitive::<UInt16Type>().value(at))?,
                DataType::UInt8 => map.serialize_value(&column.as_primitive::<UInt8Type>().value(at))?,
                DataType::Float64 => map.serialize_value(&column.as_primitive::<Float64Type>().value(at))?,
                DataType::Float32 => map.serialize_value(&f64::from(column.as_primitive::<Float32Type>().value(at)))?,
                DataType::Utf8 => map.serialize_value(column.as_string::<i32>().value(at))?,
                DataType::LargeUtf8 => map.serialize_value(column.as_string::<i64>().value(at))?,
                DataType::Utf8View => map.serialize_value(column.as_string_view().value(at))?,
                DataType::Binary => map.serialize_value(&Bytes(column.as_binary::<i32>().value(at)))?,
                DataType::LargeBinary => map.serialize_value(&Bytes(column.as_binary::<i64>().value(at)))?,
                // `Frames` lets no other pass.
                _ => map.serialize_value(&None::<bool>)?,
            }
        }
        map.end()
    }
}

//! Rows of Arrow's batches.

use super::objects::Bytes;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::DataType;
use serde_core::ser::{Serialize, SerializeMap, Serializer};
use std::sync::Arc;

/// A batch whose columns SQLite can hold.
pub(super) struct Batch {
    names: Vec<String>,
    columns: Vec<ArrayRef>,
    rows: usize,
}

/// A row of a batch.
pub(super) struct Row {
    batch: Arc<Batch>,
    index: usize,
}

impl Batch {
    /// The batch; or what is wrong with it.
    pub(super) fn of(batch: &RecordBatch) -> Result<Self, String> {
        let schema = batch.schema();
        for field in schema.fields() {
            if !is_held(field.data_type()) {
                return Err(format!(
                    "the column {:?} is of the type {}, which SQLite has not",
                    field.name(),
                    field.data_type()
                ));
            }
        }
        let names = schema.fields().iter().map(|field| field.name().clone()).collect();
        Ok(Self { names, columns: batch.columns().to_vec(), rows: batch.num_rows() })
    }

    pub(super) fn into_rows(self) -> impl Iterator<Item = Row> {
        let rows = self.rows;
        let batch = Arc::new(self);
        (0..rows).map(move |index| Row { batch: Arc::clone(&batch), index })
    }
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
        let Batch { names, columns, .. } = &*self.batch;
        let at = self.index;
        let mut map = serializer.serialize_map(Some(names.len()))?;
        for (name, column) in names.iter().zip(columns) {
            map.serialize_key(name)?;
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
                // `Batch::of` lets no other pass.
                _ => map.serialize_value(&None::<bool>)?,
            }
        }
        map.end()
    }
}

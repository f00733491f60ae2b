//! Makes batches from rows.

use super::nested::NestedBuilder;
use super::plan::{ColumnPlan, Holds};
use crate::cell::Cell;
use crate::columns::{ColumnType, surviving};
use crate::error::{Error, ErrorKind};
use crate::rows::{Row, TimestampType};
use arrow_array::builder::{
    BinaryBuilder, BooleanBuilder, Decimal128Builder, Float64Builder, Int64Builder, StringBuilder,
    TimestampMicrosecondBuilder, TimestampNanosecondBuilder, UInt64Builder,
};
use arrow_array::{ArrayRef, NullArray, RecordBatch, RecordBatchOptions};
use arrow_schema::SchemaRef;
use jird::event::{Numeral, Timestamp};
use jird::hooks::base64;
use std::sync::Arc;

/// Approximate number of bytes of text and binary data at which a batch is full.
const BATCH_BYTES: usize = 1 << 20;
/// The most bytes in a cell's text. A batch counts its texts' bytes in 31 bits.
const CELL_BYTES_MAX: usize = 1 << 30;

/// Collects rows until they fill a batch.
pub(crate) struct BatchBuilder {
    schema: SchemaRef,
    columns: Vec<CellBuilder>,
    plan: ColumnPlan,
    rows: usize,
    bytes: usize,
    rows_max: usize,
    /// Scratch space for values that are written as text but are not text.
    scratch: Vec<u8>,
}

/// Collects the values of one column.
pub(super) enum CellBuilder {
    /// A count of nulls.
    Nothing(usize),
    Bool(BooleanBuilder),
    Int64(Int64Builder),
    UInt64(UInt64Builder),
    Decimal(Decimal128Builder),
    Float64(Float64Builder),
    Text(StringBuilder),
    Json(StringBuilder),
    Bytes(BinaryBuilder),
    Micros(TimestampMicrosecondBuilder, TimestampType),
    Nanos(TimestampNanosecondBuilder, TimestampType),
    Nested(Box<NestedBuilder>),
}

impl BatchBuilder {
    /// Batches of at most this many rows.
    pub(crate) fn new(plan: &ColumnPlan, rows_max: usize) -> Self {
        let schema = plan.schema();
        let columns = plan.columns().iter().map(|(_, holds)| CellBuilder::new(holds));
        Self {
            columns: columns.collect(),
            schema,
            plan: plan.clone(),
            rows: 0,
            bytes: 0,
            rows_max: rows_max.max(1),
            scratch: Vec::new(),
        }
    }

    pub(crate) fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    /// Appends a row, whose columns are those of the plan. Returns the batch if the row filled it.
    pub(crate) fn append(&mut self, row: &Row) -> Result<Option<RecordBatch>, Error> {
        for (index, column) in self.columns.iter_mut().enumerate() {
            let Some(bytes) = column.append(row.cell(index), &mut self.scratch) else {
                let (name, holds) = &self.plan.columns()[index];
                let message = format!("the value does not fit column {name:?}, which holds {holds}");
                return Err(Error::new(ErrorKind::Unfit, message).in_column(name));
            };
            self.bytes += bytes;
        }
        self.rows += 1;
        if self.rows == self.rows_max || self.bytes > BATCH_BYTES { self.finish() } else { Ok(None) }
    }

    /// The batch of the rows appended so far, if there are any.
    pub(crate) fn finish(&mut self) -> Result<Option<RecordBatch>, Error> {
        let rows = core::mem::take(&mut self.rows);
        self.bytes = 0;
        if rows == 0 {
            return Ok(None);
        }
        let arrays = self.columns.iter_mut().map(CellBuilder::finish).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        Ok(Some(RecordBatch::try_new_with_options(self.schema.clone(), arrays, &options)?))
    }
}

impl CellBuilder {
    pub(super) fn new(holds: &Holds) -> Self {
        let as_type = holds.field("").data_type().clone();
        match holds {
            Holds::Nothing => Self::Nothing(0),
            Holds::Values(ColumnType::Bool) => Self::Bool(BooleanBuilder::new()),
            Holds::Values(ColumnType::Int64) => Self::Int64(Int64Builder::new()),
            Holds::Values(ColumnType::UInt64) => Self::UInt64(UInt64Builder::new()),
            Holds::Values(ColumnType::Decimal) => Self::Decimal(Decimal128Builder::new().with_data_type(as_type)),
            Holds::Values(ColumnType::Float64) => Self::Float64(Float64Builder::new()),
            Holds::Values(ColumnType::Text) => Self::Text(StringBuilder::new()),
            Holds::Values(ColumnType::Json) => Self::Json(StringBuilder::new()),
            Holds::Bytes => Self::Bytes(BinaryBuilder::new()),
            Holds::Nested(values) => Self::Nested(Box::new(NestedBuilder::new(values))),
            Holds::Times(times) if times.nanoseconds => {
                Self::Nanos(TimestampNanosecondBuilder::new().with_data_type(as_type), *times)
            }
            Holds::Times(times) => Self::Micros(TimestampMicrosecondBuilder::new().with_data_type(as_type), *times),
        }
    }

    /// Appends a cell, and returns how many bytes of text it took; `None` if it does not fit.
    #[inline]
    pub(super) fn append(&mut self, cell: Cell<'_>, scratch: &mut Vec<u8>) -> Option<usize> {
        if cell.is_null() {
            self.append_null();
            return Some(0);
        }
        match (self, cell) {
            (Self::Text(texts), Cell::Text(text)) | (Self::Json(texts), Cell::Json(text)) => {
                return append_text(texts, text);
            }
            (Self::Nested(values), Cell::Json(text)) => return values.append(text, scratch).map(|()| text.len()),
            (Self::Bool(values), Cell::Bool(value)) => values.append_value(value),
            (Self::Int64(values), Cell::Number(number)) => values.append_value(number.as_i64()?),
            (Self::UInt64(values), Cell::Number(number)) => values.append_value(number.as_u64()?),
            (Self::Decimal(values), Cell::Number(number)) => values.append_value(to_decimal(number)?),
            (Self::Float64(values), Cell::Number(number)) => values.append_value(exact_f64(number)?),
            (Self::Micros(values, holds), Cell::Timestamp(time)) => values.append_value(count(time, *holds)?),
            (Self::Nanos(values, holds), Cell::Timestamp(time)) => values.append_value(count(time, *holds)?),
            (Self::Bytes(values), Cell::Bytes(bytes)) => {
                if bytes.len() > CELL_BYTES_MAX {
                    return None;
                }
                values.append_value(bytes);
                return Some(bytes.len());
            }
            (Self::Text(texts), Cell::Bytes(bytes)) => return append_text(texts, &base64(bytes)),
            (Self::Text(texts), Cell::Timestamp(time)) => return append_text(texts, &time.to_string()),
            (Self::Json(texts), cell) => {
                scratch.clear();
                cell.write_json(scratch);
                return append_text(texts, core::str::from_utf8(scratch).ok()?);
            }
            _ => return None,
        }
        Some(size_of::<u64>())
    }

    pub(super) fn append_null(&mut self) {
        match self {
            Self::Nested(values) => values.append_null(),
            Self::Nothing(nulls) => *nulls += 1,
            Self::Bool(values) => values.append_null(),
            Self::Int64(values) => values.append_null(),
            Self::UInt64(values) => values.append_null(),
            Self::Decimal(values) => values.append_null(),
            Self::Float64(values) => values.append_null(),
            Self::Text(values) | Self::Json(values) => values.append_null(),
            Self::Bytes(values) => values.append_null(),
            Self::Micros(values, _) => values.append_null(),
            Self::Nanos(values, _) => values.append_null(),
        }
    }

    pub(super) fn finish(&mut self) -> ArrayRef {
        match self {
            Self::Nested(values) => values.finish(),
            Self::Nothing(nulls) => Arc::new(NullArray::new(core::mem::take(nulls))),
            Self::Bool(values) => Arc::new(values.finish()),
            Self::Int64(values) => Arc::new(values.finish()),
            Self::UInt64(values) => Arc::new(values.finish()),
            Self::Decimal(values) => Arc::new(values.finish()),
            Self::Float64(values) => Arc::new(values.finish()),
            Self::Text(values) | Self::Json(values) => Arc::new(values.finish()),
            Self::Bytes(values) => Arc::new(values.finish()),
            Self::Micros(values, _) => Arc::new(values.finish()),
            Self::Nanos(values, _) => Arc::new(values.finish()),
        }
    }
}

#[inline]
fn append_text(texts: &mut StringBuilder, text: &str) -> Option<usize> {
    if text.len() > CELL_BYTES_MAX {
        return None;
    }
    texts.append_value(text);
    Some(text.len())
}

fn to_decimal(number: Numeral<'_>) -> Option<i128> {
    match number {
        Numeral::I64(value) => Some(value.into()),
        Numeral::U64(value) => Some(value.into()),
        Numeral::F64(_) => None,
        Numeral::Text(number) => number.to_decimal38(),
    }
}

/// The double of a number that survives as one.
fn exact_f64(number: Numeral<'_>) -> Option<f64> {
    match number {
        Numeral::Text(number) => surviving(number),
        Numeral::F64(value) => Some(value),
        Numeral::I64(value) => number.to_f64().filter(|double| *double as i128 == i128::from(value)),
        Numeral::U64(value) => number.to_f64().filter(|double| *double as i128 == i128::from(value)),
    }
}

/// A point in time as a count since 1970, if the count is exact.
fn count(time: Timestamp, holds: TimestampType) -> Option<i64> {
    let per_second = if holds.nanoseconds { 1_000_000_000 } else { 1_000_000 };
    let nanoseconds = 1_000_000_000 / per_second as u32;
    let is_whole = time.nanoseconds.is_multiple_of(nanoseconds) && time.is_utc == holds.is_utc;
    let part = is_whole.then_some(i64::from(time.nanoseconds / nanoseconds))?;
    time.seconds.checked_mul(per_second)?.checked_add(part)
}

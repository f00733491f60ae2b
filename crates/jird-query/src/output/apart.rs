//! Takes whole records apart into columns.
//!
//! The time that DataFusion needs for a plan is quadratic in its columns. So the `*` of a table with many columns is
//! planned as one column, the record; here it becomes many.

use super::{WriteError, Writer};
use crate::sql::{Output, OutputKind};
use arrow_array::cast::AsArray;
use arrow_array::{Array, RecordBatch};
use arrow_schema::{Schema, SchemaRef};
use jird::record::{Field, Record, RecordBuffer};
use jird_formats::{ColumnBuilder, ColumnType};
use std::collections::HashMap;
use std::sync::Arc;

/// Rows are taken apart in groups of about this many cells, which bounds the memory.
const CELLS: usize = 1 << 20;

/// A writer that gets records.
pub(super) struct Apart {
    writer: Box<dyn Writer>,
    /// The column of each key.
    columns: HashMap<String, usize>,
    schema: SchemaRef,
    builders: Vec<ColumnBuilder>,
    buffer: RecordBuffer,
}

/// The columns with these keys.
pub(super) fn columns(keys: &[String]) -> Vec<Output> {
    keys.iter().map(|key| Output { name: key.clone(), kind: OutputKind::Plain }).collect()
}

impl Apart {
    /// `writer` gets the columns of these keys.
    pub(super) fn new(keys: &[String], writer: Box<dyn Writer>) -> Self {
        let fields: Vec<_> = keys.iter().map(|key| ColumnType::Json.field(key)).collect();
        Self {
            writer,
            columns: keys.iter().enumerate().map(|(index, key)| (key.clone(), index)).collect(),
            schema: Arc::new(Schema::new(fields)),
            builders: keys.iter().map(|_| ColumnBuilder::plain()).collect(),
            buffer: RecordBuffer::default(),
        }
    }

    fn flush(&mut self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        let columns = self.builders.iter_mut().map(ColumnBuilder::finish).collect();
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), columns)?;
        self.writer.batch(&batch, out)
    }
}

impl Writer for Apart {
    fn batch(&mut self, batch: &RecordBatch, out: &mut Vec<u8>) -> Result<(), WriteError> {
        let records = batch.column(0).as_string::<i32>();
        let rows = (CELLS / self.builders.len().max(1)).max(1);
        for row in 0..records.len() {
            let record = if records.is_null(row) { "{}" } else { records.value(row) };
            let mut fields = vec![Field::MISSING; self.builders.len()];
            let mut put = |key: &str, raw| {
                let field = self.columns.get(key).and_then(|&column| fields.get_mut(column));
                if let Some(field) = field.filter(|field| field.kind().is_none()) {
                    *field = Field::from_raw(raw);
                }
            };
            if record.starts_with('{') {
                // Each record was checked when it was scanned.
                for (key, value) in Record::scan_trusted(record.as_bytes(), &mut self.buffer).entries() {
                    put(&key.as_str().unwrap_or_default(), str::from_utf8(value.raw()).unwrap_or_default());
                }
            } else {
                put("value", record);
            }
            for (builder, field) in self.builders.iter_mut().zip(fields) {
                let appended = builder.append(field);
                debug_assert!(appended.is_ok(), "any value fits");
            }
            if (row + 1) % rows == 0 {
                self.flush(out)?;
            }
        }
        if records.len() % rows != 0 { self.flush(out) } else { Ok(()) }
    }

    fn holds_back(&self) -> bool {
        self.writer.holds_back()
    }

    fn pause(&mut self, out: &mut Vec<u8>) {
        self.writer.pause(out);
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        self.writer.finish(out)
    }
}

//! Arrow IPC as a sink.

use super::batches::{ArrowBatches, ArrowOptions};
use super::build::BatchBuilder;
use super::error::unplanned;
use super::plan::ColumnPlan;
use crate::error::Error;
use crate::rows::{Row, Rows, Table};
use arrow_array::RecordBatch;
use jird::event::{Interest, Place};
use std::io::Write;

/// Writes records as Arrow IPC, with planned columns.
///
/// Null and missing are both null. A record is an error if it has a key without a column, or a value that its column
/// cannot hold. No value is ever changed to fit. Memory is bounded by one batch.
pub struct ArrowSink<W: Write> {
    batches: ArrowBatches<W>,
    batch: BatchBuilder,
}

impl<W: Write> ArrowSink<W> {
    /// The event sink that writes these columns. It writes the schema at once. If the writer is a file, it should have
    /// a buffer.
    pub fn new(writer: W, plan: &ColumnPlan, options: ArrowOptions) -> Result<Rows<Self>, Error> {
        let batch = BatchBuilder::new(plan, options.batch_rows);
        let batches = ArrowBatches::new(writer, &batch.schema(), options)?;
        Ok(Rows::with_columns(Self { batches, batch }, plan.names()))
    }

    /// The writer, after everything is written.
    ///
    /// # Errors
    /// If the sink was not finished.
    pub fn into_inner(self) -> Result<W, Error> {
        self.batches.into_inner()
    }

    fn write(&mut self, batch: Option<RecordBatch>) -> Result<(), Error> {
        batch.map_or(Ok(()), |batch| self.batches.write(&batch))
    }
}

impl<W: Write> Table for ArrowSink<W> {
    type Error = Error;

    fn add_column(&mut self, name: &str) -> Result<Interest, Error> {
        Err(unplanned(name))
    }

    #[inline]
    fn add_row(&mut self, row: &mut Row, _place: Place) -> Result<(), Error> {
        let batch = self.batch.append(row)?;
        self.write(batch)
    }

    fn finish(&mut self) -> Result<(), Error> {
        let batch = self.batch.finish()?;
        self.write(batch)?;
        self.batches.finish()
    }
}

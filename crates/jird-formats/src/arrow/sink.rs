//! Files that hold columns as a sink of records.

use super::batches::{ArrowBatches, ArrowOptions, BatchWriter};
use super::build::BatchBuilder;
use super::error::{unfinished, unplanned};
use super::plan::ColumnPlan;
use crate::error::Error;
use crate::rows::{Row, Rows, Table};
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use jird::event::{Interest, Place};
use std::io::Write;

/// What takes the batches of a sink. An error ends it.
pub(crate) trait Encode<W> {
    /// Writes a batch.
    fn write(&mut self, batch: RecordBatch) -> Result<(), Error>;

    /// Writes the end of the file, and returns the writer.
    fn finish(self: Box<Self>) -> Result<W, Error>;
}

impl<W: Write> Encode<W> for ArrowBatches<W> {
    fn write(&mut self, batch: RecordBatch) -> Result<(), Error> {
        BatchWriter::write(self, &batch)
    }

    fn finish(self: Box<Self>) -> Result<W, Error> {
        BatchWriter::finish(self)
    }
}

/// Writes records as Arrow IPC or Parquet, with planned columns.
///
/// Null and missing are both null. A record is an error if it has a key without a column, or a value that its column
/// cannot hold. No value is ever changed to fit. The end of the file is written when the sink finishes, so abandoned
/// output is not a complete file.
pub struct ColumnSink<'w, W> {
    batch: BatchBuilder,
    /// `None` after it has finished or failed.
    encoder: Option<Box<dyn Encode<W> + Send + 'w>>,
    writer: Option<W>,
}

impl<'w, W: Write + Send + 'w> ColumnSink<'w, W> {
    /// The event sink that writes these columns as Arrow IPC. It writes the schema at once. If the writer is a file, it
    /// should have a buffer. Memory is bounded by one batch.
    pub fn arrow(writer: W, plan: &ColumnPlan, options: ArrowOptions) -> Result<Rows<Self>, Error> {
        Self::new(plan, options.batch_rows, |schema| ArrowBatches::new(writer, &schema, options))
    }
}

impl<'w, W> ColumnSink<'w, W> {
    /// The sink that hands batches of at most this many rows to an encoder for their schema.
    pub(crate) fn new<E: Encode<W> + Send + 'w>(
        plan: &ColumnPlan,
        batch_rows: usize,
        encoder: impl FnOnce(SchemaRef) -> Result<E, Error>,
    ) -> Result<Rows<Self>, Error> {
        let batch = BatchBuilder::new(plan, batch_rows);
        let encoder = encoder(batch.schema())?;
        let table = Self { batch, encoder: Some(Box::new(encoder)), writer: None };
        Ok(Rows::with_columns(table, plan.names()))
    }

    /// The writer, after everything is written.
    ///
    /// # Errors
    /// If the sink was not finished.
    pub fn into_inner(self) -> Result<W, Error> {
        self.writer.ok_or_else(unfinished)
    }

    fn write(&mut self, batch: Option<RecordBatch>) -> Result<(), Error> {
        let Some(batch) = batch else { return Ok(()) };
        let mut encoder = self.encoder.take().ok_or_else(unfinished)?;
        encoder.write(batch)?;
        self.encoder = Some(encoder);
        Ok(())
    }
}

impl<W> Table for ColumnSink<'_, W> {
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
        self.writer = Some(self.encoder.take().ok_or_else(unfinished)?.finish()?);
        Ok(())
    }
}

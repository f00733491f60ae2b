//! Parquet as a sink.

use super::batches::{ParquetBatches, ParquetOptions};
use crate::arrow::{BatchBuilder, ColumnPlan, unfinished, unplanned};
use crate::error::Error;
use crate::rows::{Row, Rows, Table, VALUE};
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use jird::event::{Interest, Place};
use std::io::Write;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

/// Writes records as Parquet, with planned columns.
///
/// Null and missing are both null. A record is an error if it has a key without a column, or a value that its column
/// cannot hold. No value is ever changed to fit. The footer is written at the end, so abandoned output is not a Parquet
/// file.
///
/// Batches are encoded and compressed in a separate thread, while the next one is built. Memory is bounded by one row
/// group in its encoded form, plus a few batches.
pub struct ParquetSink<W: Write + Send + 'static> {
    batch: BatchBuilder,
    /// `None` after the sink has finished or failed.
    encoder: Option<Encoder<W>>,
    writer: Option<W>,
}

/// The most rows in a batch.
const BATCH_ROWS: usize = 16 << 10;

impl<W: Write + Send + 'static> ParquetSink<W> {
    /// The event sink that writes these columns.
    pub fn new(writer: W, plan: &ColumnPlan, options: ParquetOptions) -> Result<Rows<Self>, Error> {
        // Parquet counts the rows of columns: without a column there are none.
        let plan = &if plan.names().next().is_none() { plan.clone().with_nulls(VALUE) } else { plan.clone() };
        let batch = BatchBuilder::new(plan, BATCH_ROWS.min(options.row_group_rows));
        let encoder = Some(Encoder::start(writer, batch.schema(), options)?);
        Ok(Rows::with_columns(Self { batch, encoder, writer: None }, plan.names()))
    }

    /// The writer, after everything is written.
    ///
    /// # Errors
    /// If the sink was not finished.
    pub fn into_inner(mut self) -> Result<W, Error> {
        self.writer.take().ok_or_else(unfinished)
    }

    fn write(&mut self, batch: Option<RecordBatch>) -> Result<(), Error> {
        let Some(batch) = batch else { return Ok(()) };
        match &self.encoder {
            Some(encoder) if encoder.queue.send(Some(batch)).is_ok() => Ok(()),
            // The thread ended early, and its result says why.
            _ => self.encoder.take().map_or(Err(unfinished()), |encoder| encoder.end().map(|_| ())),
        }
    }
}

impl<W: Write + Send + 'static> Table for ParquetSink<W> {
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
        let encoder = self.encoder.take().ok_or_else(unfinished)?;
        // If the send fails, the thread has ended, and `end` returns why.
        let _ = encoder.queue.send(None);
        self.writer = Some(encoder.end()?);
        Ok(())
    }
}

/// An abandoned sink does not return its writer, but the writer is dropped before `drop` returns.
impl<W: Write + Send + 'static> Drop for ParquetSink<W> {
    fn drop(&mut self) {
        if let Some(Encoder { queue, thread }) = self.encoder.take() {
            drop(queue);
            // An abandoned sink has no caller to report the error to.
            let _ = thread.join();
        }
    }
}

/// The thread that encodes.
struct Encoder<W> {
    /// `None` says that all batches have come.
    queue: SyncSender<Option<RecordBatch>>,
    thread: JoinHandle<Result<W, Error>>,
}

/// The number of batches that can wait.
const QUEUE: usize = 2;

impl<W: Write + Send + 'static> Encoder<W> {
    fn start(writer: W, schema: SchemaRef, options: ParquetOptions) -> Result<Self, Error> {
        let writer = ParquetBatches::new(writer, schema, options)?;
        let (queue, batches) = sync_channel(QUEUE);
        let thread = std::thread::Builder::new().name("parquet".to_owned()).spawn(move || encode(writer, &batches))?;
        Ok(Self { queue, thread })
    }

    /// Waits for the thread. Returns the writer, if everything was written.
    fn end(self) -> Result<W, Error> {
        drop(self.queue);
        match self.thread.join() {
            Ok(ended) => ended,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
}

fn encode<W: Write + Send>(mut writer: ParquetBatches<W>, batches: &Receiver<Option<RecordBatch>>) -> Result<W, Error> {
    // If the queue closes without a `None`, the sink was abandoned, and the footer is not written.
    while let Some(batch) = batches.recv().map_err(|_| unfinished())? {
        writer.write(&batch)?;
    }
    writer.finish()
}

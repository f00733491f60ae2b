//! Encodes Parquet in a separate thread.

use super::batches::{ParquetBatches, ParquetOptions};
use crate::arrow::{BatchWriter, ColumnPlan, ColumnSink, Encode, unfinished};
use crate::error::Error;
use crate::rows::{Rows, VALUE};
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use std::io::Write;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

/// The most rows in a batch.
const BATCH_ROWS: usize = 16 << 10;
/// The number of batches that can wait.
const QUEUE: usize = 2;

impl<W: Write + Send + 'static> ColumnSink<'static, W> {
    /// The event sink that writes these columns as Parquet.
    ///
    /// Batches are encoded and compressed in a separate thread, while the next one is built. Memory is bounded by one
    /// row group in its encoded form, plus a few batches. An abandoned sink does not return its writer, but the writer
    /// is dropped before `drop` returns.
    pub fn parquet(writer: W, plan: &ColumnPlan, options: ParquetOptions) -> Result<Rows<Self>, Error> {
        // Parquet counts the rows of columns: without a column there are none.
        let plan = &if plan.names().next().is_none() { plan.clone().with_nulls(VALUE) } else { plan.clone() };
        let batch_rows = BATCH_ROWS.min(options.row_group_rows);
        Self::new(plan, batch_rows, |schema| Encoder::start(writer, schema, options))
    }
}

/// The thread that encodes.
struct Encoder<W> {
    /// `None` says that all batches have come.
    queue: Option<SyncSender<Option<RecordBatch>>>,
    thread: Option<JoinHandle<Result<W, Error>>>,
}

impl<W: Write + Send + 'static> Encoder<W> {
    fn start(writer: W, schema: SchemaRef, options: ParquetOptions) -> Result<Self, Error> {
        let writer = ParquetBatches::new(writer, schema, options)?;
        let (queue, batches) = sync_channel(QUEUE);
        let thread = std::thread::Builder::new().name("parquet".to_owned()).spawn(move || encode(writer, &batches))?;
        Ok(Self { queue: Some(queue), thread: Some(thread) })
    }
}

impl<W> Encoder<W> {
    /// Returns false if the thread has ended early. Its result says why.
    fn send(&self, batch: Option<RecordBatch>) -> bool {
        self.queue.as_ref().is_some_and(|queue| queue.send(batch).is_ok())
    }

    /// Waits for the thread. Returns the writer, if everything was written.
    fn end(&mut self) -> Result<W, Error> {
        self.queue = None;
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(ended)) => ended,
            Some(Err(panic)) => std::panic::resume_unwind(panic),
            None => Err(unfinished()),
        }
    }
}

impl<W> Encode<W> for Encoder<W> {
    fn write(&mut self, batch: RecordBatch) -> Result<(), Error> {
        if self.send(Some(batch)) { Ok(()) } else { self.end().map(|_| ()) }
    }

    fn finish(mut self: Box<Self>) -> Result<W, Error> {
        self.send(None);
        self.end()
    }
}

impl<W> Drop for Encoder<W> {
    fn drop(&mut self) {
        self.queue = None;
        // An abandoned sink has no caller to report the error to.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

fn encode<W: Write + Send>(mut writer: ParquetBatches<W>, batches: &Receiver<Option<RecordBatch>>) -> Result<W, Error> {
    // If the queue closes without a `None`, the sink was abandoned, and the footer is not written.
    while let Some(batch) = batches.recv().map_err(|_| unfinished())? {
        writer.write(&batch)?;
    }
    Box::new(writer).finish()
}

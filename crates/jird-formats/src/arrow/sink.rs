//! Arrow IPC as a sink.

use super::build::BatchBuilder;
use super::error::ArrowError;
use super::plan::ColumnPlan;
use crate::rows::{Row, Rows, Table};
use arrow_array::RecordBatch;
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use jird::event::{Interest, Place};
use std::io::Write;

/// Writes records as Arrow IPC, with columns that were planned.
///
/// Null and missing are both null. A record that has a key without a column, or a value that its column does not hold, is an error;
/// nothing is ever changed to fit. Memory is bounded by a batch.
pub struct ArrowSink<W: Write> {
    writer: Writer<W>,
    batch: BatchBuilder,
    is_finished: bool,
}

/// How Arrow IPC is written.
#[derive(Clone, Copy, Debug)]
pub struct ArrowOptions {
    /// As a file or as a stream.
    pub layout: ArrowLayout,
    /// Of each buffer; none by default.
    pub compression: Option<ArrowCompression>,
    /// The most rows of a batch, which ends earlier if it has some megabytes.
    pub batch_rows: usize,
}

/// The two layouts of Arrow IPC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ArrowLayout {
    /// A file, also called Feather: has a footer, so that a reader can go to any batch.
    #[default]
    File,
    /// A stream.
    Stream,
}

/// How the buffers of Arrow IPC are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArrowCompression {
    /// LZ4 frames.
    Lz4,
    /// Zstandard.
    Zstd,
}

enum Writer<W: Write> {
    File(FileWriter<W>),
    Stream(StreamWriter<W>),
}

impl Default for ArrowOptions {
    fn default() -> Self {
        Self { layout: ArrowLayout::File, compression: None, batch_rows: 16 << 10 }
    }
}

impl<W: Write> ArrowSink<W> {
    /// The event sink that writes these columns. A writer that is a file should have a buffer. Writes the schema.
    pub fn new(writer: W, plan: &ColumnPlan, options: ArrowOptions) -> Result<Rows<Self>, ArrowError> {
        let batch = BatchBuilder::new(plan, options.batch_rows);
        let compression = options.compression.map(|compression| match compression {
            ArrowCompression::Lz4 => CompressionType::LZ4_FRAME,
            ArrowCompression::Zstd => CompressionType::ZSTD,
        });
        let (schema, how) = (batch.schema(), IpcWriteOptions::default().try_with_compression(compression)?);
        let writer = match options.layout {
            ArrowLayout::File => Writer::File(FileWriter::try_new_with_options(writer, &schema, how)?),
            ArrowLayout::Stream => Writer::Stream(StreamWriter::try_new_with_options(writer, &schema, how)?),
        };
        Ok(Rows::with_columns(Self { writer, batch, is_finished: false }, plan.names()))
    }

    /// The writer, once all is written.
    ///
    /// # Errors
    /// [`ArrowError::Unfinished`]
    pub fn into_inner(self) -> Result<W, ArrowError> {
        match self.writer {
            _ if !self.is_finished => Err(ArrowError::Unfinished),
            Writer::File(writer) => Ok(writer.into_inner()?),
            Writer::Stream(writer) => Ok(writer.into_inner()?),
        }
    }

    fn write(&mut self, batch: Option<RecordBatch>) -> Result<(), ArrowError> {
        let Some(batch) = batch else { return Ok(()) };
        match &mut self.writer {
            Writer::File(writer) => writer.write(&batch)?,
            Writer::Stream(writer) => writer.write(&batch)?,
        }
        Ok(())
    }
}

impl<W: Write> Table for ArrowSink<W> {
    type Error = ArrowError;

    fn add_column(&mut self, name: &str) -> Result<Interest, ArrowError> {
        Err(ArrowError::Late { column: name.to_owned() })
    }

    #[inline]
    fn add_row(&mut self, row: &mut Row, _place: Place) -> Result<(), ArrowError> {
        let batch = self.batch.append(row)?;
        self.write(batch)
    }

    fn finish(&mut self) -> Result<(), ArrowError> {
        let batch = self.batch.finish()?;
        self.write(batch)?;
        match &mut self.writer {
            Writer::File(writer) => {
                writer.finish()?;
                writer.flush()?;
            }
            Writer::Stream(writer) => {
                writer.finish()?;
                writer.flush()?;
            }
        }
        self.is_finished = true;
        Ok(())
    }
}

//! Batches as Arrow IPC.

use super::error::ArrowError;
use arrow_array::RecordBatch;
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use arrow_schema::Schema;
use std::io::Write;

/// Writes record batches as Arrow IPC: for programs that have batches already. [`ArrowSink`](crate::ArrowSink) makes batches of
/// records first, and writes them with this.
///
/// A batch is written as it comes, with the rows that it has.
///
/// ```
/// use jird_formats::{ArrowBatches, ArrowOptions, ColumnPlan};
/// let schema = ColumnPlan::new().schema();
/// let mut batches = ArrowBatches::new(Vec::new(), &schema, ArrowOptions::default())?;
/// batches.finish()?;
/// assert!(batches.get_mut().starts_with(b"ARROW1"));
/// # Ok::<(), jird_formats::ArrowError>(())
/// ```
pub struct ArrowBatches<W: Write> {
    writer: Writer<W>,
    is_finished: bool,
}

/// How Arrow IPC is written.
#[derive(Clone, Copy, Debug)]
pub struct ArrowOptions {
    /// As a file or as a stream.
    pub layout: ArrowLayout,
    /// Of each buffer; none by default.
    pub compression: Option<ArrowCompression>,
    /// The most rows of a batch that is made of records; it ends earlier if it has some megabytes.
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

impl<W: Write> ArrowBatches<W> {
    /// Batches of this schema, which is written at once. A writer that is a file should have a buffer.
    pub fn new(writer: W, schema: &Schema, options: ArrowOptions) -> Result<Self, ArrowError> {
        let compression = options.compression.map(|compression| match compression {
            ArrowCompression::Lz4 => CompressionType::LZ4_FRAME,
            ArrowCompression::Zstd => CompressionType::ZSTD,
        });
        let how = IpcWriteOptions::default().try_with_compression(compression)?;
        let writer = match options.layout {
            ArrowLayout::File => Writer::File(FileWriter::try_new_with_options(writer, schema, how)?),
            ArrowLayout::Stream => Writer::Stream(StreamWriter::try_new_with_options(writer, schema, how)?),
        };
        Ok(Self { writer, is_finished: false })
    }

    /// Writes a batch, which must be of the schema.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<(), ArrowError> {
        Ok(match &mut self.writer {
            Writer::File(writer) => writer.write(batch),
            Writer::Stream(writer) => writer.write(batch),
        }?)
    }

    /// Writes what comes after the last batch. What is not finished is no Arrow file.
    pub fn finish(&mut self) -> Result<(), ArrowError> {
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

    /// The writer, which may be emptied between two batches if it is a buffer: nothing is read back from it.
    pub fn get_mut(&mut self) -> &mut W {
        match &mut self.writer {
            Writer::File(writer) => writer.get_mut(),
            Writer::Stream(writer) => writer.get_mut(),
        }
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
}

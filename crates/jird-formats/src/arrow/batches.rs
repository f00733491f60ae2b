//! Writes batches as Arrow IPC.

use super::dictionaries::{Dictionaries, has_dictionary};
use crate::error::Error;
use arrow_array::RecordBatch;
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{DictionaryHandling, FileWriter, IpcWriteOptions, StreamWriter};
use arrow_schema::Schema;
use std::io::Write;

/// Writes record batches of one schema, whatever the format.
pub trait BatchWriter<W> {
    /// Writes a batch, which must have the schema.
    ///
    /// # Errors
    /// If writing fails.
    fn write(&mut self, batch: &RecordBatch) -> Result<(), Error>;

    /// The writer. If it is a buffer, the caller may empty it between two batches, because nothing is read back from
    /// it.
    fn get_mut(&mut self) -> &mut W;

    /// Writes the part after the last batch. Unfinished output is not a file that others can read.
    ///
    /// # Errors
    /// If writing fails.
    fn finish(self: Box<Self>) -> Result<W, Error>;
}

/// Writes record batches as Arrow IPC, for programs that already have batches. [`ColumnSink`](crate::ColumnSink)
/// makes batches from records, and writes them with this type.
///
/// Each batch is written unchanged, with the rows that it has. In a file, each column has one dictionary: batches whose
/// dictionaries differ get other keys for the same values.
///
/// ```
/// use jird_formats::{ArrowBatches, ArrowOptions, BatchWriter, ColumnPlan};
/// let schema = ColumnPlan::new().schema();
/// let batches = ArrowBatches::new(Vec::new(), &schema, ArrowOptions::default())?;
/// assert!(Box::new(batches).finish()?.starts_with(b"ARROW1"));
/// # Ok::<(), jird_formats::Error>(())
/// ```
pub struct ArrowBatches<W: Write> {
    writer: Writer<W>,
    /// For a file with columns that have dictionaries.
    dictionaries: Option<Dictionaries>,
}

/// How Arrow IPC is written.
#[derive(Clone, Copy, Debug)]
pub struct ArrowOptions {
    /// As a file or as a stream.
    pub layout: ArrowLayout,
    /// The compression of each buffer; none by default.
    pub compression: Option<ArrowCompression>,
    /// The most rows in a batch that is made from records. A batch ends earlier if its texts and bytes exceed 1 MiB.
    pub batch_rows: usize,
}

/// The two layouts of Arrow IPC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ArrowLayout {
    /// A file, also called Feather. It has a footer, so that a reader can go to any batch.
    #[default]
    File,
    /// A stream, without a footer.
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
    /// Writes batches of this schema. The schema is written at once. If the writer is a file, it should have a buffer.
    pub fn new(writer: W, schema: &Schema, options: ArrowOptions) -> Result<Self, Error> {
        let compression = options.compression.map(|compression| match compression {
            ArrowCompression::Lz4 => CompressionType::LZ4_FRAME,
            ArrowCompression::Zstd => CompressionType::ZSTD,
        });
        let how = IpcWriteOptions::default().try_with_compression(compression)?;
        let has_dictionaries = schema.fields().iter().any(|field| has_dictionary(field.data_type()));
        let is_file = options.layout == ArrowLayout::File;
        let dictionaries = (is_file && has_dictionaries).then(Dictionaries::default);
        let writer = match options.layout {
            ArrowLayout::File => {
                let how = how.with_dictionary_handling(DictionaryHandling::Delta);
                Writer::File(FileWriter::try_new_with_options(writer, schema, how)?)
            }
            ArrowLayout::Stream => Writer::Stream(StreamWriter::try_new_with_options(writer, schema, how)?),
        };
        Ok(Self { writer, dictionaries })
    }
}

impl<W: Write> BatchWriter<W> for ArrowBatches<W> {
    /// Fails also if the keys of a file's dictionary cannot count its values.
    fn write(&mut self, batch: &RecordBatch) -> Result<(), Error> {
        let unified = self.dictionaries.as_mut().map(|dictionaries| dictionaries.unify(batch)).transpose()?;
        let batch = unified.as_ref().unwrap_or(batch);
        Ok(match &mut self.writer {
            Writer::File(writer) => writer.write(batch),
            Writer::Stream(writer) => writer.write(batch),
        }?)
    }

    fn get_mut(&mut self) -> &mut W {
        match &mut self.writer {
            Writer::File(writer) => writer.get_mut(),
            Writer::Stream(writer) => writer.get_mut(),
        }
    }

    fn finish(self: Box<Self>) -> Result<W, Error> {
        Ok(match self.writer {
            Writer::File(writer) => writer.into_inner(),
            Writer::Stream(writer) => writer.into_inner(),
        }?)
    }
}

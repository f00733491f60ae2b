//! Batches as row groups.

use crate::arrow::ArrowError;
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, GzipLevel, ZstdLevel};
use parquet::file::properties::WriterProperties;
use std::io::Write;

/// Writes record batches as Parquet: for programs that have batches already. [`ParquetSink`](crate::ParquetSink) makes batches of
/// records first, and writes them with this.
///
/// Encodes and compresses in the thread that calls. Memory is bounded by a row group as it is written.
///
/// ```
/// use jird_formats::{ColumnPlan, ColumnType, ParquetBatches, ParquetOptions};
/// let schema = ColumnPlan::new().with("id", ColumnType::Int64).schema();
/// let batches = ParquetBatches::new(Vec::new(), schema, ParquetOptions::default())?;
/// assert!(batches.finish()?.starts_with(b"PAR1"));
/// # Ok::<(), jird_formats::ArrowError>(())
/// ```
pub struct ParquetBatches<W: Write + Send>(ArrowWriter<W>);

/// How Parquet is written.
#[derive(Clone, Copy, Debug)]
pub struct ParquetOptions {
    /// Snappy by default, which every reader has.
    pub compression: ParquetCompression,
    /// A row group has at most this many rows.
    pub row_group_rows: usize,
    /// And about as many bytes as it is written; they are kept in memory until it is complete.
    pub row_group_bytes: usize,
}

/// How pages are compressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ParquetCompression {
    /// Not at all.
    None,
    /// Snappy.
    #[default]
    Snappy,
    /// LZ4, without frames.
    Lz4,
    /// gzip, level 6.
    Gzip,
    /// Zstandard, level 1: log records take two fifths less room than with Snappy.
    Zstd,
}

impl Default for ParquetOptions {
    fn default() -> Self {
        Self { compression: ParquetCompression::default(), row_group_rows: 1 << 20, row_group_bytes: 32 << 20 }
    }
}

impl ParquetCompression {
    fn codec(self) -> Compression {
        match self {
            Self::None => Compression::UNCOMPRESSED,
            Self::Snappy => Compression::SNAPPY,
            Self::Lz4 => Compression::LZ4_RAW,
            Self::Gzip => Compression::GZIP(GzipLevel::default()),
            Self::Zstd => Compression::ZSTD(ZstdLevel::default()),
        }
    }
}

impl<W: Write + Send> ParquetBatches<W> {
    /// Batches of this schema.
    pub fn new(writer: W, schema: SchemaRef, options: ParquetOptions) -> Result<Self, ArrowError> {
        let properties = WriterProperties::builder()
            .set_compression(options.compression.codec())
            .set_max_row_group_row_count(Some(options.row_group_rows.max(1)))
            .set_max_row_group_bytes(Some(options.row_group_bytes.max(1)))
            .build();
        Ok(Self(ArrowWriter::try_new(writer, schema, Some(properties))?))
    }

    /// Adds a batch, which must be of the schema, to the row group, and writes that if it is complete.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<(), ArrowError> {
        Ok(self.0.write(batch)?)
    }

    /// The writer, which may be emptied between two batches if it is a buffer: nothing is read back from it.
    pub fn get_mut(&mut self) -> &mut W {
        self.0.inner_mut()
    }

    /// Writes the last row group and the footer. What is not finished is no Parquet file.
    pub fn finish(self) -> Result<W, ArrowError> {
        let mut writer = self.0.into_inner()?;
        writer.flush()?;
        Ok(writer)
    }
}

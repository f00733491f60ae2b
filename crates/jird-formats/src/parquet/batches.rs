//! Writes batches as row groups.

use crate::arrow::BatchWriter;
use crate::error::Error;
use arrow_array::RecordBatch;
use arrow_schema::{DataType, Field, IntervalUnit, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, GzipLevel, ZstdLevel};
use parquet::file::properties::WriterProperties;
use std::io::Write;

/// Writes record batches as Parquet, for programs that already have batches. [`ColumnSink`](crate::ColumnSink) makes
/// batches from records, and writes them with this type.
///
/// Batches are encoded and compressed in the calling thread. Memory is bounded by one row group in its encoded form.
///
/// ```
/// use jird_formats::{BatchWriter, ColumnPlan, ColumnType, ParquetBatches, ParquetOptions};
/// let schema = ColumnPlan::new().with("id", ColumnType::Int64).schema();
/// let batches = ParquetBatches::new(Vec::new(), schema, ParquetOptions::default())?;
/// assert!(Box::new(batches).finish()?.starts_with(b"PAR1"));
/// # Ok::<(), jird_formats::Error>(())
/// ```
pub struct ParquetBatches<W: Write + Send>(ArrowWriter<W>);

/// How Parquet is written.
#[derive(Clone, Copy, Debug)]
pub struct ParquetOptions {
    /// Snappy by default, because every reader supports it.
    pub compression: ParquetCompression,
    /// The most rows in a row group.
    pub row_group_rows: usize,
    /// Approximate number of encoded bytes in a row group, which stay in memory until it is complete.
    pub row_group_bytes: usize,
}

/// How pages are compressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ParquetCompression {
    /// Not compressed.
    None,
    /// Snappy.
    #[default]
    Snappy,
    /// LZ4, without frames.
    Lz4,
    /// gzip, level 6.
    Gzip,
    /// Zstandard, level 1. Log records take two fifths less space than with Snappy.
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
    /// Writes batches of this schema.
    pub fn new(writer: W, schema: SchemaRef, options: ParquetOptions) -> Result<Self, Error> {
        let properties = WriterProperties::builder()
            .set_compression(options.compression.codec())
            .set_max_row_group_row_count(Some(options.row_group_rows.max(1)))
            .set_max_row_group_bytes(Some(options.row_group_bytes.max(1)))
            .build();
        Ok(Self(ArrowWriter::try_new(writer, schema, Some(properties))?))
    }

    /// The first column whose type Parquet does not hold. A file with the other types gives them back, because its
    /// footer has the Arrow schema.
    pub fn unheld(schema: &Schema) -> Option<&Field> {
        schema.fields().iter().map(AsRef::as_ref).find(|field| !is_held(field))
    }
}

impl<W: Write + Send> BatchWriter<W> for ParquetBatches<W> {
    /// Adds a batch to the row group. Writes the row group if it is complete.
    fn write(&mut self, batch: &RecordBatch) -> Result<(), Error> {
        Ok(self.0.write(batch)?)
    }

    fn get_mut(&mut self) -> &mut W {
        self.0.inner_mut()
    }

    /// Writes the last row group and the footer.
    fn finish(self: Box<Self>) -> Result<W, Error> {
        let mut writer = self.0.into_inner()?;
        writer.flush()?;
        Ok(writer)
    }
}

/// Whether the writer has a form for all types within a field's type, and the reader gives them back.
fn is_held(field: &Field) -> bool {
    match field.data_type() {
        DataType::Union(..) | DataType::RunEndEncoded(..) | DataType::Interval(IntervalUnit::MonthDayNano) => false,
        DataType::Decimal32(_, scale)
        | DataType::Decimal64(_, scale)
        | DataType::Decimal128(_, scale)
        | DataType::Decimal256(_, scale) => *scale >= 0,
        DataType::FixedSizeBinary(len) => *len > 0,
        DataType::Struct(fields) => !fields.is_empty() && fields.iter().all(|field| is_held(field)),
        DataType::List(field)
        | DataType::LargeList(field)
        | DataType::ListView(field)
        | DataType::LargeListView(field)
        | DataType::FixedSizeList(field, _)
        | DataType::Map(field, _) => is_held(field),
        // The writer takes dictionaries of scalars only.
        DataType::Dictionary(_, values) => !values.is_nested() && is_held(&Field::new("", (**values).clone(), true)),
        _ => true,
    }
}

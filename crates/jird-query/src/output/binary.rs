//! Arrow and Parquet files.

use super::{WriteError, Writer};
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use arrow_ipc::writer::FileWriter;
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;

/// Rows and bytes of a row group, at most: so much is kept in memory.
const GROUP_ROWS: usize = 1 << 20;
const GROUP_BYTES: usize = 32 << 20;

/// Writes an Arrow file.
#[derive(Default)]
pub(super) struct Arrow(Option<FileWriter<Vec<u8>>>);

impl Writer for Arrow {
    fn begin(&mut self, schema: &SchemaRef) -> Result<(), WriteError> {
        self.0 = Some(FileWriter::try_new(Vec::new(), schema)?);
        Ok(())
    }

    fn batch(&mut self, batch: &RecordBatch, out: &mut Vec<u8>) -> Result<(), WriteError> {
        if let Some(writer) = &mut self.0 {
            writer.write(batch)?;
            out.append(writer.get_mut());
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        if let Some(mut writer) = self.0.take() {
            writer.finish()?;
            out.append(writer.get_mut());
        }
        Ok(())
    }
}

/// Writes a Parquet file.
#[derive(Default)]
pub(super) struct Parquet(Option<ArrowWriter<Vec<u8>>>);

impl Writer for Parquet {
    fn begin(&mut self, schema: &SchemaRef) -> Result<(), WriteError> {
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_max_row_group_row_count(Some(GROUP_ROWS))
            .set_max_row_group_bytes(Some(GROUP_BYTES))
            .build();
        self.0 = Some(ArrowWriter::try_new(Vec::new(), schema.clone(), Some(properties))?);
        Ok(())
    }

    fn batch(&mut self, batch: &RecordBatch, out: &mut Vec<u8>) -> Result<(), WriteError> {
        if let Some(writer) = &mut self.0 {
            writer.write(batch)?;
            out.append(writer.inner_mut());
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        if let Some(writer) = self.0.take() {
            out.append(&mut writer.into_inner()?);
        }
        Ok(())
    }
}

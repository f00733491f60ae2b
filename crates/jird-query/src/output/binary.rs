//! Arrow and Parquet files, in whole batches, by the writers of `jird-formats` with its options.

use super::{WriteError, Writer};
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use jird_formats::{ArrowBatches, ArrowLayout, ArrowOptions, BatchWriter, Error};
#[cfg(feature = "tables")]
use jird_formats::{ParquetBatches, ParquetOptions};

type FileBatches = Box<dyn BatchWriter<Vec<u8>>>;

/// Writes the batches of a format.
pub(super) struct Binary {
    begin: fn(&SchemaRef) -> Result<FileBatches, Error>,
    batches: Option<FileBatches>,
}

impl Binary {
    /// Arrow IPC as a file.
    pub(super) fn arrow() -> Self {
        Self::new(|schema| arrow(schema, ArrowLayout::File))
    }

    /// Arrow IPC as a stream.
    pub(super) fn arrow_stream() -> Self {
        Self::new(|schema| arrow(schema, ArrowLayout::Stream))
    }

    /// A Parquet file.
    #[cfg(feature = "tables")]
    pub(super) fn parquet() -> Self {
        Self::new(|schema| {
            Ok(Box::new(ParquetBatches::new(Vec::new(), schema.clone(), ParquetOptions::default())?) as FileBatches)
        })
    }

    fn new(begin: fn(&SchemaRef) -> Result<FileBatches, Error>) -> Self {
        Self { begin, batches: None }
    }
}

fn arrow(schema: &SchemaRef, layout: ArrowLayout) -> Result<FileBatches, Error> {
    let options = ArrowOptions { layout, ..ArrowOptions::default() };
    Ok(Box::new(ArrowBatches::new(Vec::new(), schema, options)?))
}

impl Writer for Binary {
    fn begin(&mut self, schema: &SchemaRef) -> Result<(), WriteError> {
        self.batches = Some((self.begin)(schema)?);
        Ok(())
    }

    fn batch(&mut self, batch: &RecordBatch, out: &mut Vec<u8>) -> Result<(), WriteError> {
        if let Some(batches) = &mut self.batches {
            batches.write(batch)?;
            out.append(batches.get_mut());
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        if let Some(batches) = self.batches.take() {
            out.append(&mut batches.finish()?);
        }
        Ok(())
    }
}

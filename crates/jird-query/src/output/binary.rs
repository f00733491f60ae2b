//! Arrow and Parquet files, in whole batches, by the writers of `jird-formats` with its options.

use super::{WriteError, Writer};
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use jird_formats::{ArrowBatches, ArrowLayout, ArrowOptions};
#[cfg(feature = "tables")]
use jird_formats::{ParquetBatches, ParquetOptions};

/// Writes Arrow IPC.
pub(super) struct Arrow {
    layout: ArrowLayout,
    batches: Option<ArrowBatches<Vec<u8>>>,
}

impl Arrow {
    pub(super) fn new(layout: ArrowLayout) -> Self {
        Self { layout, batches: None }
    }
}

impl Writer for Arrow {
    fn begin(&mut self, schema: &SchemaRef) -> Result<(), WriteError> {
        let options = ArrowOptions { layout: self.layout, ..ArrowOptions::default() };
        self.batches = Some(ArrowBatches::new(Vec::new(), schema, options)?);
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

/// Writes a Parquet file.
#[cfg(feature = "tables")]
#[derive(Default)]
pub(super) struct Parquet(Option<ParquetBatches<Vec<u8>>>);

#[cfg(feature = "tables")]
impl Writer for Parquet {
    fn begin(&mut self, schema: &SchemaRef) -> Result<(), WriteError> {
        self.0 = Some(ParquetBatches::new(Vec::new(), schema.clone(), ParquetOptions::default())?);
        Ok(())
    }

    fn batch(&mut self, batch: &RecordBatch, out: &mut Vec<u8>) -> Result<(), WriteError> {
        if let Some(batches) = &mut self.0 {
            batches.write(batch)?;
            out.append(batches.get_mut());
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        if let Some(batches) = self.0.take() {
            out.append(&mut batches.finish()?);
        }
        Ok(())
    }
}

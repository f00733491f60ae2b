//! Parquet as an input and an output. A program that was built without the feature `parquet` refuses both, and says
//! which program has it.

#[cfg(feature = "parquet")]
pub(super) use present::{batches, check, sink, source, unheld};

#[cfg(not(feature = "parquet"))]
pub(super) use missing::{batches, check, sink, source, unheld};

#[cfg(feature = "parquet")]
mod present {
    use anyhow::Result;
    use arrow_schema::{Field, Schema, SchemaRef};
    use jird_formats::{BatchWriter, ColumnPlan, ColumnSink, ColumnSource, ParquetBatches, ParquetOptions, Rows};
    use std::fs::File;
    use std::io::Write;

    /// Fails if this program has no Parquet.
    #[expect(clippy::unnecessary_wraps, reason = "a program without Parquet has an error here")]
    pub(in crate::convert) fn check() -> Result<()> {
        Ok(())
    }

    /// Reads a file.
    pub(in crate::convert) fn source(file: File) -> Result<ColumnSource<'static>> {
        Ok(ColumnSource::parquet(file)?)
    }

    /// Writes records with planned columns.
    pub(in crate::convert) fn sink<W: Write + Send + 'static>(
        out: W,
        plan: &ColumnPlan,
    ) -> Result<Rows<ColumnSink<'static, W>>> {
        Ok(ColumnSink::parquet(out, plan, ParquetOptions::default())?)
    }

    /// Writes batches of columns.
    pub(in crate::convert) fn batches<W: Write + Send + 'static>(
        out: W,
        schema: &SchemaRef,
    ) -> Result<Box<dyn BatchWriter<W>>> {
        Ok(Box::new(ParquetBatches::new(out, schema.clone(), ParquetOptions::default())?))
    }

    /// The first column of a type that Parquet does not have.
    pub(in crate::convert) fn unheld(schema: &Schema) -> Option<&Field> {
        ParquetBatches::<Vec<u8>>::unheld(schema)
    }
}

#[cfg(not(feature = "parquet"))]
mod missing {
    use crate::outcome::absent;
    use anyhow::Result;
    use arrow_schema::{Field, Schema, SchemaRef};
    use jird_formats::{BatchWriter, ColumnPlan, ColumnSink, ColumnSource, Rows};
    use std::fs::File;
    use std::io::Write;

    pub(in crate::convert) fn check() -> Result<()> {
        Err(absent("Parquet", "parquet"))
    }

    pub(in crate::convert) fn source(_: File) -> Result<ColumnSource<'static>> {
        Err(absent("Parquet", "parquet"))
    }

    pub(in crate::convert) fn sink<W: Write + Send + 'static>(
        _: W,
        _: &ColumnPlan,
    ) -> Result<Rows<ColumnSink<'static, W>>> {
        Err(absent("Parquet", "parquet"))
    }

    pub(in crate::convert) fn batches<W: Write + Send + 'static>(
        _: W,
        _: &SchemaRef,
    ) -> Result<Box<dyn BatchWriter<W>>> {
        Err(absent("Parquet", "parquet"))
    }

    pub(in crate::convert) fn unheld(_: &Schema) -> Option<&Field> {
        None
    }
}

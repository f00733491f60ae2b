//! Tables from Arrow and Parquet to Arrow and Parquet: batches of columns are copied with their types, and no value is
//! touched.
//!
//! This is possible if whole columns are wanted. A condition, a path within a column, or `--flatten` need records, whose
//! columns get the types that fit their values.

use super::feed::Feed;
use super::jobs::once;
use super::open::Opened;
use super::parquet;
use super::source::{Content, content};
use anyhow::{Context, Result};
use arrow_array::RecordBatch;
use arrow_schema::{Field, Schema, SchemaRef};
use jird_formats::files::FileFormat;
use jird_formats::{ArrowBatches, ArrowOptions, BatchWriter, ColumnSource};
use std::path::Path;
use std::sync::Arc;

/// Copies the inputs to a file, or to standard output. Returns false, and has written nothing, if records must be sent
/// instead.
pub(super) fn copy(inputs: &mut [Opened], path: Option<&Path>, format: FileFormat, feed: &mut Feed) -> Result<bool> {
    if !feed.takes_whole_columns() {
        return Ok(false);
    }
    let Some(mut tables) = tables(inputs, feed)? else { return Ok(false) };
    let Some(schema) = common(&tables) else {
        feed.warn("the inputs have different columns, whose types are found anew".to_owned());
        return Ok(false);
    };
    if format == FileFormat::Parquet
        && let Some(field) = parquet::unheld(&schema)
    {
        let (name, of_type) = (field.name(), field.data_type());
        feed.warn(format!("Parquet has no type for the column {name:?} ({of_type}); all types are found anew"));
        return Ok(false);
    }
    once(path, |out| {
        let mut batches: Box<dyn BatchWriter<_>> = match format {
            FileFormat::Parquet => parquet::batches(out, &schema)?,
            _ => Box::new(ArrowBatches::new(out, &schema, ArrowOptions::default())?),
        };
        each(&mut tables, &schema, feed, |batch| batches.write(batch))?;
        Ok(batches.finish()?)
    })?;
    Ok(true)
}

struct Table {
    /// The name that messages use.
    name: String,
    source: Box<ColumnSource<'static>>,
}

/// The inputs as sources of batches; `None` if one has none.
fn tables(inputs: &mut [Opened], feed: &Feed) -> Result<Option<Vec<Table>>> {
    let mut tables = Vec::new();
    for input in inputs {
        // If this input has records only, it will be read again.
        input.spool()?;
        let Content::Columns(source) = content(input, &feed.reading)? else { return Ok(None) };
        tables.push(Table { name: input.name.clone(), source });
    }
    Ok(Some(tables))
}

/// The schema of the first table, if the others have columns of the same names and types. A column may be null if it
/// may be null in one of them.
fn common(tables: &[Table]) -> Option<SchemaRef> {
    let mut schemas = tables.iter().map(|table| table.source.batch_schema());
    let first = schemas.next()?;
    let mut fields: Vec<Field> = first.fields().iter().map(|field| field.as_ref().clone()).collect();
    for schema in schemas {
        let is_same = |(one, other): (&Field, &Arc<Field>)| {
            one.name() == other.name() && one.data_type() == other.data_type() && one.metadata() == other.metadata()
        };
        if fields.len() != schema.fields().len() || !fields.iter().zip(schema.fields()).all(is_same) {
            return None;
        }
        for (field, other) in fields.iter_mut().zip(schema.fields()) {
            field.set_nullable(field.is_nullable() || other.is_nullable());
        }
    }
    Some(Arc::new(Schema::new_with_metadata(fields, first.metadata().clone())))
}

/// Writes every batch, up to the limit of records.
fn each(
    tables: &mut [Table],
    schema: &SchemaRef,
    feed: &mut Feed,
    mut write: impl FnMut(&RecordBatch) -> Result<(), jird_formats::Error>,
) -> Result<()> {
    for table in tables {
        while feed.left() > 0 {
            let Some(batch) = table.source.next_batch().with_context(|| table.name.clone())? else { break };
            let rows = batch.num_rows().min(usize::try_from(feed.left()).unwrap_or(usize::MAX));
            write(&batch.slice(0, rows).with_schema(schema.clone())?)?;
            feed.add(rows as u64, 0);
        }
    }
    Ok(())
}

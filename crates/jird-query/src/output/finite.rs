//! Results that are not numbers. JSON has no infinities, so no format of a result has them: they become null.

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, ArrayRef, Float64Array, ListArray, RecordBatch};
use arrow_schema::ArrowError;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use std::sync::Arc;

/// The same columns; those of doubles, and of lists of doubles, may have nulls.
pub(crate) fn with_nulls(schema: &SchemaRef) -> SchemaRef {
    let with_nulls = |field: &Arc<Field>| match field.data_type() {
        DataType::Float64 => Arc::new(field.as_ref().clone().with_nullable(true)),
        DataType::List(inner) if *inner.data_type() == DataType::Float64 => {
            let inner = DataType::List(Arc::new(inner.as_ref().clone().with_nullable(true)));
            Arc::new(field.as_ref().clone().with_data_type(inner))
        }
        _ => Arc::clone(field),
    };
    let fields: Vec<_> = schema.fields().iter().map(with_nulls).collect();
    Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
}

/// The same rows with null in place of what is infinite or no number; `infinite` counts these values.
pub(crate) fn without_infinities(batch: &RecordBatch, infinite: &mut u64) -> Result<RecordBatch, ArrowError> {
    let schema = with_nulls(&batch.schema());
    let columns = batch.columns().iter().map(|column| finite(column, infinite)).collect::<Result<_, _>>()?;
    let options = arrow_array::RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(schema, columns, &options)
}

fn finite(array: &ArrayRef, infinite: &mut u64) -> Result<ArrayRef, ArrowError> {
    match array.data_type() {
        DataType::Float64 => {
            let doubles = array.as_primitive::<Float64Type>();
            let count = doubles.iter().flatten().filter(|double| !double.is_finite()).count();
            if count == 0 {
                return Ok(Arc::clone(array));
            }
            *infinite += count as u64;
            let kept: Float64Array = doubles.iter().map(|double| double.filter(|double| double.is_finite())).collect();
            Ok(Arc::new(kept))
        }
        DataType::List(inner) if *inner.data_type() == DataType::Float64 => {
            let lists = array.as_list::<i32>();
            let inner = Arc::new(inner.as_ref().clone().with_nullable(true));
            let values = finite(lists.values(), infinite)?;
            let lists = ListArray::try_new(inner, lists.offsets().clone(), values, lists.nulls().cloned())?;
            Ok(Arc::new(lists))
        }
        _ => Ok(Arc::clone(array)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::types::Int64Type;

    #[test]
    fn what_is_no_number_is_null_and_counted_also_in_lists() {
        let doubles = Float64Array::from(vec![1.0, f64::INFINITY, f64::NAN, -0.0]);
        let lists: ListArray = ListArray::from_iter_primitive::<Float64Type, _, _>([
            Some(vec![Some(1.0), Some(f64::NEG_INFINITY)]),
            None,
            Some(vec![]),
            Some(vec![None]),
        ]);
        let ints = arrow_array::PrimitiveArray::<Int64Type>::from(vec![1, 2, 3, 4]);
        let schema = Schema::new(vec![
            Field::new("d", DataType::Float64, false),
            Field::new("l", lists.data_type().clone(), true),
            Field::new("i", DataType::Int64, false),
        ]);
        let columns: Vec<ArrayRef> = vec![Arc::new(doubles), Arc::new(lists), Arc::new(ints)];
        let batch = RecordBatch::try_new(Arc::new(schema), columns).unwrap();
        let mut infinite = 0;
        let batch = without_infinities(&batch, &mut infinite).unwrap();
        assert_eq!(infinite, 3);
        assert_eq!(batch.column(0).null_count(), 2);
        assert_eq!(batch.column(1).as_list::<i32>().value(0).null_count(), 1);
        assert_eq!(batch.column(1).as_list::<i32>().values().len(), 3);
        assert!(!batch.schema().field(2).is_nullable() && batch.schema().field(0).is_nullable());
    }

    #[test]
    fn rows_without_columns_stay() {
        let options = arrow_array::RecordBatchOptions::new().with_row_count(Some(3));
        let batch = RecordBatch::try_new_with_options(Arc::new(Schema::empty()), Vec::new(), &options).unwrap();
        assert_eq!(without_infinities(&batch, &mut 0).unwrap().num_rows(), 3);
    }
}

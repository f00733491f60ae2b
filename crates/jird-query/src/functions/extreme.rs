//! `min` and `max` that give the same answer however the records were cut among threads. DataFusion's take, of doubles in
//! groups, the zero that came first, whatever its sign; these order all doubles, so that -0.0 is below 0.0.

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, Float64Array};
use arrow::datatypes::{DataType, Float64Type};
use datafusion::common::ScalarValue;
use datafusion::error::Result;
use datafusion::functions_aggregate::min_max::{max_udaf, min_udaf};
use datafusion::logical_expr::function::AccumulatorArgs;
use datafusion::logical_expr::utils::AggregateOrderSensitivity;
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, EmitTo, GroupsAccumulator, ReversedUDAF, SetMonotonicity, Signature,
    StatisticsArgs,
};
use std::cmp::Ordering;
use std::sync::Arc;

/// `min` or `max`.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Extreme {
    /// DataFusion's function, which does everything except doubles in groups.
    theirs: Arc<AggregateUDF>,
    /// How a value compares with another one that it replaces.
    order: Ordering,
}

impl Extreme {
    /// Both of them.
    pub(crate) fn all() -> [AggregateUDF; 2] {
        let extreme = |theirs, order| Self { theirs, order }.into();
        [extreme(min_udaf(), Ordering::Less), extreme(max_udaf(), Ordering::Greater)]
    }
}

impl AggregateUDFImpl for Extreme {
    fn name(&self) -> &str {
        self.theirs.name()
    }

    fn signature(&self) -> &Signature {
        self.theirs.signature()
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        self.theirs.inner().coerce_types(types)
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        self.theirs.return_type(types)
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        self.theirs.accumulator(args)
    }

    fn create_sliding_accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        self.theirs.create_sliding_accumulator(args)
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs<'_>) -> bool {
        self.theirs.groups_accumulator_supported(args)
    }

    fn create_groups_accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn GroupsAccumulator>> {
        match args.return_field.data_type() {
            DataType::Float64 => Ok(Box::new(Doubles { of_groups: Vec::new(), order: self.order })),
            _ => self.theirs.create_groups_accumulator(args),
        }
    }

    fn is_descending(&self) -> Option<bool> {
        self.theirs.is_descending()
    }

    fn value_from_stats(&self, args: &StatisticsArgs<'_>) -> Option<ScalarValue> {
        self.theirs.value_from_stats(args)
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        self.theirs.order_sensitivity()
    }

    fn reverse_expr(&self) -> ReversedUDAF {
        ReversedUDAF::Identical
    }

    fn set_monotonicity(&self, kind: &DataType) -> SetMonotonicity {
        self.theirs.inner().set_monotonicity(kind)
    }
}

/// The extreme double of each group, if it has one.
#[derive(Debug)]
struct Doubles {
    of_groups: Vec<Option<f64>>,
    order: Ordering,
}

impl GroupsAccumulator for Doubles {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        groups: &[usize],
        filter: Option<&BooleanArray>,
        count: usize,
    ) -> Result<()> {
        let Self { of_groups, order } = self;
        of_groups.resize(count, None);
        for (row, (value, group)) in values[0].as_primitive::<Float64Type>().iter().zip(groups).enumerate() {
            let is_wanted = filter.is_none_or(|filter| filter.is_valid(row) && filter.value(row));
            if let Some(value) = value.filter(|_| is_wanted) {
                let extreme = &mut of_groups[*group];
                if extreme.is_none_or(|extreme| value.total_cmp(&extreme) == *order) {
                    *extreme = Some(value);
                }
            }
        }
        Ok(())
    }

    fn merge_batch(&mut self, states: &[ArrayRef], groups: &[usize], count: usize) -> Result<()> {
        self.update_batch(states, groups, None, count)
    }

    fn evaluate(&mut self, emit: EmitTo) -> Result<ArrayRef> {
        Ok(Arc::new(Float64Array::from(emit.take_needed(&mut self.of_groups))))
    }

    fn state(&mut self, emit: EmitTo) -> Result<Vec<ArrayRef>> {
        Ok(vec![self.evaluate(emit)?])
    }

    fn convert_to_state(&self, values: &[ArrayRef], filter: Option<&BooleanArray>) -> Result<Vec<ArrayRef>> {
        let rows = values[0].len();
        let mut each = Self { of_groups: Vec::new(), order: self.order };
        each.update_batch(values, &(0..rows).collect::<Vec<_>>(), filter, rows)?;
        each.state(EmitTo::All)
    }

    fn size(&self) -> usize {
        self.of_groups.capacity() * size_of::<Option<f64>>()
    }
}

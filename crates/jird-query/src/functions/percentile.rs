//! Percentiles. DataFusion's `percentile_cont` rounds the position between two values to a millionth of their distance;
//! this one does not round. Approximate ones of groups are [`Digests`].

use super::digests::Digests;
use arrow::array::{ArrayRef, AsArray, Float64Array};
use arrow::datatypes::{DataType, FieldRef, Float64Type};
use datafusion::common::utils::SingleRowListArrayBuilder;
use datafusion::common::{ScalarValue, plan_err};
use datafusion::error::Result;
use datafusion::functions_aggregate::approx_percentile_cont::approx_percentile_cont_udaf;
use datafusion::functions_aggregate::percentile_cont::percentile_cont_udaf;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::AggregateOrderSensitivity;
use datafusion::logical_expr::{Accumulator, AggregateUDF, AggregateUDFImpl, GroupsAccumulator, Signature};
use datafusion::physical_expr::expressions::Literal;
use std::mem;
use std::sync::Arc;

/// A percentile, which needs no order of its input.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Percentile {
    /// DataFusion's function, which does everything except computing exactly with doubles.
    theirs: Arc<AggregateUDF>,
    is_exact: bool,
}

impl Percentile {
    /// `percentile_cont`. It keeps all values of a group in memory.
    pub(crate) fn exact() -> Self {
        Self { theirs: percentile_cont_udaf(), is_exact: true }
    }

    /// `approx_percentile_cont`.
    pub(crate) fn approximate() -> Self {
        Self { theirs: approx_percentile_cont_udaf(), is_exact: false }
    }
}

impl AggregateUDFImpl for Percentile {
    fn name(&self) -> &str {
        self.theirs.name()
    }

    fn aliases(&self) -> &[String] {
        self.theirs.aliases()
    }

    fn signature(&self) -> &Signature {
        self.theirs.signature()
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        self.theirs.return_type(types)
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        self.theirs.state_fields(args)
    }

    fn supports_within_group_clause(&self) -> bool {
        true
    }

    /// With a requirement, DataFusion would sort, and refuse two percentiles of different expressions.
    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        AggregateOrderSensitivity::Insensitive
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs<'_>) -> bool {
        !self.is_exact && Digests::of(&args).is_some()
    }

    fn create_groups_accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn GroupsAccumulator>> {
        match Digests::of(&args).filter(|_| !self.is_exact) {
            Some(digests) => Ok(Box::new(digests)),
            None => self.theirs.create_groups_accumulator(args),
        }
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        if !self.is_exact {
            return self.theirs.accumulator(args);
        }
        let literal = args.exprs[1].downcast_ref::<Literal>().map(Literal::value);
        let Some(ScalarValue::Float64(Some(percentile))) = literal else {
            return plan_err!("the percentile has to be a number such as 0.9");
        };
        let descends = args.order_bys.first().is_some_and(|key| key.options.descending);
        let (percentile, distinct) = (if descends { 1.0 - percentile } else { *percentile }, args.is_distinct);
        let is_double = *args.expr_fields[0].data_type() == DataType::Float64;
        // DataFusion's function refuses invalid percentiles, and returns null if all values are null.
        let theirs = self.theirs.accumulator(args)?;
        Ok(if is_double { Box::new(Values { all: Vec::new(), percentile, distinct }) } else { theirs })
    }
}

/// The values of a group.
#[derive(Debug)]
struct Values {
    all: Vec<f64>,
    percentile: f64,
    distinct: bool,
}

impl Values {
    fn extend(&mut self, values: &ArrayRef) {
        self.all.extend(values.as_primitive::<Float64Type>().iter().flatten());
    }

    fn percentile(&mut self) -> Option<f64> {
        if self.distinct {
            self.all.sort_unstable_by(f64::total_cmp);
            self.all.dedup();
        }
        let last = self.all.len().checked_sub(1)?;
        #[expect(clippy::cast_precision_loss, reason = "there is no memory for so many values")]
        let place = self.percentile * last as f64;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and `last`")]
        let index = place as usize;
        let (_, low, above) = self.all.select_nth_unstable_by(index, f64::total_cmp);
        let next = above.iter().copied().min_by(f64::total_cmp);
        Some(next.map_or(*low, |next| *low + (next - *low) * place.fract()))
    }
}

impl Accumulator for Values {
    fn update_batch(&mut self, columns: &[ArrayRef]) -> Result<()> {
        self.extend(&columns[0]);
        Ok(())
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        states[0].as_list::<i32>().iter().flatten().for_each(|values| self.extend(&values));
        Ok(())
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let values: ArrayRef = Arc::new(Float64Array::from(mem::take(&mut self.all)));
        Ok(vec![SingleRowListArrayBuilder::new(values).build_list_scalar()])
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        Ok(ScalarValue::Float64(self.percentile()))
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.all.capacity() * size_of::<f64>()
    }
}

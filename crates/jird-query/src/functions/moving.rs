//! Variances, deviations, covariances, correlations and regressions over frames that move.
//!
//! DataFusion takes the values that leave a frame out of its sums again. What rounding has lost is not there any more: the
//! variance of two equal values may be negative, and after a large value nothing is right. Here each frame is computed from
//! its own values, so a row costs as much as its frame is long. All else is DataFusion's.

use arrow::array::{Array, ArrayRef};
use arrow::compute::concat;
use arrow::datatypes::{DataType, FieldRef, Schema};
use datafusion::common::ScalarValue;
use datafusion::error::Result;
use datafusion::functions_aggregate::all_default_aggregate_functions;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::AggregateOrderSensitivity;
use datafusion::logical_expr::{Accumulator, AggregateUDF, AggregateUDFImpl, GroupsAccumulator, Signature};
use datafusion::physical_expr::{PhysicalExpr, PhysicalSortExpr};
use std::collections::VecDeque;
use std::sync::Arc;

/// The names of these aggregates begin so.
const ROUNDED: &[&str] = &["corr", "covar", "regr_", "stddev", "var"];

/// All of them.
pub(super) fn all() -> impl Iterator<Item = AggregateUDF> {
    let is_rounded = |function: &Arc<AggregateUDF>| ROUNDED.iter().any(|name| function.name().starts_with(name));
    all_default_aggregate_functions().into_iter().filter(is_rounded).map(|theirs| Moving { theirs }.into())
}

/// One of them.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Moving {
    theirs: Arc<AggregateUDF>,
}

impl AggregateUDFImpl for Moving {
    fn name(&self) -> &str {
        self.theirs.name()
    }

    fn aliases(&self) -> &[String] {
        self.theirs.aliases()
    }

    fn signature(&self) -> &Signature {
        self.theirs.signature()
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        self.theirs.coerce_types(types)
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        self.theirs.return_type(types)
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        self.theirs.state_fields(args)
    }

    fn default_value(&self, kind: &DataType) -> Result<ScalarValue> {
        self.theirs.default_value(kind)
    }

    fn is_nullable(&self) -> bool {
        self.theirs.is_nullable()
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        self.theirs.order_sensitivity()
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        self.theirs.accumulator(args)
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs<'_>) -> bool {
        self.theirs.groups_accumulator_supported(args)
    }

    fn create_groups_accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn GroupsAccumulator>> {
        self.theirs.create_groups_accumulator(args)
    }

    fn create_sliding_accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        Ok(Box::new(Frame {
            theirs: Arc::clone(&self.theirs),
            return_field: args.return_field,
            schema: args.schema.clone(),
            name: args.name.to_owned(),
            order_bys: args.order_bys.to_vec(),
            exprs: args.exprs.to_vec(),
            expr_fields: args.expr_fields.to_vec(),
            ignore_nulls: args.ignore_nulls,
            is_distinct: args.is_distinct,
            parts: VecDeque::new(),
        }))
    }
}

/// The rows of a frame, and what makes an accumulator of them.
#[derive(Debug)]
struct Frame {
    theirs: Arc<AggregateUDF>,
    return_field: FieldRef,
    schema: Schema,
    name: String,
    order_bys: Vec<PhysicalSortExpr>,
    exprs: Vec<Arc<dyn PhysicalExpr>>,
    expr_fields: Vec<FieldRef>,
    ignore_nulls: bool,
    is_distinct: bool,
    /// The arguments of some rows after the other, each part with one array for each argument.
    parts: VecDeque<Vec<ArrayRef>>,
}

impl Frame {
    /// This many parts are merged into one: rows come one by one.
    const PARTS_MAX: usize = 64;

    /// An accumulator that has seen these rows.
    fn whole(&self) -> Result<Box<dyn Accumulator>> {
        let mut whole = self.theirs.accumulator(AccumulatorArgs {
            return_field: Arc::clone(&self.return_field),
            schema: &self.schema,
            ignore_nulls: self.ignore_nulls,
            order_bys: &self.order_bys,
            is_reversed: false,
            name: &self.name,
            is_distinct: self.is_distinct,
            exprs: &self.exprs,
            expr_fields: &self.expr_fields,
        })?;
        self.parts.iter().try_for_each(|part| whole.update_batch(part))?;
        Ok(whole)
    }
}

impl Accumulator for Frame {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.parts.push_back(values.to_vec());
        if self.parts.len() > Self::PARTS_MAX {
            let joined = |argument: usize| -> Result<ArrayRef> {
                let parts: Vec<&dyn Array> = self.parts.iter().map(|part| part[argument].as_ref()).collect();
                Ok(concat(&parts)?)
            };
            let joined = (0..values.len()).map(joined).collect::<Result<_>>()?;
            self.parts = VecDeque::from([joined]);
        }
        Ok(())
    }

    /// The rows that came first leave first.
    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let mut leaving = values[0].len();
        while leaving > 0
            && let Some(part) = self.parts.front_mut()
        {
            let rows = part[0].len();
            if rows <= leaving {
                self.parts.pop_front();
                leaving -= rows;
            } else {
                part.iter_mut().for_each(|column| *column = column.slice(leaving, rows - leaving));
                leaving = 0;
            }
        }
        Ok(())
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        self.whole()?.evaluate()
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        self.whole()?.state()
    }

    /// Windows have one accumulator.
    fn merge_batch(&mut self, _: &[ArrayRef]) -> Result<()> {
        datafusion::common::internal_err!("a frame is not merged")
    }

    fn size(&self) -> usize {
        let columns = self.parts.iter().flatten();
        size_of_val(self) + columns.map(|column| column.to_data().get_slice_memory_size().unwrap_or(0)).sum::<usize>()
    }
}

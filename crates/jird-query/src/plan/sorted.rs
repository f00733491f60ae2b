//! Aggregates that each see their rows in an order of their own: `array_agg(a order by b), array_agg(a), first(a order by c)`.
//!
//! In goes an analyzed plan, out comes one whose aggregates sort for themselves where they want different orders. DataFusion
//! sorts the input of all of them in one order, that of one of them: the others would see it too, or the query would be
//! refused. What must hold: rows that an order leaves equal stay as they arrive, and a query whose aggregates want one
//! order is planned as before.

use arrow::array::{Array, ArrayRef, AsArray, ListArray, UInt32Array, UInt64Array};
use arrow::buffer::OffsetBuffer;
use arrow::compute::{SortColumn, SortOptions, concat, lexsort_to_indices, take};
use arrow::datatypes::{DataType, Field, FieldRef};
use arrow::row::{RowConverter, SortField};
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::expr::{AggregateFunction, Sort};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::AggregateOrderSensitivity;
use datafusion::logical_expr::{Accumulator, AggregateUDF, AggregateUDFImpl, Expr, LogicalPlan, Signature, Volatility};
use datafusion::optimizer::AnalyzerRule;
use std::collections::HashSet;
use std::mem::take as taken;
use std::sync::Arc;

/// Lets aggregates that want different orders sort for themselves.
#[derive(Debug)]
pub(crate) struct SortWithin;

impl AnalyzerRule for SortWithin {
    fn name(&self) -> &'static str {
        "sort_within"
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        plan.transform_up_with_subqueries(|plan| {
            let LogicalPlan::Aggregate(aggregate) = &plan else { return Ok(Transformed::no(plan)) };
            let mut orders = aggregate.aggr_expr.iter().filter_map(order);
            let first = orders.next();
            if orders.all(|order| Some(order) == first) {
                return Ok(Transformed::no(plan));
            }
            let names = NamePreserver::new(&plan);
            plan.map_expressions(|expr| {
                let name = names.save(&expr);
                let sorted = expr.transform_down(|expr| Ok(sorted(expr)))?;
                Ok(sorted.update_data(|expr| name.restore(expr)))
            })
        })
        .data()
    }
}

/// The order that an aggregate wants to see, if it sees one.
fn order(expr: &Expr) -> Option<&[Sort]> {
    match expr {
        Expr::Alias(alias) => order(&alias.expr),
        Expr::AggregateFunction(aggregate) => {
            let sees = aggregate.func.order_sensitivity() != AggregateOrderSensitivity::Insensitive;
            sees.then_some(&aggregate.params.order_by)
        }
        _ => None,
    }
}

/// The same aggregate, whose arguments are followed by what it sorts by.
fn sorted(expr: Expr) -> Transformed<Expr> {
    match expr {
        Expr::AggregateFunction(AggregateFunction { func, mut params }) if !params.order_by.is_empty() => {
            let order = taken(&mut params.order_by);
            let function = Sorted {
                name: format!("ordered_{}", func.name()),
                inner: func,
                arguments: params.args.len(),
                order: order.iter().map(|key| (!key.asc, key.nulls_first)).collect(),
                distinct: params.distinct,
                signature: Signature::variadic_any(Volatility::Immutable),
            };
            params.distinct = false;
            params.args.extend(order.into_iter().map(|key| key.expr));
            let func = Arc::new(AggregateUDF::from(function));
            Transformed::yes(Expr::AggregateFunction(AggregateFunction { func, params }))
        }
        other => Transformed::no(other),
    }
}

/// An aggregate that sorts its rows before it sees them.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Sorted {
    name: String,
    inner: Arc<AggregateUDF>,
    /// How many arguments the aggregate has; the others are the keys of the order.
    arguments: usize,
    /// Whether each key descends, and whether its nulls come first.
    order: Vec<(bool, bool)>,
    /// Whether it sees each value once.
    distinct: bool,
    signature: Signature,
}

impl AggregateUDFImpl for Sorted {
    fn name(&self) -> &str {
        &self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        self.inner.return_type(&types[..self.arguments])
    }

    fn return_field(&self, fields: &[FieldRef]) -> Result<FieldRef> {
        self.inner.return_field(&fields[..self.arguments])
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        AggregateOrderSensitivity::Insensitive
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        let list = |(index, field): (usize, &FieldRef)| {
            Arc::new(Field::new(format!("{}[{index}]", args.name), list_of(field.data_type()), true))
        };
        Ok(args.input_fields.iter().enumerate().map(list).collect())
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        let inner = self.inner.accumulator(AccumulatorArgs {
            exprs: &args.exprs[..self.arguments],
            expr_fields: &args.expr_fields[..self.arguments],
            order_bys: &[],
            is_distinct: false,
            ..args
        })?;
        let columns = args.expr_fields.iter().map(|field| (field.data_type().clone(), Vec::new()));
        let order = self
            .order
            .iter()
            .map(|(descending, nulls_first)| SortOptions { descending: *descending, nulls_first: *nulls_first });
        Ok(Box::new(Collected {
            inner,
            columns: columns.collect(),
            arguments: self.arguments,
            order: order.collect(),
            distinct: self.distinct,
        }))
    }
}

fn list_of(kind: &DataType) -> DataType {
    DataType::List(Arc::new(Field::new_list_field(kind.clone(), true)))
}

/// The rows of a group, as they arrive.
#[derive(Debug)]
struct Collected {
    inner: Box<dyn Accumulator>,
    /// The arguments and the keys of the order: the type of each column, and its parts.
    columns: Vec<(DataType, Vec<ArrayRef>)>,
    arguments: usize,
    order: Vec<SortOptions>,
    distinct: bool,
}

impl Collected {
    /// Each column as a whole.
    fn whole(&self) -> Result<Vec<ArrayRef>> {
        let whole = |(kind, parts): &(DataType, Vec<ArrayRef>)| -> Result<ArrayRef> {
            let parts: Vec<&dyn Array> = parts.iter().map(AsRef::as_ref).collect();
            Ok(if parts.is_empty() { arrow::array::new_empty_array(kind) } else { concat(&parts)? })
        };
        self.columns.iter().map(whole).collect()
    }

    /// The places of the rows in the order that is wanted. Collected that it leaves equal stay as they are.
    fn order(&self, columns: &[ArrayRef]) -> Result<UInt32Array> {
        let keys = columns[self.arguments..].iter().zip(&self.order);
        let mut keys: Vec<_> =
            keys.map(|(values, options)| SortColumn { values: Arc::clone(values), options: Some(*options) }).collect();
        let count = columns.first().map_or(0, |column| column.len() as u64);
        keys.push(SortColumn { values: Arc::new(UInt64Array::from_iter_values(0..count)), options: None });
        Ok(lexsort_to_indices(&keys, None)?)
    }

    /// The first of the rows whose arguments are equal.
    fn once(&self, columns: &[ArrayRef]) -> Result<UInt32Array> {
        let fields = columns[..self.arguments].iter().map(|column| SortField::new(column.data_type().clone()));
        let rows = RowConverter::new(fields.collect())?.convert_columns(&columns[..self.arguments])?;
        let mut met = HashSet::new();
        Ok(rows.iter().zip(0_u32..).filter(|(row, _)| met.insert(row.owned())).map(|(_, place)| place).collect())
    }
}

impl Accumulator for Collected {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        for ((_, parts), values) in self.columns.iter_mut().zip(values) {
            parts.push(Arc::clone(values));
        }
        Ok(())
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let mut columns = self.whole()?;
        self.columns.iter_mut().for_each(|(_, parts)| parts.clear());
        let order = self.order(&columns)?;
        columns.truncate(self.arguments);
        let in_order = |columns: &[ArrayRef], places: &UInt32Array| {
            columns.iter().map(|column| take(column, places, None)).collect::<std::result::Result<Vec<_>, _>>()
        };
        let mut columns = in_order(&columns, &order)?;
        if self.distinct {
            columns = in_order(&columns, &self.once(&columns)?)?;
        }
        self.inner.update_batch(&columns)?;
        self.inner.evaluate()
    }

    fn size(&self) -> usize {
        let parts = self.columns.iter().flat_map(|(_, parts)| parts);
        let bytes = |part: &ArrayRef| part.to_data().get_slice_memory_size().unwrap_or(0) + size_of::<ArrayRef>();
        size_of_val(self) + self.inner.size() + parts.map(bytes).sum::<usize>()
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let list = |column: ArrayRef| {
            let offsets = OffsetBuffer::from_lengths([column.len()]);
            let item = Arc::new(Field::new_list_field(column.data_type().clone(), true));
            Ok(ScalarValue::List(Arc::new(ListArray::try_new(item, offsets, column, None)?)))
        };
        self.whole()?.into_iter().map(list).collect()
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        for ((_, parts), lists) in self.columns.iter_mut().zip(states) {
            parts.extend(lists.as_list::<i32>().iter().flatten());
        }
        Ok(())
    }
}

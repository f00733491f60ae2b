//! What an event store has done already: its events come in the order of their times.

use crate::input::StorePart;
use crate::plan::ties::is_tie_break;
use crate::sql::SORT_KEY;
use crate::types::prepared::Source;
use arrow::array::RecordBatch;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{Column, Result};
use datafusion::logical_expr::expr::AggregateFunction;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, Sort, SubqueryAlias};

/// Which events of the only store that is read may be enough for a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EnoughEvents {
    /// The last of its rows, so many: `order by "@t" desc limit n`.
    Newest(u64),
    /// The first and the last time: `min("@t"), max("@t")` of all events.
    Ends,
}

impl EnoughEvents {
    /// How many bytes of a store may be enough, at first.
    pub(crate) fn first_bytes(self, of_rows: u64) -> u64 {
        match self {
            Self::Newest(_) => of_rows,
            // The blocks that have them.
            Self::Ends => 1,
        }
    }

    /// Reads only about this many bytes of a store.
    pub(crate) fn choose(self, part: &StorePart, bytes: u64) {
        part.set(bytes, if self == Self::Ends { bytes } else { 0 });
    }

    /// Whether the answer of a part of the events is that of all.
    pub(crate) fn is_in(self, rows: &[RecordBatch]) -> bool {
        match self {
            Self::Newest(wanted) => rows.iter().map(|batch| batch.num_rows() as u64).sum::<u64>() >= wanted,
            Self::Ends => rows.iter().all(|batch| batch.columns().iter().all(|column| column.null_count() == 0)),
        }
    }
}

/// More rows than this are not collected before they are written.
const ROWS_MAX: usize = 100_000;

/// Removes a sort by a field whose order is that of the events of the only store that is read. A descending one stays.
/// Also says what of the events may be enough.
pub(crate) fn in_order_of_store(
    plan: LogicalPlan,
    sources: &[Source<'_>],
) -> Result<(LogicalPlan, Option<EnoughEvents>)> {
    let mut wanted = wants_ends(&plan, sources).then_some(EnoughEvents::Ends);
    let plan = below(plan, &mut |sort| {
        // Events of the same time come in the order of their places.
        let [key, rest @ ..] = &sort.expr[..] else { return Ok(Transformed::no(LogicalPlan::Sort(sort))) };
        if !rest.iter().all(is_tie_break) || !is_time(&key.expr, &sort.input, sources) {
            return Ok(Transformed::no(LogicalPlan::Sort(sort)));
        }
        if !key.asc {
            wanted = sort.fetch.filter(|rows| *rows <= ROWS_MAX).map(|rows| EnoughEvents::Newest(rows as u64));
            return Ok(Transformed::no(LogicalPlan::Sort(sort)));
        }
        let input = LogicalPlanBuilder::from(sort.input);
        let input = if sort.fetch.is_some() { input.limit(0, sort.fetch)? } else { input };
        Ok(Transformed::yes(input.build()?))
    })?;
    Ok((plan.data, wanted))
}

/// Whether all that is wanted are the first and the last of the times of all events.
fn wants_ends(plan: &LogicalPlan, sources: &[Source<'_>]) -> bool {
    match plan {
        LogicalPlan::Projection(_) | LogicalPlan::SubqueryAlias(_) => {
            plan.inputs().iter().all(|input| wants_ends(input, sources))
        }
        LogicalPlan::Aggregate(aggregate) => {
            let is_end = |expr: &Expr| match expr.clone().unalias() {
                Expr::AggregateFunction(AggregateFunction { func, params }) => {
                    let is_plain = params.filter.is_none() && params.order_by.is_empty();
                    let is_of_time = || matches!(&params.args[..], [arg] if is_time(arg, &aggregate.input, sources));
                    matches!(func.name(), "min" | "max") && is_plain && is_of_time()
                }
                _ => false,
            };
            aggregate.group_expr.is_empty() && aggregate.aggr_expr.iter().all(is_end) && is_whole(&aggregate.input)
        }
        _ => false,
    }
}

/// Whether a plan has a row for each event.
fn is_whole(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Projection(_) | LogicalPlan::SubqueryAlias(_) => plan.inputs().into_iter().all(is_whole),
        LogicalPlan::TableScan(scan) => scan.filters.is_empty() && scan.fetch.is_none(),
        _ => false,
    }
}

/// Changes the first sort below projections and limits.
fn below(
    plan: LogicalPlan,
    change: &mut dyn FnMut(Sort) -> Result<Transformed<LogicalPlan>>,
) -> Result<Transformed<LogicalPlan>> {
    match plan {
        LogicalPlan::Sort(sort) => change(sort),
        LogicalPlan::Projection(_) | LogicalPlan::Limit(_) | LogicalPlan::SubqueryAlias(_) => {
            let input = plan.inputs().first().map(|input| (*input).clone());
            let Some(input) = input else { return Ok(Transformed::no(plan)) };
            let changed = below(input, change)?;
            if !changed.transformed {
                return Ok(Transformed::no(plan));
            }
            let expressions = plan.expressions();
            Ok(Transformed::yes(plan.with_new_exprs(expressions, vec![changed.data])?))
        }
        other => Ok(Transformed::no(other)),
    }
}

/// Whether an expression over the rows of `plan` is a field whose order is that of the events, and `plan` keeps their
/// order: it only filters and projects one store.
fn is_time(expr: &Expr, plan: &LogicalPlan, sources: &[Source<'_>]) -> bool {
    let expr = match expr {
        Expr::Alias(alias) => return is_time(&alias.expr, plan, sources),
        Expr::ScalarFunction(call) if call.name() == SORT_KEY => match &call.args[..] {
            [argument] => argument,
            _ => return false,
        },
        other => other,
    };
    let Expr::Column(column) = expr else { return matches!(expr, Expr::Alias(_)) && is_time(expr, plan, sources) };
    match plan {
        LogicalPlan::Filter(filter) => is_time(expr, &filter.input, sources),
        LogicalPlan::SubqueryAlias(SubqueryAlias { input, schema, .. }) => {
            let Some(index) = schema.maybe_index_of_column(column) else { return false };
            let (qualifier, field) = input.schema().qualified_field(index);
            is_time(&Expr::Column(Column::new(qualifier.cloned(), field.name())), input, sources)
        }
        LogicalPlan::Projection(projection) => {
            let index = projection.schema.maybe_index_of_column(column);
            index.is_some_and(|index| is_time(&projection.expr[index], &projection.input, sources))
        }
        LogicalPlan::TableScan(scan) => {
            let source = sources.iter().find(|source| source.used.table == scan.table_name.table());
            source.is_some_and(|source| source.is_in_order_of(&column.name))
        }
        _ => false,
    }
}

//! Sorts that an event store has done already: its events come in the order of their times.

use crate::plan::ties::is_tie_break;
use crate::sql::SORT_KEY;
use crate::types::prepared::Source;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{Column, Result};
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, Sort, SubqueryAlias};

/// A query that wants only the last of its rows: `order by "@t" desc limit n` over one store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Newest {
    /// The number of rows that are wanted.
    pub(crate) rows: u64,
}

/// More rows than this are not collected before they are written.
const ROWS_MAX: usize = 100_000;

/// Removes a sort by a field whose order is that of the events of the only store that is read. A descending one stays;
/// it is returned if only some rows are wanted.
pub(crate) fn in_order_of_store(plan: LogicalPlan, sources: &[Source<'_>]) -> Result<(LogicalPlan, Option<Newest>)> {
    let mut newest = None;
    let plan = below(plan, &mut |sort| {
        // Events of the same time come in the order of their places.
        let [key, rest @ ..] = &sort.expr[..] else { return Ok(Transformed::no(LogicalPlan::Sort(sort))) };
        if !rest.iter().all(is_tie_break) || !is_time(&key.expr, &sort.input, sources) {
            return Ok(Transformed::no(LogicalPlan::Sort(sort)));
        }
        if !key.asc {
            newest = sort.fetch.filter(|rows| *rows <= ROWS_MAX).map(|rows| Newest { rows: rows as u64 });
            return Ok(Transformed::no(LogicalPlan::Sort(sort)));
        }
        let input = LogicalPlanBuilder::from(sort.input);
        let input = if sort.fetch.is_some() { input.limit(0, sort.fetch)? } else { input };
        Ok(Transformed::yes(input.build()?))
    })?;
    Ok((plan.data, newest))
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

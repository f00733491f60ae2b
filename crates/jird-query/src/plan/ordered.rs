//! What an event store has done already: its events come in the order of their times, and indexes know where the least and
//! the greatest numbers are.

use crate::plan::ties::is_tie_break;
use crate::sql::SORT_KEY;
use crate::types::prepared::Source;
use arrow::array::RecordBatch;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{Column, Result};
use datafusion::logical_expr::expr::AggregateFunction;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, Sort, SubqueryAlias};
use jird::Path;
use jird_store::Extreme;
use std::collections::HashSet;

/// Which events of the only store that is read may be enough for a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum EnoughEvents {
    /// The last of its rows, so many: `order by "@t" desc limit n`.
    Newest(u64),
    /// The first and the last time, and the events with the least and the greatest numbers of these fields:
    /// `min("@t"), max(Elapsed)` of all events.
    Ends(HashSet<(Path, Extreme)>),
}

impl EnoughEvents {
    /// How many bytes of a store may be enough, at first.
    pub(crate) fn first_bytes(&self, of_rows: u64) -> u64 {
        match self {
            Self::Newest(_) => of_rows,
            // The blocks that have them.
            Self::Ends(_) => 1,
        }
    }

    /// Reads only about this many bytes of a store, at first also the blocks that have the extremes. `false` if all must be
    /// read.
    pub(crate) fn choose(&self, source: &Source<'_>, bytes: u64) -> bool {
        let part = &source.shared.part;
        let Self::Ends(paths) = self else {
            part.set(bytes, 0);
            return true;
        };
        let store = source.input.stores().next();
        let extreme = |(path, extreme): &(Path, Extreme)| store.and_then(|(_, store)| store.extreme(path, *extreme));
        let Some(blocks) = paths.iter().map(extreme).collect::<Option<Vec<_>>>() else {
            part.set(u64::MAX, 0);
            return false;
        };
        part.set(bytes, bytes);
        part.add(blocks.into_iter().flatten().collect());
        true
    }

    /// Whether the answer of a part of the events is that of all.
    pub(crate) fn is_in(&self, rows: &[RecordBatch]) -> bool {
        match self {
            Self::Newest(wanted) => rows.iter().map(|batch| batch.num_rows() as u64).sum::<u64>() >= *wanted,
            Self::Ends(_) => rows.iter().all(|batch| batch.columns().iter().all(|column| column.null_count() == 0)),
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
    let mut paths = HashSet::new();
    let mut wanted = wants_ends(&plan, sources, &mut paths).then_some(EnoughEvents::Ends(paths));
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

/// Whether all that is wanted are the first and the last of the times of all events, or the least and the greatest numbers
/// of fields, which go to `paths`.
fn wants_ends(plan: &LogicalPlan, sources: &[Source<'_>], paths: &mut HashSet<(Path, Extreme)>) -> bool {
    match plan {
        LogicalPlan::Projection(_) | LogicalPlan::SubqueryAlias(_) => {
            plan.inputs().iter().all(|input| wants_ends(input, sources, paths))
        }
        LogicalPlan::Aggregate(aggregate) => {
            let mut is_end = |expr: &Expr| match expr.clone().unalias() {
                Expr::AggregateFunction(AggregateFunction { func, params }) => {
                    let is_plain = params.filter.is_none() && params.order_by.is_empty();
                    let [arg] = &params.args[..] else { return false };
                    let extreme = match func.name() {
                        "min" => Extreme::Least,
                        "max" => Extreme::Greatest,
                        _ => return false,
                    };
                    if !is_plain {
                        return false;
                    }
                    is_time(arg, &aggregate.input, sources)
                        || number_of(arg, &aggregate.input, sources).is_some_and(|path| {
                            paths.insert((path, extreme));
                            true
                        })
                }
                _ => false,
            };
            aggregate.group_expr.is_empty()
                && !aggregate.aggr_expr.is_empty()
                && aggregate.aggr_expr.iter().all(&mut is_end)
                && is_whole(&aggregate.input)
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
    field_of(expr, plan, sources).is_some_and(|(source, column)| source.is_in_order_of(&column))
}

/// The path of a field of numbers of the only store that is read, if an expression over the rows of `plan` is one.
fn number_of(expr: &Expr, plan: &LogicalPlan, sources: &[Source<'_>]) -> Option<Path> {
    let (source, column) = field_of(expr, plan, sources)?;
    source.number_in_store(&column)
}

/// The column of a source that an expression over the rows of `plan` is.
fn field_of<'s>(expr: &Expr, plan: &LogicalPlan, sources: &'s [Source<'s>]) -> Option<(&'s Source<'s>, String)> {
    let expr = match expr {
        Expr::Alias(alias) => return field_of(&alias.expr, plan, sources),
        Expr::ScalarFunction(call) if call.name() == SORT_KEY => match &call.args[..] {
            [argument] => argument,
            _ => return None,
        },
        other => other,
    };
    let Expr::Column(column) = expr else {
        return if matches!(expr, Expr::Alias(_)) { field_of(expr, plan, sources) } else { None };
    };
    match plan {
        LogicalPlan::Filter(filter) => field_of(expr, &filter.input, sources),
        LogicalPlan::SubqueryAlias(SubqueryAlias { input, schema, .. }) => {
            let (qualifier, field) = input.schema().qualified_field(schema.maybe_index_of_column(column)?);
            field_of(&Expr::Column(Column::new(qualifier.cloned(), field.name())), input, sources)
        }
        LogicalPlan::Projection(projection) => {
            let index = projection.schema.maybe_index_of_column(column)?;
            field_of(&projection.expr[index], &projection.input, sources)
        }
        LogicalPlan::TableScan(scan) => {
            let source = sources.iter().find(|source| source.used.table == scan.table_name.table())?;
            Some((source, column.name.clone()))
        }
        _ => None,
    }
}

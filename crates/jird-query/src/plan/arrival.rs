//! Whether the answer of a query depends on the order in which its rows arrive.
//!
//! Where it does, rows arrive in the order of the input, on one path, though several threads may scan. Where it does not,
//! as for counts or sorted rows, each thread passes on what it has. Either way a query has one answer, however many
//! threads there are.

use crate::sql::{JSON_SUM, NUMBER_AVG, NUMBER_SUM};
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::expr::WindowFunction;
use datafusion::logical_expr::{Expr, LogicalPlan, WindowFrameUnits, WindowFunctionDefinition};

/// Aggregates that have the same value in any order: they count, are exact, or pick by value.
const COMMUTE: &[&str] = &[
    "approx_distinct",
    "avg",
    "bit_and",
    "bit_or",
    "bit_xor",
    "bool_and",
    "bool_or",
    "count",
    "grouping",
    "max",
    "median",
    "min",
    "percentile_cont",
    "sum",
    JSON_SUM,
    NUMBER_AVG,
    NUMBER_SUM,
];

/// Window functions that look at what rows are ordered by, and not at their order.
const OF_PEERS: &[&str] = &["rank", "dense_rank", "percent_rank", "cume_dist"];

/// Whether a query gives other rows, or the same in another order, if its records arrive in another order. A plan after
/// [`decide_ties`](crate::plan::ties::decide_ties) is expected, in which a sort leaves nothing to chance.
pub(crate) fn depends_on_arrival(plan: &LogicalPlan) -> bool {
    depends(plan, true) || subqueries_depend(plan)
}

/// The same, if the order of the plan's own rows is of interest or not.
fn depends(plan: &LogicalPlan, order: bool) -> bool {
    let order_below = match plan {
        LogicalPlan::Sort(_) | LogicalPlan::EmptyRelation(_) => false,
        LogicalPlan::Values(values) => order && values.values.len() > 1,
        // Even of parts that are one row each.
        LogicalPlan::Union(_) | LogicalPlan::Unnest(_) if order => return true,
        // One row has no order; several come as their groups were met.
        LogicalPlan::Aggregate(aggregate) => {
            if order && !aggregate.group_expr.is_empty() || !aggregate.aggr_expr.iter().all(commutes) {
                return true;
            }
            false
        }
        LogicalPlan::Window(window) => order || !window.window_expr.iter().all(commutes),
        LogicalPlan::Distinct(_)
        | LogicalPlan::Filter(_)
        | LogicalPlan::Projection(_)
        | LogicalPlan::SubqueryAlias(_)
        | LogicalPlan::Unnest(_)
        | LogicalPlan::Union(_)
        | LogicalPlan::Join(_)
        | LogicalPlan::TableScan(_) => order,
        // Which rows a limit leaves depends on their order, unless they are sorted.
        _ => true,
    };
    let inputs = plan.inputs();
    if inputs.is_empty() { order_below } else { inputs.iter().any(|input| depends(input, order_below)) }
}

/// Whether a query within an expression depends on the order. Its own rows have none: they are one value, or a set.
fn subqueries_depend(plan: &LogicalPlan) -> bool {
    let mut any = false;
    let walked = plan.apply(|node| {
        node.apply_subqueries(|subquery| {
            let LogicalPlan::Subquery(subquery) = subquery else { return Ok(TreeNodeRecursion::Continue) };
            any |= depends(&subquery.subquery, false) || subqueries_depend(&subquery.subquery);
            Ok(TreeNodeRecursion::Continue)
        })
    });
    debug_assert!(walked.is_ok(), "the visitor never fails");
    any
}

/// Whether an aggregate, or a window function, has the same values in any order of the rows that are equal in its own.
fn commutes(expr: &Expr) -> bool {
    match expr {
        Expr::Alias(alias) => commutes(&alias.expr),
        Expr::AggregateFunction(aggregate) => COMMUTE.contains(&aggregate.func.name()),
        Expr::WindowFunction(window) => {
            let WindowFunction { fun, params } = &**window;
            match fun {
                WindowFunctionDefinition::AggregateUDF(function) => {
                    params.window_frame.units != WindowFrameUnits::Rows && COMMUTE.contains(&function.name())
                }
                WindowFunctionDefinition::WindowUDF(function) => OF_PEERS.contains(&function.name()),
            }
        }
        _ => false,
    }
}

//! Decides the order of rows that are equal in all keys of an `order by`, so that a query has one answer, however many
//! threads there are and wherever the input is cut.
//!
//! Where the rows to sort are records of one table, they keep the order of the input, or have the opposite one if the
//! first key descends: the rows of `order by a desc` are those of `order by a`, last to first. Other rows, such as
//! groups, are sorted by the rest of their columns as well. The first and the last value in an order are decided alike;
//! DataFusion would take any of those that are equal.

use crate::sql::Rep;
use arrow::datatypes::DataType;
use arrow::row::{RowConverter, SortField};
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{Column, Result};
use datafusion::logical_expr::expr::{AggregateFunction, Sort as SortExpr};
use datafusion::logical_expr::{Aggregate, Expr, LogicalPlan, LogicalPlanBuilder, Projection, Sort};
use std::sync::Arc;

/// The same plan, in which every sort leaves no two different rows in any order.
pub(crate) fn decide_ties(plan: LogicalPlan) -> Result<LogicalPlan> {
    let each = |node| match node {
        LogicalPlan::Sort(sort) if !sort.expr.is_empty() => decided(sort).map(Transformed::yes),
        LogicalPlan::Aggregate(aggregate) if aggregate.aggr_expr.iter().any(picks) => picked(aggregate),
        other => Ok(Transformed::no(other)),
    };
    plan.transform_up_with_subqueries(each).map(|changed| changed.data)
}

/// The same rows in the order of the input, if the query asks subqueries about each of them and sorts nothing: DataFusion
/// joins them, and would give the rows in the order of that join.
pub(crate) fn keep_order(plan: LogicalPlan) -> Result<LogicalPlan> {
    if let LogicalPlan::Limit(_) = plan {
        let input = keep_order(plan.inputs()[0].clone())?;
        return plan.with_new_exprs(plan.expressions(), vec![input]);
    }
    let carrying = if asks_each(&plan)? { carrying_place(&plan)? } else { None };
    let Some((carrying, place)) = carrying else { return Ok(plan) };
    let columns = plan.schema().columns();
    let expr = vec![SortExpr::new(Expr::Column(place), true, false)];
    let sorted = LogicalPlan::Sort(Sort { expr, input: Arc::new(carrying), fetch: None });
    LogicalPlanBuilder::from(sorted).project(columns.into_iter().map(Expr::Column))?.build()
}

/// Whether rows that are not sorted come from a subquery about each of them.
fn asks_each(plan: &LogicalPlan) -> Result<bool> {
    if matches!(plan, LogicalPlan::Sort(_)) {
        return Ok(false);
    }
    let is_asked = |expr: &Expr| match expr {
        Expr::Exists(_) | Expr::InSubquery(_) => true,
        Expr::ScalarSubquery(query) => !query.outer_ref_columns.is_empty(),
        _ => false,
    };
    for expr in plan.expressions() {
        if expr.exists(|expr| Ok(is_asked(expr)))? {
            return Ok(true);
        }
    }
    match plan.inputs()[..] {
        [input] => asks_each(input),
        _ => Ok(false),
    }
}

/// Whether a key only decides between equal rows, by their places.
pub(crate) fn is_tie_break(key: &SortExpr) -> bool {
    matches!(&key.expr, Expr::Column(column) if is_place(column))
}

fn is_place(column: &Column) -> bool {
    column.name == Rep::Place.column("")
}

fn decided(sort: Sort) -> Result<LogicalPlan> {
    let Sort { mut expr, input, fetch } = sort;
    let columns = input.schema().columns();
    let ascends = expr.first().is_none_or(|key| key.asc);
    if let Some((carrying, place)) = carrying_place(&input)? {
        expr.push(SortExpr::new(Expr::Column(place), ascends, false));
        let sorted = LogicalPlan::Sort(Sort { expr, input: Arc::new(carrying), fetch });
        return LogicalPlanBuilder::from(sorted).project(columns.into_iter().map(Expr::Column))?.build();
    }
    for (column, (_, field)) in columns.into_iter().zip(input.schema().iter()) {
        let column = Expr::Column(column);
        if has_order(field.data_type()) && !expr.iter().any(|key| key.expr == column) {
            expr.push(SortExpr::new(column, ascends, false));
        }
    }
    Ok(LogicalPlan::Sort(Sort { expr, input, fetch }))
}

/// Whether an aggregate picks the first or the last value in an order.
fn picks(expr: &Expr) -> bool {
    match expr {
        Expr::Alias(alias) => picks(&alias.expr),
        Expr::AggregateFunction(AggregateFunction { func, params }) => {
            matches!(func.name(), "first_value" | "last_value") && !params.order_by.is_empty() && !params.distinct
        }
        _ => false,
    }
}

/// The same groups. Of values that are equal in the order of an aggregate, the first is the first of the input, and the
/// last is its last.
fn picked(aggregate: Aggregate) -> Result<Transformed<LogicalPlan>> {
    let Some((carrying, place)) = carrying_place(&aggregate.input)? else {
        return Ok(Transformed::no(LogicalPlan::Aggregate(aggregate)));
    };
    let by_place = SortExpr::new(Expr::Column(place), true, false);
    let with_place = |expr: Expr| {
        expr.transform_up(|part| {
            if !picks(&part) {
                return Ok(Transformed::no(part));
            }
            let Expr::AggregateFunction(mut function) = part else { return Ok(Transformed::no(part)) };
            function.params.order_by.push(by_place.clone());
            Ok(Transformed::yes(Expr::AggregateFunction(function)))
        })
        .data()
    };
    let picked = aggregate.aggr_expr.into_iter().map(with_place).collect::<Result<_>>()?;
    let columns = aggregate.schema.columns();
    let plan = LogicalPlan::Aggregate(Aggregate::try_new(Arc::new(carrying), aggregate.group_expr, picked)?);
    // The columns are called after their aggregates, and keep their names.
    let named = plan.schema().columns().into_iter().zip(columns);
    let named =
        named.map(|(column, Column { relation, name, .. })| Expr::Column(column).alias_qualified(relation, name));
    let named = named.collect();
    Ok(Transformed::yes(LogicalPlan::Projection(Projection::try_new(named, Arc::new(plan))?)))
}

/// The same rows with the places of their records, and the name of that column, if the rows are records of one table.
fn carrying_place(plan: &LogicalPlan) -> Result<Option<(LogicalPlan, Column)>> {
    if let LogicalPlan::TableScan(_) = plan {
        let place = plan.schema().columns().into_iter().find(is_place);
        return Ok(place.map(|place| (plan.clone(), place)));
    }
    let passes_on = matches!(
        plan,
        LogicalPlan::Filter(_)
            | LogicalPlan::Projection(_)
            | LogicalPlan::SubqueryAlias(_)
            | LogicalPlan::Window(_)
            | LogicalPlan::Sort(_)
            | LogicalPlan::Limit(_)
    );
    let inputs = plan.inputs();
    let ([input], true) = (&inputs[..], passes_on) else { return Ok(None) };
    let Some((input, place)) = carrying_place(input)? else { return Ok(None) };
    let mut expressions = plan.expressions();
    if let LogicalPlan::Projection(projection) = plan {
        if projection.schema.columns().iter().any(is_place) {
            return Ok(None);
        }
        expressions.push(Expr::Column(place));
    }
    let carrying = plan.with_new_exprs(expressions, vec![input])?;
    let place = carrying.schema().columns().into_iter().find(is_place);
    Ok(place.map(|place| (carrying, place)))
}

/// Whether values of a type can be sorted.
fn has_order(kind: &DataType) -> bool {
    RowConverter::supports_fields(&[SortField::new(kind.clone())])
}

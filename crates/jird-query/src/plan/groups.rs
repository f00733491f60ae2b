//! Groups by a field once, even if the query uses the field in several representations.
//!
//! After `group by`, a field may be needed as JSON text, to be printed, and as a value, to be sorted by or computed
//! with. In a column of texts, integers or booleans, the value determines the canonical JSON text. So rows are grouped by
//! the values alone, and each group's JSON text is made from its value. This does not hold for other numbers: two different
//! ones may become the same double, and zeros have signs.

use crate::functions::json_text;
use crate::sql::Rep;
use crate::types::prepared::Source;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{Column, TableReference};
use datafusion::error::Result;
use datafusion::logical_expr::{Aggregate, Expr, LogicalPlan, Projection};
use jird_formats::ColumnType;
use std::sync::Arc;

/// The same plan, without grouping by columns that another grouped column determines.
pub(crate) fn group_once(plan: LogicalPlan, sources: &[Source<'_>]) -> Result<LogicalPlan> {
    let each = |node| match node {
        LogicalPlan::Aggregate(aggregate) => once(aggregate, sources),
        other => Ok(Transformed::no(other)),
    };
    plan.transform_up_with_subqueries(each).map(|changed| changed.data)
}

fn once(aggregate: Aggregate, sources: &[Source<'_>]) -> Result<Transformed<LogicalPlan>> {
    // Finds, for a key column of the grouping, the value column of the same field if it is grouped by too.
    let value_of = |key: &Column| -> Option<Column> {
        let source = table(&aggregate.input).and_then(|table| source(table, sources))?;
        let named = |column: &Column, rep: Rep, path: &str| column.name == rep.column(path);
        let is_told = |kind: ColumnType| {
            matches!(kind, ColumnType::Text | ColumnType::Int64 | ColumnType::UInt64 | ColumnType::Bool)
        };
        let told = source.shared.columns.iter().filter(|column| is_told(column.kind));
        let paths: Vec<_> = told.map(|column| column.path.to_string()).collect();
        let path = paths.iter().find(|path| named(key, Rep::Key, path))?;
        let grouped = aggregate.group_expr.iter().filter_map(Expr::try_as_col);
        let is_value = |column: &&Column| named(column, Rep::Typed, path) || named(column, Rep::Group, path);
        grouped.filter(|column| column.relation == key.relation).find(is_value).cloned()
    };
    let is_spare = |expr: &Expr| expr.try_as_col().is_some_and(|column| value_of(column).is_some());
    if !aggregate.group_expr.iter().any(is_spare) {
        return Ok(Transformed::no(LogicalPlan::Aggregate(aggregate)));
    }
    let groups = aggregate.group_expr.iter().filter(|expr| !is_spare(expr)).cloned().collect();
    let columns = aggregate.schema.columns().into_iter().map(|column| match value_of(&column) {
        Some(value) => json_text(Expr::Column(value)).alias_qualified(column.relation, column.name),
        None => Expr::Column(column),
    });
    let columns = columns.collect();
    let grouped = Aggregate::try_new(Arc::clone(&aggregate.input), groups, aggregate.aggr_expr.clone())?;
    let projection = Projection::try_new(columns, Arc::new(LogicalPlan::Aggregate(grouped)))?;
    Ok(Transformed::yes(LogicalPlan::Projection(projection)))
}

/// The only table of a plan that passes columns on unchanged.
fn table(plan: &LogicalPlan) -> Option<&TableReference> {
    match plan {
        LogicalPlan::TableScan(scan) => Some(&scan.table_name),
        LogicalPlan::Filter(_) | LogicalPlan::SubqueryAlias(_) => plan.inputs().first().and_then(|input| table(input)),
        _ => None,
    }
}

fn source<'s>(table: &TableReference, sources: &'s [Source<'s>]) -> Option<&'s Source<'s>> {
    sources.iter().find(|source| source.used.table == table.table())
}

//! `exists (select …)`, as a condition and as a column.

use super::walk::{Emit, Walk};
use crate::base::error::Error;
use crate::sql::base::literal::literal;
use crate::sql::base::syntax::{function_name, has_call};
use crate::sql::base::visit;
use crate::sql::resolve::resolver::Aggregates;
use crate::sql::resolve::uses::Rep;
use crate::sql::text::plain::plain_expression;
use jird::record::Literal;
use sqlparser::ast::{Expr, Function, GroupByExpr, LimitClause, Query, SelectItem, SetExpr, Value};
use std::ops::ControlFlow;

impl dyn Walk<'_> + '_ {
    /// Rewrites `exists` as a condition.
    pub(crate) fn exists(&mut self, expr: &mut Expr) -> Result<(), Error> {
        let Expr::Exists { subquery, negated } = expr else { return Ok(()) };
        if let Some(is_there) = has_one_row(subquery, self.resolver().aggregates)? {
            *expr = Expr::value(Value::Boolean(is_there != *negated));
            return Ok(());
        }
        self.query(subquery, Emit::Fixed(Rep::Json), false).map(|_| ())
    }
}

/// In a column, `exists (select …)` becomes `(select count(*) > 0 …)`, which DataFusion can compute there.
pub(crate) fn count_exists(column: &mut Expr, aggregates: &Aggregates<'_>) -> Result<(), Error> {
    let flow = visit::exprs_mut(column, |expr| {
        counted(expr, aggregates).map_or_else(ControlFlow::Break, ControlFlow::Continue)
    });
    match flow {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(error) => Err(error),
    }
}

fn counted(expr: &mut Expr, aggregates: &Aggregates<'_>) -> Result<(), Error> {
    let Expr::Exists { subquery, negated } = expr else { return Ok(()) };
    if let Some(is_there) = has_one_row(subquery, aggregates)? {
        *expr = Expr::value(Value::Boolean(is_there != *negated));
        return Ok(());
    }
    let Query { with: None, order_by: None, limit_clause: None, fetch: None, .. } = &**subquery else {
        return Ok(());
    };
    let SetExpr::Select(select) = &mut *subquery.body else { return Ok(()) };
    let is_plain = matches!(&select.group_by, GroupByExpr::Expressions(groups, _) if groups.is_empty());
    if !is_plain || select.having.is_some() || select.distinct.is_some() || select.qualify.is_some() {
        return Ok(());
    }
    let count = plain_expression(if *negated { "count(*) = 0" } else { "count(*) > 0" })?;
    select.projection = vec![SelectItem::UnnamedExpr(count)];
    *expr = Expr::Subquery(subquery.clone());
    Ok(())
}

/// Whether a query that aggregates without groups has its one row, which is there whatever its tables hold:
/// DataFusion 55 looks for the rows of the tables (apache/datafusion#24960). `None` for other queries.
fn has_one_row(query: &Query, aggregates: &Aggregates<'_>) -> Result<Option<bool>, Error> {
    let SetExpr::Select(select) = &*query.body else { return Ok(None) };
    let is_wanted = |function: &Function| function.over.is_none() && aggregates(&function_name(function));
    let is_grouped = !matches!(&select.group_by, GroupByExpr::Expressions(groups, _) if groups.is_empty());
    if is_grouped || !has_call(&select.projection, is_wanted) {
        return Ok(None);
    }
    let rows = match &query.limit_clause {
        None => Some(1),
        Some(LimitClause::LimitOffset { limit: Some(limit), offset: None, .. }) => match literal(limit) {
            Some(Literal::Number(rows)) => rows.parse::<u64>().ok(),
            _ => None,
        },
        _ => None,
    };
    match rows {
        Some(rows) if select.having.is_none() && select.qualify.is_none() => Ok(Some(rows > 0)),
        _ => Err(Error::sql("`exists` of an aggregate without `group by` takes neither `having` nor `offset`")),
    }
}

//! `exists (select …)`, as a condition and as a column.

use super::expr::function_name;
use super::group::has_call;
use super::literal::literal;
use super::parse::plain_expression;
use super::select::{Emit, Rewriter};
use super::uses::Rep;
use crate::error::Error;
use datafusion::sql::sqlparser::ast::{
    Expr, Function, GroupByExpr, LimitClause, Query, SelectItem, SetExpr, Value, visit_expressions_mut,
};
use jird::record::Literal;
use std::ops::ControlFlow;

impl Rewriter<'_> {
    /// Rewrites `exists` as a condition.
    pub(super) fn exists(&mut self, expr: &mut Expr) -> Result<(), Error> {
        let Expr::Exists { subquery, negated } = expr else { return Ok(()) };
        if let Some(is_there) = self.has_one_row(subquery)? {
            *expr = Expr::value(Value::Boolean(is_there != *negated));
            return Ok(());
        }
        self.query(subquery, Emit::Fixed(Rep::Json), false).map(|_| ())
    }

    /// In a column, `exists (select …)` becomes `(select count(*) > 0 …)`, which DataFusion can compute there.
    pub(super) fn count_exists(&self, column: &mut Expr) -> Result<(), Error> {
        let flow = visit_expressions_mut(column, |expr| {
            self.counted(expr).map_or_else(ControlFlow::Break, ControlFlow::Continue)
        });
        match flow {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(error) => Err(error),
        }
    }

    fn counted(&self, expr: &mut Expr) -> Result<(), Error> {
        let Expr::Exists { subquery, negated } = expr else { return Ok(()) };
        if let Some(is_there) = self.has_one_row(subquery)? {
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
    fn has_one_row(&self, query: &Query) -> Result<Option<bool>, Error> {
        let SetExpr::Select(select) = &*query.body else { return Ok(None) };
        let aggregates = |function: &Function| function.over.is_none() && (self.aggregates)(&function_name(function));
        let is_grouped = !matches!(&select.group_by, GroupByExpr::Expressions(groups, _) if groups.is_empty());
        if is_grouped || !has_call(&select.projection, aggregates) {
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
}

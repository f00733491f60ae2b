//! `in (select …)`, of one value or of several.
//!
//! DataFusion joins where such a condition decides by itself whether a row remains, and it does so by columns. Everywhere
//! else, as a column or within a condition, it would not know an unknown answer. There the rows of the subquery become
//! one list, and our function searches it.

use super::walk::{Emit, Walk};
use crate::base::error::Error;
use crate::sql::base::forms::{Form, canonical, to_json};
use crate::sql::base::functions::IN_ROWS;
use crate::sql::base::syntax::{bracketed, call, qualified, string};
use crate::sql::base::times::read_times;
use crate::sql::resolve::columns::{Derived, DerivedKind};
use crate::sql::resolve::resolver::Context;
use crate::sql::resolve::uses::Rep;
use crate::sql::text::plain::plain_query;
use sqlparser::ast::{
    BinaryOperator, DuplicateTreatment, Expr, FunctionArguments, GroupByExpr, Query, SelectItem, SetExpr, TableFactor,
    UnaryOperator,
};

/// The name of the subquery in the query that makes one list of its rows.
const ROWS: &str = "in_rows";

impl dyn Walk<'_> + '_ {
    /// Rewrites a condition that decides by itself which rows remain.
    pub(crate) fn in_subquery(&mut self, expr: &mut Expr) -> Result<(), Error> {
        let context = Context::default();
        let Expr::InSubquery { expr: subject, subquery, negated } = expr else { return Ok(()) };
        if let Expr::Tuple(_) = **subject {
            return self.in_rows(expr, context);
        }
        read_times(subject, subquery);
        let (columns, is_correlated) = self.columns_of(subquery)?;
        let is_key = matches!(columns.as_slice(), [Derived { kind: DerivedKind::Fixed(_, Rep::Key), .. }]);
        if !is_key || *negated && is_correlated {
            return self.in_list_of(expr, &columns, is_correlated, context);
        }
        let key = self.key(subject, context)?;
        **subject = key;
        Ok(())
    }

    /// Rewrites a condition whose answer may be unknown.
    pub(crate) fn in_rows(&mut self, expr: &mut Expr, context: Context) -> Result<(), Error> {
        let Expr::InSubquery { expr: subject, subquery, .. } = expr else { return Ok(()) };
        read_times(subject, subquery);
        let (columns, is_correlated) = self.columns_of(subquery)?;
        self.in_list_of(expr, &columns, is_correlated, context)
    }

    /// Rewrites a subquery. Returns its columns, and whether it may depend on the outer row.
    fn columns_of(&mut self, subquery: &mut Query) -> Result<(Vec<Derived>, bool), Error> {
        let outer = std::mem::take(&mut self.resolver().reaches_out);
        let columns = self.query(subquery, Emit::Fixed(Rep::Key), false)?;
        let is_correlated = self.resolver().reaches_out;
        self.resolver().reaches_out |= outer;
        Ok((columns, is_correlated))
    }

    /// Makes the condition a call over the rows of the rewritten subquery.
    fn in_list_of(
        &mut self,
        expr: &mut Expr,
        columns: &[Derived],
        is_correlated: bool,
        context: Context,
    ) -> Result<(), Error> {
        let Expr::InSubquery { expr: subject, subquery, negated } = expr else { return Ok(()) };
        let values = match &mut **subject {
            Expr::Tuple(values) => values.iter_mut().collect(),
            value => vec![value],
        };
        if values.len() != columns.len() {
            let written = if values.len() == 1 { "value is" } else { "values are" };
            let message =
                format!("{} {written} compared with the {} columns of a subquery", values.len(), columns.len());
            return Err(Error::sql(message));
        }
        let mut given = vec![Expr::Subquery(list_of(subquery, columns, is_correlated)?.into())];
        for value in values {
            given.push(self.key(value, context)?);
        }
        let is_in = call(IN_ROWS, given);
        *expr = if *negated { Expr::UnaryOp { op: UnaryOperator::Not, expr: is_in.into() } } else { is_in };
        Ok(())
    }

    /// The value of an expression as JSON text that is equal for equal values.
    fn key(&mut self, expr: &mut Expr, context: Context) -> Result<Expr, Error> {
        if let Some(field) = self.resolver().field_at(expr)? {
            return self.resolver().field(&field, Rep::Key, context);
        }
        let form = self.any(expr, context)?;
        Ok(canonical(to_json(expr.clone(), form)))
    }
}

/// The query of one list that has the rows of a subquery, each once and as a JSON array.
fn list_of(subquery: &Query, columns: &[Derived], is_correlated: bool) -> Result<Query, Error> {
    let mut values: Vec<_> = columns.iter().map(|column| qualified(ROWS, &column.name)).collect();
    let mut query = if is_correlated {
        // DataFusion looks for outer columns in the subquery itself.
        collected(subquery, &mut values).ok_or_else(|| {
            Error::sql("`in (select …)` here: a subquery that depends on the outer row is a plain `select`")
        })?
    } else {
        let mut query = *plain_query(&format!("SELECT 1 FROM (SELECT 1) AS {ROWS}"))?;
        if let SetExpr::Select(select) = &mut *query.body
            && let Some(TableFactor::Derived { subquery: rows, .. }) =
                select.from.first_mut().map(|table| &mut table.relation)
        {
            **rows = subquery.clone();
        }
        query
    };
    let mut parts = vec![string(",")];
    for (value, column) in values.into_iter().zip(columns) {
        let key = match &column.kind {
            DerivedKind::Fixed(_, Rep::Key) => value,
            DerivedKind::Computed(Form::Typed) | DerivedKind::Fixed(_, Rep::Typed | Rep::Group) => {
                to_json(value, Form::Typed)
            }
            DerivedKind::Record => return Err(Error::sql("`in (select *)`: name the columns")),
            _ => canonical(value),
        };
        parts.push(call("coalesce", vec![key, string("null")]));
    }
    let mut all = call("array_agg", vec![bracketed(call("concat_ws", parts))]);
    if let Expr::Function(function) = &mut all
        && let FunctionArguments::List(list) = &mut function.args
    {
        list.duplicate_treatment = Some(DuplicateTreatment::Distinct);
    }
    if let SetExpr::Select(select) = &mut *query.body {
        select.projection = vec![SelectItem::UnnamedExpr(all)];
    }
    Ok(query)
}

/// The subquery itself, whose columns will be replaced, and their expressions in `values`. `None` if it groups or limits.
fn collected(subquery: &Query, values: &mut Vec<Expr>) -> Option<Query> {
    let mut query = subquery.clone();
    query.order_by = None;
    let Query { with: None, limit_clause: None, body, .. } = &query else { return None };
    let SetExpr::Select(select) = &**body else { return None };
    let is_plain = matches!(&select.group_by, GroupByExpr::Expressions(groups, _) if groups.is_empty());
    if !is_plain || select.having.is_some() || select.qualify.is_some() || select.distinct.is_some() {
        return None;
    }
    *values = select
        .projection
        .iter()
        .map(|item| match item {
            SelectItem::ExprWithAlias { expr, .. } | SelectItem::UnnamedExpr(expr) => Some(expr.clone()),
            _ => None,
        })
        .collect::<Option<_>>()?;
    Some(query)
}

/// Whether an expression is `x in (select …)`, in any number of brackets.
pub(crate) fn is_in_subquery(expr: &Expr) -> bool {
    match expr {
        Expr::Nested(inner) => is_in_subquery(inner),
        expr => matches!(expr, Expr::InSubquery { .. }),
    }
}

/// The opposite of `x in (select …)`.
pub(crate) fn negated(expr: &Expr) -> Expr {
    match expr {
        Expr::Nested(inner) => negated(inner),
        Expr::InSubquery { expr, subquery, negated } => {
            Expr::InSubquery { expr: expr.clone(), subquery: subquery.clone(), negated: !negated }
        }
        other => Expr::UnaryOp { op: UnaryOperator::Not, expr: other.clone().into() },
    }
}

impl dyn Walk<'_> + '_ {
    /// Rewrites a condition that decides which rows remain. Equality between fields of two tables becomes equality of
    /// their keys, by which DataFusion can join.
    /// `filters` is whether the condition is that of a `where`, and not that of a join.
    pub(crate) fn conjuncts(&mut self, expr: &mut Expr, filters: bool) -> Result<(), Error> {
        let context = Context::default();
        match expr {
            Expr::Nested(inner)
                if matches!(**inner, Expr::BinaryOp { .. } | Expr::InSubquery { .. } | Expr::Nested(_)) =>
            {
                return self.conjuncts(inner, filters);
            }
            Expr::BinaryOp { left, op: BinaryOperator::Eq, right } => {
                if let (Some(left_field), Some(right_field)) =
                    (self.resolver().field_at(left)?, self.resolver().field_at(right)?)
                    && left_field.relation != right_field.relation
                {
                    **left = self.resolver().field(&left_field, Rep::Key, context)?;
                    **right = self.resolver().field(&right_field, Rep::Key, context)?;
                    return Ok(());
                }
            }
            Expr::InSubquery { .. } if filters => return self.in_subquery(expr),
            Expr::UnaryOp { op: UnaryOperator::Not, expr: inner } if filters && is_in_subquery(inner) => {
                *expr = negated(inner);
                return self.in_subquery(expr);
            }
            Expr::BinaryOp { op: BinaryOperator::And, .. } => {
                if let Some(leaf) = self.resolver().leaf(expr, true, context)? {
                    *expr = leaf;
                    return Ok(());
                }
                let Expr::BinaryOp { left, right, .. } = expr else { return Ok(()) };
                self.conjuncts(left, filters)?;
                return self.conjuncts(right, filters);
            }
            _ => {}
        }
        self.condition(expr, context)
    }
}

//! `in (select …)`, of one value or of several.
//!
//! DataFusion joins where such a condition decides by itself whether a row remains, and it does so by columns. Everywhere
//! else, as a column or within a condition, it would not know an unknown answer. There the rows of the subquery become
//! one list, and our function searches it.

use super::calls::bracketed;
use super::expr::{Context, call, qualified};
use super::forms::{Form, canonical, to_json};
use super::parse::plain_query;
use super::scope::{Derived, DerivedKind};
use super::select::{Emit, Rewriter};
use super::uses::{IN_ROWS, Rep};
use crate::error::Error;
use datafusion::sql::sqlparser::ast::{
    DuplicateTreatment, Expr, FunctionArguments, GroupByExpr, Query, SelectItem, SetExpr, TableFactor, UnaryOperator,
    Value,
};

/// The name of the subquery in the query that makes one list of its rows.
const ROWS: &str = "in_rows";

impl Rewriter<'_> {
    /// Rewrites a condition that decides by itself which rows remain.
    pub(super) fn in_subquery(&mut self, expr: &mut Expr) -> Result<(), Error> {
        let context = Context::default();
        let Expr::InSubquery { expr: subject, subquery, negated } = expr else { return Ok(()) };
        if let Expr::Tuple(_) = **subject {
            return self.in_rows(expr, context);
        }
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
    pub(super) fn in_rows(&mut self, expr: &mut Expr, context: Context) -> Result<(), Error> {
        let Expr::InSubquery { subquery, .. } = expr else { return Ok(()) };
        let (columns, is_correlated) = self.columns_of(subquery)?;
        self.in_list_of(expr, &columns, is_correlated, context)
    }

    /// Rewrites a subquery. Returns its columns, and whether it may depend on the outer row.
    fn columns_of(&mut self, subquery: &mut Query) -> Result<(Vec<Derived>, bool), Error> {
        let outer = std::mem::take(&mut self.reaches_out);
        let columns = self.query(subquery, Emit::Fixed(Rep::Key), false)?;
        let is_correlated = self.reaches_out;
        self.reaches_out |= outer;
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
        if let Some(field) = self.field_at(expr)? {
            return self.field(&field, Rep::Key, context);
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
            Error::sql(format!("`in ({subquery})` here: a subquery that depends on the outer row is a plain `select`"))
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
    let text = |text: &str| Expr::value(Value::SingleQuotedString(text.to_owned()));
    let mut parts = vec![text(",")];
    for (value, column) in values.into_iter().zip(columns) {
        let key = match &column.kind {
            DerivedKind::Fixed(_, Rep::Key) => value,
            DerivedKind::Computed(Form::Typed) | DerivedKind::Fixed(_, Rep::Typed | Rep::Group) => {
                to_json(value, Form::Typed)
            }
            DerivedKind::Record => return Err(Error::sql("`in (select *)`: name the columns")),
            _ => canonical(value),
        };
        parts.push(call("coalesce", vec![key, text("null")]));
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
pub(super) fn is_in_subquery(expr: &Expr) -> bool {
    match expr {
        Expr::Nested(inner) => is_in_subquery(inner),
        expr => matches!(expr, Expr::InSubquery { .. }),
    }
}

/// The opposite of `x in (select …)`.
pub(super) fn negated(expr: &Expr) -> Expr {
    match expr {
        Expr::Nested(inner) => negated(inner),
        Expr::InSubquery { expr, subquery, negated } => {
            Expr::InSubquery { expr: expr.clone(), subquery: subquery.clone(), negated: !negated }
        }
        other => Expr::UnaryOp { op: UnaryOperator::Not, expr: other.clone().into() },
    }
}

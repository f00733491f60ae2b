//! Rewrites `order by`, and writes the one of groups.

use super::SORT_KEY;
use super::expr::{Context, call, function_name, quoted};
use super::forms::{Form, to_order};
use super::group::{has_call, is_set};
use super::items::{Item, ItemExpr, item_of};
use super::scope::{Derived, DerivedKind, Resolved};
use super::select::Rewriter;
use super::uses::Rep;
use crate::error::Error;
use datafusion::sql::sqlparser::ast::{
    Distinct, Expr, Function, GroupByExpr, Ident, OrderBy, OrderByExpr, OrderByKind, OrderByOptions, Query, Select,
    SelectItem, SetExpr, SetOperator, SetQuantifier, Value,
};

/// Orders the groups of a query, and its distinct rows, if it does not say how: groups by their keys, and rows by their
/// columns, from left to right. So they do not come in the order in which threads were done.
pub(crate) fn order_groups(query: &mut Query, is_aggregate: &dyn Fn(&str) -> bool) {
    if query.order_by.is_some() {
        return;
    }
    let keys = match &*query.body {
        SetExpr::Select(select) => keys_of(select, is_aggregate),
        SetExpr::SetOperation { op, set_quantifier, .. }
            if (*op, *set_quantifier) != (SetOperator::Union, SetQuantifier::All) =>
        {
            by_all_columns()
        }
        _ => Vec::new(),
    };
    if !keys.is_empty() {
        let options = OrderByOptions { asc: None, nulls_first: None };
        let keys = keys.into_iter().map(|expr| OrderByExpr { expr, options, with_fill: None }).collect();
        query.order_by = Some(OrderBy { kind: OrderByKind::Expressions(keys), interpolate: None });
    }
}

/// What the groups or the distinct rows of a `select` differ in, if it can be named.
fn keys_of(select: &Select, is_aggregate: &dyn Fn(&str) -> bool) -> Vec<Expr> {
    let names_columns = select.projection.iter().all(is_one_column);
    match &select.group_by {
        GroupByExpr::Expressions(keys, _) if !keys.iter().any(is_set) && !keys.is_empty() => keys.clone(),
        GroupByExpr::Expressions(keys, _)
            if keys.is_empty() && names_columns && matches!(select.distinct, Some(Distinct::Distinct)) =>
        {
            by_all_columns()
        }
        GroupByExpr::All(_) if names_columns => {
            let is_computed = |function: &Function| function.over.is_some() || is_aggregate(&function_name(function));
            let items = (1..).zip(&select.projection).filter(|(_, item)| !has_call(*item, is_computed));
            items.map(|(number, _)| numbered(number)).collect()
        }
        _ => Vec::new(),
    }
}

fn by_all_columns() -> Vec<Expr> {
    vec![Expr::Identifier(Ident::new("all"))]
}

/// Whether an item of a `select` is one column, and not all of a table.
fn is_one_column(item: &SelectItem) -> bool {
    matches!(item, SelectItem::UnnamedExpr(_) | SelectItem::ExprWithAlias { .. })
}

/// The column of this number, counted from one.
fn numbered(number: usize) -> Expr {
    Expr::value(Value::Number(number.to_string(), false))
}

impl Rewriter<'_> {
    /// Rewrites the `order by` of a `select`. The name or number of one of its columns stands for that column's value.
    pub(crate) fn order_by(
        &mut self,
        order_by: Option<&mut OrderBy>,
        items: &[Item],
        columns: &[Derived],
    ) -> Result<(), Error> {
        let order_by = order_by.map(|order_by| by_all(order_by, items.iter().map(|item| item.name.as_str())));
        for key in keys(order_by)? {
            let named = item_of(&key.expr, items).or_else(|| {
                let name = key.expr.to_string();
                items.iter().find(|item| quoted(&item.name).to_string() == name || item.name == name)
            });
            let Some(item) = named else {
                let is_field = self.field_at(&key.expr)?.is_some();
                match self.any(&mut key.expr, Context::default())? {
                    Form::Json => key.expr = to_order(key.expr.clone()),
                    Form::Typed if is_field => key.expr = call(SORT_KEY, vec![key.expr.clone()]),
                    Form::Typed => {}
                }
                continue;
            };
            let index = items.iter().position(|other| std::ptr::eq(other, item)).unwrap_or(usize::MAX);
            let resolved = match &item.expr {
                ItemExpr::Expr(expr) => self.resolve(expr)?,
                ItemExpr::Resolved(resolved) => Some(resolved.clone()),
                ItemExpr::Record(_) => return Err(Error::sql("records have no order: name a field to order by")),
            };
            key.expr = match (resolved, columns.get(index).map(|column| &column.kind)) {
                (Some(Resolved::Field(field)), _) => match self.value(&field, Context::default())? {
                    (json, Form::Json) => to_order(json),
                    (value, Form::Typed) => call(SORT_KEY, vec![value]),
                },
                (_, Some(DerivedKind::Computed(Form::Json))) => to_order(Expr::Identifier(quoted(&item.name))),
                _ => Expr::Identifier(quoted(&item.name)),
            };
        }
        Ok(())
    }
}

/// Rewrites the `order by` of a union, which sees only the columns.
pub(crate) fn order_by_name(order_by: Option<&mut OrderBy>, columns: &[Derived]) -> Result<(), Error> {
    let order_by = order_by.map(|order_by| by_all(order_by, columns.iter().map(|column| column.name.as_str())));
    for key in keys(order_by)? {
        let column = match &key.expr {
            Expr::Value(value) => match &value.value {
                Value::Number(number, _) => {
                    number.parse::<usize>().ok().and_then(|number| columns.get(number.wrapping_sub(1)))
                }
                _ => None,
            },
            Expr::Identifier(ident) => columns.iter().find(|column| column.name == ident.value),
            _ => None,
        };
        let Some(column) = column else {
            return Err(Error::sql(format!("`order by {}` must name a column of the union", key.expr)));
        };
        let name = Expr::Identifier(quoted(&column.name));
        key.expr = match column.kind {
            DerivedKind::Computed(Form::Typed) | DerivedKind::Fixed(_, Rep::Typed | Rep::Group) => name,
            DerivedKind::Record => return Err(Error::sql("records have no order: name a field to order by")),
            _ => to_order(name),
        };
    }
    Ok(())
}

/// `order by all` orders by each of these columns, from left to right.
fn by_all<'o, 'n>(order_by: &'o mut OrderBy, mut names: impl ExactSizeIterator<Item = &'n str>) -> &'o mut OrderBy {
    let count = names.len();
    let OrderByKind::Expressions(keys) = &mut order_by.kind else { return order_by };
    if let [key] = &keys[..]
        && matches!(&key.expr, Expr::Identifier(name) if name.quote_style.is_none() && name.value.eq_ignore_ascii_case("all"))
        && !names.any(|name| name == "all")
    {
        *keys = (1..=count).map(|number| OrderByExpr { expr: numbered(number), ..key.clone() }).collect();
    }
    order_by
}

fn keys(order_by: Option<&mut OrderBy>) -> Result<&mut [OrderByExpr], Error> {
    match order_by.map(|order_by| &mut order_by.kind) {
        None => Ok(&mut []),
        Some(OrderByKind::Expressions(keys)) => Ok(keys),
        Some(OrderByKind::All(_)) => Err(Error::sql("`order by all` is not supported: name the columns")),
    }
}

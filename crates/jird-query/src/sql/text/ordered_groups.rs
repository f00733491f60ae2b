//! Writes the `order by` of groups, where a query does not say one.

use crate::sql::base::syntax::{function_name, has_call, is_set, number};
use sqlparser::ast::{
    Distinct, Expr, Function, GroupByExpr, Ident, OrderBy, OrderByExpr, OrderByKind, OrderByOptions, Query, Select,
    SelectItem, SetExpr, SetOperator, SetQuantifier,
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
            items.map(|(at, _)| number(at)).collect()
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

//! Rewrites `order by`.
//!
//! A key is a column of the result, by its name, its number or its expression, or else any expression over the tables.
//! Values of several kinds become keys that order all values.

use super::items::{Item, ItemExpr, item_of};
use super::state::Rewriter;
use crate::base::error::Error;
use crate::sql::base::forms::{Form, to_order};
use crate::sql::base::functions::SORT_KEY;
use crate::sql::base::syntax::{bare, call, number, quoted};
use crate::sql::base::visit;
use crate::sql::resolve::columns::{Derived, DerivedKind, Resolved};
use crate::sql::resolve::resolver::Context;
use crate::sql::resolve::scope::Columns;
use crate::sql::resolve::uses::Rep;
use crate::sql::values::walk::Walk;
use sqlparser::ast::{Expr, OrderBy, OrderByExpr, OrderByKind, Value};
use std::ops::ControlFlow;

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
            let Some(item) = item_of(&key.expr, items).or_else(|| same_item(&key.expr, items)) else {
                self.aliases(&mut key.expr, items)?;
                let is_field = self.resolver.field_at(&key.expr)?.is_some();
                match self.any(&mut key.expr, Context::default())? {
                    Form::Json => key.expr = to_order(key.expr.clone()),
                    Form::Typed if is_field => key.expr = call(SORT_KEY, vec![key.expr.clone()]),
                    Form::Typed => {}
                }
                continue;
            };
            let index = items.iter().position(|other| std::ptr::eq(other, item)).unwrap_or(usize::MAX);
            let resolved = match &item.expr {
                ItemExpr::Expr(expr) => self.resolver.resolve(expr)?,
                ItemExpr::Resolved(resolved) => Some(resolved.clone()),
                ItemExpr::Record(_) => return Err(Error::sql("records have no order: name a field to order by")),
            };
            key.expr = match (resolved, columns.get(index).map(|column| &column.kind)) {
                (Some(Resolved::Field(field)), _) => match self.resolver.value(&field, Context::default())? {
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

impl Rewriter<'_> {
    /// Puts columns in the places of their aliases in a key, unless a field of a table has such a name.
    fn aliases(&mut self, key: &mut Expr, items: &[Item]) -> Result<(), Error> {
        let mut replaced = Vec::new();
        for item in items.iter().filter(|item| item.alias) {
            let ItemExpr::Expr(expr) = &item.expr else { continue };
            let mut is_field = false;
            for relation in self.resolver.scopes.last().iter().flat_map(|scope| &scope.relations) {
                is_field |= match &relation.columns {
                    Columns::Any(source) => {
                        self.resolver.records.has(&self.resolver.sources[*source].table, &item.name)?
                    }
                    Columns::These(columns) => columns.iter().any(|column| column.name == item.name),
                };
            }
            if !is_field {
                replaced.push((&item.name, Expr::Nested(expr.clone())));
            }
        }
        let _whole = visit::exprs_mut(key, |expr| {
            if let Expr::Identifier(name) = &*expr
                && let Some((_, column)) = replaced.iter().find(|(alias, _)| **alias == name.value)
            {
                *expr = column.clone();
            }
            ControlFlow::<()>::Continue(())
        });
        Ok(())
    }
}

/// The column that has this name, or that is this expression.
fn same_item<'i>(expr: &Expr, items: &'i [Item]) -> Option<&'i Item> {
    items.iter().find(|item| match (expr, &item.expr) {
        (Expr::Identifier(name), _) => name.value == item.name,
        (expr, ItemExpr::Expr(own)) => bare(own) == bare(expr),
        _ => false,
    })
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
        *keys = (1..=count).map(|at| OrderByExpr { expr: number(at), ..key.clone() }).collect();
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

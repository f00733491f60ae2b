//! Rewrites `group by`, aggregates and `distinct`.

use super::expr::{Context, function_name, qualified};
use super::forms::{Form, canonical};
use super::items::{Item, ItemExpr, item_of};
use super::scope::{FieldRef, Resolved};
use super::select::Rewriter;
use super::uses::Rep;
use crate::error::Error;
use datafusion::sql::sqlparser::ast::{Distinct, Expr, GroupByExpr, Select, visit_expressions};
use std::collections::BTreeSet;
use std::ops::ControlFlow;

/// What the part of a `select` after `group by` may name.
#[derive(Debug, Default)]
pub(crate) struct Grouped {
    /// Computed groups: as written, rewritten, and the form of their values.
    pub(crate) exprs: Vec<(String, Expr, Form)>,
    /// Fields, and the representations in which they are used.
    pub(crate) fields: Vec<(FieldRef, BTreeSet<Rep>)>,
}

impl Rewriter<'_> {
    /// Begins the part after `group by`, if the `select` has groups, aggregates or `distinct`.
    pub(crate) fn group(&mut self, select: &mut Select, items: &[Item]) -> Result<(), Error> {
        let GroupByExpr::Expressions(written, modifiers) = &select.group_by else {
            return Err(Error::sql("`group by all` is not supported: name the groups"));
        };
        if !modifiers.is_empty() {
            return Err(Error::sql("modifiers of group by are not supported"));
        }
        let aggregates = !written.is_empty() || select.having.is_some() || self.aggregates_in(items);
        let distinct = match &select.distinct {
            None | Some(Distinct::All) => false,
            Some(Distinct::Distinct) => true,
            Some(Distinct::On(_)) => return Err(Error::sql("`distinct on` is not supported")),
        };
        if !aggregates && !distinct {
            return Ok(());
        }
        let mut groups = Grouped::default();
        for expr in written {
            match item_of(expr, items) {
                Some(item) => self.add_group(&item.expr, &mut groups)?,
                None => self.add_group(&ItemExpr::Expr(expr.clone().into()), &mut groups)?,
            }
        }
        if distinct && !aggregates {
            // The distinct rows are the groups by all columns, so `order by` can use the columns as values.
            select.distinct = None;
            for item in items {
                self.add_group(&item.expr, &mut groups)?;
            }
        }
        if let Some(scope) = self.scopes.last_mut() {
            scope.grouped = Some(groups);
        }
        Ok(())
    }

    fn aggregates_in(&self, items: &[Item]) -> bool {
        items.iter().any(|item| {
            let ItemExpr::Expr(expr) = &item.expr else { return false };
            let flow = visit_expressions(&**expr, |expr| match expr {
                Expr::Function(function) if function.over.is_none() && (self.aggregates)(&function_name(function)) => {
                    ControlFlow::Break(())
                }
                _ => ControlFlow::Continue(()),
            });
            flow.is_break()
        })
    }

    fn add_group(&mut self, expr: &ItemExpr, groups: &mut Grouped) -> Result<(), Error> {
        let (expr, resolved) = match expr {
            ItemExpr::Expr(expr) => (Some(&**expr), self.resolve(expr)?),
            ItemExpr::Resolved(resolved) => (None, Some(resolved.clone())),
            ItemExpr::Record(field) => (None, Some(Resolved::Field(field.clone()))),
        };
        match (resolved, expr) {
            (Some(Resolved::Field(field)), _) => {
                if !groups.fields.iter().any(|(other, _)| other.is(&field)) {
                    groups.fields.push((field, BTreeSet::new()));
                }
            }
            (Some(Resolved::Computed { relation, name, form }), _) => {
                let column = qualified(&relation, &name);
                let key = if form == Form::Json { canonical(column.clone()) } else { column.clone() };
                groups.exprs.push((column.to_string(), key, form));
            }
            (None, Some(expr)) => {
                let mut rewritten = expr.clone();
                let form = self.any(&mut rewritten, Context { in_aggregate: true, text: false })?;
                if form == Form::Json {
                    // Equal values are one group, however they are spelled.
                    rewritten = canonical(rewritten);
                }
                groups.exprs.push((expr.to_string(), rewritten, form));
            }
            (None, None) => {}
        }
        Ok(())
    }

    /// The groups, as DataFusion sees them.
    pub(crate) fn group_by(&mut self, grouped: Grouped) -> GroupByExpr {
        let mut exprs: Vec<_> = grouped.exprs.into_iter().map(|(_, expr, _)| expr).collect();
        for (field, mut reps) in grouped.fields {
            if reps.is_empty() {
                reps.insert(Rep::Key);
            }
            for rep in reps {
                exprs.push(self.column(&field, rep));
            }
        }
        GroupByExpr::Expressions(exprs, Vec::new())
    }
}

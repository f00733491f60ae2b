//! Rewrites `group by`, aggregates and `distinct`.
//!
//! Before the part after `group by` is rewritten, its groups are noted in the scope ([`Grouped`]); afterwards they are
//! written for DataFusion in the representations that were used. What must hold: equal values are one group however they
//! are spelled, and a field that is not grouped by is refused outside of aggregates.

use super::items::{Item, ItemExpr, item_of};
use super::state::Rewriter;
use crate::base::error::Error;
use crate::sql::base::forms::{Form, canonical};
use crate::sql::base::literal::literal;
use crate::sql::base::syntax::{bare, call, function_name, has_call, is_set};
use crate::sql::base::visit;
use crate::sql::resolve::columns::Resolved;
use crate::sql::resolve::grouped::{Group, Grouped};
use crate::sql::resolve::resolver::{Context, Wants};
use crate::sql::resolve::uses::Rep;
use crate::sql::values::walk::Walk;
use sqlparser::ast::{Distinct, Expr, Function, GroupByExpr, OrderBy, Select};
use std::collections::BTreeSet;

impl Rewriter<'_> {
    /// Begins the part after `group by`, if the `select` has groups, aggregates or `distinct`.
    pub(crate) fn group(
        &mut self,
        select: &mut Select,
        order_by: Option<&OrderBy>,
        items: &[Item],
    ) -> Result<(), Error> {
        let (written, modifiers, all) = match &select.group_by {
            GroupByExpr::All(modifiers) => (Vec::new(), modifiers, true),
            GroupByExpr::Expressions(written, modifiers) => (written.clone(), modifiers, false),
        };
        if !modifiers.is_empty() {
            return Err(Error::sql("`with …` in `group by` is not supported: write `rollup (…)` or `cube (…)`"));
        }
        let has_aggregate = |item: &Item| self.has_aggregate(item);
        let orders = order_by.is_some_and(|keys| has_call(keys, |function| self.is_aggregate(function)));
        let aggregates =
            all || orders || !written.is_empty() || select.having.is_some() || items.iter().any(has_aggregate);
        let distinct = match &select.distinct {
            None | Some(Distinct::All) => false,
            Some(Distinct::Distinct) => true,
            Some(Distinct::On(_)) => {
                return Err(Error::sql("`distinct on` belongs to the whole query, not to a side of a union"));
            }
        };
        if !aggregates && !distinct {
            return Ok(());
        }
        let mut groups = Grouped::default();
        if all {
            for item in items {
                if !self.has_aggregate(item) && !has_window(item) {
                    self.add_group(&item.expr, &mut groups, false)?;
                }
            }
        }
        let (sets, in_sets) = (grouping_sets(&written)?, written.iter().any(is_set));
        for set in &sets {
            let mut members = Vec::new();
            for expr in set {
                let own = ItemExpr::Expr(expr.clone().into());
                // As in DuckDB and PostgreSQL, a field goes before a column of its name that is made of it.
                let item = item_of(expr, items).filter(|item| !is_made_of(item, expr));
                let group = self.add_group(item.map_or(&own, |item| &item.expr), &mut groups, in_sets)?;
                if !members.contains(&group) {
                    members.push(group);
                }
            }
            groups.sets.push(members);
        }
        if groups.sets.len() < 2 && !in_sets {
            groups.sets.clear();
        }
        if distinct && !aggregates {
            // The distinct rows are the groups by all columns, so `order by` can use the columns as values.
            select.distinct = None;
            for item in items {
                self.add_group(&item.expr, &mut groups, false)?;
            }
        }
        if let Some(scope) = self.resolver.scopes.last_mut() {
            scope.grouped = Some(groups);
        }
        Ok(())
    }

    fn has_aggregate(&self, item: &Item) -> bool {
        item_has_call(item, |function| self.is_aggregate(function))
    }

    fn is_aggregate(&self, function: &Function) -> bool {
        function.over.is_none() && (self.resolver.aggregates)(&function_name(function))
    }

    fn add_group(&mut self, expr: &ItemExpr, groups: &mut Grouped, in_sets: bool) -> Result<Group, Error> {
        let (expr, resolved) = match expr {
            ItemExpr::Expr(expr) => (Some(&**expr), self.resolver.resolve(expr)?),
            ItemExpr::Resolved(resolved) => (None, Some(resolved.clone())),
            ItemExpr::Record(field) => (None, Some(Resolved::Field(field.clone()))),
        };
        match (resolved, expr) {
            (Some(Resolved::Field(field)), _) => {
                let known = groups.fields.iter().position(|(other, _)| other.is(&field));
                Ok(Group::Field(known.unwrap_or_else(|| {
                    groups.fields.push((field, BTreeSet::new()));
                    groups.fields.len() - 1
                })))
            }
            (Some(Resolved::Computed(computed)), _) => {
                let (column, form) = (computed.expr(), computed.form);
                let key = if form == Form::Json { canonical(column.clone()) } else { column.clone() };
                Ok(groups.add((column, key, form)))
            }
            (None, Some(expr)) => {
                let mut rewritten = expr.clone();
                let form = self.any(&mut rewritten, Context { in_aggregate: true, wants: Wants::Numbers })?;
                if form == Form::Json {
                    // Equal values are one group, however they are spelled.
                    rewritten = canonical(rewritten);
                } else if literal(expr).is_some() || in_sets && !is_plain(&rewritten) {
                    // A number by itself is that of a column; and among grouping sets, DataFusion 55 does not find `a || b`
                    // or a cast again.
                    rewritten = call("coalesce", vec![rewritten]);
                }
                Ok(groups.add((bare(expr).clone(), rewritten, form)))
            }
            (None, None) => Err(Error::sql("a group without an expression")),
        }
    }

    /// The groups, as DataFusion sees them.
    pub(crate) fn group_by(&mut self, grouped: Grouped) -> GroupByExpr {
        let exprs: Vec<_> = grouped.exprs.into_iter().map(|(_, expr, _)| expr).collect();
        let mut fields = Vec::new();
        for (field, mut reps) in grouped.fields {
            if reps.is_empty() {
                reps.insert(Rep::Key);
            }
            fields.push(reps.into_iter().map(|rep| self.resolver.column(&field, rep)).collect::<Vec<_>>());
        }
        if grouped.sets.is_empty() {
            return GroupByExpr::Expressions(
                exprs.into_iter().chain(fields.into_iter().flatten()).collect(),
                Vec::new(),
            );
        }
        let columns = |group: &Group| match group {
            Group::Expr(index) => vec![exprs[*index].clone()],
            Group::Field(index) => fields[*index].clone(),
        };
        let sets = grouped.sets.iter().map(|set| set.iter().flat_map(columns).collect()).collect();
        GroupByExpr::Expressions(vec![Expr::GroupingSets(sets)], Vec::new())
    }
}

/// The most grouping sets of a query, as in `PostgreSQL`.
const SETS_MAX: usize = 4096;

/// The sets by which `group by` groups. Several of `rollup`, `cube` and `grouping sets` combine each with each.
fn grouping_sets(written: &[Expr]) -> Result<Vec<Vec<Expr>>, Error> {
    let mut all = vec![Vec::new()];
    for expr in written {
        let sets: Vec<Vec<Expr>> = match expr {
            Expr::Rollup(parts) => (0..=parts.len()).rev().map(|count| parts[..count].concat()).collect(),
            Expr::Cube(parts) if 1 << parts.len().min(16) > SETS_MAX => return Err(too_many_sets()),
            Expr::Cube(parts) => (0..1_usize << parts.len())
                .rev()
                .map(|chosen| {
                    let count = parts.len();
                    let is_chosen = |at: &usize| chosen >> (count - 1 - at) & 1 == 1;
                    (0..count).filter(is_chosen).flat_map(|at| parts[at].clone()).collect()
                })
                .collect(),
            Expr::GroupingSets(sets) => sets.clone(),
            plain => vec![vec![plain.clone()]],
        };
        all = all.iter().flat_map(|set| sets.iter().map(|more| [&set[..], more].concat())).collect();
        if all.len() > SETS_MAX {
            return Err(too_many_sets());
        }
    }
    Ok(all)
}

/// Whether a column is computed of the field that a name means outside of the column.
fn is_made_of(item: &Item, name: &Expr) -> bool {
    let (ItemExpr::Expr(made), Expr::Identifier(name)) = (&item.expr, name) else { return false };
    let is_field = |expr: &Expr| match expr {
        Expr::Identifier(field) => field.value == name.value,
        Expr::CompoundIdentifier(parts) => parts.last().is_some_and(|field| field.value == name.value),
        _ => false,
    };
    !is_field(made) && visit::any_expr(&**made, is_field)
}

fn too_many_sets() -> Error {
    Error::sql(format!("more than {SETS_MAX} grouping sets"))
}

fn has_window(item: &Item) -> bool {
    item_has_call(item, |function| function.over.is_some())
}

/// Whether a column calls such a function.
fn item_has_call(item: &Item, is_wanted: impl Fn(&Function) -> bool) -> bool {
    matches!(&item.expr, ItemExpr::Expr(expr) if has_call(&**expr, is_wanted))
}

/// Whether an expression is a column or a call.
fn is_plain(expr: &Expr) -> bool {
    matches!(bare(expr), Expr::Identifier(_) | Expr::CompoundIdentifier(_) | Expr::Function(_))
}

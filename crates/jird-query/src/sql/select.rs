//! Queries and their `select`s.

use super::chain::{Part, chain};
use super::expr::{Context, qualified, quoted};
use super::from::{quote, take_names};
use super::names::{Names, column_name};
use super::scope::{Columns, Derived, DerivedKind, FieldRef, Resolved, Scope};
use super::uses::{Leaf, NeedKind, Output, OutputKind, Rep, Rewritten, SourceUse};
use crate::error::Error;
use datafusion::sql::sqlparser::ast::{
    Distinct, Expr, GroupByExpr, OrderBy, Query, Select, SelectItem, SelectItemQualifiedWildcardKind, SetExpr,
    SetOperator, SetQuantifier, Statement, Value,
};
use jird::Path;
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::rc::Rc;
use std::sync::Arc;

/// How a `select` hands out the fields among its columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Emit {
    /// To the output.
    Output,
    /// To a query around it, in every representation.
    All,
    /// In this representation.
    Fixed(Rep),
}

/// What the part of a `select` after `group by` may name.
#[derive(Debug, Default)]
pub(crate) struct Grouped {
    /// Computed groups: as written, and rewritten.
    pub(crate) exprs: Vec<(String, Expr)>,
    /// Fields, and the representations in which they are asked for.
    pub(crate) fields: Vec<(FieldRef, BTreeSet<Rep>)>,
}

/// A column of a `select`, before it is rewritten.
#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) name: String,
    pub(crate) alias: bool,
    pub(crate) expr: ItemExpr,
}

#[derive(Debug)]
pub(crate) enum ItemExpr {
    Expr(Expr),
    /// A field or a column that `*` stands for.
    Resolved(Resolved),
    /// The whole record.
    Record(FieldRef),
}

/// Finds all keys at the top of a source's records, in order of first appearance.
pub(crate) type Keys<'k> = &'k mut dyn FnMut(&str) -> Result<Vec<String>, Error>;

/// Walks a query and rewrites it.
pub(crate) struct Rewriter<'k> {
    pub(crate) scopes: Vec<Scope>,
    pub(crate) ctes: Vec<(String, Rc<Vec<Derived>>)>,
    pub(crate) sources: Vec<SourceUse>,
    pub(crate) leaves: Vec<Arc<Leaf>>,
    /// Names for the next `select`'s columns, from `as t (a, b)`.
    pub(crate) names: Option<Vec<String>>,
    pub(crate) subqueries: usize,
    /// Whether a function of this name is an aggregate.
    pub(crate) aggregates: &'k dyn Fn(&str) -> bool,
    keys: Keys<'k>,
    /// Whether the output prints texts without quotes, and needs to know which columns are texts.
    text_output: bool,
}

/// Rewrites a parsed query. `text_output` says that the output is not JSON.
pub(crate) fn rewrite(
    mut query: Box<Query>,
    aggregates: &dyn Fn(&str) -> bool,
    keys: Keys<'_>,
    text_output: bool,
) -> Result<Rewritten, Error> {
    let mut rewriter = Rewriter {
        scopes: Vec::new(),
        ctes: Vec::new(),
        sources: Vec::new(),
        leaves: Vec::new(),
        names: None,
        subqueries: 0,
        aggregates,
        keys,
        text_output,
    };
    let columns = rewriter.query(&mut query, Emit::Output, true)?;
    let outputs = columns
        .into_iter()
        .map(|Derived { name, kind }| {
            let kind = match kind {
                DerivedKind::Record => OutputKind::Record,
                DerivedKind::Plain(origins) | DerivedKind::Fixed(origins, Rep::Raw) => OutputKind::Plain(origins),
                DerivedKind::Fixed(origins, Rep::Json | Rep::Key) => OutputKind::Json(origins),
                DerivedKind::Fixed(_, Rep::Typed | Rep::Group) | DerivedKind::Computed => OutputKind::Computed,
            };
            Output { name, kind }
        })
        .collect();
    let Rewriter { sources, leaves, .. } = rewriter;
    Ok(Rewritten { statement: Statement::Query(query), sources, leaves, outputs })
}

impl Rewriter<'_> {
    /// Rewrites a query. Returns its columns.
    pub(crate) fn query(&mut self, query: &mut Query, emit: Emit, outermost: bool) -> Result<Vec<Derived>, Error> {
        let ctes = self.ctes.len();
        if let Some(with) = &mut query.with {
            if with.recursive {
                return Err(Error::sql("recursive queries are not supported"));
            }
            let names = self.names.take();
            for cte in &mut with.cte_tables {
                self.names = take_names(&mut cte.alias, &cte.query);
                let columns = self.query(&mut cte.query, Emit::All, false)?;
                let name = quote(&mut cte.alias.name);
                self.ctes.push((name, Rc::new(columns)));
            }
            self.names = names;
        }
        let columns = match &mut *query.body {
            SetExpr::Select(select) => self.select(select, query.order_by.as_mut(), emit, outermost)?,
            body => {
                let columns = self.body(body, emit, outermost)?;
                self.order_by_name(query.order_by.as_mut(), &columns)?;
                columns
            }
        };
        self.ctes.truncate(ctes);
        Ok(columns)
    }

    fn body(&mut self, body: &mut SetExpr, emit: Emit, outermost: bool) -> Result<Vec<Derived>, Error> {
        match body {
            SetExpr::Select(select) => self.select(select, None, emit, outermost),
            SetExpr::Query(query) => self.query(query, emit, outermost),
            SetExpr::SetOperation { left, op, set_quantifier, right } => {
                let all = *op == SetOperator::Union && *set_quantifier == SetQuantifier::All;
                let rep = match emit {
                    Emit::Fixed(rep) => rep,
                    _ if !all => Rep::Key,
                    Emit::Output => Rep::Raw,
                    Emit::All => Rep::Json,
                };
                let names = self.names.take();
                self.names.clone_from(&names);
                let left = self.body(left, Emit::Fixed(rep), outermost)?;
                self.names = None;
                let right = self.body(right, Emit::Fixed(rep), outermost)?;
                unite(left, &right)
            }
            SetExpr::Values(values) => {
                let width = values.rows.first().map_or(0, |row| row.content.len());
                let names = self.names.take().unwrap_or_default();
                let name = |index: usize| names.get(index).cloned().unwrap_or_else(|| format!("column{}", index + 1));
                Ok((0..width).map(|index| Derived { name: name(index), kind: DerivedKind::Computed }).collect())
            }
            other => Err(Error::sql(format!("`{other}` is not supported"))),
        }
    }

    fn select(
        &mut self,
        select: &mut Select,
        order_by: Option<&mut OrderBy>,
        emit: Emit,
        outermost: bool,
    ) -> Result<Vec<Derived>, Error> {
        let names = self.names.take();
        if outermost && select.from.is_empty() && self.reads_something(select) {
            select.from.push(Self::stream());
        }
        self.scopes.push(Scope::default());
        self.from(&mut select.from)?;
        if let Some(condition) = &mut select.selection {
            self.conjuncts(condition)?;
        }
        let items = self.items(select, names, emit)?;
        self.group(select, &items)?;
        let mut columns = Vec::new();
        select.projection.clear();
        for item in &items {
            columns.push(self.item(item, emit, &mut select.projection)?);
        }
        if let Some(having) = &mut select.having {
            self.condition(having, Context::default())?;
        }
        if let Some(qualify) = &mut select.qualify {
            self.condition(qualify, Context::default())?;
        }
        self.order_by(order_by, &items)?;
        if let Some(grouped) = self.scopes.pop().and_then(|scope| scope.grouped) {
            select.group_by = self.group_by(grouped);
        }
        Ok(columns)
    }

    /// Whether a `select` without `from` names a column, `*` or an aggregate.
    fn reads_something(&self, select: &Select) -> bool {
        let wildcard = |item: &SelectItem| matches!(item, SelectItem::Wildcard(_) | SelectItem::QualifiedWildcard(..));
        select.projection.iter().any(wildcard) || self.names_something(select)
    }

    fn names_something(&self, select: &Select) -> bool {
        let flow = datafusion::sql::sqlparser::ast::visit_expressions(select, |expr| match expr {
            Expr::Identifier(_) | Expr::CompoundIdentifier(_) | Expr::CompoundFieldAccess { .. } => {
                ControlFlow::Break(())
            }
            Expr::Function(function) if (self.aggregates)(&super::expr::function_name(function)) => {
                ControlFlow::Break(())
            }
            _ => ControlFlow::Continue(()),
        });
        flow.is_break()
    }

    /// The columns of a `select`, `*` expanded, each with its name.
    fn items(&mut self, select: &Select, given: Option<Vec<String>>, emit: Emit) -> Result<Vec<Item>, Error> {
        let mut items = Vec::new();
        let alone = select.projection.len() == 1;
        for item in &select.projection {
            match item {
                SelectItem::UnnamedExpr(expr) => items.push((None, ItemExpr::Expr(expr.clone()))),
                SelectItem::ExprWithAlias { expr, alias } => {
                    items.push((Some(alias.value.clone()), ItemExpr::Expr(expr.clone())));
                }
                SelectItem::Wildcard(_) => items.extend(self.wildcard(None, alone && emit == Emit::Output)?),
                SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::ObjectName(name), _) => {
                    let relation = match name.0.as_slice() {
                        [part] => part.as_ident().map(|ident| ident.value.clone()),
                        _ => None,
                    };
                    items.extend(self.wildcard(relation.as_deref(), alone && emit == Emit::Output)?);
                }
                other => return Err(Error::sql(format!("`{other}` is not supported"))),
            }
        }
        name_items(items, given)
    }

    /// What `*` or `relation.*` stands for.
    fn wildcard(&mut self, relation: Option<&str>, alone: bool) -> Result<Vec<(Option<String>, ItemExpr)>, Error> {
        let relations = self.scopes.last().map_or_else(Vec::new, |scope| scope.relations.clone());
        let wanted: Vec<_> =
            relations.iter().filter(|candidate| relation.is_none_or(|relation| candidate.alias == relation)).collect();
        if wanted.is_empty() {
            return Err(Error::sql(format!("`{}.*` names no table here", relation.unwrap_or_default())));
        }
        let mut items = Vec::new();
        for relation in &wanted {
            match &relation.columns {
                Columns::Any(source) => {
                    let field = |path: Path| FieldRef {
                        relation: relation.alias.clone(),
                        local: true,
                        key: path.to_string(),
                        fixed: None,
                        origins: vec![(*source, path)],
                        source: Some(*source),
                        written: "*".to_owned(),
                    };
                    if alone && wanted.len() == 1 && !self.text_output {
                        items.push((Some("*".to_owned()), ItemExpr::Record(field(Path::root()))));
                        continue;
                    }
                    for key in (self.keys)(&self.sources[*source].table)? {
                        let field = field(Path::root().key(key.as_str()));
                        items.push((Some(key), ItemExpr::Resolved(Resolved::Field(field))));
                    }
                }
                Columns::These(columns) => {
                    for column in columns.iter() {
                        let parts = Expr::CompoundIdentifier(vec![quoted(&relation.alias), quoted(&column.name)]);
                        if let Some(resolved) = self.resolve(&parts)? {
                            items.push((Some(column.name.clone()), ItemExpr::Resolved(resolved)));
                        }
                    }
                }
            }
        }
        Ok(items)
    }

    /// Rewrites one column, into one or several.
    fn item(&mut self, item: &Item, emit: Emit, out: &mut Vec<SelectItem>) -> Result<Derived, Error> {
        let resolved = match &item.expr {
            ItemExpr::Expr(expr) => match self.resolve(expr)? {
                Some(resolved) => resolved,
                None => {
                    let mut expr = expr.clone();
                    self.expr(&mut expr, Context::default())?;
                    out.push(aliased(expr, &item.name));
                    return Ok(Derived { name: item.name.clone(), kind: DerivedKind::Computed });
                }
            },
            ItemExpr::Resolved(resolved) => resolved.clone(),
            ItemExpr::Record(field) => {
                let expr = self.field(field, Rep::Raw, Context::default())?;
                out.push(aliased(expr, &item.name));
                return Ok(Derived { name: item.name.clone(), kind: DerivedKind::Record });
            }
        };
        let kind = match resolved {
            Resolved::Computed { relation, name } => {
                out.push(aliased(qualified(&relation, &name), &item.name));
                DerivedKind::Computed
            }
            Resolved::Field(field) => self.field_item(&field, &item.name, emit, out)?,
        };
        Ok(Derived { name: item.name.clone(), kind })
    }

    fn field_item(
        &mut self,
        field: &FieldRef,
        name: &str,
        emit: Emit,
        out: &mut Vec<SelectItem>,
    ) -> Result<DerivedKind, Error> {
        let origins = field.origins.clone();
        if emit == Emit::Output && self.text_output {
            self.need(field, &NeedKind::Display)?;
        }
        let grouped = self.scopes.last().is_some_and(|scope| scope.grouped.is_some());
        let rep = match (emit, field.fixed) {
            (_, Some(fixed)) => fixed,
            (Emit::Fixed(Rep::Typed), None) => {
                self.need(field, &NeedKind::Value { text: false })?;
                Rep::Typed
            }
            (Emit::All, None) if grouped => {
                self.need(field, &NeedKind::Group)?;
                Rep::Group
            }
            (Emit::All, None) => {
                for rep in Rep::ALL {
                    let expr = self.column(field, rep);
                    out.push(aliased(expr, &rep.column(name)));
                }
                return Ok(DerivedKind::Plain(origins));
            }
            (Emit::Output | Emit::Fixed(_), None) if grouped => Rep::Key,
            (Emit::Output, None) => Rep::Raw,
            (Emit::Fixed(rep), None) => rep,
        };
        let expr = self.field(field, rep, Context::default())?;
        out.push(aliased(expr, name));
        Ok(if rep == Rep::Raw { DerivedKind::Plain(origins) } else { DerivedKind::Fixed(origins, rep) })
    }

    /// Opens the part after `group by`, if there is one: groups, aggregates, or `distinct`.
    fn group(&mut self, select: &mut Select, items: &[Item]) -> Result<(), Error> {
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
                None => self.add_group(&ItemExpr::Expr(expr.clone()), &mut groups)?,
            }
        }
        if distinct && !aggregates {
            // The distinct rows are the groups by all columns; so `order by` may ask for them as values.
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
            let flow = datafusion::sql::sqlparser::ast::visit_expressions(expr, |expr| match expr {
                Expr::Function(function)
                    if function.over.is_none() && (self.aggregates)(&super::expr::function_name(function)) =>
                {
                    ControlFlow::Break(())
                }
                _ => ControlFlow::Continue(()),
            });
            flow.is_break()
        })
    }

    fn add_group(&mut self, expr: &ItemExpr, groups: &mut Grouped) -> Result<(), Error> {
        let (expr, resolved) = match expr {
            ItemExpr::Expr(expr) => (Some(expr), self.resolve(expr)?),
            ItemExpr::Resolved(resolved) => (None, Some(resolved.clone())),
            ItemExpr::Record(field) => (None, Some(Resolved::Field(field.clone()))),
        };
        match (resolved, expr) {
            (Some(Resolved::Field(field)), _) => {
                if !groups.fields.iter().any(|(other, _)| other.is(&field)) {
                    groups.fields.push((field, BTreeSet::new()));
                }
            }
            (Some(Resolved::Computed { relation, name }), _) => {
                let column = qualified(&relation, &name);
                groups.exprs.push((column.to_string(), column));
            }
            (None, Some(expr)) => {
                let mut rewritten = expr.clone();
                self.expr(&mut rewritten, Context { in_aggregate: true, text: false })?;
                groups.exprs.push((expr.to_string(), rewritten));
            }
            (None, None) => {}
        }
        Ok(())
    }

    /// The groups as DataFusion sees them.
    fn group_by(&mut self, grouped: Grouped) -> GroupByExpr {
        let mut exprs: Vec<_> = grouped.exprs.into_iter().map(|(_, expr)| expr).collect();
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

/// The column that a name or a number of `group by` or `order by` stands for.
pub(crate) fn item_of<'i>(expr: &Expr, items: &'i [Item]) -> Option<&'i Item> {
    match expr {
        Expr::Value(value) => match &value.value {
            Value::Number(number, _) => number.parse::<usize>().ok()?.checked_sub(1).and_then(|index| items.get(index)),
            _ => None,
        },
        _ => match chain(expr)?.as_slice() {
            [Part::Name(name)] => items.iter().find(|item| item.alias && item.name == *name),
            _ => None,
        },
    }
}

/// `expr as name`.
fn aliased(expr: Expr, name: &str) -> SelectItem {
    SelectItem::ExprWithAlias { expr, alias: quoted(name) }
}

/// Gives every column a name of its own.
fn name_items(items: Vec<(Option<String>, ItemExpr)>, given: Option<Vec<String>>) -> Result<Vec<Item>, Error> {
    if let Some(given) = &given
        && given.len() != items.len()
    {
        return Err(Error::sql(format!("{} columns, but {} names for them", items.len(), given.len())));
    }
    let mut names = Names::default();
    let mut named = Vec::new();
    for (index, (alias, expr)) in items.into_iter().enumerate() {
        let alias = given.as_ref().map(|given| given[index].clone()).or(alias);
        let written = match &expr {
            ItemExpr::Expr(expr) => expr.to_string(),
            ItemExpr::Resolved(Resolved::Field(field)) => {
                format!("{}.{}", field.relation, field.key.trim_start_matches('/'))
            }
            ItemExpr::Resolved(Resolved::Computed { relation, name }) => format!("{relation}.{name}"),
            ItemExpr::Record(_) => "*".to_owned(),
        };
        let is_alias = alias.is_some() && matches!(expr, ItemExpr::Expr(_));
        let name = match (&expr, alias) {
            (ItemExpr::Expr(_), Some(alias)) if !names.take(&alias) => {
                return Err(Error::sql(format!("two columns are called {alias}")));
            }
            (ItemExpr::Expr(_), Some(alias)) => alias,
            (ItemExpr::Expr(expr), None) => names.claim(column_name(expr), &written),
            (_, alias) => names.claim(alias.unwrap_or_default(), &written),
        };
        named.push(Item { name, alias: is_alias, expr });
    }
    Ok(named)
}

/// The columns of a union.
fn unite(left: Vec<Derived>, right: &[Derived]) -> Result<Vec<Derived>, Error> {
    if left.len() != right.len() {
        return Err(Error::sql(format!("one side of the union has {} columns, the other {}", left.len(), right.len())));
    }
    left.into_iter()
        .zip(right)
        .map(|(left, right)| {
            let kind = match (left.kind, &right.kind) {
                (DerivedKind::Computed, DerivedKind::Computed) => DerivedKind::Computed,
                (DerivedKind::Plain(mut origins), DerivedKind::Plain(others)) => {
                    origins.extend_from_slice(others);
                    DerivedKind::Fixed(origins, Rep::Raw)
                }
                (DerivedKind::Fixed(mut origins, rep), DerivedKind::Plain(others) | DerivedKind::Fixed(others, _)) => {
                    origins.extend_from_slice(others);
                    DerivedKind::Fixed(origins, rep)
                }
                _ => {
                    return Err(Error::sql(format!(
                        "column {} of the union is a field on one side and computed on the other: use number() or text()",
                        left.name
                    )));
                }
            };
            Ok(Derived { name: left.name, kind })
        })
        .collect()
}

//! Rewrites the columns of a `select`: expands `*`, names every column, and rewrites each.
//!
//! In go the columns as they are written; out come columns with unique names. A field goes out as it stands in its
//! record (`Rep::Raw`), unless the query around it, a group or the kind of result needs another representation.

use super::state::{NEXT, Rewriter};
use crate::base::error::Error;
use crate::base::nearest::nearest;
use crate::sql::base::chain::{Part, chain};
use crate::sql::base::forms::Form;
use crate::sql::base::functions::JSON_TEXT;
use crate::sql::base::names::{Names, column_name};
use crate::sql::base::syntax::{aliased, call, quoted};
use crate::sql::resolve::columns::{ComputedRef, Derived, DerivedKind, FieldRef, Resolved};
use crate::sql::resolve::resolver::Context;
use crate::sql::resolve::scope::{Columns, Merged};
use crate::sql::resolve::uses::{NeedKind, Rep, Style};
use crate::sql::values::count_exists;
use crate::sql::values::walk::{Emit, Walk};
use jird::Path;
use sqlparser::ast::{
    ExcludeSelectItem, Expr, Ident, RenameSelectItem, Select, SelectItem, SelectItemQualifiedWildcardKind, Value,
    WildcardAdditionalOptions,
};

/// A column of a `select`, before it is rewritten.
#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) name: String,
    pub(crate) alias: bool,
    pub(crate) expr: ItemExpr,
}

#[derive(Debug)]
pub(crate) enum ItemExpr {
    Expr(Box<Expr>),
    /// A field or a column that `*` stands for.
    Resolved(Resolved),
    /// The whole record.
    Record(FieldRef),
}

/// Above this number of columns, `*` is planned as one column, because DataFusion's time is quadratic in the columns.
const WIDE: usize = 300;

impl Rewriter<'_> {
    /// The columns of a `select`, with `*` expanded, each with its name.
    pub(crate) fn items(&mut self, select: &Select, given: Option<&[String]>, emit: Emit) -> Result<Vec<Item>, Error> {
        let mut items = Vec::new();
        let is_grouped = select.distinct.is_some() && self.style != Style::Json;
        let alone = select.projection.len() == 1 && !is_grouped;
        for item in &select.projection {
            match item {
                SelectItem::UnnamedExpr(expr) => {
                    let mut counted = expr.clone();
                    count_exists(&mut counted, self.resolver.aggregates)?;
                    let name = (counted != *expr).then(|| column_name(expr));
                    items.push((name, ItemExpr::Expr(counted.into())));
                }
                SelectItem::ExprWithAlias { expr, alias } => {
                    let mut counted = expr.clone();
                    count_exists(&mut counted, self.resolver.aggregates)?;
                    items.push((Some(alias.value.clone()), ItemExpr::Expr(counted.into())));
                }
                SelectItem::Wildcard(options) => {
                    let alone = alone && emit == Emit::Output && is_plain(options);
                    let columns = self.wildcard(None, alone)?;
                    items.extend(changed(columns, options)?);
                }
                SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::ObjectName(name), options) => {
                    let alone = alone && emit == Emit::Output && is_plain(options);
                    let relation = match name.0.as_slice() {
                        [part] => part.as_ident().map(|ident| ident.value.clone()),
                        _ => None,
                    };
                    let columns = self.wildcard(relation.as_deref(), alone)?;
                    items.extend(changed(columns, options)?);
                }
                other => return Err(Error::sql(format!("`{other}` is not supported"))),
            }
        }
        of_nothing(&mut items, given, emit);
        name_items(items, given, self.resolver.scopes.last().map_or(0, |scope| scope.relations.len()))
    }

    /// What `*` or `relation.*` stands for.
    fn wildcard(&mut self, relation: Option<&str>, alone: bool) -> Result<Vec<Column>, Error> {
        let relations = self.resolver.scopes.last().map_or_else(Vec::new, |scope| scope.relations.clone());
        let wanted: Vec<_> =
            relations.iter().filter(|candidate| relation.is_none_or(|relation| candidate.alias == relation)).collect();
        if wanted.is_empty() {
            return Err(Error::sql(format!("`{}.*` names no table here", relation.unwrap_or_default())));
        }
        // `using (a)` makes one column of two.
        let using = self.resolver.scopes.last().map_or_else(Vec::new, |scope| scope.using.clone());
        let merged = |name: &str, of: &String| {
            let is_it = |merged: &&Merged| merged.name == name && merged.tables.contains(of);
            using.iter().find(is_it).filter(|_| relation.is_none())
        };
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
                    if alone && wanted.len() == 1 && self.style == Style::Json {
                        items.push((Some("*".to_owned()), ItemExpr::Record(field(Path::root()))));
                        continue;
                    }
                    let mut keys = self.resolver.records.keys(&self.resolver.sources[*source].table)?;
                    if keys.is_empty() {
                        keys.push(Derived::NOTHING.to_owned());
                    }
                    if alone && wanted.len() == 1 && self.style == Style::Cells && keys.len() > WIDE {
                        self.apart = keys;
                        items.push((Some("*".to_owned()), ItemExpr::Record(field(Path::root()))));
                        continue;
                    }
                    for key in keys {
                        if let Some(merged) = merged(&key, &relation.alias) {
                            items.extend(merged_item(merged, &relation.alias));
                            continue;
                        }
                        let field = field(Path::root().key(key.as_str()));
                        items.push((Some(key), ItemExpr::Resolved(Resolved::Field(field))));
                    }
                }
                Columns::These(columns) => {
                    for column in columns.iter().filter(|column| column.name != NEXT) {
                        if let Some(merged) = merged(&column.name, &relation.alias) {
                            items.extend(merged_item(merged, &relation.alias));
                            continue;
                        }
                        let parts = Expr::CompoundIdentifier(vec![quoted(&relation.alias), quoted(&column.name)]);
                        if let Some(resolved) = self.resolver.resolve(&parts)? {
                            items.push((Some(column.name.clone()), ItemExpr::Resolved(resolved)));
                        }
                    }
                }
            }
        }
        Ok(items)
    }

    /// Rewrites one column into one or several columns.
    pub(crate) fn item(&mut self, item: &Item, emit: Emit, out: &mut Vec<SelectItem>) -> Result<Derived, Error> {
        let resolved = match &item.expr {
            ItemExpr::Expr(expr) => {
                if let Some(resolved) = self.resolver.resolve(expr)? {
                    resolved
                } else {
                    let mut expr = (**expr).clone();
                    let plain = self.resolver.kind(&expr)?;
                    let form = self.any(&mut expr, Context::default())?;
                    out.push(aliased(expr, &item.name));
                    return Ok(Derived::computed(&item.name, form, plain));
                }
            }
            ItemExpr::Resolved(resolved) => resolved.clone(),
            ItemExpr::Record(field) => {
                let expr = self.resolver.field(field, Rep::Raw, Context::default())?;
                out.push(aliased(expr, &item.name));
                return Ok(Derived { name: item.name.clone(), kind: DerivedKind::Record, plain: None });
            }
        };
        let kind = match resolved {
            Resolved::Computed(computed) => {
                out.push(aliased(self.resolver.computed(&computed, Context::default()), &item.name));
                return Ok(Derived::computed(&item.name, computed.form, computed.plain));
            }
            Resolved::Field(field) => self.field_item(&field, &item.name, emit, out)?,
        };
        Ok(Derived { name: item.name.clone(), kind, plain: None })
    }

    fn field_item(
        &mut self,
        field: &FieldRef,
        name: &str,
        emit: Emit,
        out: &mut Vec<SelectItem>,
    ) -> Result<DerivedKind, Error> {
        let origins = field.origins.clone();
        let grouped = self.resolver.scopes.last().is_some_and(|scope| scope.grouped.is_some());
        let is_typed = self.style == Style::Typed;
        if emit == Emit::Output && is_typed {
            self.resolver.need(field, if grouped { &NeedKind::Group } else { &NeedKind::Column });
        }
        let rep = match (emit, field.fixed) {
            // A union wants JSON text, and the subquery provides another representation.
            (Emit::Fixed(rep), Some(fixed))
                if !rep.is_inferred() && (fixed.is_inferred() || rep == Rep::Key && fixed != Rep::Key) =>
            {
                let expr = self.resolver.field(field, fixed, Context::default())?;
                out.push(aliased(call(JSON_TEXT, vec![expr]), name));
                return Ok(DerivedKind::Fixed(origins, Rep::Key));
            }
            (_, Some(fixed)) if grouped && !fixed.is_inferred() => Rep::Key,
            (_, Some(fixed)) => fixed,
            (Emit::Fixed(Rep::Typed), None) => {
                self.resolver.need(field, &NeedKind::Value { text: false });
                if self.resolver.form(field) == Form::Json { Rep::Json } else { Rep::Typed }
            }
            (Emit::All, None) if grouped => {
                self.resolver.need(field, &NeedKind::Group);
                Rep::Group
            }
            (Emit::All, None) => {
                for rep in Rep::ALL {
                    let expr = self.resolver.column(field, rep);
                    out.push(aliased(expr, &rep.column(name)));
                }
                return Ok(DerivedKind::Plain(origins));
            }
            (Emit::Output, None) if is_typed => {
                if grouped {
                    Rep::Group
                } else {
                    Rep::Typed
                }
            }
            (Emit::Output | Emit::Fixed(_), None) if grouped => Rep::Key,
            (Emit::Output, None) => Rep::Raw,
            (Emit::Fixed(rep), None) => rep,
        };
        let expr = self.resolver.field(field, rep, Context::default())?;
        out.push(aliased(expr, name));
        Ok(if rep == Rep::Raw { DerivedKind::Plain(origins) } else { DerivedKind::Fixed(origins, rep) })
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

/// Whether this is all that is known of the columns of `*`.
fn is_nothing((name, _): &Column) -> bool {
    name.as_deref() == Some(Derived::NOTHING)
}

/// Of a subquery without records, `*` is as many columns as it is given names. A result or a union has none of them.
fn of_nothing(columns: &mut Vec<Column>, given: Option<&[String]>, emit: Emit) {
    let Some(at) = columns.iter().position(is_nothing) else { return };
    if let (Some(given), (_, ItemExpr::Resolved(nothing))) = (given, &columns[at]) {
        let all = vec![nothing.clone(); (given.len() + 1).saturating_sub(columns.len())];
        columns.splice(at..=at, all.into_iter().map(|nothing| (None, ItemExpr::Resolved(nothing))));
    } else if emit != Emit::All {
        columns.retain(|column| !is_nothing(column));
    }
}

fn is_plain(options: &WildcardAdditionalOptions) -> bool {
    *options == WildcardAdditionalOptions::default()
}

type Column = (Option<String>, ItemExpr);

/// The column of `*` that `using` makes of those of several tables: it stands where the first one does.
fn merged_item(merged: &Merged, table: &String) -> Option<Column> {
    let stands_here = merged.tables.first() == Some(table);
    stands_here.then(|| (Some(merged.name.clone()), ItemExpr::Expr(merged.expr().into())))
}

/// The columns of `*` after `exclude`, `replace` and `rename`.
fn changed(mut columns: Vec<Column>, options: &WildcardAdditionalOptions) -> Result<Vec<Column>, Error> {
    let WildcardAdditionalOptions { opt_ilike, opt_exclude, opt_except, opt_replace, opt_rename, opt_alias, .. } =
        options;
    if opt_ilike.is_some() || opt_alias.is_some() {
        return Err(Error::sql("`ilike` and `as` behind `*` are not supported: name the columns"));
    }
    let has_nothing = columns.iter().any(is_nothing);
    let find = |columns: &[Column], name: &str| {
        let found = columns.iter().position(|(own, _)| own.as_deref() == Some(name));
        if found.is_some() || has_nothing {
            return Ok(found);
        }
        let names = columns.iter().filter_map(|(name, _)| name.as_deref());
        let nearest = nearest(name, names).map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
        Err(Error::sql(format!("`*` has no column `{name}`{nearest}")))
    };
    let mut excluded: Vec<&Ident> = Vec::new();
    match opt_exclude {
        Some(ExcludeSelectItem::Single(name)) => excluded.extend(name.0.last().and_then(|part| part.as_ident())),
        Some(ExcludeSelectItem::Multiple(names)) => {
            excluded.extend(names.iter().filter_map(|name| name.0.last()?.as_ident()));
        }
        None => {}
    }
    if let Some(except) = opt_except {
        excluded.push(&except.first_element);
        excluded.extend(&except.additional_elements);
    }
    for name in excluded {
        if let Some(at) = find(&columns, &name.value)? {
            columns.remove(at);
        }
    }
    for replaced in opt_replace.iter().flat_map(|replace| &replace.items) {
        if let Some(at) = find(&columns, &replaced.column_name.value)? {
            columns[at].1 = ItemExpr::Expr(replaced.expr.clone().into());
        }
    }
    let renamed = match opt_rename {
        Some(RenameSelectItem::Single(renamed)) => std::slice::from_ref(renamed),
        Some(RenameSelectItem::Multiple(renamed)) => renamed,
        None => &[],
    };
    for renamed in renamed {
        if let Some(at) = find(&columns, &renamed.ident.value)? {
            columns[at].0 = Some(renamed.alias.value.clone());
        }
    }
    Ok(columns)
}

/// Gives every column a unique name.
fn name_items(items: Vec<Column>, given: Option<&[String]>, relations: usize) -> Result<Vec<Item>, Error> {
    if let Some(given) = given
        && given.len() != items.len()
    {
        return Err(Error::sql(format!("{} columns, but {} names for them", items.len(), given.len())));
    }
    let mut names = Names::default();
    let mut named = Vec::new();
    for (index, (alias, expr)) in items.into_iter().enumerate() {
        let alias = given.map(|given| given[index].clone()).or(alias);
        let written = match &expr {
            ItemExpr::Expr(expr) => expr.to_string(),
            // Of several tables, a second column says whose it is.
            ItemExpr::Resolved(
                Resolved::Field(FieldRef { key: name, relation, .. })
                | Resolved::Computed(ComputedRef { relation, name, .. }),
            ) => {
                let name = name.trim_start_matches('/');
                if relations > 1 { format!("{relation}.{name}") } else { name.to_owned() }
            }
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

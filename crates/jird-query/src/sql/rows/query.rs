//! Rewrites queries: common table expressions, `values`, unions, and the `select`s in them.
//!
//! In goes a query in plain form; out come the same query over columns of tables, and its columns with what each of them
//! holds. What must hold: both sides of a union give a column in one form, and equal values of a `union`, `except` or
//! `intersect` are one value however they are spelled.

use super::order::order_by_name;
use super::state::{Cte, Rewriter};
use crate::base::error::Error;
use crate::base::named::Named;
use crate::sql::base::forms::{Form, Plain, canonical, to_json};
use crate::sql::base::literal::{is_long, literal};
use crate::sql::base::syntax::{quote, quoted, take_names};
use crate::sql::base::times::is_time;
use crate::sql::base::visit;
use crate::sql::resolve::columns::{Derived, DerivedKind};
use crate::sql::resolve::resolver::{Context, FieldKnowledge, Records, Resolver};
use crate::sql::resolve::uses::{Output, OutputKind, Rep, Rewritten, Style};
use crate::sql::text::ordered_groups::order_groups;
use crate::sql::text::{counted, supported, views};
use crate::sql::values::walk::{Emit, Walk};
use sqlparser::ast::{Expr, ObjectName, Parens, Query, SelectItem, SetExpr, SetOperator, SetQuantifier, Statement};
use std::ops::ControlFlow;
use std::rc::Rc;

/// Rewrites a parsed query.
pub(crate) fn rewrite(
    mut query: Box<Query>,
    aggregates: &dyn Fn(&str) -> bool,
    records: &mut dyn Records,
    known: &FieldKnowledge,
    style: Style,
    named: Option<&[Named]>,
) -> Result<Rewritten, Error> {
    order_groups(&mut query, aggregates);
    let mut rewriter = Rewriter::new(Resolver::new(aggregates, records, known, named), style);
    let columns = rewriter.query(&mut query, Emit::Output, true)?;
    let gathers = rewriter.groups || query.order_by.is_some();
    let outputs = columns
        .into_iter()
        .map(|Derived { name, kind, .. }| {
            let kind = match kind {
                DerivedKind::Record => OutputKind::Record,
                DerivedKind::Plain(_) | DerivedKind::Fixed(_, Rep::Raw) => OutputKind::Plain,
                DerivedKind::Fixed(_, Rep::Json | Rep::Key) | DerivedKind::Computed(Form::Json) => OutputKind::Json,
                DerivedKind::Fixed(_, Rep::Typed | Rep::Group | Rep::Place) | DerivedKind::Computed(Form::Typed) => {
                    OutputKind::Computed
                }
            };
            Output { name, kind }
        })
        .collect();
    let Rewriter { resolver: Resolver { sources, leaves, narrowed, .. }, apart, .. } = rewriter;
    Ok(Rewritten {
        statement: Statement::Query(query),
        sources,
        leaves,
        narrowed,
        outputs,
        apart,
        gathers,
        #[cfg(feature = "cluster")]
        recipe: None,
    })
}

impl<'k> Walk<'k> for Rewriter<'k> {
    fn resolver(&mut self) -> &mut Resolver<'k> {
        &mut self.resolver
    }

    fn any(&mut self, expr: &mut Expr, context: Context) -> Result<Form, Error> {
        self.walk().rewrite(expr, context)
    }

    /// Rewrites a query. Returns its columns.
    fn query(&mut self, query: &mut Query, emit: Emit, outermost: bool) -> Result<Vec<Derived>, Error> {
        supported::query(query)?;
        let ctes = self.ctes.len();
        if let Some(with) = &mut query.with {
            let names = self.names.take();
            for cte in &mut with.cte_tables {
                self.names = take_names(&mut cte.alias, &cte.query);
                let name = quote(&mut cte.alias.name);
                if self.ctes.iter().any(|outer| outer.name == name) {
                    self.subqueries += 1;
                    cte.alias.name = quoted(&format!("{name}:{}", self.subqueries));
                }
                let table = cte.alias.name.value.clone();
                if with.recursive && mentions(&cte.query, &name) {
                    self.recursive(&mut cte.query, &name, table)?;
                    continue;
                }
                let columns = self
                    .query(&mut cte.query, Emit::All, self.resolver.scopes.is_empty())
                    .map_err(|error| views::of_view(error, &name))?;
                self.ctes.push(Cte { name, table, columns: Rc::new(columns) });
            }
            self.names = names;
        }
        let columns = match &mut *query.body {
            SetExpr::Select(select) => self.select(select, query.order_by.as_mut(), emit, outermost)?,
            body => {
                let columns = self.body(body, emit, outermost)?;
                order_by_name(query.order_by.as_mut(), &columns)?;
                columns
            }
        };
        self.ctes.truncate(ctes);
        Ok(columns)
    }
}

impl Rewriter<'_> {
    /// Rewrites a query that reads its own result: `select … union all select … from name …`.
    fn recursive(&mut self, query: &mut Query, name: &str, table: String) -> Result<(), Error> {
        let SetExpr::SetOperation { left, op: SetOperator::Union, right, .. } = &mut *query.body else {
            return Err(Error::sql(format!("`{name}` reads itself: write it as `select … union all select …`")));
        };
        let form = |column: &Derived| match column.kind {
            DerivedKind::Computed(Form::Typed) | DerivedKind::Fixed(_, Rep::Typed | Rep::Group) => Form::Typed,
            _ => Form::Json,
        };
        let first = self.body(left, Emit::Fixed(Rep::Typed), false)?;
        let computed = |column: &Derived| Derived::computed(&column.name, form(column), column.plain);
        let columns = Rc::new(first.iter().map(computed).collect());
        self.ctes.push(Cte { name: name.to_owned(), table, columns });
        let next = self.body(right, Emit::Fixed(Rep::Typed), false)?;
        if first.len() != next.len() {
            let message = format!("`{name}` begins with {} columns and goes on with {}", first.len(), next.len());
            return Err(Error::sql(message));
        }
        match first.iter().zip(&next).find(|(first, next)| form(first) != form(next)) {
            Some((first, _)) => Err(Error::data(format!(
                "`{}` of `{name}` has values of several kinds: use number() or text() of its fields",
                first.name
            ))),
            None => Ok(()),
        }
    }

    fn body(&mut self, body: &mut SetExpr, emit: Emit, outermost: bool) -> Result<Vec<Derived>, Error> {
        match body {
            SetExpr::Select(select) => self.select(select, None, emit, outermost),
            SetExpr::Query(query) => self.query(query, emit, outermost),
            SetExpr::SetOperation { left, op, set_quantifier, right } => {
                supported::set_operation(*set_quantifier)?;
                let all = *op == SetOperator::Union && *set_quantifier == SetQuantifier::All;
                let rep = match emit {
                    // Equal values are one, whatever is made of them.
                    Emit::Fixed(Rep::Typed) if !all => Rep::Group,
                    _ if !all => Rep::Key,
                    Emit::Fixed(rep) => rep,
                    Emit::Output if self.style == Style::Typed => Rep::Json,
                    Emit::Output => Rep::Raw,
                    Emit::All => Rep::Json,
                };
                let names = self.names.take();
                self.names.clone_from(&names);
                let left_columns = self.body(left, Emit::Fixed(rep), outermost)?;
                self.names = None;
                let right_columns = self.body(right, Emit::Fixed(rep), outermost)?;
                let counts = counted::counts(*op, *set_quantifier);
                let columns = unite((left, left_columns), (right, right_columns), all)?;
                if counts {
                    counted::numbered(body, &columns.iter().map(|column| column.name.as_str()).collect::<Vec<_>>())?;
                }
                Ok(columns)
            }
            SetExpr::Values(values) => {
                let width = values.rows.first().map_or(0, |row| row.content.len());
                let forms = (0..width).map(|column| self.exact_column(&mut values.rows, column));
                let forms = forms.collect::<Result<Vec<_>, _>>()?;
                let names = self.names.take().unwrap_or_default();
                let name = |index: usize| names.get(index).cloned().unwrap_or_else(|| format!("column{}", index + 1));
                Ok((0..width).map(|index| Derived::computed(name(index), forms[index].0, forms[index].1)).collect())
            }
            other => Err(Error::sql(format!("`{other}` is not supported"))),
        }
    }

    /// A column of `values` becomes JSON text if its values have several kinds, or if one of them is a number with too many
    /// digits for a type. Returns its form and the kind of its values.
    fn exact_column(&mut self, rows: &mut [Parens<Vec<Expr>>], column: usize) -> Result<(Form, Option<Plain>), Error> {
        let mut values: Vec<_> = rows.iter_mut().filter_map(|row| row.content.get_mut(column)).collect();
        let kinds = values.iter().map(|value| self.resolver.kind(value)).collect::<Result<Vec<_>, _>>()?;
        let first = kinds.iter().flatten().next().copied();
        let is_one_kind = kinds.iter().flatten().all(|kind| first.is_none_or(|first| first.is_like(*kind)));
        let is_long = values.iter().any(|value| is_long(value));
        let forms = values.iter_mut().map(|value| {
            if is_time(value) || matches!(value, Expr::Map(_)) {
                return Ok(Form::Typed);
            }
            self.walk().any(value, Context::default())
        });
        let forms = forms.collect::<Result<Vec<_>, _>>()?;
        if is_one_kind && !is_long && !forms.contains(&Form::Json) {
            return Ok((Form::Typed, first));
        }
        for (value, form) in values.into_iter().zip(forms) {
            *value = to_json(value.clone(), form);
        }
        Ok((Form::Json, None))
    }
}

/// Whether a query names a table.
fn mentions(query: &Query, name: &str) -> bool {
    let names = |table: &ObjectName| matches!(table.0.as_slice(), [part] if part.as_ident().is_some_and(|part| part.value == name));
    visit::relations(query, |table| if names(table) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        .is_break()
}

/// Turns a column of a rewritten query into JSON text in which equal values are equal. The column has this form.
fn to_json_text(body: &mut SetExpr, index: usize, form: Form) -> Result<(), Error> {
    let convert = |expr: &mut Expr| {
        // The text of a typed value is the same for equal ones, unless it is the digits of a constant.
        let is_written = form == Form::Json || literal(expr).is_some();
        let json = to_json(expr.clone(), form);
        *expr = if is_written { canonical(json) } else { json };
    };
    match body {
        SetExpr::Select(select) => {
            if let Some(SelectItem::ExprWithAlias { expr, .. } | SelectItem::UnnamedExpr(expr)) =
                select.projection.get_mut(index)
            {
                convert(expr);
            }
            Ok(())
        }
        SetExpr::Values(values) => {
            values.rows.iter_mut().filter_map(|row| row.content.get_mut(index)).for_each(convert);
            Ok(())
        }
        SetExpr::SetOperation { left, right, .. } => {
            to_json_text(left, index, form)?;
            to_json_text(right, index, form)
        }
        // Its order may be that of the column's values, and then its first rows are others.
        SetExpr::Query(query) if query.order_by.is_none() => to_json_text(&mut query.body, index, form),
        _ => Err(Error::sql(format!(
            "column {} of the union has other values on one side than on the other, which has an order of its own: write \
             `select … from (…)` around that side",
            index + 1
        ))),
    }
}

/// The columns of a union. A column that is computed on one side, and a field, JSON text or a value of another kind on the
/// other, becomes JSON text on both.
fn unite(
    (left_body, left): (&mut SetExpr, Vec<Derived>),
    (right_body, right): (&mut SetExpr, Vec<Derived>),
    all: bool,
) -> Result<Vec<Derived>, Error> {
    if left.len() != right.len() {
        return Err(Error::sql(format!("one side of the union has {} columns, the other {}", left.len(), right.len())));
    }
    let mut columns = Vec::new();
    for (index, (left, right)) in left.into_iter().zip(right).enumerate() {
        // Two arrays may have elements of different kinds.
        let is_like = |one: Plain, other| one.is_like(other) && one != Plain::Array;
        let is_one_kind = left.plain.zip(right.plain).is_none_or(|(one, other)| is_like(one, other));
        let kind = match (left.kind, right.kind) {
            (DerivedKind::Computed(Form::Typed), DerivedKind::Computed(Form::Typed)) if is_one_kind => {
                columns.push(Derived::computed(left.name, Form::Typed, left.plain.or(right.plain)));
                continue;
            }
            (DerivedKind::Record, _) | (_, DerivedKind::Record) => {
                return Err(Error::sql("a union has no whole records: name its columns"));
            }
            (one, other) => {
                for (kind, body) in [(&one, &mut *left_body), (&other, &mut *right_body)] {
                    match kind {
                        DerivedKind::Computed(Form::Json) if all => {}
                        DerivedKind::Computed(form) => to_json_text(body, index, *form)?,
                        _ => {}
                    }
                }
                json_kind(one, other)
            }
        };
        columns.push(Derived { name: left.name, kind, plain: None });
    }
    Ok(columns)
}

/// The kind of a column of JSON text that two queries return.
fn json_kind(one: DerivedKind, other: DerivedKind) -> DerivedKind {
    let parts = |kind| match kind {
        DerivedKind::Plain(origins) => (origins, None),
        DerivedKind::Fixed(origins, rep) => (origins, Some(rep)),
        DerivedKind::Computed(_) | DerivedKind::Record => (Vec::new(), Some(Rep::Json)),
    };
    let ((mut origins, rep), (others, other_rep)) = (parts(one), parts(other));
    origins.extend(others);
    DerivedKind::Fixed(origins, rep.or(other_rep).unwrap_or(Rep::Raw))
}

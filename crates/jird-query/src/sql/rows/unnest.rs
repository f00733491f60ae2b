//! `unnest` in `from`: a row for each element of an array, next to the columns of the table that has the array.
//!
//! `from t, unnest(t.tags) as u(x)` becomes `from (select *, unnest(…) as "u:x" from t) as t`: the elements are one more
//! column of the table, and `u.x` means that column.

use super::state::Rewriter;
use crate::base::error::Error;
use crate::sql::base::forms::Form;
use crate::sql::base::syntax::{arguments, call, quote, quoted};
use crate::sql::base::visit;
use crate::sql::resolve::columns::Derived;
use crate::sql::resolve::resolver::Context;
use crate::sql::resolve::scope::{Columns, Relation, Scope};
use crate::sql::text::plain::{plain_expression, plain_query};
use crate::sql::values::walk::Walk;
use sqlparser::ast::{Expr, Ident, JoinConstraint, JoinOperator, TableAlias, TableFactor, TableWithJoins, Value};
use std::ops::ControlFlow;
use std::rc::Rc;

/// An `unnest` among the tables of a `from`.
#[derive(Debug)]
pub(super) struct Unnest {
    array: Expr,
    alias: String,
    column: String,
    /// The name of the column of places, if there is one.
    place: Option<String>,
}

/// Takes the `unnest`s out of a `from`.
pub(crate) fn take(from: &mut Vec<TableWithJoins>) -> Result<Vec<Unnest>, Error> {
    let mut taken = Vec::new();
    for mut table in std::mem::take(from) {
        let mut left = None;
        for join in std::mem::take(&mut table.joins) {
            if !is_unnest(&join.relation) {
                table.joins.push(join);
                continue;
            }
            let is_true =
                |condition: &Expr| matches!(condition, Expr::Value(value) if value.value == Value::Boolean(true));
            match &join.join_operator {
                JoinOperator::CrossJoin(_) => {}
                JoinOperator::Join(constraint) | JoinOperator::Inner(constraint)
                    if matches!(constraint, JoinConstraint::None)
                        || matches!(constraint, JoinConstraint::On(condition) if is_true(condition)) => {}
                _ => {
                    return Err(Error::sql(
                        "`unnest` is joined by a comma, or by `cross join`; conditions stand in `where`",
                    ));
                }
            }
            taken.push(unnest(join.relation, taken.len())?);
        }
        if is_unnest(&table.relation) {
            taken.push(unnest(table.relation, taken.len())?);
            left = table.joins.first().map(ToString::to_string);
        } else {
            from.push(table);
        }
        if let Some(join) = left {
            return Err(Error::sql(format!("`{join}` follows `unnest`: name the table with the array first")));
        }
    }
    Ok(taken)
}

fn is_unnest(factor: &TableFactor) -> bool {
    matches!(factor, TableFactor::UNNEST { .. })
}

fn unnest(factor: TableFactor, number: usize) -> Result<Unnest, Error> {
    let TableFactor::UNNEST { alias, mut array_exprs, with_offset, with_ordinality, .. } = factor else {
        unreachable!("the caller has looked");
    };
    let (Some(array), true) = (array_exprs.pop(), array_exprs.is_empty()) else {
        return Err(Error::sql("`unnest` in `from` takes one array"));
    };
    if with_offset {
        return Err(Error::sql("not supported: `with offset`; `with ordinality` counts from 1"));
    }
    let (alias, column, place) = match alias {
        None if number == 0 => ("unnest".to_owned(), "unnest".to_owned(), None),
        None => (format!("unnest_{}", number + 1), format!("unnest_{}", number + 1), None),
        Some(TableAlias { name, columns, .. }) => {
            let mut columns = columns.into_iter().map(|column| column.name.value);
            let column = columns.next().unwrap_or_else(|| name.value.clone());
            (name.value, column, columns.next())
        }
    };
    let place = with_ordinality.then(|| place.unwrap_or_else(|| "ordinality".to_owned()));
    Ok(Unnest { array, alias, column, place })
}

impl Rewriter<'_> {
    /// Adds the elements of an array to the table that has it, and a name for them to the innermost scope.
    pub(crate) fn unnest(&mut self, from: &mut Vec<TableWithJoins>, unnest: Unnest) -> Result<(), Error> {
        let Unnest { mut array, alias, column, place } = unnest;
        let written = array.to_string();
        array = call("unnest", vec![array]);
        let form = self.any(&mut array, Context::default())?;
        let derived_column = |name: &String, form| Derived::computed(name, form, None);
        let mut columns = vec![derived_column(&column, form)];
        let mut values = vec![(column, array.clone())];
        if let Some(place) = place {
            columns.push(derived_column(&place, Form::Typed));
            values.push((place, places(&array)?));
        }
        let columns = Columns::These(Rc::new(columns));
        let holder = match tables_of(&array).as_slice() {
            [] => {
                let values = values.iter().map(|(name, value)| format!("{value} AS {}", quoted(name)));
                let query = format!("SELECT {}", values.collect::<Vec<_>>().join(", "));
                let relation = derived(&query, quoted(&alias))?;
                from.push(TableWithJoins { relation, joins: Vec::new() });
                None
            }
            [table] => {
                let is_here = |scope: &Scope| scope.relations.iter().any(|relation| relation.alias == *table);
                let factor = find(from, table).ok_or_else(|| {
                    Error::sql(if self.resolver.scopes.last().is_some_and(is_here) {
                        format!("`unnest({written})` beside an outer join: unnest in a subquery")
                    } else {
                        format!(
                            "`unnest({written})` takes an array of the query around it: unnest it there, or use a function of \
                             arrays, such as array_sum or list_filter"
                        )
                    })
                })?;
                let held = |name: &str| quoted(&Relation::held(&alias, name));
                let values = values.iter().map(|(name, value)| format!("{value} AS {}", held(name)));
                let query = format!("SELECT *, {} FROM {factor}", values.collect::<Vec<_>>().join(", "));
                *factor = derived(&query, quoted(table))?;
                Some(table.clone())
            }
            _ => return Err(Error::sql(format!("`unnest({written})` takes columns of several tables"))),
        };
        self.add(Relation { alias, columns, holder })
    }
}

/// The tables whose columns an expression names.
fn tables_of(expr: &Expr) -> Vec<String> {
    let mut tables: Vec<String> = Vec::new();
    let _ = visit::exprs(expr, |expr| {
        if let Expr::CompoundIdentifier(parts) = expr
            && let Some(table) = parts.first()
            && !tables.contains(&table.value)
        {
            tables.push(table.value.clone());
        }
        ControlFlow::<()>::Continue(())
    });
    tables
}

/// The place of a table in a `from`, if each of its rows is in the result as often as it matches other tables.
fn find<'f>(from: &'f mut [TableWithJoins], table: &str) -> Option<&'f mut TableFactor> {
    from.iter_mut().find_map(|tables| {
        let inner = |operator: &JoinOperator| {
            matches!(operator, JoinOperator::Join(_) | JoinOperator::Inner(_) | JoinOperator::CrossJoin(_))
        };
        let left = |operator: &JoinOperator| matches!(operator, JoinOperator::Left(_) | JoinOperator::LeftOuter(_));
        if is_called(&tables.relation, table) {
            let keeps = tables.joins.iter().all(|join| inner(&join.join_operator) || left(&join.join_operator));
            return keeps.then_some(&mut tables.relation);
        }
        let keeps = tables.joins.iter().all(|join| inner(&join.join_operator));
        let mut joined = tables.joins.iter_mut().map(|join| &mut join.relation);
        joined.find(|factor| is_called(factor, table)).filter(|_| keeps)
    })
}

fn is_called(factor: &TableFactor, table: &str) -> bool {
    match factor {
        TableFactor::Table { alias: Some(alias), .. } | TableFactor::Derived { alias: Some(alias), .. } => {
            alias.name.value == table
        }
        TableFactor::Table { name, alias: None, .. } => {
            name.0.last().and_then(|part| part.as_ident()).is_some_and(|name| name.value == table)
        }
        _ => false,
    }
}

/// The places of the elements that `unnest(list)` gives, which DataFusion unnests side by side with them.
fn places(unnested: &Expr) -> Result<Expr, Error> {
    let Expr::Function(function) = unnested else { return Err(Error::sql("`with ordinality` follows `unnest(…)`")) };
    let list = arguments(function).into_iter().next().ok_or_else(|| Error::sql("`unnest` takes an array"))?;
    plain_expression(&format!("unnest(generate_series(1, cast(array_length({list}) as bigint)))"))
}

fn derived(query: &str, mut name: Ident) -> Result<TableFactor, Error> {
    quote(&mut name);
    Ok(TableFactor::Derived {
        lateral: false,
        subquery: plain_query(query)?,
        alias: Some(TableAlias { explicit: true, name, columns: Vec::new(), at: None }),
        sample: None,
    })
}

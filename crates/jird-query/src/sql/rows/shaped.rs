//! Tables of a `from` that have another shape than their records: `pivot`, `unpivot`, and the other side of an `asof join`.
//! Each becomes a plain subquery.

use super::state::{NEXT, Rewriter};
use crate::base::error::Error;
use crate::sql::base::chain::{chain, path};
use crate::sql::base::literal::text;
use crate::sql::base::names::column_name;
use crate::sql::base::syntax::quoted;
use crate::sql::base::visit;
use crate::sql::resolve::scope::Columns;
use crate::sql::text::plain::{plain_expression, plain_query};
use crate::sql::text::spelling::conjuncts;
use crate::sql::text::statements::GROUPED_BY;
use sqlparser::ast::{
    BinaryOperator, Expr, ExprWithAlias, FunctionArguments, Ident, Join, JoinConstraint, JoinOperator, NullInclusion,
    ObjectNamePart, PivotValueSource, TableAlias, TableFactor, Value,
};
use std::collections::HashSet;
use std::ops::ControlFlow;

impl Rewriter<'_> {
    /// Makes a subquery of a `pivot` or an `unpivot`.
    pub(crate) fn shaped(&mut self, factor: &mut TableFactor) -> Result<(), Error> {
        let query = match factor {
            TableFactor::Pivot { .. } => self.pivot(factor)?,
            TableFactor::Unpivot { .. } => self.unpivot(factor)?,
            _ => return Ok(()),
        };
        let (TableFactor::Pivot { alias, .. } | TableFactor::Unpivot { alias, .. }) = factor else { return Ok(()) };
        let alias = alias.take().filter(|alias| !alias.name.value.starts_with(GROUPED_BY));
        *factor = TableFactor::Derived { lateral: false, subquery: plain_query(&query)?, alias, sample: None };
        Ok(())
    }

    /// The columns of a table, by name.
    fn columns_of_table(&mut self, table: &TableFactor) -> Result<Vec<String>, Error> {
        let TableFactor::Table { name, args: None, .. } = table else {
            return Err(Error::sql(format!("`{table}` here: name it in `with`, and pivot that")));
        };
        Ok(match self.named(name)?.1 {
            Columns::Any(source) => self.resolver.records.keys(&self.resolver.sources[source].table)?,
            Columns::These(columns) => columns.iter().map(|column| column.name.clone()).collect(),
        })
    }

    /// `t pivot (sum(a) for b in (1, 2))`: for each value a column of the aggregate over the rows that have it.
    fn pivot(&mut self, factor: &TableFactor) -> Result<String, Error> {
        let TableFactor::Pivot { table, aggregate_functions, value_column, value_source, default_on_null, alias } =
            factor
        else {
            return Ok(String::new());
        };
        let ([subject], None) = (&value_column[..], default_on_null) else {
            return Err(Error::sql("`pivot` takes one column of values, and no `default on null`"));
        };
        let named = alias.as_ref().and_then(|alias| alias.name.value.strip_prefix(GROUPED_BY));
        let groups: Vec<_> = if let Some(named) = named {
            let Expr::Array(groups) = plain_expression(&format!("[{named}]"))? else {
                return Err(Error::sql(format!("`{named}` names no groups")));
            };
            groups.elem.iter().map(|group| (group.to_string(), name_of(group))).collect()
        } else {
            let used = names_in(aggregate_functions.iter().map(|function| &function.expr).chain([subject]));
            let others = self.columns_of_table(table)?.into_iter().filter(|name| !used.contains(name));
            others.map(|name| (quoted(&name).to_string(), name)).collect()
        };
        let values = match value_source {
            PivotValueSource::List(values) => values.clone(),
            PivotValueSource::Any(_) => self.values_of(table, subject)?,
            PivotValueSource::Subquery(_) => return Err(Error::sql("`pivot … in (select …)`: name the values")),
        };
        let mut columns: Vec<_> = groups.iter().map(|(group, name)| format!("{group} AS {}", quoted(name))).collect();
        for value in &values {
            for aggregate in aggregate_functions {
                columns.push(pivoted(aggregate, subject, value, aggregate_functions.len() > 1)?);
            }
        }
        let keys = groups.into_iter().map(|(group, _)| group).collect::<Vec<_>>().join(", ");
        let grouping = if keys.is_empty() { String::new() } else { format!(" GROUP BY {keys} ORDER BY {keys}") };
        Ok(format!("SELECT {} FROM {table}{grouping}", columns.join(", ")))
    }

    /// The different values of a field, as constants.
    fn values_of(&mut self, table: &TableFactor, subject: &Expr) -> Result<Vec<ExprWithAlias>, Error> {
        let wrong = || Error::sql(format!("`pivot … on {subject}` of this table: name the values, `in ('a', 'b')`"));
        let (TableFactor::Table { name, args: None, .. }, Some(parts)) = (table, chain(subject)) else {
            return Err(wrong());
        };
        let Columns::Any(source) = self.named(name)?.1 else { return Err(wrong()) };
        let name = &self.resolver.sources[source].table;
        let values = self.resolver.records.values(name, &path(&parts))?;
        if values.is_empty() && !self.resolver.records.keys(name)?.is_empty() {
            return Err(Error::data(format!("no record has a value of `{subject}`, of which columns could be made")));
        }
        let constant = |json: &String| {
            let field = jird::record::Field::from_raw(json);
            let value = match field.as_str() {
                Some(text) => Value::SingleQuotedString(text.into_owned()),
                None if field.as_number().is_some() => Value::Number(json.clone(), false),
                None => Value::Boolean(field.as_bool()?),
            };
            Some(ExprWithAlias { expr: Expr::value(value), alias: None })
        };
        values.iter().map(|json| constant(json).ok_or_else(wrong)).collect()
    }

    /// `t unpivot (v for n in (a, b))`: for each of the columns a row with its name and its value.
    fn unpivot(&mut self, factor: &TableFactor) -> Result<String, Error> {
        let TableFactor::Unpivot { table, value, name, columns, null_inclusion, .. } = factor else {
            return Ok(String::new());
        };
        let used = names_in(columns.iter().map(|column| &column.expr));
        let others = self.columns_of_table(table)?.into_iter().filter(|name| !used.contains(name));
        let mut items: Vec<_> = others.map(|name| format!("of.{0} AS {0}", quoted(&name))).collect();
        items.push(format!("\"unpivot:\"['name'] AS {name}"));
        items.push(format!("\"unpivot:\"['value'] AS {value}"));
        let member = |column: &ExprWithAlias| {
            let name = column.alias.as_ref().map_or_else(|| name_of(&column.expr), |alias| alias.value.clone());
            format!("json_object('name', {}, 'value', {})", Value::SingleQuotedString(name), column.expr)
        };
        let members = columns.iter().map(member).collect::<Vec<_>>().join(", ");
        let filter = match null_inclusion {
            Some(NullInclusion::IncludeNulls) => "",
            _ => " WHERE \"unpivot:\"['value'] IS NOT NULL",
        };
        let table = without_alias(table);
        Ok(format!(
            "SELECT {} FROM {table} AS of, UNNEST(json_array({members})) AS \"of unpivot:\" (\"unpivot:\"){filter}",
            items.join(", ")
        ))
    }

    /// Makes a plain join of `a asof join b on a.k = b.k and a.t >= b.t`: each row of `b` also has where the next one of its
    /// group begins, and it matches what lies between.
    pub(crate) fn asof(&self, join: &mut Join) -> Result<(), Error> {
        if !std::mem::take(&mut join.global) {
            return Ok(());
        }
        let name = name_of_table(&join.relation).ok_or_else(|| Error::sql("`asof join` takes a named table"))?;
        let left = self.resolver.scopes.last().and_then(|scope| scope.relations.first()).map(|left| left.alias.clone());
        let (JoinOperator::Join(constraint)
        | JoinOperator::Inner(constraint)
        | JoinOperator::Left(constraint)
        | JoinOperator::LeftOuter(constraint)) = &mut join.join_operator
        else {
            return Err(Error::sql("`asof` goes with `join` and `left join`"));
        };
        let mut parts = match constraint {
            JoinConstraint::On(condition) => conjuncts(condition),
            JoinConstraint::Using(names) => names
                .iter()
                .enumerate()
                .filter_map(|(at, part)| {
                    let ObjectNamePart::Identifier(column) = part.0.last()? else { return None };
                    let side =
                        |table: &str| Expr::CompoundIdentifier(vec![quoted(table), quoted(&column.value)]).into();
                    let op = if at + 1 == names.len() { BinaryOperator::GtEq } else { BinaryOperator::Eq };
                    Some(Expr::BinaryOp { left: side(left.as_deref()?), op, right: side(&name) })
                })
                .collect(),
            _ => Vec::new(),
        };
        let wrong = || {
            Error::sql(format!(
                "`asof join {name}` takes equalities and one of <, <=, >, >= at last, with the table's name before each field: \
                 `on a.key = {name}.key and a.time >= {name}.time`"
            ))
        };
        let (mut keys, mut order) = (Vec::new(), None);
        for part in &mut parts {
            let Expr::BinaryOp { left, op, right } = part else { return Err(wrong()) };
            if is_of(left, &name) && !is_of(right, &name) {
                std::mem::swap(left, right);
                *op = turned(op);
            }
            if !is_of(right, &name) || is_of(left, &name) {
                return Err(wrong());
            }
            let ends = match op {
                BinaryOperator::Eq => {
                    keys.push(right.to_string());
                    continue;
                }
                BinaryOperator::GtEq => ("<", ""),
                BinaryOperator::Gt => ("<=", ""),
                BinaryOperator::LtEq => (">", " DESC"),
                BinaryOperator::Lt => (">=", " DESC"),
                _ => return Err(wrong()),
            };
            if order.replace((left.to_string(), right.to_string(), ends)).is_some() {
                return Err(wrong());
            }
        }
        let (subject, key, (sign, direction)) = order.ok_or_else(wrong)?;
        let partition = if keys.is_empty() { String::new() } else { format!("PARTITION BY {} ", keys.join(", ")) };
        let next = quoted(NEXT);
        let own = quoted(&name);
        let table = without_alias(&join.relation);
        let query = format!(
            "SELECT *, lead({key}) OVER ({partition}ORDER BY {key}{direction}) AS {next} FROM {table} AS {own} WHERE {key} IS NOT NULL"
        );
        let all = parts.iter().map(|part| format!("({part})")).collect::<Vec<_>>().join(" AND ");
        let condition = format!("{all} AND ({own}.{next} IS NULL OR {subject} {sign} {own}.{next})");
        *constraint = JoinConstraint::On(plain_expression(&condition)?);
        let alias = TableAlias { explicit: true, name: own, columns: Vec::new(), at: None };
        join.relation =
            TableFactor::Derived { lateral: false, subquery: plain_query(&query)?, alias: Some(alias), sample: None };
        Ok(())
    }
}

/// An aggregate over the rows that have a value, with its name.
fn pivoted(aggregate: &ExprWithAlias, subject: &Expr, value: &ExprWithAlias, several: bool) -> Result<String, Error> {
    let Expr::Function(function) = &aggregate.expr else {
        return Err(Error::sql(format!("`pivot` takes aggregates, and not `{}`", aggregate.expr)));
    };
    let mut function = function.clone();
    let has_it = Expr::BinaryOp {
        left: Expr::Nested(subject.clone().into()).into(),
        op: BinaryOperator::Eq,
        right: value.expr.clone().into(),
    };
    function.filter = Some(match function.filter.take() {
        Some(own) => Expr::BinaryOp {
            left: Expr::Nested(own).into(),
            op: BinaryOperator::And,
            right: Expr::Nested(has_it.into()).into(),
        }
        .into(),
        None => has_it.into(),
    });
    let named = match &value.alias {
        Some(alias) => alias.value.clone(),
        None => text(&value.expr).map_or_else(|| value.expr.to_string(), Into::into),
    };
    let name = match &aggregate.alias {
        Some(alias) => format!("{named}_{}", alias.value),
        None if several => format!("{named}_{}", aggregate.expr),
        None => named,
    };
    debug_assert!(!matches!(function.args, FunctionArguments::None), "an aggregate has brackets");
    Ok(format!("{} AS {}", Expr::Function(function), quoted(&name)))
}

/// The fields that expressions name, without their tables.
fn names_in<'e>(exprs: impl Iterator<Item = &'e Expr>) -> HashSet<String> {
    let mut names = HashSet::new();
    for expr in exprs {
        let _ = visit::exprs(expr, |expr| {
            match expr {
                Expr::Identifier(name) => _ = names.insert(name.value.clone()),
                Expr::CompoundIdentifier(parts) => names.extend(parts.iter().map(|part| part.value.clone())),
                _ => {}
            }
            ControlFlow::<()>::Continue(())
        });
    }
    names
}

/// What a column is called.
fn name_of(expr: &Expr) -> String {
    match expr {
        Expr::Identifier(name) => name.value.clone(),
        other => column_name(other),
    }
}

fn name_of_table(factor: &TableFactor) -> Option<String> {
    match factor {
        TableFactor::Table { alias: Some(alias), .. } | TableFactor::Derived { alias: Some(alias), .. } => {
            Some(alias.name.value.clone())
        }
        TableFactor::Table { name, .. } => name.0.last()?.as_ident().map(|name| name.value.clone()),
        _ => None,
    }
}

/// A table as it is written, but for its other name.
fn without_alias(factor: &TableFactor) -> TableFactor {
    let mut factor = factor.clone();
    if let TableFactor::Table { alias, .. } | TableFactor::Derived { alias, .. } = &mut factor {
        *alias = None;
    }
    factor
}

/// Whether an expression names columns of a table.
fn is_of(expr: &Expr, table: &str) -> bool {
    let is_own = |parts: &[Ident]| parts.len() > 1 && parts[0].value == table;
    visit::any_expr(expr, |expr| matches!(expr, Expr::CompoundIdentifier(parts) if is_own(parts)))
}

fn turned(op: &BinaryOperator) -> BinaryOperator {
    match op {
        BinaryOperator::Lt => BinaryOperator::Gt,
        BinaryOperator::LtEq => BinaryOperator::GtEq,
        BinaryOperator::Gt => BinaryOperator::Lt,
        BinaryOperator::GtEq => BinaryOperator::LtEq,
        other => other.clone(),
    }
}

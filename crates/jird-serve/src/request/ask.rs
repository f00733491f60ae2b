//! What a request asks of a table, in PostgREST's spelling, as SQL: every name in it is one of the table's columns, in
//! quotes, and every value is a parameter.

mod field;
mod filter;
mod select;

use crate::base::problem::Problem;
use crate::request::catalog::{Pick, Table};
use crate::request::uri;
use field::{Field, Scope};
use filter::Filter;
use rusqlite::types::Value;
use select::{Selected, items, selected};
use std::borrow::Cow;

/// The rows and columns that are asked for.
#[derive(Debug)]
pub(crate) struct Ask<'t> {
    table: &'t Table,
    picks: Cow<'t, [Pick]>,
    filter: Filter,
    /// Conditions of `select`: that rows of other tables are there.
    inner: Vec<String>,
    order: Vec<String>,
    pub(crate) limit: Option<u64>,
    pub(crate) offset: u64,
    /// The columns that decide which row is already there.
    pub(crate) on_conflict: Option<Vec<String>>,
    /// The columns that rows of a body give values to.
    pub(crate) columns: Option<Vec<String>>,
}

impl<'t> Ask<'t> {
    /// What a query asks for.
    ///
    /// # Errors
    /// 400 if a parameter is neither known nor a column, or if its value is wrong.
    pub(crate) fn new(table: &'t Table, parameters: &[(String, String)]) -> Result<Self, Problem> {
        let mut ask = Self {
            table,
            picks: Cow::Borrowed(&table.all),
            filter: Filter::default(),
            order: Vec::new(),
            limit: None,
            offset: 0,
            on_conflict: None,
            inner: Vec::new(),
            columns: None,
        };
        let mut seen: Vec<&str> = Vec::new();
        for (name, value) in parameters {
            let is_reserved =
                matches!(name.as_str(), "select" | "order" | "limit" | "offset" | "on_conflict" | "columns");
            if is_reserved && seen.contains(&name.as_str()) {
                return Err(Problem::bad(format!("the query has {name} twice")));
            }
            seen.push(name);
            match name.as_str() {
                "select" => {
                    let Selected { picks, inner } = selected(table, value)?;
                    (ask.picks, ask.inner) = (Cow::Owned(picks), inner);
                }
                "order" => ask.order = order(table, value)?,
                "limit" => ask.limit = Some(count(name, value)?),
                "offset" => ask.offset = count(name, value)?,
                "on_conflict" => ask.on_conflict = Some(names(table, value)?),
                "columns" => ask.columns = Some(names(table, value)?),
                _ if table.column(name).is_none() && Filter::operator(name).is_some() => {
                    ask.filter.add_group(table, name, value)?;
                }
                _ => ask.filter.add(table, name, value)?,
            }
        }
        // Pages need an order, or rows could be on two of them.
        if ask.order.is_empty() && (ask.limit.is_some() || ask.offset > 0) {
            let key = table.info.key();
            ask.order =
                key.into_iter().filter_map(|name| table.column(name)).map(|key| table.sql_of(key).to_owned()).collect();
        }
        Ok(ask)
    }

    /// The row of this key.
    ///
    /// # Errors
    /// 404 if no single column is the key, or if no row can have this key; 400 if the query asks for other rows.
    pub(crate) fn of_id(table: &'t Table, id: &str, parameters: &[(String, String)]) -> Result<Self, Problem> {
        let Some(key) = table.id else {
            let detail = format!("{} has no primary key of one column: ask with conditions", table.quoted);
            return Err(Problem::new(hyper::StatusCode::NOT_FOUND, detail));
        };
        let mut ask = Self::new(table, parameters)?;
        if ask.has_conditions() || ask.limit.is_some() || ask.offset > 0 || !ask.order.is_empty() {
            return Err(Problem::bad("/TABLE/KEY takes no conditions, order, limit or offset"));
        }
        ask.filter.add_equal(table, key, id).map_err(|_| no_row(table, id))?;
        Ok(ask)
    }

    /// Whether each step of SQLite that the rows take is short. Patterns, functions and rows of other tables may take
    /// long in one step, which no limit of time ends.
    pub(crate) fn has_short_steps(&self) -> bool {
        self.inner.is_empty()
            && self.picks.iter().all(|pick| pick.column != usize::MAX)
            && self.filter.has_short_steps()
    }

    pub(crate) fn picks(&self) -> &[Pick] {
        &self.picks
    }

    pub(crate) fn has_conditions(&self) -> bool {
        !self.filter.is_empty()
    }

    /// The conditions, with `where` before them, and the values of their parameters, numbered on from `first`.
    pub(crate) fn condition(&self, first: usize) -> (String, &[Value]) {
        self.filter.sql(first)
    }

    /// The conditions, with those of `select`.
    fn all_conditions(&self) -> (String, &[Value]) {
        let (mut sql, values) = self.filter.sql(1);
        for condition in &self.inner {
            sql.push_str(if sql.is_empty() { " where " } else { " and " });
            sql.push_str(condition);
        }
        (sql, values)
    }

    /// What a statement that changes rows returns of each.
    pub(crate) fn returning(&self) -> String {
        let picks: Vec<&str> = self.picks.iter().map(|pick| pick.sql.as_str()).collect();
        format!(" returning {}", picks.join(", "))
    }

    /// The `select` without conditions.
    pub(crate) fn select_all(&self) -> String {
        let mut sql = String::with_capacity(200);
        let mut separator = "select ";
        for pick in self.picks.iter() {
            sql.push_str(separator);
            sql.push_str(&pick.sql);
            separator = ", ";
        }
        sql.push_str(" from ");
        sql.push_str(&self.table.quoted);
        sql
    }

    /// The `select`, with at most `rows_max` rows.
    pub(crate) fn select(&self, rows_max: u64) -> (String, Vec<Value>) {
        let mut sql = self.select_all();
        let (condition, values) = self.all_conditions();
        sql.push_str(&condition);
        let mut separator = " order by ";
        for order in &self.order {
            sql.push_str(separator);
            sql.push_str(order);
            separator = ", ";
        }
        let mut values = values.to_vec();
        let integer = |value: u64| Value::Integer(i64::try_from(value).unwrap_or(i64::MAX));
        values.push(integer(rows_max));
        // SQLite looks into a bare parameter while it prepares, and would prepare again for each value.
        sql.push_str(" limit +?");
        sql.push_str(&values.len().to_string());
        if self.offset > 0 {
            values.push(integer(self.offset));
            sql.push_str(" offset ?");
            sql.push_str(&values.len().to_string());
        }
        (sql, values)
    }

    /// The statement that counts all rows for which the conditions hold, but stops at `max`.
    pub(crate) fn count(&self, max: Option<u64>) -> (String, Vec<Value>) {
        let (condition, values) = self.all_conditions();
        let table = &self.table.quoted;
        let sql = match max {
            None => format!("select count(*) from {table}{condition}"),
            Some(max) => format!("select count(*) from (select 1 from {table}{condition} limit {max})"),
        };
        (sql, values.to_vec())
    }
}

/// The problem that a row does not exist.
#[cold]
pub(crate) fn no_row(table: &Table, id: &str) -> Problem {
    let id: String = id.chars().take(80).collect();
    Problem::new(hyper::StatusCode::NOT_FOUND, format!("{} has no row {id:?}", table.quoted))
}

fn column(table: &Table, name: &str) -> Result<usize, Problem> {
    table.column(name).ok_or_else(|| {
        let name: String = name.chars().take(80).collect();
        Problem::bad(format!("{} has no column {name:?}", table.quoted))
    })
}

/// `id,"a, b"`: columns, in quotes or not.
fn names(table: &Table, value: &str) -> Result<Vec<String>, Problem> {
    let plain = |name: &str| match name.strip_prefix('"').and_then(|name| name.strip_suffix('"')) {
        Some(inner) if table.column(name).is_none() => inner.replace("\\\"", "\"").replace("\"\"", "\""),
        _ => name.to_owned(),
    };
    items(value)?.into_iter().map(plain).map(|name| column(table, &name).map(|_| name)).collect()
}

fn count(name: &str, value: &str) -> Result<u64, Problem> {
    uri::count(value).ok_or_else(|| Problem::bad(format!("{name} must be an integer, not negative")))
}

/// `done.desc.nullslast,id`: columns, each with its direction.
fn order(table: &Table, value: &str) -> Result<Vec<String>, Problem> {
    let mut terms = Vec::new();
    for part in value.split(',') {
        let mut name = part;
        let (mut nulls, mut direction) = ("", "");
        for (suffix, sql) in [(".nullsfirst", " nulls first"), (".nullslast", " nulls last")] {
            if let Some(before) = name.strip_suffix(suffix) {
                (name, nulls) = (before, sql);
            }
        }
        for (suffix, sql) in [(".asc", " asc"), (".desc", " desc")] {
            if let Some(before) = name.strip_suffix(suffix) {
                (name, direction) = (before, sql);
                break;
            }
        }
        if table.column(part).is_some() {
            (name, nulls, direction) = (part, "", "");
        }
        let field = Field::new(&Scope::of(table), name)?;
        terms.push(format!("{}{direction}{nulls}", field.sql));
    }
    Ok(terms)
}

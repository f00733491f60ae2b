//! What a request asks of a table, in PostgREST's spelling, as SQL: every name in it is one of the table's columns, in
//! quotes, and every value is a parameter.

mod field;
mod filter;
mod items;
mod link;
mod order;
mod select;
mod slice;

use crate::base::problem::Problem;
use crate::request::catalog::{Pick, Table};
use field::Scope;
use items::items;
use rusqlite::types::Value;
use select::{Selected, Selection};
use slice::{Slice, once};
use std::borrow::Cow;

/// The rows and columns that are asked for.
#[derive(Debug)]
pub(crate) struct Ask<'t> {
    table: &'t Table,
    picks: Cow<'t, [Pick]>,
    /// Conditions of `select`: that rows of other tables are there, or are not.
    inner: Vec<String>,
    /// The values of the parameters in `picks` and `inner`, numbered from 1.
    values: Vec<Value>,
    has_nested: bool,
    slice: Slice,
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
            inner: Vec::new(),
            values: Vec::new(),
            has_nested: false,
            slice: Slice::default(),
            on_conflict: None,
            columns: None,
        };
        let (mut select, mut rest, mut seen) = (None, Vec::with_capacity(parameters.len()), Vec::new());
        for (name, value) in parameters {
            match name.as_str() {
                "select" => select = Some(value),
                "on_conflict" => ask.on_conflict = Some(names(table, value)?),
                "columns" => ask.columns = Some(names(table, value)?),
                _ => {
                    rest.push((name.as_str(), value.as_str()));
                    continue;
                }
            }
            once(&mut seen, name)?;
        }
        if let Some(select) = select {
            let mut selection = Selection::default();
            let all = rest.len();
            let Selected { picks, inner, rest: others } = selection.read(table, select, rest)?;
            ask.has_nested = others.len() < all;
            (ask.picks, ask.inner, ask.values, rest) = (Cow::Owned(picks), inner, selection.values, others);
        }
        ask.slice = Slice::new(&Scope::of(table), &rest)?;
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
        if ask.has_conditions() || ask.is_page() || !ask.slice.order.is_empty() {
            return Err(Problem::bad("/TABLE/KEY takes no conditions, order, limit or offset"));
        }
        ask.slice.filter.add_equal(&Scope::of(table), key, id).map_err(|_| no_row(table, id))?;
        Ok(ask)
    }

    /// Whether each step of SQLite that the rows take is short. Patterns, functions and rows of other tables may take
    /// long in one step, which no limit of time ends.
    pub(crate) fn has_short_steps(&self) -> bool {
        self.inner.is_empty()
            && self.picks.iter().all(|pick| pick.column != usize::MAX)
            && self.slice.filter.has_short_steps()
    }

    pub(crate) fn picks(&self) -> &[Pick] {
        &self.picks
    }

    pub(crate) fn has_conditions(&self) -> bool {
        !self.slice.filter.is_empty()
    }

    pub(crate) fn limit(&self) -> Option<u64> {
        self.slice.limit
    }

    pub(crate) fn offset(&self) -> u64 {
        self.slice.offset
    }

    /// Whether not all rows are wanted for which the conditions hold.
    pub(crate) fn is_page(&self) -> bool {
        self.slice.is_page()
    }

    /// Whether there are parameters for tables in brackets.
    pub(crate) fn has_nested(&self) -> bool {
        self.has_nested
    }

    /// The conditions, with `where` before them, and the values of their parameters, numbered on from `first`.
    pub(crate) fn condition(&self, first: usize) -> (String, &[Value]) {
        self.slice.filter.sql(" where ", first)
    }

    /// The conditions, with those of `select`, and the values of all parameters but those of columns.
    fn all_conditions(&self, mut values: Vec<Value>) -> (String, Vec<Value>) {
        let (mut sql, own) = self.condition(values.len() + 1);
        values.extend_from_slice(own);
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
        let (condition, mut values) = self.all_conditions(self.values.clone());
        sql.push_str(&condition);
        sql.push_str(&self.slice.order_by());
        let integer = |value: u64| Value::Integer(i64::try_from(value).unwrap_or(i64::MAX));
        values.push(integer(rows_max));
        // SQLite looks into a bare parameter while it prepares, and would prepare again for each value.
        sql.push_str(" limit +?");
        sql.push_str(&values.len().to_string());
        if self.offset() > 0 {
            values.push(integer(self.offset()));
            sql.push_str(" offset ?");
            sql.push_str(&values.len().to_string());
        }
        (sql, values)
    }

    /// The statement that counts all rows for which the conditions hold, but stops at `max`. It has no columns, and
    /// perhaps not the last parameters.
    pub(crate) fn count(&self, max: Option<u64>) -> (String, Vec<Value>) {
        let (condition, values) = self.all_conditions(self.values.clone());
        let table = &self.table.quoted;
        let sql = match max {
            None => format!("select count(*) from {table}{condition}"),
            Some(max) => format!("select count(*) from (select 1 from {table}{condition} limit {max})"),
        };
        (sql, values)
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

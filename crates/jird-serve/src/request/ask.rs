//! What a request asks of a table, in PostgREST's spelling, as SQL: every name in it is one of the table's columns, in
//! quotes, and every value is a parameter.

mod filter;

use crate::base::problem::Problem;
use crate::request::catalog::{Pick, Table};
use crate::request::uri;
use filter::Filter;
use rusqlite::types::Value;
use std::borrow::Cow;

/// The rows and columns that are asked for.
#[derive(Debug)]
pub(crate) struct Ask<'t> {
    table: &'t Table,
    picks: Cow<'t, [Pick]>,
    filter: Filter,
    order: Vec<String>,
    pub(crate) limit: Option<u64>,
    pub(crate) offset: u64,
    /// The columns that decide which row is already there.
    pub(crate) on_conflict: Option<Vec<String>>,
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
        };
        let mut seen: Vec<&str> = Vec::new();
        for (name, value) in parameters {
            let is_reserved = matches!(name.as_str(), "select" | "order" | "limit" | "offset" | "on_conflict");
            if is_reserved && seen.contains(&name.as_str()) {
                return Err(Problem::bad(format!("the query has {name} twice")));
            }
            seen.push(name);
            match name.as_str() {
                "select" => ask.picks = Cow::Owned(picks(table, value)?),
                "order" => ask.order = order(table, value)?,
                "limit" => ask.limit = Some(count(name, value)?),
                "offset" => ask.offset = count(name, value)?,
                "on_conflict" => ask.on_conflict = Some(names(table, value)?),
                _ => ask.filter.add(table, column(table, name)?, value)?,
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

    /// The `select`, with at most `rows_max` rows.
    pub(crate) fn select(&self, rows_max: u64) -> (String, Vec<Value>) {
        let mut sql = String::with_capacity(200);
        let mut separator = "select ";
        for pick in self.picks.iter() {
            sql.push_str(separator);
            sql.push_str(self.table.sql_of(pick.column));
            separator = ", ";
        }
        sql.push_str(" from ");
        sql.push_str(&self.table.quoted);
        let (condition, values) = self.filter.sql(1);
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
        let (condition, values) = self.filter.sql(1);
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

fn names(table: &Table, value: &str) -> Result<Vec<String>, Problem> {
    value.split(',').map(|name| column(table, name).map(|_| name.to_owned())).collect()
}

fn count(name: &str, value: &str) -> Result<u64, Problem> {
    uri::count(value).ok_or_else(|| Problem::bad(format!("{name} must be an integer, not negative")))
}

/// `id,name:title`: columns, some under another name.
fn picks(table: &Table, value: &str) -> Result<Vec<Pick>, Problem> {
    let mut picks: Vec<Pick> = Vec::new();
    for part in value.split(',') {
        if part == "*" {
            picks.extend_from_slice(&table.all);
            continue;
        }
        let (name, wanted) = if let Some(found) = table.column(part) {
            (part, found)
        } else {
            let (name, wanted) = part.split_once(':').unwrap_or((part, part));
            (name, column(table, wanted)?)
        };
        picks.push(table.all[wanted].named(name));
    }
    let mut seen: Vec<&str> = picks.iter().map(|pick| pick.name.as_str()).collect();
    seen.sort_unstable();
    match seen.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(Problem::bad(format!("select has {:?} twice", pair[0]))),
        None => Ok(picks),
    }
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
        let column = match table.column(part) {
            Some(column) => {
                (nulls, direction) = ("", "");
                column
            }
            None => column(table, name)?,
        };
        terms.push(format!("{}{direction}{nulls}", table.sql_of(column)));
    }
    Ok(terms)
}

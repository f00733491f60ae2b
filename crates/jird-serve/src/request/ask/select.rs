//! `select=id,name:title,meta->>owner,author(name),comments(*)`: what is sent of each row. A table in brackets is one that
//! a foreign key leads to, as an object; or one whose foreign key leads here, as an array of objects. Parameters that
//! begin with its name are about its rows: `comments.order=id.desc`.

use super::field::{Field, Scope, literal};
use super::filter::Filter;
use super::items::{items, unclosed};
use super::link::link;
use super::slice::Slice;
use crate::base::problem::Problem;
use crate::request::catalog::{Kind, Link, Pick, Table};
use crate::request::functions::{OBJECT, spec};
use rusqlite::types::Value;
use std::borrow::Cow;

/// How deep tables may be in each other.
const DEPTH_MAX: usize = 4;

/// What a `select` asks for; and the conditions that rows of other tables are there, or are not.
pub(super) struct Selected<'p> {
    pub(super) picks: Vec<Pick>,
    pub(super) inner: Vec<String>,
    /// The parameters that are for no table in brackets.
    pub(super) rest: Parameters<'p>,
}

/// Names and values.
type Parameters<'p> = Vec<(&'p str, &'p str)>;

/// A `select` as it is read, with what parameters say of tables in brackets.
#[derive(Default)]
pub(super) struct Selection {
    /// The values of the parameters that its SQL has, numbered from 1.
    pub(super) values: Vec<Value>,
    /// How many tables are around.
    depth: usize,
}

impl Selection {
    /// Reads a `select`.
    ///
    /// # Errors
    /// 400 if something is unknown, or there twice.
    pub(super) fn read<'p>(
        &mut self,
        table: &Table,
        value: &str,
        parameters: Parameters<'p>,
    ) -> Result<Selected<'p>, Problem> {
        self.within(&Scope::of(table), value, parameters)
    }

    fn within<'p>(
        &mut self,
        scope: &Scope<'_>,
        value: &str,
        mut parameters: Parameters<'p>,
    ) -> Result<Selected<'p>, Problem> {
        let table = scope.table;
        let mut selected = Selected { picks: Vec::new(), inner: Vec::new(), rest: Vec::new() };
        for item in items(value)? {
            let item = item.trim();
            if item == "*" {
                let all = (0..table.all.len()).map(|column| Field::of_column(scope, column));
                selected.picks.extend(all.map(|field| Pick::new(field.column, &field.name, field.kind, field.sql)));
            } else if let Some((head, rest)) = item.split_once('(').filter(|_| table.column(item).is_none()) {
                let value = rest.strip_suffix(')').ok_or_else(unclosed)?;
                if self.depth == DEPTH_MAX {
                    return Err(Problem::bad(format!("tables are at most {DEPTH_MAX} deep in each other")));
                }
                let (alias, head) = named(table, head);
                let mut hints = head.split('!');
                let name = hints.next().unwrap_or_default();
                let hints: Vec<&str> = hints.collect();
                let link = link(table, name, &hints)?;
                let name = alias.unwrap_or(name);
                let Own { is_there, within, rest } = own(table, name, parameters)?;
                parameters = rest;
                let (sql, exists) = self.embedded(scope, link, value, within)?;
                match is_there {
                    Some(false) => selected.inner.push(format!("not {exists}")),
                    Some(true) => selected.inner.push(exists),
                    None if hints.contains(&"inner") => selected.inner.push(exists),
                    None => {}
                }
                selected.picks.push(Pick::new(usize::MAX, name, Kind::Json, sql));
            } else {
                let (alias, text) = named(table, item);
                let field = Field::new(scope, text)?;
                selected.picks.push(Pick::new(field.column, alias.unwrap_or(&field.name), field.kind, field.sql));
            }
        }
        let mut seen: Vec<&str> = selected.picks.iter().map(|pick| pick.name.as_str()).collect();
        seen.sort_unstable();
        match seen.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(Problem::bad(format!("select has {:?} twice", pair[0]))),
            None => Ok(Selected { rest: parameters, ..selected }),
        }
    }
}

/// What parameters say of a table in brackets.
struct Own<'p> {
    /// Whether it must have rows: `comments=not.is.null`.
    is_there: Option<bool>,
    /// Those that are about its rows: `comments.id=gt.5`, without its name.
    within: Parameters<'p>,
    /// All others.
    rest: Parameters<'p>,
}

/// Names that are about the rows of a request, whatever tables are in brackets.
const REQUEST: [&str; 7] = ["order", "limit", "offset", "and", "or", "not.and", "not.or"];

fn own<'p>(table: &Table, name: &str, parameters: Parameters<'p>) -> Result<Own<'p>, Problem> {
    let mut own = Own { is_there: None, within: Vec::new(), rest: Vec::new() };
    for (parameter, value) in parameters {
        let is_free = table.column(parameter).is_none() && !REQUEST.contains(&parameter);
        let after = parameter.strip_prefix(name).filter(|_| is_free);
        match after.map(|after| (after, after.strip_prefix('.'))) {
            Some((_, Some(after))) => own.within.push((after, value)),
            Some(("", None)) => {
                let is_there = match value {
                    "is.null" => false,
                    "not.is.null" => true,
                    _ => {
                        let detail =
                            format!("{name} is a table in brackets: it takes {name}=is.null or {name}=not.is.null");
                        return Err(Problem::bad(detail));
                    }
                };
                if own.is_there.replace(is_there).is_some() {
                    return Err(Problem::bad(format!("the query has {name} twice")));
                }
            }
            _ => own.rest.push((parameter, value)),
        }
    }
    Ok(own)
}

/// The alias before a colon, which is not one of a cast.
fn named<'t>(table: &Table, item: &'t str) -> (Option<&'t str>, &'t str) {
    let colon = item
        .match_indices(':')
        .map(|(at, _)| at)
        .find(|at| !item[at + 1..].starts_with(':') && !item[..*at].ends_with(':'));
    match colon {
        Some(at) if table.column(item).is_none() => (Some(&item[..at]), &item[at + 1..]),
        _ => (None, item),
    }
}

impl Selection {
    /// What a table in brackets is: the rows that belong to a row, as SQL for JSON, and the condition that there is one.
    fn embedded(
        &mut self,
        scope: &Scope<'_>,
        link: &Link,
        value: &str,
        parameters: Parameters<'_>,
    ) -> Result<(String, String), Problem> {
        let other = link.other()?;
        // The other table may be the same one, so it goes by a name of its own.
        let inside = Scope { table: &other, name: Cow::Owned(format!("jird_{}", self.depth)) };
        let counts = link.is_many && ["count", "count()"].contains(&value) && other.column(value).is_none();
        let value = if value.is_empty() || counts { "*" } else { value };
        self.depth += 1;
        let Selected { picks, inner, rest } = self.within(&inside, value, parameters)?;
        self.depth -= 1;
        let slice = Slice::new(&inside, &rest)?;
        let mut belongs = link.is_of(scope, &inside);
        for condition in inner {
            belongs = belongs + " and " + &condition;
        }
        belongs += &self.text(&slice.filter);
        let (table, name, order) = (&other.quoted, &inside.name, slice.order_by());
        let page = self.page(&slice);
        let rows = if page.is_empty() || counts {
            format!("from {table} as {name} where {belongs}")
        } else {
            format!("from (select * from {table} as {name} where {belongs}{order}{page}) as {name}")
        };
        let values = picks.iter().fold(String::new(), |values, pick| values + ", " + &pick.sql);
        let object = format!("{OBJECT}({}{values})", literal(&spec(&picks)));
        let sql = if counts {
            // A page of the one row with the count.
            format!("coalesce((select '[{{\"count\":' || count(*) || '}}]' {rows}{page}), '[]')")
        } else if link.is_many {
            format!("(select '[' || coalesce(group_concat({object}, ','{order}), '') || ']' {rows})")
        } else {
            format!("(select {object} {rows} limit 1)")
        };
        let of_page = if counts { format!("from {table} as {name} where {belongs}") } else { rows };
        Ok((sql, format!("exists (select 1 {of_page})")))
    }

    /// Conditions after others, with their parameters.
    fn text(&mut self, filter: &Filter) -> String {
        let (sql, values) = filter.sql(" and ", self.values.len() + 1);
        self.values.extend_from_slice(values);
        sql
    }

    /// ` limit … offset …`, with its parameters, or nothing.
    fn page(&mut self, slice: &Slice) -> String {
        if !slice.is_page() {
            return String::new();
        }
        let integer = |value: u64| Value::Integer(i64::try_from(value).unwrap_or(i64::MAX));
        self.values.push(integer(slice.limit.unwrap_or(u64::MAX)));
        self.values.push(integer(slice.offset));
        let last = self.values.len();
        format!(" limit +?{} offset ?{last}", last - 1)
    }
}

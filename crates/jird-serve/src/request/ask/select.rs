//! `select=id,name:title,meta->>owner,author(name),comments(*)`: what is sent of each row. A table in brackets is one that
//! a foreign key leads to, as an object; or one whose foreign key leads here, as an array of objects.

use super::field::{Field, Scope, literal};
use crate::base::problem::{Code, Problem};
use crate::request::catalog::{Kind, Link, Pick, Table};
use crate::request::functions::{OBJECT, spec};
use jird_formats::sqlite::quote;
use std::borrow::Cow;
use std::sync::Arc;

/// How deep tables may be in each other.
const DEPTH_MAX: usize = 4;

/// What a `select` asks for; and the conditions that rows of tables in `!inner` exist.
pub(super) struct Selected {
    pub(super) picks: Vec<Pick>,
    pub(super) inner: Vec<String>,
}

/// # Errors
/// 400 if something is unknown, or there twice.
pub(super) fn selected(table: &Table, value: &str) -> Result<Selected, Problem> {
    let selected = within(&Scope::of(table), value, 0)?;
    let mut seen: Vec<&str> = selected.picks.iter().map(|pick| pick.name.as_str()).collect();
    seen.sort_unstable();
    match seen.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(Problem::bad(format!("select has {:?} twice", pair[0]))),
        None => Ok(selected),
    }
}

fn within(scope: &Scope<'_>, value: &str, depth: usize) -> Result<Selected, Problem> {
    let table = scope.table;
    let mut selected = Selected { picks: Vec::new(), inner: Vec::new() };
    for item in items(value)? {
        let item = item.trim();
        if item == "*" {
            let all = (0..table.all.len()).map(|column| Field::of_column(scope, column));
            selected.picks.extend(all.map(|field| Pick::new(field.column, &field.name, field.kind, field.sql)));
        } else if let Some((head, rest)) = item.split_once('(').filter(|_| table.column(item).is_none()) {
            let rest = rest.strip_suffix(')').ok_or_else(unclosed)?;
            if depth == DEPTH_MAX {
                return Err(Problem::bad(format!("tables are at most {DEPTH_MAX} deep in each other")));
            }
            let (alias, head) = named(table, head);
            let mut hints = head.split('!');
            let name = hints.next().unwrap_or_default();
            let hints: Vec<&str> = hints.collect();
            let link = link(table, name, &hints)?;
            let (sql, exists) = embedded(scope, link, rest, depth)?;
            if hints.contains(&"inner") {
                selected.inner.push(exists);
            }
            selected.picks.push(Pick::new(usize::MAX, alias.unwrap_or(name), Kind::Json, sql));
        } else {
            let (alias, text) = named(table, item);
            let field = Field::new(scope, text)?;
            selected.picks.push(Pick::new(field.column, alias.unwrap_or(&field.name), field.kind, field.sql));
        }
    }
    Ok(selected)
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

/// The parts between commas that are in no brackets.
pub(super) fn items(value: &str) -> Result<Vec<&str>, Problem> {
    let (mut items, mut depth, mut start, mut is_quoted) = (Vec::new(), 0_usize, 0, false);
    let mut bytes = value.bytes().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'\\' if is_quoted => drop(bytes.next()),
            b'"' => is_quoted = !is_quoted,
            _ if is_quoted => {}
            b'(' | b'{' | b'[' => depth += 1,
            b')' | b'}' | b']' => depth = depth.checked_sub(1).ok_or_else(unclosed)?,
            b',' if depth == 0 => {
                items.push(&value[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    if depth > 0 || is_quoted {
        return Err(unclosed());
    }
    items.push(&value[start..]);
    Ok(items)
}

#[cold]
fn unclosed() -> Problem {
    Problem::bad("there is a bracket or a quote without its other half")
}

/// The foreign key by which a table is asked for: by the table's name, by the column that leads to it, or by both.
fn link<'t>(table: &'t Table, name: &str, hints: &[&str]) -> Result<&'t Link, Problem> {
    let hints: Vec<&str> = hints.iter().copied().filter(|hint| !["inner", "left"].contains(hint)).collect();
    let is_meant = |link: &&Link| {
        (link.table == name || !link.is_many && link.columns.iter().any(|(own, _)| own == name))
            && hints.iter().all(|hint| link.columns.iter().any(|(own, others)| own == hint || others == hint))
    };
    let shown: String = name.chars().take(80).collect();
    let mut found = table.links().iter().filter(is_meant);
    match (found.next(), found.next()) {
        (Some(link), None) => Ok(link),
        (None, _) => Err(Problem::bad(format!("no foreign key leads from {} to {shown:?}, or back", table.quoted))
            .coded(Code::NoLink)),
        (Some(_), Some(_)) => Err(Problem::bad(format!(
            "several foreign keys are between {} and {shown:?}: name the column, as in {shown}!COLUMN(*)",
            table.quoted
        ))
        .coded(Code::SeveralLinks)),
    }
}

/// The rows of another table that belong to a row, as SQL for JSON, and that there is one.
fn embedded(scope: &Scope<'_>, link: &Link, value: &str, depth: usize) -> Result<(String, String), Problem> {
    let changed = || Problem::busy("the schema has changed just now: ask again");
    let other: Arc<Table> = link.other.upgrade().ok_or_else(changed)?;
    // The other table may be the same one, so it goes by a name of its own.
    let inside = Scope { table: &other, name: Cow::Owned(format!("jird_{depth}")) };
    let Selected { picks, inner } = within(&inside, if value.is_empty() { "*" } else { value }, depth + 1)?;
    let pairs = link
        .columns
        .iter()
        .map(|(own, others)| format!("{}.{} = {}.{}", inside.name, quote(others), scope.name, quote(own)));
    let conditions: Vec<String> = pairs.chain(inner).collect();
    let rows = format!("from {} as {} where {}", other.quoted, inside.name, conditions.join(" and "));
    let values = picks.iter().fold(String::new(), |values, pick| values + ", " + &pick.sql);
    let object = format!("{OBJECT}({}{values})", literal(&spec(&picks)));
    let sql = if link.is_many {
        format!("(select '[' || coalesce(group_concat({object}, ','), '') || ']' {rows})")
    } else {
        format!("(select {object} {rows} limit 1)")
    };
    Ok((sql, format!("exists (select 1 {rows})")))
}

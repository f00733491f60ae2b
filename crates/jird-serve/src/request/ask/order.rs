//! `done.desc.nullslast,id,author(name)`: columns, each with its direction.

use super::field::{Field, Scope};
use super::items::items;
use super::link::link;
use crate::base::problem::Problem;

/// Terms of SQL.
///
/// # Errors
/// 400 if a column is unknown.
pub(super) fn order(scope: &Scope<'_>, value: &str) -> Result<Vec<String>, Problem> {
    let parts = if value.contains('(') { items(value)? } else { value.split(',').collect() };
    parts.into_iter().map(|part| term(scope, part)).collect()
}

fn term(scope: &Scope<'_>, part: &str) -> Result<String, Problem> {
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
    if scope.table.column(part).is_some() {
        (name, nulls, direction) = (part, "", "");
    }
    let sql = match name.strip_suffix(')').and_then(|name| name.split_once('(')) {
        Some((head, field)) if scope.table.column(name).is_none() => of_other(scope, head, field)?,
        _ => Field::new(scope, name)?.sql,
    };
    Ok(format!("{sql}{direction}{nulls}"))
}

/// A value of the row that a foreign key leads to.
fn of_other(scope: &Scope<'_>, head: &str, field: &str) -> Result<String, Problem> {
    let mut hints = head.split('!');
    let link = link(scope.table, hints.next().unwrap_or_default(), &hints.collect::<Vec<_>>())?;
    if link.is_many {
        return Err(Problem::bad("rows are ordered by one row of another table, and here several may be meant"));
    }
    let other = link.other()?;
    let inside = Scope { table: &other, name: "jird_order".into() };
    let value = Field::new(&inside, field)?.sql;
    Ok(format!(
        "(select {value} from {} as {} where {} limit 1)",
        other.quoted,
        inside.name,
        link.is_of(scope, &inside)
    ))
}

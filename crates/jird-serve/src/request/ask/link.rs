//! Foreign keys between the table of a request and others.

use super::field::Scope;
use crate::base::problem::{Code, Problem};
use crate::request::catalog::{Link, Table};
use jird_formats::sqlite::quote;
use std::sync::Arc;

/// The foreign key by which a table is asked for: by the table's name, by the column that leads to it, or by both.
///
/// # Errors
/// 400 if there is none, or if several may be meant.
pub(super) fn link<'t>(table: &'t Table, name: &str, hints: &[&str]) -> Result<&'t Link, Problem> {
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
            "several foreign keys are between {} and {shown:?}: name the column of the key, as in COLUMN(*) or {shown}!COLUMN(*)",
            table.quoted
        ))
        .coded(Code::SeveralLinks)),
    }
}

impl Link {
    /// The other table.
    ///
    /// # Errors
    /// 503 if the schema has changed since the catalog was read.
    pub(super) fn other(&self) -> Result<Arc<Table>, Problem> {
        self.other.upgrade().ok_or_else(|| Problem::busy("the schema has changed just now: ask again"))
    }

    /// The condition that a row of the other table belongs to one of the table.
    pub(super) fn is_of(&self, scope: &Scope<'_>, other: &Scope<'_>) -> String {
        let pair = |(own, others): &(String, String)| {
            format!("{}.{} = {}.{}", other.name, quote(others), scope.name, quote(own))
        };
        self.columns.iter().map(pair).collect::<Vec<_>>().join(" and ")
    }
}

//! Which queries read a table more than once.

use crate::sql::base::visit;
use sqlparser::ast::Statement;
use std::collections::HashSet;
use std::ops::ControlFlow;

/// Whether a rewritten query names some table twice. A common table expression is a table here: where it is named, all
/// that it reads is read.
pub(crate) fn names_twice(statement: &Statement) -> bool {
    let mut names = HashSet::new();
    visit::relations(statement, |name| {
        if names.insert(name.to_string()) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })
    .is_break()
}

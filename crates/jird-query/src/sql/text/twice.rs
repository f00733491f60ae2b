//! Which queries read a table more than once.

use sqlparser::ast::{Statement, visit_relations};
use std::collections::HashSet;
use std::ops::ControlFlow;

/// Whether a rewritten query names some table twice. A common table expression is a table here: where it is named, all
/// that it reads is read.
pub(crate) fn names_twice(statement: &Statement) -> bool {
    let mut names = HashSet::new();
    visit_relations(statement, |name| {
        if names.insert(name.to_string()) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })
    .is_break()
}

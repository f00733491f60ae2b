//! The groups of a `select`: what its part after `group by` may name.

use super::columns::FieldRef;
use super::uses::Rep;
use crate::sql::base::forms::Form;
use crate::sql::base::syntax::bare;
use sqlparser::ast::Expr;
use std::collections::BTreeSet;

/// One of the groups of [`Grouped`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Group {
    Expr(usize),
    Field(usize),
}

/// What the part of a `select` after `group by` may name.
#[derive(Debug, Default)]
pub(crate) struct Grouped {
    /// Computed groups: as written, without brackets around it; rewritten; and the form of their values.
    pub(crate) exprs: Vec<(Expr, Expr, Form)>,
    /// Fields, and the representations in which they are used.
    pub(crate) fields: Vec<(FieldRef, BTreeSet<Rep>)>,
    /// The grouping sets, if there are several.
    pub(crate) sets: Vec<Vec<Group>>,
}

impl Grouped {
    /// The computed group that an expression is: rewritten, and the form of its values.
    pub(crate) fn group_of(&self, expr: &Expr) -> Option<(&Expr, Form)> {
        let found = self.exprs.iter().find(|(written, ..)| written == bare(expr));
        found.map(|(_, rewritten, form)| (rewritten, *form))
    }

    /// Adds a computed group.
    pub(crate) fn add(&mut self, group: (Expr, Expr, Form)) -> Group {
        let known = self.exprs.iter().position(|(written, ..)| *written == group.0);
        Group::Expr(known.unwrap_or_else(|| {
            self.exprs.push(group);
            self.exprs.len() - 1
        }))
    }
}

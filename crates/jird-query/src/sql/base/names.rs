//! Names the columns of a result.

use super::chain::{Part, chain};
use sqlparser::ast::Expr;
use std::collections::HashSet;

/// The name of a column without an alias: the last key of a field, or else the expression as written.
pub(crate) fn column_name(expr: &Expr) -> String {
    match chain(expr).as_deref() {
        Some([.., Part::Name(name)]) => name.clone(),
        _ => expr.to_string(),
    }
}

/// Hands out each name only once.
#[derive(Debug, Default)]
pub(crate) struct Names(HashSet<String>);

impl Names {
    /// Returns `name` if it is free, else the column as `written`, else that with a number.
    pub(crate) fn claim(&mut self, name: String, written: &str) -> String {
        if self.0.insert(name.clone()) {
            return name;
        }
        if self.0.insert(written.to_owned()) {
            return written.to_owned();
        }
        let mut number = 2;
        loop {
            let numbered = format!("{name}_{number}");
            if self.0.insert(numbered.clone()) {
                return numbered;
            }
            number += 1;
        }
    }

    /// Takes a name that the user gave. Returns whether it was free.
    pub(crate) fn take(&mut self, name: &str) -> bool {
        self.0.insert(name.to_owned())
    }
}

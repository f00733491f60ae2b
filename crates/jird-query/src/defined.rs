//! Names that stand for files in a query.

use datafusion::sql::sqlparser::ast::{Ident, ObjectNamePart, Query, visit_relations_mut};
use std::ops::ControlFlow;

/// A name that a query may write in place of paths: `from errors`, for `'logs/*-errors.ndjson'`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Defined {
    /// The name, without quotes.
    pub name: String,
    /// What it stands for: paths, patterns, folders, stores, URLs, one after the other.
    pub files: Vec<String>,
}

/// Puts these names into quotes where tables are named, as paths are.
pub(crate) fn quote(query: &mut Query, defined: &[Defined]) {
    let _ = visit_relations_mut(query, |name| {
        if let [ObjectNamePart::Identifier(name)] = &mut name.0[..]
            && name.quote_style.is_none()
            && defined.iter().any(|defined| defined.name == name.value)
        {
            *name = Ident { quote_style: Some('\''), ..name.clone() };
        }
        ControlFlow::<()>::Continue(())
    });
}

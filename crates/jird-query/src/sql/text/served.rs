//! What queries of untrusted clients may not do.
//!
//! Planning a query takes time, memory and stack, which nothing bounds but the text of the query.

use super::parse::{Parsed, Purpose};
use crate::base::error::Error;
use crate::sql::base::visit;
use sqlparser::ast::{ObjectName, ObjectNamePart, Query, Select, SetExpr, Visitor};
use std::collections::HashMap;
use std::ops::ControlFlow;

/// The most tables, if each use of a `with` counts as all that is in it, because it is planned each time.
const TABLES_MAX: u64 = 100;
/// The most columns of a `select`.
const COLUMNS_MAX: usize = 1000;

/// Refuses queries that take very much to plan, views, and all but rows: the rest tells of files, or takes several
/// queries.
pub(crate) fn check(parsed: &Parsed) -> Result<(), Error> {
    if !parsed.views.is_empty() {
        return Err(Error::sql("one query at a time"));
    }
    let asks = match parsed.asks {
        Purpose::Rows => None,
        Purpose::Plan => Some("explain"),
        Purpose::Description => Some("describe"),
        Purpose::Summary => Some("summarize"),
        Purpose::Copy(_) => Some("copy"),
        Purpose::Names(_) => Some("show tables"),
    };
    if let Some(asks) = asks {
        return Err(Error::sql(format!("`{asks}` is for the command line")));
    }
    let mut watch = Watch::default();
    if let ControlFlow::Break(error) = visit::read(&parsed.query, &mut watch) {
        return Err(error);
    }
    match watch.tables(&parsed.query) {
        0..=TABLES_MAX => Ok(()),
        _ => {
            Err(Error::sql(format!("queries of others read at most {TABLES_MAX} tables, each `with` as often as used")))
        }
    }
}

/// Walks a query.
#[derive(Default)]
struct Watch {
    /// How many tables each `with` reads; of several with one name, the most.
    withs: HashMap<String, u64>,
}

impl Watch {
    fn tables(&self, query: &Query) -> u64 {
        let mut tables = 0_u64;
        let _ = visit::relations(query, |name: &ObjectName| {
            let known = match &name.0[..] {
                [ObjectNamePart::Identifier(name)] => self.withs.get(&name.value).copied(),
                _ => None,
            };
            tables = tables.saturating_add(known.unwrap_or(1));
            ControlFlow::<()>::Continue(())
        });
        tables
    }
}

impl Visitor for Watch {
    type Break = Error;

    fn post_visit_query(&mut self, query: &Query) -> ControlFlow<Error> {
        for with in query.with.iter().flat_map(|with| &with.cte_tables) {
            let tables = self.tables(&with.query).max(1);
            let known = self.withs.entry(with.alias.name.value.clone()).or_default();
            *known = tables.max(*known);
        }
        if let SetExpr::Select(select) = &*query.body {
            return columns(select);
        }
        ControlFlow::Continue(())
    }
}

fn columns(select: &Select) -> ControlFlow<Error> {
    if select.projection.len() > COLUMNS_MAX {
        let message = format!("queries of others have at most {COLUMNS_MAX} columns");
        return ControlFlow::Break(Error::sql(message));
    }
    ControlFlow::Continue(())
}

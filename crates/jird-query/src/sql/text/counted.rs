//! `except all` and `intersect all`: the copies of a row are numbered, and a row and its number are there once.
//! DataFusion 55 takes or leaves all copies of a row (apache/datafusion#12955, #12956).

use super::plain::plain_query;
use crate::base::error::Error;
use crate::sql::base::syntax::quoted;
use sqlparser::ast::{SetExpr, SetOperator, SetQuantifier, TableFactor};

/// Whether an operation counts copies.
pub(crate) fn counts(op: SetOperator, quantifier: SetQuantifier) -> bool {
    op != SetOperator::Union && quantifier == SetQuantifier::All
}

/// Rewrites such an operation, whose columns have these names.
pub(crate) fn numbered(operation: &mut SetExpr, names: &[&str]) -> Result<(), Error> {
    let columns = names.iter().map(|name| quoted(name).to_string()).collect::<Vec<_>>().join(", ");
    let SetExpr::SetOperation { left, set_quantifier, right, .. } = operation else { return Ok(()) };
    *set_quantifier = SetQuantifier::None;
    for side in [left, right] {
        let copy = format!("row_number() over (partition by {columns} order by {columns}) as \"copy:\"");
        around(side, &format!("select {columns}, {copy} from (select 1) as \"rows:\" ({columns})"))?;
    }
    // An alias keeps the column apart from its table, which DataFusion would look for in `order by`.
    let named = names.iter().map(|name| format!("{0} as {0}", quoted(name))).collect::<Vec<_>>().join(", ");
    around(operation, &format!("select {named} from (select 1) as \"rows:\""))
}

/// Puts a query in the place of the first table of another one.
fn around(query: &mut SetExpr, outer: &str) -> Result<(), Error> {
    let SetExpr::Select(mut select) = *plain_query(outer)?.body else { return Ok(()) };
    if let Some(TableFactor::Derived { subquery, .. }) = select.from.first_mut().map(|table| &mut table.relation) {
        std::mem::swap(&mut *subquery.body, query);
    }
    *query = SetExpr::Select(select);
    Ok(())
}

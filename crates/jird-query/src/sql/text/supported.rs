//! Refuses clauses that the parser accepts and DataFusion would silently ignore.

use crate::base::error::Error;
use sqlparser::ast::{Query, Select, SetQuantifier, TableFactor};

/// Refuses clauses of a query that would be ignored.
pub(crate) fn query(query: &Query) -> Result<(), Error> {
    let Query { fetch, locks, for_clause, settings, format_clause, pipe_operators, .. } = query;
    debug_assert!(fetch.is_none(), "`fetch` is `limit` by now");
    refuse(!locks.is_empty() || for_clause.is_some(), "`for`")?;
    refuse(settings.is_some(), "`settings`")?;
    refuse(format_clause.is_some(), "`format`: use --format")?;
    refuse(!pipe_operators.is_empty(), "`|>`")
}

/// Refuses set operations by the names of columns.
pub(crate) fn set_operation(quantifier: SetQuantifier) -> Result<(), Error> {
    use SetQuantifier::{AllByName, ByName, DistinctByName};
    refuse(matches!(quantifier, AllByName | ByName | DistinctByName), "`by name`")
}

/// Refuses clauses of a `select` that would be ignored.
pub(crate) fn select(select: &Select) -> Result<(), Error> {
    refuse(select.top.is_some(), "`top`: write `limit`")?;
    refuse(select.into.is_some(), "`into`: use --output")?;
    refuse(select.prewhere.is_some(), "`prewhere`")?;
    refuse(select.exclude.is_some(), "`exclude`: name the columns")?;
    refuse(!select.lateral_views.is_empty(), "`lateral view`")?;
    refuse(!select.connect_by.is_empty(), "`connect by`")?;
    refuse(!select.cluster_by.is_empty() || !select.distribute_by.is_empty(), "`cluster by`")?;
    refuse(!select.sort_by.is_empty(), "`sort by`: write `order by`")?;
    refuse(select.value_table_mode.is_some(), "`as struct`")
}

/// Refuses options after a table's name.
pub(crate) fn table(table: &TableFactor) -> Result<(), Error> {
    let TableFactor::Table { with_hints, version, with_ordinality, partitions, json_path, index_hints, .. } = table
    else {
        return Ok(());
    };
    let plain = with_hints.is_empty()
        && version.is_none()
        && !with_ordinality
        && partitions.is_empty()
        && json_path.is_none()
        && index_hints.is_empty();
    refuse(!plain, "what stands behind the table's name")
}

fn refuse(is_there: bool, what: &str) -> Result<(), Error> {
    if is_there { Err(Error::sql(format!("not supported: {what}"))) } else { Ok(()) }
}

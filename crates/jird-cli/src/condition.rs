//! `--where`: conditions in SQL, which a program without `query` does not read.

use anyhow::Result;
use jird::hooks::event::Condition;

/// Reads the condition.
#[cfg(feature = "query")]
pub(crate) fn read(sql: &str) -> Result<Condition> {
    Ok(jird_query::condition(sql)?)
}

/// Says where such a program can be had.
#[cfg(not(feature = "query"))]
pub(crate) fn read(_: &str) -> Result<Condition> {
    Err(crate::outcome::absent("SQL, which --where is in,", "query"))
}

//! A query, from its text to the text of its result.
//!
//! ```text
//! query     the steps from text to result; what it asks for besides rows (query/answer, facts)
//! direct    a rewritten query that one scan answers
//! execute   any other one: planned and started (bounds: what it may take); no_engine without the feature `sql`
//! results   the batches of either, as they become the text of a result
//! live      filters that pass each hit on at once
//! ```

mod bounds;
mod direct;
#[cfg_attr(not(feature = "sql"), path = "no_engine.rs")]
mod execute;
mod facts;
#[cfg(feature = "sql")]
mod live;
mod query;
mod results;

pub use query::Query;

//! A query, from its text to the text of its result.
//!
//! ```text
//! query     the steps from text to result; what it asks for besides rows (query/answer, facts)
//! execute   one run of a rewritten query: planned, started, written
//! live      filters that pass each hit on at once
//! ```

mod execute;
mod facts;
mod live;
mod query;

pub use query::Query;

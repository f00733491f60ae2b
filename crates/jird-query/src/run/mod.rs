//! A query, from its text to the text of its result.

mod execute;
mod facts;
mod live;
mod query;

pub use query::Query;

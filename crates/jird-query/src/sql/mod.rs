//! From the SQL as written to SQL over scanned columns.
//!
//! A table has no fixed schema: its columns are the fields that the query names. The rewrite resolves every name of the
//! parsed SQL to a path in a source, and replaces it by a column of one of five [representations](Rep), chosen by what is
//! done with it. Comparisons become calls of our own predicates over raw JSON text, so that no coercion ever touches them.

mod chain;
mod expr;
mod from;
mod group;
mod items;
mod literal;
mod names;
mod order;
mod parse;
mod predicate;
mod required;
mod scope;
mod select;
mod supported;
mod uses;

pub(crate) use parse::{Parsed, parse};
pub use predicate::condition;
pub(crate) use select::rewrite;
pub(crate) use uses::{
    JSON_TEXT, Leaf, Need, NeedKind, Output, OutputKind, Rep, Rewritten, SORT_KEY, STREAM, SUM_ARGUMENT, SourceUse,
    Style,
};

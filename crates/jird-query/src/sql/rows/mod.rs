//! Rows: queries, and their clauses, from a query in plain form to one over columns that DataFusion plans.

mod from;
mod group;
mod items;
mod order;
pub(crate) mod query;
mod select;
mod shaped;
mod state;
mod unnest;

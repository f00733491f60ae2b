//! What a query means.

mod decimal;
mod eval;
mod logic;
mod query;
mod rows;
mod run;
mod value;

pub(crate) use query::{Aggregate, Condition, Item, Literal, Operand, Order, Query, Step};
pub(crate) use run::{Folder, Way, ways};
pub(crate) use value::{Json, Value, records};

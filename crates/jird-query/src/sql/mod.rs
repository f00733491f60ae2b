//! Rewrites SQL as the user writes it to SQL over scanned columns.
//!
//! A table has no fixed schema: its columns are the fields that the query names. The rewrite resolves every name to a
//! path in a source, and replaces it by a column in one of five [representations](Rep), which depends on how the query
//! uses the field. Comparisons become calls of our own predicates over raw JSON text, so no type coercion affects them.

mod base;
mod resolve;
mod rows;
mod text;
mod values;

pub(crate) use base::functions::*;
pub(crate) use base::syntax::{arguments, function_name};
pub use resolve::predicate::condition;
pub(crate) use resolve::required_keys::{each_slot, map_slots};
pub(crate) use resolve::resolver::{FieldKnowledge, Records};
pub(crate) use resolve::uses::{
    KindOfValues, Leaf, Narrowed, Need, NeedKind, Output, OutputKind, Rep, Rewritten, SourceUse, Style,
};
pub(crate) use rows::query::rewrite;
pub use text::copy::CopyTo;
pub(crate) use text::copy::HIDDEN;
pub(crate) use text::depth::check_text as check_served_text;
pub(crate) use text::parse::{Parsed, Purpose, SUMMARIZED, parse};
pub(crate) use text::served::check as check_served;
pub(crate) use text::twice::names_twice;

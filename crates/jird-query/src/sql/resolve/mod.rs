//! Names: which field or column each one means, what is known of its values, and which conditions on fields the engine
//! decides alone. In goes a name or a condition as it is written, out come a column and notes of what is read.

pub(crate) mod columns;
pub(crate) mod grouped;
pub(crate) mod kinds;
pub(crate) mod predicate;
mod required;
pub(crate) mod required_keys;
pub(crate) mod resolver;
pub(crate) mod scope;
pub(crate) mod uses;

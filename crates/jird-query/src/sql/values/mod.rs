//! Values: each expression becomes one over columns, and its form is known. One file for each kind of expression.

mod alike;
mod arrays;
mod building;
mod calls;
mod collect;
mod condition;
mod exists;
mod expr;
mod member;
mod times;
pub(crate) mod walk;

pub(crate) use exists::count_exists;

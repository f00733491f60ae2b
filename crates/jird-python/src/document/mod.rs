//! Lazy documents: a text that was checked whole, whose values are made on demand.

mod numbers;
mod value;

pub(crate) use value::{Document, Iter, parse};

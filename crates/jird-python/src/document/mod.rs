//! Lazy documents: a text that was checked whole, whose values are made when somebody asks for them.

mod numbers;
mod value;

pub(crate) use value::{Document, Iter, parse};

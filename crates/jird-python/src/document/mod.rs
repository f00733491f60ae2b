//! Lazy documents: a text that was checked whole, whose values are made on demand; and documents that are still arriving.

mod numbers;
mod partial;
mod value;

pub(crate) use partial::Partial;
pub(crate) use value::{Document, Iter, parse};

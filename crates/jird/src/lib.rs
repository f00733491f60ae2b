//! Finds and reads JSON.
mod number;
pub use number::Number;

//! Finds and reads JSON.
mod number;
mod text;
pub use number::Number;

//! Errors: those of `serde_json`, so that a function may meet both crates' with one type.

pub use serde_json::error::{Category, Error, Result};

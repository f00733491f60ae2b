//! Rust types ⇄ JSON, through serde's traits: what [`crate::Error`] is to them.

mod error;

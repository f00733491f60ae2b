//! Rust types ⇄ JSON, through serde's traits: what [`crate::Error`] is to them.

mod error;
mod ser;

pub use ser::{
    Compact, Pretty, Serializer, to_string, to_string_canonical, to_string_pretty, to_vec, to_vec_canonical, to_vec_in,
    to_vec_pretty, to_writer, to_writer_pretty,
};

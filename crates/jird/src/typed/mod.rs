//! Rust types ⇄ JSON, through serde's traits.

pub mod base64;
pub(crate) mod de;
mod error;
#[cfg(doctest)]
mod lifetimes;
mod raw;
mod ser;

pub use raw::NumberBuf;
pub use ser::{
    Compact, Pretty, Serializer, to_string, to_string_canonical, to_string_pretty, to_vec, to_vec_canonical, to_vec_in,
    to_vec_pretty, to_writer, to_writer_pretty,
};

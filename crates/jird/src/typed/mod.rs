//! Rust types ⇄ JSON, through serde's traits.

pub(crate) mod de;
mod error;
mod raw;

pub use raw::NumberBuf;

/// The name of a newtype struct whose content is a `str` that is JSON text: read and written as it stands.
pub(crate) const RAW_TEXT: &str = "$jird::private::RawText";

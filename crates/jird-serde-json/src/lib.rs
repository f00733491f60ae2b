//! `serde_json` by one line in `Cargo.toml`:
//!
//! ```toml
//! serde_json = { package = "jird-serde-json", version = "0.1" }
//! ```
//!
//! All names and paths of `serde_json` are here. Texts are read and written by the engine of the crate `jird`, and every
//! number keeps its digits. What differs stands in [Coming from `serde_json`].
//!
//! [Coming from `serde_json`]: https://github.com/jird/jird/blob/main/docs/coming-from-serde_json.md
//!
//! ```text
//! error      the errors of serde_json
//! de, ser    read and write: functions over the engine; deserializers, serializers and formatters of serde_json
//! tree       the tree, its objects and numbers; conversions of types to it and from it
//! plain      how trees are read from serde_json's deserializers
//! macros     json!
//! ```
#![forbid(unsafe_code)]
#![allow(clippy::cast_precision_loss, reason = "an integer as an `f64` is what is asked for")]

mod macros;

pub mod de;
pub mod error;
mod plain;
pub mod ser;
mod tree;

pub use tree::map;

/// The tree of any JSON, and conversions of types to it and from it.
pub mod value {
    pub use crate::tree::{
        Index, Map, Number, RawValue, Serializer, Value, from_value, to_raw_value, to_value,
    };
}

#[doc(inline)]
pub use crate::de::{Deserializer, StreamDeserializer, from_reader, from_slice, from_str};
#[doc(inline)]
pub use crate::error::{Error, Result};
#[doc(inline)]
pub use crate::ser::{Serializer, to_string, to_string_pretty, to_vec, to_vec_pretty, to_writer, to_writer_pretty};
#[doc(inline)]
pub use crate::tree::{Map, Number, Value, from_value, to_value};

/// What the macros use.
#[doc(hidden)]
pub mod __private {
    pub use std::vec;
}

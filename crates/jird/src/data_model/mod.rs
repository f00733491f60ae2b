//! JSON in serde's data model: the code that all serializers and deserializers of this crate share, whether they read
//! and write text or events.

mod buffered;
mod container;
mod key;
mod map_key;
mod node;
mod number;
mod raw;
mod raw_access;
mod refusals;

pub use crate::number::Decimal;
pub use buffered::{BufferedFloat, buffered_float};
pub(crate) use buffered::{Buffers, Filler, TreeScope, is_buffer, tree};
pub(crate) use container::{Container, Open, containers};
pub(crate) use key::{KeyDeserializer, KeyText, TreeKey};
pub(crate) use map_key::{KeySerializer, MapKey};
pub(crate) use node::{Children, Digits, Leaf, Node, NodeDeserializer};
pub(crate) use number::Number;
pub(crate) use raw::{Exact, Raw, RawText};
pub(crate) use raw_access::{
    NumberTextVisitor, RawField, RawTextVisitor, is_serde_json, keeps_raw_text, serialize_raw_text,
};
pub(crate) use refusals::{compounds, refusals};

/// The name of a newtype struct, and of a struct with one field of this name, whose content is a `str` of JSON text,
/// which is read and written as it is. It is the name that `serde_json` has for its raw values, so that both crates read
/// and write each other's.
pub const RAW_TEXT: &str = "$serde_json::private::RawValue";

/// The name of a newtype struct whose visitor takes numbers with all of their digits. An integer of 64 bits comes as one,
/// a [`Decimal`] of up to 19 digits through `visit_u128`, any other number, and any number from some deserializers, as its text
/// through `visit_bytes`. Anything else is visited as `deserialize_any` does.
pub const EXACT_NUMBERS: &str = "$jird::private::ExactNumbers";

/// As [`EXACT_NUMBERS`]; a number that is infinite as an `f64` comes as its text, too, and is not refused.
pub const ALL_NUMBERS: &str = "$jird::private::AllNumbers";

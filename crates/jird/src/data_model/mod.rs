//! JSON in serde's data model: the code that all serializers and deserializers of this crate share, whether they read
//! and write text or events.

mod container;
mod key;
mod map_key;
mod node;
mod number;
mod raw;
mod refusals;

pub(crate) use container::{Container, Open, containers};
pub(crate) use key::{KeyDeserializer, KeyText, TreeKey};
pub(crate) use map_key::{KeySerializer, MapKey};
pub(crate) use node::{Children, Digits, Leaf, Node, NodeDeserializer};
pub(crate) use number::Number;
pub(crate) use raw::{Exact, Raw, RawText};
pub(crate) use refusals::{compounds, refusals};

/// The name of a newtype struct whose content is a `str` of JSON text, which is read and written as it is.
pub(crate) const RAW_TEXT: &str = "$jird::private::RawText";

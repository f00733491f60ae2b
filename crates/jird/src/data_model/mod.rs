//! JSON in serde's data model: what every serializer and deserializer of this crate shares, whether it reads and writes text or events.

mod number;
mod raw;
mod refusals;

pub(crate) use number::Number;
pub(crate) use raw::{Exact, Raw, RawText};
pub(crate) use refusals::{compounds, refusals};

/// The name of a newtype struct whose content is a `str` that is JSON text: read and written as it stands.
pub(crate) const RAW_TEXT: &str = "$jird::private::RawText";

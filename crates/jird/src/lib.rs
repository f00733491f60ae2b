//! Reads, queries and writes JSON at the speed of the memory it lies in.
#![deny(unsafe_code)]

mod error;
mod fault;
mod kernel;
mod layout;
pub mod lines;
mod locate;
mod number;
mod path;
mod policy;
mod record;
mod scan;
mod tape;
mod text;
#[cfg(feature = "serde")]
mod typed;
mod walk;

#[cfg(feature = "json")]
pub use serde_json::{Value as Json, json};

pub use error::{Category, Error, Located};
pub use fault::ErrorKind;
pub use kernel::{Kernel, UnknownKernel};
pub use layout::{Layout, format, minify};
pub use number::{MachineNumber, Number};
pub use path::{Path, Step};
pub use policy::{DEPTH_MAX, Duplicates, Numbers, Policy};
pub use record::{Comparison, Field, Like, Literal, Matcher, Mismatches, Predicate, Projection, Record, RecordBuffer};
#[doc(hidden)]
pub use tape::Technique;
pub use tape::{Descendants, Document, Elements, Entries, Kind, Parser, Value, parse, validate};
#[cfg(feature = "serde")]
pub use text::RawValue;
#[cfg(feature = "serde")]
pub use typed::de::{
    Deserializer, IoRead, Read, SliceRead, StreamDeserializer, TYPED_DEPTH_MAX, ValueDeserializer, from_reader,
    from_slice, from_str,
};
#[cfg(feature = "serde")]
pub use typed::{
    Compact, NumberBuf, Pretty, Serializer, to_string, to_string_canonical, to_string_pretty, to_vec, to_vec_canonical,
    to_vec_in, to_vec_pretty, to_writer, to_writer_pretty,
};
#[doc(hidden)]
pub use walk::scan_only;

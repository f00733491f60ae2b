//! Reads, queries and writes JSON at the speed of the memory it lies in: `&[u8]` in, no padding, no build flags, everything
//! checked, every number exact.
//!
//! | you have, or want | take |
//! |---|---|
//! | a document, and values of it in any order | [`parse`], [`Parser`], [`Value`] |
//! | to know whether it is JSON, or its text without white space | [`validate`], [`Parser::minify`], [`format()`] |
//! | Rust types with serde's traits | [`from_slice`], [`to_vec`] and their kin, as in `serde_json` |
//! | lines of JSON, on all cores | [`lines`], [`Projection`], [`Predicate`] |
//! | one record after the other | [`Record`] |
//!
//! ```
//! let document = jird::parse(br#"{"name": "jird", "legs": [1, 2, 3, 4]}"#)?;
//! let mut entries = document.root().entries();
//! assert_eq!(entries.seek("name").and_then(|name| name.as_str()).as_deref(), Some("jird"));
//! assert_eq!(entries.seek("legs").map(|legs| legs.len()), Some(4));
//! # Ok::<(), jird::Error>(())
//! ```
//!
//! Other formats become JSON and JSON becomes them through serde's traits, straight from a document or by way of any tree:
//!
//! ```
//! let text = r#"{"name":"jird","legs":[1,2,3,4],"weight":62.5}"#;
//! let mut cbor = Vec::new();
//! ciborium::into_writer(&jird::parse(text.as_bytes())?, &mut cbor)?;
//! let tree: ciborium::Value = ciborium::from_reader(&cbor[..])?;
//! assert_eq!(jird::to_string(&tree)?, text);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A text is checked whole when it is parsed: UTF-8, grammar, escapes, numbers. Strings are unescaped and numbers converted when
//! somebody asks, so that reading a few values costs little more than finding where they are. Functions called `*_trusted` check
//! less and are safe all the same. [`Error`] says which rule was broken and where.
#![deny(unsafe_code)]

#[cfg(feature = "serde")]
mod data_model;
mod encoding;
mod error;
pub mod event;
mod fault;
mod kernel;
mod layout;
mod limits;
pub mod lines;
mod locate;
mod number;
mod path;
mod policy;
mod record;
mod scan;
mod tape;
mod text;
#[cfg(feature = "parallel")]
mod threads;
#[cfg(feature = "serde")]
mod typed;
mod walk;
mod word;

#[cfg(feature = "json")]
pub use serde_json::{Value as Json, json};

#[cfg(feature = "serde")]
pub use typed::base64;

pub use encoding::{Encoding, encoding_of};
pub use error::{Category, Error};
pub use fault::ErrorKind;
pub use kernel::{Kernel, UnknownKernel};
pub use layout::{Layout, format, minify};
pub use locate::Located;
pub use number::{MachineNumber, Number};
pub use path::{Path, Step};
#[cfg(feature = "serde")]
pub use policy::TYPED_DEPTH_MAX;
pub use policy::{DEPTH_MAX, Duplicates, Numbers, Policy};
pub use record::{Comparison, Field, Like, Literal, Matcher, Mismatches, Predicate, Projection, Record, RecordBuffer};
pub use scan::{IoRead, Read, SliceRead, Trusted};
#[doc(hidden)]
pub use tape::Technique;
pub use tape::{Descendants, Document, Elements, Entries, Kind, Parser, Value, parse, validate};
#[cfg(feature = "serde")]
pub use text::RawValue;
#[cfg(feature = "serde")]
pub use typed::de::{Deserializer, Records, StreamDeserializer, ValueDeserializer, from_reader, from_slice, from_str};
#[cfg(feature = "serde")]
pub use typed::{
    Compact, NumberBuf, Pretty, Serializer, to_string, to_string_canonical, to_string_pretty, to_vec, to_vec_canonical,
    to_vec_in, to_vec_pretty, to_writer, to_writer_pretty,
};
#[doc(hidden)]
pub use walk::scan_only;

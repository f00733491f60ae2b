//! Reads, queries and writes JSON at the speed of the memory it lies in: `&[u8]` in, no padding, no build flags, everything
//! checked, every number exact.
//!
//! | you have, or want | take |
//! |---|---|
//! | a document, and values of it in any order | [`parse`], [`Parser`], [`Value`] |
//! | the values that a query of JSONPath finds (feature `jsonpath`) | `JsonPath` |
//! | to know whether it is JSON, or its text without white space | [`validate`], [`Parser::minify`], [`format()`] |
//! | to edit a document and keep the bytes of the rest | [`edit`], with [`edit::DocumentMut`] |
//! | JSON Patch, merge patches, differences of two documents | [`patch`] |
//! | to read JSON with comments, JSON5 and other text that is almost JSON | [`lenient`] |
//! | Rust types with serde's traits | [`from_slice`], [`to_vec`] and their kin, as in `serde_json` |
//! | a few fields of each of many lines | [`lines`], with a [`record::Projection`] and a [`record::Predicate`] |
//! | a few fields of one record after the other | [`record::Record`] |
//! | records as a stream: to JSON, rows, types, another format; filtered on the way; pushed in pieces | [`event`] |
//! | the value so far of a document that is still arriving, or was cut short | [`partial`] |
//!
//! **Which reader of NDJSON?** [`lines::Scanner`] where few fields or few lines are wanted: it looks at raw text first and builds
//! nothing. [`lines::typed`] for a type per line, on all cores. [`Deserializer::records`](de::Deserializer::records) for a type per
//! record with an exact place in each error, and after a bad line the next; [`Deserializer::into_iter`](de::Deserializer) where
//! code written for `serde_json` expects it. [`event::JsonSource`] where records go on to a sink.
//!
//! **Which number type?** [`Number`] is the text of a number, borrowed and exact; [`NumberBuf`] the same, owned, for fields of
//! types that keep every digit; [`MachineNumber`](value::MachineNumber) what a machine computes with: an `i64`, a `u64` or the
//! nearest `f64`. A field of type `i64` or `f64` needs none of them.
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
//! A text is checked whole when it is parsed: UTF-8, grammar, escapes, numbers. Strings are unescaped and numbers
//! converted on demand, so that reading a few values costs little more than finding where they are. Functions called
//! `*_trusted` check less and are safe all the same. [`Error`] says which rule was broken and where.
//!
//! # The source, from the ground up
//!
//! For contributors. Each folder or file uses only those above it. After the dash: where to start reading.
//!
//! ```text
//! limits      how large a document can be, and what fits into a word of the tape - SIZE_MAX
//! policy      limits and refusals that the caller chooses - Policy
//! fault       an error inside the engine, in two words: the broken rule and the offset - Fault
//! word        one word of the tape - Word
//! encoding    byte order marks, and encodings other than UTF-8 - Encoding
//! message     how messages name a place in a text: JSON Pointers, offsets, printable text - At
//! path        the paths of projections - Path
//! error       the error that users see - Error
//! threads     jobs on several threads, results in order - hooks::lines::in_order
//! kernel      block operations for each instruction set, their proof tokens, and the choice - Kernel, Pass, Simd
//! number      digits ⇄ numbers - Number, MachineNumber
//! text        escapes ⇄ strings, and the writer of both - Writer, RawValue
//! locate      line, column, path and excerpt of an error - Located
//! scan        pass one: bytes → tokens, in chunks that stay in cache; the readers of text - Tokens, Pull
//! walk        both passes over a document's chunks; the token-by-token walk, for what masks refuse - Walk, Visitor
//! tape        pass two of documents, also on several threads; short texts in one pass (small); the cursor over a
//!             document - Parser, Document, Value
//! record      a few fields of one record; projections, predicates; the grammar of lines - Projection, FieldReader
//! jsonpath    queries of JSONPath: parsed, over trees and over text - JsonPath
//! layout      the same text with other white space: minified, indented, canonical - Layout
//! lenient     comments, trailing commas, JSON5: into strict JSON - to_strict, Front
//! edit        documents that can be edited, and keep the bytes of all else - DocumentMut, Overlay
//! patch       JSON Patch, merge patches, differences - Patch, diff
//! data_model  JSON in serde's data model, for text, trees and events alike - Node, Raw
//! event       sources, sinks and filters of events; the table of keys - Source, Sink
//! typed       serde's Deserializer, which pulls tokens, and Serializer - Deserializer, Serializer
//! partial     documents that are still arriving, byte by byte; texts that were cut short - PartialDocument, Machine
//! lines       NDJSON: cut at newlines, searched, checked with masks, read on several cores - Scanner, drive
//! hooks       what the crates built on jird use; it may change with every version
//! ```
//!
//! An algorithm on blocks of 64 bytes is a `Pass`: a value with the input, and a method that is generic over
//! `Simd`. `Kernel::enter` runs it, compiled for the instruction set in use. A pass lives in the folder that it
//! belongs to; `kernel` knows nothing of the rest, except for the limits and the layout of a tape word. These are
//! the passes:
//!
//! ```text
//! scan    pass one (pass), then its checks of escapes and numbers (escapes, numbers); removal of white space (compact)
//! tape    pass two of documents (structure); brackets without partners (unpaired)
//! lines   the search for needles (search)
//! record  the grammar of lines (grammar); wanted fields, by masks of tokens (select/skim) or of bytes (select/sweep;
//!         at any depth select/levels); those of each element of an array (select/elements)
//! text    escaping (escape)
//! ```
#![deny(unsafe_code)]
#![warn(clippy::missing_errors_doc)]

#[cfg(feature = "serde")]
mod data_model;
pub mod edit;
mod encoding;
mod error;
pub mod event;
mod fault;
#[doc(hidden)]
pub mod hooks;
#[cfg(feature = "jsonpath")]
pub mod jsonpath;
mod kernel;
mod layout;
pub mod lenient;
mod limits;
pub mod lines;
mod locate;
mod message;
mod number;
pub mod partial;
pub mod patch;
mod path;
pub mod policy;
pub mod record;
mod scan;
mod tape;
mod text;
#[cfg(feature = "parallel")]
mod threads;
#[cfg(feature = "serde")]
mod typed;
mod walk;
mod word;

/// Decoding: sources of text, and what decodes it. The names are those of `serde_json::de`, as far as that has them.
pub mod de {
    pub use crate::scan::{IoRead, Read, SliceRead, Trusted};
    #[cfg(feature = "serde")]
    pub use crate::typed::de::{
        Deserializer, Records, StreamDeserializer, ValueDeserializer, from_reader, from_slice, from_str,
    };
}

/// Encoding: layouts, and what encodes. The names are those of `serde_json::ser`, as far as that has them.
#[cfg(feature = "serde")]
pub mod ser {
    pub use crate::typed::{
        Compact, Pretty, Serializer, to_string, to_string_canonical, to_string_pretty, to_vec, to_vec_canonical,
        to_vec_in, to_vec_pretty, to_writer, to_writer_pretty,
    };
}

/// Parts of values: the iterators that [`Value`] returns, and numbers in a machine's types.
pub mod value {
    pub use crate::number::MachineNumber;
    pub use crate::tape::{Descendants, Elements, Entries};
}

#[cfg(feature = "json")]
pub use serde_json::{Value as Json, json};

#[cfg(feature = "serde")]
pub use typed::base64;

pub use encoding::Encoding;
pub use error::{Category, Error};
pub use fault::ErrorKind;
#[cfg(feature = "jsonpath")]
pub use jsonpath::JsonPath;
pub use layout::{Layout, format, minify};
pub use locate::Located;
pub use number::Number;
pub use path::Path;
pub use tape::{Document, Kind, Parser, Value, parse, validate};
#[cfg(feature = "serde")]
pub use text::RawValue;
#[cfg(feature = "serde")]
pub use typed::NumberBuf;
#[cfg(feature = "serde")]
pub use typed::de::{Deserializer, from_reader, from_slice, from_str};
#[cfg(feature = "serde")]
pub use typed::{Serializer, to_string, to_string_pretty, to_vec, to_vec_pretty, to_writer, to_writer_pretty};

/// The Rust examples of README.md, which run as doctests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

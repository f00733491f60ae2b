//! Documents that can be edited: every byte of what is not edited stays as it is, and numbers stay exact.
//!
//! | you have, or want | take |
//! |---|---|
//! | to edit a document: set, insert, remove, rename, move, copy | [`DocumentMut`] |
//! | to read it in between | [`DocumentMut::root`], [`DocumentMut::pointer`], [`EditedValue`] |
//! | patches, and what differs between two documents | [`patch`](crate::patch) |
//!
#![cfg_attr(feature = "serde", doc = "```")]
#![cfg_attr(not(feature = "serde"), doc = "```ignore")]
//! use jird::edit::DocumentMut;
//! let mut settings = DocumentMut::parse(b"{ \"scale\": 1.50,  \"name\": \"caf\\u00e9\" }")?;
//! settings.set("/window", [640, 480])?;
//! settings.set("/window/0", 800)?;
//! assert_eq!(settings.pointer("/name").and_then(|name| name.as_str()).as_deref(), Some("café"));
//! let wanted = "{ \"scale\": 1.50,  \"name\": \"caf\\u00e9\",  \"window\": [800,480] }";
//! assert_eq!(settings.to_string()?, wanted);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # The source, from the ground up
//!
//! ```text
//! error       why an edit was refused             pointer     paths, step by step
//! texts       the texts that values come from     content     a value of the edited document
//! sequence    elements, by position               array       an array that is edited
//! object      an object that is edited            overlay     edits over a tape
//! style       the layout of what is new           write       the edited text
//! read        values of the edited document       children    their members and elements
//! document    the document that is edited
//! ```

mod array;
mod children;
mod content;
mod document;
mod error;
mod object;
mod overlay;
mod pointer;
mod read;
mod sequence;
mod style;
mod texts;
mod write;

pub use children::{EditedElements, EditedEntries};
pub(crate) use content::Content;
pub use document::DocumentMut;
pub(crate) use error::shown;
pub use error::{EditError, EditErrorKind};
pub(crate) use object::Member;
pub(crate) use overlay::{Edits, Location};
pub(crate) use pointer::Pointer;
pub use read::EditedValue;
pub(crate) use texts::{Leaf, utf8};

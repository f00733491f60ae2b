//! Documents that are still arriving, or were cut short: their value so far.
//!
//! A [`PartialDocument`] takes its text in pieces, cut anywhere, and a [`Snapshot`] is the value so far. It is a [`Value`] like
//! that of any other document, with all of its methods. So it can be navigated, decoded into a type and written as text.
//!
//! ```
//! use jird::partial;
//! let mut document = partial::PartialDocument::new();
//! document.push(br#"{"answer": "It de"#)?;
//! let so_far = document.snapshot().expect("a value has begun");
//! let answer = so_far.root().get("answer").expect("its string has begun");
//! assert_eq!(answer.as_str().as_deref(), Some("It de"));
//! assert!(!so_far.is_complete(answer));
//!
//! document.push(br#"pends", "confidence": 0."#)?;
//! let so_far = document.snapshot().expect("a value has begun");
//! assert_eq!(so_far.text(), r#"{"answer": "It depends"}"#);
//! assert_eq!(so_far.withheld(), r#", "confidence": 0."#);
//!
//! document.push(b"5}")?;
//! document.finish()?;
//! assert!(document.is_complete());
//! # Ok::<(), jird::Error>(())
//! ```
//!
//! # What the value so far is
//!
//! - A **string** is there as far as it has arrived, in whole characters: half an escape, half a surrogate pair and half
//!   a character are withheld. [`PartialDocument::withhold_strings`] withholds strings that are not closed.
//! - A **number** is withheld until a byte follows it, because `12` may be the beginning of `125`. So every number in a
//!   snapshot is one of the text. The same holds for `true`, `false` and `null`.
//! - A **key** is withheld until its value is there, if only in part.
//! - An **object** or **array** is there from its bracket on.
//!
//! In other words: the text is cut after the last of these, and closed. [`Snapshot::text`] is that text, which is valid,
//! and the snapshot's value is what [`parse`](crate::parse) makes of it. [`repair`] is the same for a text that was cut
//! short and will not be continued.
//!
//! # Decoding into a type
//!
//! [`Value::decode`] decodes a snapshot into a type, in time linear in the text so far. Members that have not arrived are
//! missing, so the type needs a default for each, or an `Option`:
//!
//! ```
//! # use serde::Deserialize;
//! #[derive(Deserialize, Default, PartialEq, Debug)]
//! #[serde(default)]
//! struct Answer {
//!     answer: String,
//!     confidence: Option<f64>,
//!     because: Vec<String>,
//! }
//!
//! let mut document = jird::partial::PartialDocument::new();
//! document.push(br#"{"answer": "It depends", "because": ["of the wea"#)?;
//! let so_far: Answer = document.snapshot().expect("a value has begun").root().decode()?;
//! let wanted = Answer { answer: "It depends".into(), confidence: None, because: vec!["of the wea".into()] };
//! assert_eq!(so_far, wanted);
//! # Ok::<(), jird::Error>(())
//! ```
//!
//! # Cost
//!
//! All pieces together take time linear in their bytes, however small they are. A snapshot takes time linear in the
//! number of objects and arrays that are open, whatever the length of the text. Memory holds the text and its tape: 8
//! bytes for each key and scalar, 16 for each object and array.
//!
//! # Errors
//!
//! Nothing is lenient here except for the end: a byte that no JSON text can have there is an error as soon as it arrives,
//! with the kind and the offset that [`parse`](crate::parse) reports. The value before it can still be read.
//!
//! [`Value`]: crate::Value
//! [`Value::decode`]: crate::Value::decode

mod document;
mod machine;
mod number;
mod repair;
mod snapshot;

pub use document::PartialDocument;
pub use repair::{Repair, repair};
pub use snapshot::Snapshot;

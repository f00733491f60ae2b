//! Doctests that must not compile, each next to a similar one that does: values that were decoded or parsed cannot
//! outlive what they borrow from.
//!
//! # Text
//! ```
//! let text = String::from("[\"a\"]");
//! let names: Vec<&str> = jird::from_str(&text)?;
//! assert_eq!(names, ["a"]);
//! drop(text);
//! # Ok::<(), jird::Error>(())
//! ```
//! ```compile_fail,E0505
//! let text = String::from("[\"a\"]");
//! let names: Vec<&str> = jird::from_str(&text)?;
//! drop(text);
//! assert_eq!(names, ["a"]);
//! # Ok::<(), jird::Error>(())
//! ```
//!
//! # A reader, from which nothing can be borrowed
//! ```
//! fn decode<T: serde::de::DeserializeOwned>() -> Result<T, jird::Error> {
//!     jird::from_reader(&b"[\"a\"]"[..])
//! }
//! decode::<Vec<String>>()?;
//! decode::<Vec<Box<jird::RawValue>>>()?;
//! # Ok::<(), jird::Error>(())
//! ```
//! ```compile_fail
//! fn decode<'a>() -> Result<Vec<&'a str>, jird::Error> {
//!     jird::from_reader(&b"[\"a\"]"[..])
//! }
//! ```
//! ```compile_fail
//! fn decode<'a>() -> Result<Vec<&'a jird::RawValue>, jird::Error> {
//!     jird::from_reader(&b"[\"a\"]"[..])
//! }
//! ```
//! Nothing can be borrowed from the lines of a reader either, since their buffers are reused:
//! ```
//! let lines: Vec<Vec<String>> = jird::lines::typed(&b"[\"a\"]"[..]).collect::<Result<_, _>>()?;
//! assert_eq!(lines, [["a"]]);
//! # Ok::<(), jird::Error>(())
//! ```
//! ```compile_fail
//! let lines: Vec<Vec<&str>> = jird::lines::typed(&b"[\"a\"]"[..]).collect::<Result<_, _>>()?;
//! assert_eq!(lines, [["a"]]);
//! # Ok::<(), jird::Error>(())
//! ```
//!
//! # A document and the text that it was parsed from
//! ```
//! let text = b"[\"a\"]".to_vec();
//! let document = jird::parse(&text)?;
//! let names: Vec<&str> = document.decode()?;
//! assert_eq!(names, ["a"]);
//! drop(document);
//! drop(text);
//! # Ok::<(), jird::Error>(())
//! ```
//! ```compile_fail,E0505
//! let text = b"[\"a\"]".to_vec();
//! let document = jird::parse(&text)?;
//! drop(text);
//! document.decode::<Vec<&str>>()?;
//! # Ok::<(), jird::Error>(())
//! ```
//! ```compile_fail,E0505
//! let text = b"[\"a\"]".to_vec();
//! let document = jird::parse(&text)?;
//! let root = document.root();
//! drop(document);
//! root.decode::<Vec<&str>>()?;
//! # Ok::<(), jird::Error>(())
//! ```
//! ```compile_fail,E0505
//! let text = b"[\"a\"]".to_vec();
//! let document = jird::parse(&text)?;
//! let names: Vec<&str> = document.decode()?;
//! drop(document);
//! assert_eq!(names, ["a"]);
//! # Ok::<(), jird::Error>(())
//! ```
//!
//! # The value of a parser, and the parser's next text
//! ```
//! let mut parser = jird::Parser::new();
//! let first = parser.parse(b"[\"a\"]")?;
//! assert_eq!(first.decode::<Vec<&str>>()?, ["a"]);
//! let second = parser.parse(b"[\"b\"]")?;
//! assert_eq!(second.decode::<Vec<&str>>()?, ["b"]);
//! # Ok::<(), jird::Error>(())
//! ```
//! ```compile_fail,E0499
//! let mut parser = jird::Parser::new();
//! let first = parser.parse(b"[\"a\"]")?;
//! let second = parser.parse(b"[\"b\"]")?;
//! assert_eq!(first.decode::<Vec<&str>>()?, ["a"]);
//! assert_eq!(second.decode::<Vec<&str>>()?, ["b"]);
//! # Ok::<(), jird::Error>(())
//! ```
//!
//! # A record, its text, and the next record
//! ```
//! let mut buffer = jird::record::RecordBuffer::new();
//! let text = b"[\"a\"]".to_vec();
//! let first = jird::record::Record::scan(&text, &mut buffer)?;
//! assert_eq!(first.decode::<Vec<&str>>()?, ["a"]);
//! let second = jird::record::Record::scan(&text, &mut buffer)?;
//! assert_eq!(second.decode::<Vec<&str>>()?, ["a"]);
//! drop(text);
//! # Ok::<(), jird::Error>(())
//! ```
//! ```compile_fail,E0499
//! let mut buffer = jird::record::RecordBuffer::new();
//! let text = b"[\"a\"]".to_vec();
//! let first = jird::record::Record::scan(&text, &mut buffer)?;
//! let second = jird::record::Record::scan(&text, &mut buffer)?;
//! assert_eq!(first.decode::<Vec<&str>>()?, ["a"]);
//! # Ok::<(), jird::Error>(())
//! ```
//! ```compile_fail,E0505
//! let mut buffer = jird::record::RecordBuffer::new();
//! let text = b"[\"a\"]".to_vec();
//! let first = jird::record::Record::scan(&text, &mut buffer)?;
//! drop(text);
//! assert_eq!(first.decode::<Vec<&str>>()?, ["a"]);
//! # Ok::<(), jird::Error>(())
//! ```
//!
//! # A serializer with an open container, and a container that has ended
//! ```
//! use serde::ser::{Serialize, SerializeSeq, Serializer};
//! let mut serializer = jird::Serializer::new(Vec::new());
//! let mut list = serializer.serialize_seq(None)?;
//! list.serialize_element(&1)?;
//! list.end()?;
//! 2.serialize(&mut serializer)?;
//! assert_eq!(serializer.into_inner(), b"[1]2");
//! # Ok::<(), jird::Error>(())
//! ```
//! ```compile_fail,E0499
//! use serde::ser::{Serialize, SerializeSeq, Serializer};
//! let mut serializer = jird::Serializer::new(Vec::new());
//! let mut list = serializer.serialize_seq(None)?;
//! 2.serialize(&mut serializer)?;
//! list.end()?;
//! # Ok::<(), jird::Error>(())
//! ```
//! ```compile_fail,E0382
//! use serde::ser::{Serialize, SerializeSeq, Serializer};
//! let mut serializer = jird::Serializer::new(Vec::new());
//! let mut list = serializer.serialize_seq(None)?;
//! list.end()?;
//! list.serialize_element(&1)?;
//! # Ok::<(), jird::Error>(())
//! ```

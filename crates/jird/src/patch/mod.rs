//! Edits of documents that keep every byte of what is not edited: JSON Patch (RFC 6902), JSON Merge Patch (RFC 7396), single
//! edits by JSON Pointer (RFC 6901), and the difference of two documents.
//!
//! | you have, or want | take |
//! |---|---|
//! | a document and a patch, once | [`apply`], [`merge`] |
//! | one edit | [`set`], [`remove`] |
//! | several edits, or one patch for many documents | [`Editor`], with [`Patch`] and [`MergePatch`] |
//! | what differs between two documents, for people or as a patch | [`diff`] |
//! | whether two values are equal | [`are_equal`] |
//!
//! ```
//! let text = b"{ \"price\": 1.50,  \"name\": \"caf\\u00e9\" }";
//! let patch = br#"[{"op": "add", "path": "/tags", "value": ["new"]}]"#;
//! let edited = jird::patch::apply(text, patch)?;
//! assert_eq!(edited, b"{ \"price\": 1.50,  \"name\": \"caf\\u00e9\",  \"tags\": [\"new\"] }");
//! # Ok::<(), jird::patch::PatchError>(())
//! ```
//!
//! # The source, from the ground up
//!
//! ```text
//! error       why a patch was refused             pointer     paths, step by step
//! texts       the texts that values come from     content     a value of the edited document
//! sequence    the elements of an edited array     array, object   the edits of a container
//! style       the layout of a container           write       the edited text
//! equal       equality                            operation   patches, read and checked
//! editor      edits over a tape                   merge       merge patches
//! diff        the difference of two documents
//! ```

mod array;
mod content;
mod diff;
mod editor;
mod equal;
mod error;
mod merge;
mod object;
mod operation;
mod pointer;
mod sequence;
mod style;
mod texts;
mod write;

pub use diff::{Change, ChangeKind, Diff, diff, merge_diff};
pub use editor::Editor;
pub use equal::are_equal;
pub use error::{PatchError, PatchErrorKind};
pub use merge::{MergePatch, merge};
pub use operation::Patch;

use crate::tape::{Document, parse};

/// Applies a JSON Patch (RFC 6902) to a document, and returns the edited text. Everything that is not edited keeps its
/// bytes; [`Editor`] says how the rest is written.
///
/// Costs one parse of each text, and the edits.
///
/// # Errors
/// If one of the texts is not JSON, if the patch is not one, and for the first operation that cannot be applied or whose
/// `test` fails.
pub fn apply(document: &[u8], patch: &[u8]) -> Result<Vec<u8>, PatchError> {
    let (document, patch) = (parsed(document)?, Patch::parse(patch)?);
    Editor::new(&document).apply(&patch)?.to_vec()
}

/// Sets the value at a JSON Pointer, and returns the edited text: see [`Editor::set`].
///
/// ```
/// assert_eq!(jird::patch::set(br#"{"a":[1.0]}"#, "/a/0", "2")?, br#"{"a":[2]}"#);
/// assert_eq!(jird::patch::set(br#"{"a":[1.0]}"#, "/b", "2")?, br#"{"a":[1.0],"b":2}"#);
/// # Ok::<(), jird::patch::PatchError>(())
/// ```
///
/// # Errors
/// As [`Editor::set`], and if the document is not JSON.
pub fn set(document: &[u8], pointer: &str, value: &str) -> Result<Vec<u8>, PatchError> {
    let document = parsed(document)?;
    let mut editor = Editor::new(&document);
    editor.set(pointer, value)?;
    editor.to_vec()
}

/// Removes the value at a JSON Pointer, and returns the edited text.
///
/// ```
/// assert_eq!(jird::patch::remove(b"{\"a\": 1, \"b\": 2.50}", "/a")?, b"{\"b\": 2.50}");
/// # Ok::<(), jird::patch::PatchError>(())
/// ```
///
/// # Errors
/// If there is nothing at the pointer, and if the document is not JSON.
pub fn remove(document: &[u8], pointer: &str) -> Result<Vec<u8>, PatchError> {
    let document = parsed(document)?;
    let mut editor = Editor::new(&document);
    editor.remove(pointer)?;
    editor.to_vec()
}

fn parsed(text: &[u8]) -> Result<Document<'_>, PatchError> {
    parse(text).map_err(|error| PatchError::text(PatchErrorKind::Document, error))
}

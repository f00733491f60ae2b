//! Edits of documents that keep every byte of what is not edited: JSON Patch (RFC 6902), JSON Merge Patch (RFC 7396), single
//! edits by JSON Pointer (RFC 6901), and the difference of two documents.
//!
//! | you have, or want | take |
//! |---|---|
//! | a document and a patch, once | [`apply`], [`merge`] |
//! | one edit | [`set`], [`remove`] |
//! | several edits, or one patch for many documents | [`DocumentMut`], with [`Patch`] and [`MergePatch`] |
//! | what differs between two documents, for people or as a patch | [`diff`] |
//! | whether two values are equal | [`are_equal`] |
//!
//! ```
//! let text = b"{ \"price\": 1.50,  \"name\": \"caf\\u00e9\" }";
//! let patch = br#"[{"op": "add", "path": "/tags", "value": ["new"]}]"#;
//! let edited = jird::patch::apply(text, patch)?;
//! assert_eq!(edited, b"{ \"price\": 1.50,  \"name\": \"caf\\u00e9\",  \"tags\": [\"new\"] }");
//! # Ok::<(), jird::edit::EditError>(())
//! ```
//!
//! # The source, from the ground up
//!
//! ```text
//! equal       equality                            operation   patches, read and checked
//! apply       patches, applied                    merge       merge patches
//! diff        the difference of two documents
//! ```

mod apply;
mod diff;
mod equal;
mod merge;
mod operation;

pub use diff::{Change, ChangeKind, Diff, diff, merge_diff};
pub use equal::are_equal;
pub use merge::{MergePatch, merge};
pub use operation::Patch;

use crate::edit::{DocumentMut, EditError, EditErrorKind};

/// Applies a JSON Patch (RFC 6902) to a document, and returns the edited text. Everything that is not edited keeps its
/// bytes; [`DocumentMut`] says how the rest is written.
///
/// Costs one parse of each text, and the edits.
///
/// # Errors
/// If one of the texts is not JSON, if the patch is not one, and for the first operation that cannot be applied or whose
/// `test` fails.
pub fn apply(document: &[u8], patch: &[u8]) -> Result<Vec<u8>, EditError> {
    let (document, patch) = (parsed(document)?, Patch::parse(patch)?);
    document.apply(&patch)?.to_vec()
}

/// Sets the value at a JSON Pointer, and returns the edited text: see [`DocumentMut::set_json`].
///
/// ```
/// assert_eq!(jird::patch::set(br#"{"a":[1.0]}"#, "/a/0", "2")?, br#"{"a":[2]}"#);
/// assert_eq!(jird::patch::set(br#"{"a":[1.0]}"#, "/b", "2")?, br#"{"a":[1.0],"b":2}"#);
/// # Ok::<(), jird::edit::EditError>(())
/// ```
///
/// # Errors
/// As [`DocumentMut::set_json`], and if the document is not JSON.
pub fn set(document: &[u8], pointer: &str, value: &str) -> Result<Vec<u8>, EditError> {
    let mut document = parsed(document)?;
    document.set_json(pointer, value)?;
    document.to_vec()
}

/// Removes the value at a JSON Pointer, and returns the edited text.
///
/// ```
/// assert_eq!(jird::patch::remove(b"{\"a\": 1, \"b\": 2.50}", "/a")?, b"{\"b\": 2.50}");
/// # Ok::<(), jird::edit::EditError>(())
/// ```
///
/// # Errors
/// If there is nothing at the pointer, and if the document is not JSON.
pub fn remove(document: &[u8], pointer: &str) -> Result<Vec<u8>, EditError> {
    let mut document = parsed(document)?;
    document.remove(pointer)?;
    document.to_vec()
}

fn parsed(text: &[u8]) -> Result<DocumentMut<'_>, EditError> {
    DocumentMut::parse(text).map_err(|error| EditError::text(EditErrorKind::Document, error))
}

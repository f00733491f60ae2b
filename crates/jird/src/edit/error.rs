//! Why an edit or a patch was refused.

use crate::error::Error;
use crate::message;
use core::fmt;

/// Why an edit or a patch was refused: which operation, at which path, and what is wrong. Nothing was changed then.
///
/// ```
/// let error = jird::patch::apply(br#"{"a": 1}"#, br#"[{"op": "replace", "path": "/b/c", "value": 2}]"#).unwrap_err();
/// assert_eq!(error.operation(), Some(0));
/// assert_eq!(error.path(), "/b/c");
/// assert_eq!(error.to_string(), "operation 0 (replace /b/c): nothing at /b");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditError(Box<Repr>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Repr {
    kind: EditErrorKind,
    operation: Option<usize>,
    name: &'static str,
    path: String,
    words: String,
    text: Option<Error>,
}

/// What is wrong with an edit or a patch, or with what it is applied to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EditErrorKind {
    /// The document is not JSON: [`EditError::text_error`] says where.
    Document,
    /// The patch or the new value is not JSON.
    Patch,
    /// The patch is JSON, but not a patch: RFC 6902 §3 and §4.
    Malformed,
    /// A path is not a JSON Pointer (RFC 6901 §3).
    Pointer,
    /// There is nothing at a path.
    Missing,
    /// A path leads into an array, and its step is not an index of it, or beyond its end (RFC 6901 §4).
    Index,
    /// A path leads into a value that is neither an object nor an array.
    Scalar,
    /// The value that `test` found is another one (RFC 6902 §4.6).
    Test,
    /// The whole document cannot be removed.
    Root,
    /// The object has a member with the new key already.
    Exists,
    /// A value cannot be moved into a part of itself (RFC 6902 §4.4).
    IntoItself,
    /// The key to be changed occurs twice in its object, so that readers differ on which member it means.
    Repeated,
    /// The result, or all that is copied, exceeds its limit.
    Size,
    /// The result would be nested too deeply to be read again.
    Depth,
    /// No merge patch leads from the one document to the other.
    NoMergePatch,
}

impl EditError {
    /// What is wrong.
    pub fn kind(&self) -> EditErrorKind {
        self.0.kind
    }

    /// The zero-based index of the operation that failed; `None` outside a patch of operations.
    pub fn operation(&self) -> Option<usize> {
        self.0.operation
    }

    /// The path of the operation that failed, as a JSON Pointer. Empty if there is none.
    pub fn path(&self) -> &str {
        &self.0.path
    }

    /// The error in the JSON of the document or of the patch.
    pub fn text_error(&self) -> Option<&Error> {
        self.0.text.as_ref()
    }

    #[cold]
    pub(crate) fn new(kind: EditErrorKind, words: impl Into<String>) -> Self {
        let words = words.into();
        Self(Box::new(Repr { kind, operation: None, name: "", path: String::new(), words, text: None }))
    }

    /// The document, or the patch, is not JSON.
    #[cold]
    pub(crate) fn text(kind: EditErrorKind, error: Error) -> Self {
        let mut refused = Self::new(kind, error.to_string());
        refused.0.text = Some(error);
        refused
    }

    /// The same error, of this operation.
    #[cold]
    pub(crate) fn of_operation(mut self, index: usize) -> Self {
        self.0.operation = Some(index);
        self
    }

    /// The same error, of an edit with this name and path.
    #[cold]
    pub(crate) fn at(mut self, name: &'static str, path: &str) -> Self {
        (self.0.name, self.0.path) = (name, path.to_owned());
        self
    }
}

impl fmt::Display for EditError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Repr { operation, name, path, words, .. } = &*self.0;
        let edit = [*name, &shown(path)].join(if path.is_empty() { "" } else { " " });
        match operation {
            Some(index) if edit.is_empty() => write!(f, "operation {index}: {words}"),
            Some(index) => write!(f, "operation {index} ({edit}): {words}"),
            None if edit.is_empty() => f.write_str(words),
            None => write!(f, "{edit}: {words}"),
        }
    }
}

impl std::error::Error for EditError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.text.as_ref().map(|error| error as _)
    }
}

/// The most bytes of a path or text that a message shows.
const SHOWN: usize = 120;

/// How messages name a place.
pub(crate) fn named(pointer: &str) -> String {
    if pointer.is_empty() { "the root".to_owned() } else { shown(pointer) }
}

/// A text from a document or patch, such that a terminal may show it.
pub(crate) fn shown(text: &str) -> String {
    let end = text.floor_char_boundary(SHOWN);
    let mut out = String::new();
    message::printable(&text.as_bytes()[..end], &mut out);
    if end < text.len() {
        out.push('…');
    }
    out
}

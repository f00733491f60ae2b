//! A parsed document together with the object of Python that its text is in.

use super::text::Text;
use core::slice;
use jird::{Document, Error};
use pyo3::prelude::*;

/// A document and its text.
pub(crate) struct DocumentText {
    /// Invariant: its text is in `_owner`. Dropped first.
    document: Document<'static>,
    _owner: Py<PyAny>,
}

impl DocumentText {
    /// Parses a text, which is not copied.
    pub(crate) fn parse(py: Python<'_>, text: &Text<'_>, detached_min: usize) -> Result<Self, Error> {
        let bytes = text.bytes();
        // SAFETY: the bytes of a text stay where they are and as they are as long as its owner lives. `Held` keeps it
        // alive until the document is gone, and lends the document only for its own lifetime.
        let bytes: &'static [u8] = unsafe { slice::from_raw_parts(bytes.as_ptr(), bytes.len()) };
        let document = if bytes.len() < detached_min { jird::parse(bytes) } else { py.detach(|| jird::parse(bytes)) }?;
        Ok(Self { document, _owner: text.owner().unbind() })
    }

    /// The document.
    #[inline]
    pub(crate) fn document(&self) -> &Document<'_> {
        &self.document
    }
}

//! A parsed document together with the object of Python that its text is in.

use super::text::Text;
use core::slice;
use jird::{Document, Error};
use pyo3::prelude::*;

/// A document and its text.
pub(crate) struct Held {
    /// Invariant: its text is in `_owner`, or its own. Dropped first.
    document: Document<'static>,
    _owner: Option<Py<PyAny>>,
}

impl Held {
    /// Parses a text. It is not copied if it is a `bytes` or `str`.
    pub(crate) fn parse(py: Python<'_>, text: &Text<'_>, detached_min: usize) -> Result<Self, Error> {
        let Some(owner) = text.owner() else {
            let document = jird::parse(text.bytes())?.into_owned();
            return Ok(Self { document, _owner: None });
        };
        let bytes = text.bytes();
        // SAFETY: the bytes of a `bytes`, and the UTF-8 of a `str` that was asked for once, stay where they are and as
        // they are as long as the object lives. `Held` keeps it alive until the document is gone, and lends the
        // document only for its own lifetime.
        let bytes: &'static [u8] = unsafe { slice::from_raw_parts(bytes.as_ptr(), bytes.len()) };
        let document = if bytes.len() < detached_min { jird::parse(bytes) } else { py.detach(|| jird::parse(bytes)) }?;
        Ok(Self { document, _owner: Some(owner.unbind()) })
    }

    /// The document.
    #[inline]
    pub(crate) fn document(&self) -> &Document<'_> {
        &self.document
    }
}

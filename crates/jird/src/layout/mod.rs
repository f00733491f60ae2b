//! Writes the same document in another layout: minified, indented, or canonical (RFC 8785).
//!
//! [`Minify`](Layout::Minify) and [`Indent`](Layout::Indent) change only the white space between tokens: numbers and
//! strings keep their text. The canonical form rewrites everything.

mod canonical;
mod rewrite;

use crate::error::Error;
use crate::kernel::{BLOCK, Kernel};
use crate::policy::Policy;
use crate::scan::Mode;
use crate::tape::Parser;
use crate::walk::{Chunks, Walk, WalkPass};
pub(crate) use canonical::Canonical;
use rewrite::Rewrite;

/// A layout for a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Layout {
    /// No white space at all.
    Minify,
    /// A member or element per line, indented by this number of spaces for each level; empty containers stay `{}` and
    /// `[]`.
    Indent(usize),
    /// The JSON Canonicalization Scheme of RFC 8785: keys are sorted by their UTF-16 code units, numbers are written as
    /// in ECMAScript, and strings have as few escapes as possible. Numbers too large for a double, and repeated keys,
    /// are errors.
    Canonical,
}

/// Checks `text` as [`parse`](crate::parse) does, and returns it without white space between its tokens.
///
/// ```
/// assert_eq!(jird::minify(b"{ \"a\" : [1.50, \"\\u0041\"] }")?, b"{\"a\":[1.50,\"\\u0041\"]}");
/// # Ok::<(), jird::Error>(())
/// ```
///
/// [`Parser::minify`] reuses its own buffers and the caller's.
///
/// # Errors
/// As [`parse`](crate::parse).
pub fn minify(text: &[u8]) -> Result<Vec<u8>, Error> {
    let mut small = Vec::with_capacity(text.len() + BLOCK);
    Parser::new().minify(text, &mut small)?;
    Ok(small)
}

/// Checks `text` as [`parse`](crate::parse) does, and returns it in another layout.
///
/// ```
/// use jird::Layout;
/// assert_eq!(jird::format(b"{\"a\":[1,{}]}", Layout::Indent(2))?, b"{\n  \"a\": [\n    1,\n    {}\n  ]\n}");
/// assert_eq!(jird::format(b"{\"b\":1.0,\"a\":\"\\u0041\"}", Layout::Canonical)?, br#"{"a":"A","b":1}"#);
/// # Ok::<(), jird::Error>(())
/// ```
///
/// # Errors
/// As [`parse`](crate::parse); in the canonical form also `range` for a number that is infinite as a double, and
/// `duplicate` for a repeated key of an object.
pub fn format(text: &[u8], layout: Layout) -> Result<Vec<u8>, Error> {
    let indent = match layout {
        Layout::Canonical => return Canonical::new().of(text),
        Layout::Minify => return minify(text),
        Layout::Indent(width) => width,
    };
    let mut rewrite = Rewrite::new(text, indent);
    let walk = &mut Walk::new(&Policy::default());
    Chunks::new(Kernel::best())
        .read(text, Mode::Document, &mut WalkPass { walk, build: &mut rewrite })
        .map_err(|fault| Error::in_text(fault, text))?;
    Ok(rewrite.into_text())
}

//! The value of a record at a wanted path.

use super::order;
use super::select::Slot;
use crate::fault::{ErrorKind, Fault};
use crate::number::{self, Number};
use crate::tape::Kind;
use crate::text;
use std::borrow::Cow;

/// One value of a record as it stands in the text, or nothing if the record has no such value. It is cheap to copy.
/// Its text is always valid UTF-8, and the numbers and strings in it were checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field<'a> {
    kind: Option<Kind>,
    escaped: bool,
    raw: &'a str,
}

impl<'a> Field<'a> {
    /// The field of a path that the record does not have.
    pub const MISSING: Self = Self { kind: None, escaped: false, raw: "" };

    /// A field of a checked text. `raw` is the whole value, a string with its quotes; it is empty if the value is
    /// missing.
    #[inline]
    pub(crate) fn new(kind: Option<Kind>, escaped: bool, raw: &'a str) -> Self {
        Self { kind, escaped, raw }
    }

    /// Fills `field` with the value that was found in an unchecked text. The value may be any bytes, and its end may be
    /// anywhere, so it is checked here: that it is UTF-8 and of its kind. It is not returned, because a copy of it
    /// would wait for the stores that made it.
    #[inline(always)]
    pub(crate) fn fill(field: &mut Self, text: &'a [u8], slot: Slot) -> Result<(), Fault> {
        let Some(kind) = slot.kind else {
            *field = Self::MISSING;
            return Ok(());
        };
        let range = slot.range();
        let fault = |kind| Err(Fault::at_byte(kind, range.start));
        let Some(raw) = text.get(range.clone()) else { return fault(ErrorKind::String) };
        let raw = match kind {
            Kind::Number => match number::checked_str(text, range.start, range.end) {
                Some(raw) => raw,
                None => return fault(ErrorKind::Number),
            },
            Kind::Null if raw != b"null" => return fault(ErrorKind::Literal),
            Kind::Bool if !matches!(raw, b"true" | b"false") => return fault(ErrorKind::Literal),
            _ => match text::as_utf8(raw) {
                None => return fault(ErrorKind::Utf8),
                Some(_) if kind == Kind::String && !matches!(raw, [b'"', .., b'"']) => return fault(ErrorKind::String),
                Some(raw) => raw,
            },
        };
        *field = Self::new(Some(kind), slot.escaped, raw);
        Ok(())
    }

    /// A field whose text is a JSON value as [`Field::raw`] returned it; an empty text is a missing field.
    ///
    /// Use it for text that was stored in a column and is read again: the kind comes from the first byte, and nothing
    /// is checked again. If the text is not a JSON value, the field's answers are `None` or wrong, but never unsafe.
    #[inline]
    pub fn from_raw(raw: &'a str) -> Self {
        let kind = match raw.as_bytes().first() {
            None => return Self::MISSING,
            Some(b'"') => Kind::String,
            Some(b'{') => Kind::Object,
            Some(b'[') => Kind::Array,
            Some(b't' | b'f') => Kind::Bool,
            Some(b'n') => Kind::Null,
            Some(_) => Kind::Number,
        };
        let escaped = kind == Kind::String && memchr::memchr(b'\\', raw.as_bytes()).is_some();
        Self { kind: Some(kind), escaped, raw }
    }

    /// The value's kind; `None` if it is missing.
    #[inline]
    pub fn kind(self) -> Option<Kind> {
        self.kind
    }

    /// Whether it is null or missing, both of which SQL calls NULL.
    #[inline]
    pub fn is_null(self) -> bool {
        matches!(self.kind, None | Some(Kind::Null))
    }

    /// The JSON text as it stands in the input, a string with its quotes; empty if the value is missing.
    #[inline]
    pub fn raw(self) -> &'a str {
        self.raw
    }

    /// The number, if it is one.
    #[inline]
    pub fn as_number(self) -> Option<Number<'a>> {
        (self.kind == Some(Kind::Number)).then(|| Number::of_checked(self.raw))
    }

    /// The boolean, if it is one.
    #[inline]
    pub fn as_bool(self) -> Option<bool> {
        (self.kind == Some(Kind::Bool)).then_some(self.raw.starts_with('t'))
    }

    /// The string's content, if it is a string: borrowed if it has no escapes.
    pub fn as_str(self) -> Option<Cow<'a, str>> {
        let content = self.content()?;
        if !self.escaped {
            return Some(Cow::Borrowed(content));
        }
        let mut decoded = String::new();
        text::unescape(content, &mut decoded);
        Some(Cow::Owned(decoded))
    }

    /// The string's content as [`Field::as_str`] gives it, but decoded into `scratch` if it has escapes. Allocates
    /// nothing after `scratch` has grown.
    #[inline]
    pub fn text<'s>(self, scratch: &'s mut String) -> Option<&'s str>
    where
        'a: 's,
    {
        let content = self.content()?;
        if !self.escaped {
            return Some(content);
        }
        scratch.clear();
        text::unescape(content, scratch);
        Some(scratch)
    }

    /// Appends a key whose bytes are ordered as values are: null or missing, `false`, `true`, numbers by their exact
    /// values, texts by their code points, arrays element by element, objects first by their keys in order and then by
    /// their values in that order, as jq orders them. Equal values have equal keys, whatever their spelling; of members
    /// with one key the first counts. No key is the beginning of another one.
    ///
    /// Takes time in proportion to the value's length, but for sorting the keys of objects. An array or object is
    /// parsed, which allocates.
    ///
    /// ```
    /// use jird::record::Field;
    /// let key = |text| {
    ///     let mut key = Vec::new();
    ///     Field::from_raw(text).order_key(&mut key);
    ///     key
    /// };
    /// assert!(key("[9]") < key("[10]") && key("1e400") < key("\"1\""));
    /// assert_eq!(key(r#"{"a":1,"b":2}"#), key(r#"{"b":2.0,"a":1}"#));
    /// ```
    pub fn order_key(self, out: &mut Vec<u8>) {
        order::order_key(self, out);
    }

    /// Calls `ask` with the string's content, if it is a string. Decodes the content only if it has escapes.
    #[inline]
    pub(super) fn with_text<T>(self, ask: impl FnOnce(&str) -> T) -> Option<T> {
        if self.escaped { with_scratch(|scratch| self.text(scratch).map(ask)) } else { self.content().map(ask) }
    }

    /// The text between a string's quotes.
    #[inline]
    fn content(self) -> Option<&'a str> {
        (self.kind == Some(Kind::String)).then(|| self.raw.get(1..self.raw.len() - 1))?
    }
}

/// Lends a buffer that belongs to the thread.
fn with_scratch<T>(f: impl FnOnce(&mut String) -> T) -> T {
    thread_local!(static SCRATCH: core::cell::RefCell<String> = const { core::cell::RefCell::new(String::new()) });
    // If a test itself evaluates a predicate, the buffer is already lent, and a new one is used.
    SCRATCH.with(|scratch| match scratch.try_borrow_mut() {
        Ok(mut scratch) => f(&mut scratch),
        Err(_) => f(&mut String::new()),
    })
}

//! The cursor over a tape.

use super::word::{Node, Word, ends};
use crate::number::{self, Number};
use crate::text;
use core::fmt;
use std::borrow::Cow;

/// The six kinds of JSON value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `null`
    Null,
    /// `true` or `false`
    Bool,
    /// Any number.
    Number,
    /// A string.
    String,
    /// `{…}`
    Object,
    /// `[…]`
    Array,
}

impl Kind {
    /// The kind's name in words: `null`, `boolean`, `number`, `string`, `object`, `array`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool => "boolean",
            Self::Number => "number",
            Self::String => "string",
            Self::Object => "object",
            Self::Array => "array",
        }
    }

    /// Whether values of this kind hold other values.
    pub fn is_container(self) -> bool {
        matches!(self, Self::Object | Self::Array)
    }
}

/// A text and its tape.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    pub(crate) text: &'a [u8],
    pub(crate) words: &'a [u64],
    /// Whether all of `text` was found to be UTF-8 and grammatical.
    pub(crate) checked: bool,
}

/// A value of a document or record: a cursor, cheap to copy. Reading it changes nothing.
#[derive(Clone, Copy)]
pub struct Value<'a> {
    source: Source<'a>,
    index: usize,
}

impl<'a> Value<'a> {
    #[inline(always)]
    pub(crate) fn new(source: Source<'a>, index: usize) -> Self {
        Self { source, index }
    }

    #[inline(always)]
    fn word(self) -> Word {
        Word::new(self.source.words[self.index])
    }

    #[inline(always)]
    fn is_container(self) -> bool {
        matches!(self.word().node(), Node::Object | Node::Array)
    }

    /// The index past this value's last node.
    #[inline(always)]
    fn index_end(self) -> usize {
        if self.is_container() { ends(self.source.words[self.index + 1]).1 } else { self.index + 1 }
    }

    /// What kind of value it is. Free.
    #[inline(always)]
    pub fn kind(self) -> Kind {
        match self.word().node() {
            Node::Null => Kind::Null,
            Node::False | Node::True => Kind::Bool,
            Node::Number => Kind::Number,
            Node::String => Kind::String,
            Node::Object => Kind::Object,
            Node::Array => Kind::Array,
        }
    }

    /// Whether it is `null`.
    pub fn is_null(self) -> bool {
        self.word().node() == Node::Null
    }

    /// `true` or `false`, if it is a boolean.
    pub fn as_bool(self) -> Option<bool> {
        match self.word().node() {
            Node::False => Some(false),
            Node::True => Some(true),
            _ => None,
        }
    }

    /// The number's text and everything exact about it, if it is a number.
    #[inline]
    pub fn as_number(self) -> Option<Number<'a>> {
        let word = self.word();
        if word.node() != Node::Number {
            return None;
        }
        if self.source.checked {
            Some(Number::of_checked(self.as_utf8(self.content())?))
        } else {
            Number::new(self.as_utf8(self.content())?)
        }
    }

    /// The number as an `i64`, if it is an integer by its syntax and fits.
    #[inline]
    pub fn as_i64(self) -> Option<i64> {
        if self.source.checked && self.word().node() == Node::Number && !self.word().flag() {
            return number::to_i64(self.content());
        }
        self.as_number()?.as_i64()
    }

    /// The number as a `u64`, if it is an integer by its syntax and fits.
    #[inline]
    pub fn as_u64(self) -> Option<u64> {
        if self.source.checked && self.word().node() == Node::Number && !self.word().flag() {
            return number::to_u64(self.content());
        }
        self.as_number()?.as_u64()
    }

    /// The number as the nearest `f64`. `None` if it is not a number, or too large for a finite one.
    #[inline]
    pub fn as_f64(self) -> Option<f64> {
        if self.source.checked && self.word().node() == Node::Number {
            return number::to_f64(self.content());
        }
        self.as_number()?.to_f64()
    }

    /// Whether it is a number without point and exponent.
    #[inline]
    pub fn is_integer(self) -> bool {
        self.word().node() == Node::Number && !self.word().flag()
    }

    /// The string's content, if it is a string: borrowed from the text when nothing is escaped, else decoded into a new
    /// `String`. In a record that was not validated, `None` also if the text is not UTF-8.
    #[inline]
    pub fn as_str(self) -> Option<Cow<'a, str>> {
        let word = self.word();
        if word.node() != Node::String {
            return None;
        }
        if word.flag() {
            let mut decoded = String::new();
            self.decode(&mut decoded)?;
            return Some(Cow::Owned(decoded));
        }
        self.as_utf8(self.content()).map(Cow::Borrowed)
    }

    /// The string's content as [`Value::as_str`] gives it, decoded into `scratch` where it must be: nothing is allocated
    /// once `scratch` has grown.
    #[inline]
    pub fn str_in<'s>(self, scratch: &'s mut String) -> Option<&'s str>
    where
        'a: 's,
    {
        let word = self.word();
        if word.node() != Node::String {
            return None;
        }
        if word.flag() {
            scratch.clear();
            self.decode(scratch)?;
            return Some(scratch);
        }
        self.as_utf8(self.content())
    }

    /// Whether it is a string with this content. Allocates nothing.
    #[inline]
    pub fn is_str(self, wanted: &str) -> bool {
        let word = self.word();
        if word.node() != Node::String {
            return false;
        }
        let raw = self.content();
        if word.flag() { text::eq_unescaped(raw, wanted) } else { raw == wanted.as_bytes() }
    }

    fn decode(self, out: &mut String) -> Option<()> {
        text::unescape(self.as_utf8(self.content())?, out);
        Some(())
    }

    /// The value of the first member with this key, if it is an object that has one. Compares key by key, in order.
    #[inline]
    pub fn get(self, key: &str) -> Option<Self> {
        self.entries().find(|(found, _)| found.is_str(key)).map(|(_, value)| value)
    }

    /// The element at this zero-based index, if it is an array that long. Steps over the elements before it.
    #[inline]
    pub fn at(self, index: usize) -> Option<Self> {
        self.elements().nth(index)
    }

    /// The value that a JSON Pointer (RFC 6901) leads to. `""` is this value.
    pub fn pointer(self, pointer: &str) -> Option<Self> {
        crate::path::pointer(self, pointer)
    }

    /// The number of members or elements; 0 for a scalar. Free but for containers of 2^28 children and more.
    pub fn len(self) -> usize {
        match self.kind() {
            Kind::Object => self.word().count().unwrap_or_else(|| self.entries().count()),
            Kind::Array => self.word().count().unwrap_or_else(|| self.elements().count()),
            _ => 0,
        }
    }

    /// Whether it has no members or elements.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The members in document order, each key a string; none if it is not an object.
    #[inline]
    pub fn entries(self) -> Entries<'a> {
        Entries { nodes: self.children(Node::Object) }
    }

    /// The elements in order; none if it is not an array.
    #[inline]
    pub fn elements(self) -> Elements<'a> {
        Elements { nodes: self.children(Node::Array) }
    }

    #[inline(always)]
    fn children(self, node: Node) -> Nodes<'a> {
        let (at, end) =
            if self.word().node() == node { (self.index + 2, self.index_end()) } else { (self.index, self.index) };
        Nodes { source: self.source, at, end }
    }

    /// The value's text as it stands, a string's with its quotes.
    pub fn raw(self) -> &'a [u8] {
        let start = self.offset();
        let end = match self.kind() {
            Kind::Object | Kind::Array => ends(self.source.words[self.index + 1]).0,
            Kind::String => start + self.content().len() + 2,
            _ => start + self.content().len(),
        };
        self.source.text.get(start..end).unwrap_or_default()
    }

    /// The value's text as it stands. `None` only in a record that was not validated, if it is not UTF-8.
    pub fn raw_str(self) -> Option<&'a str> {
        self.as_utf8(self.raw())
    }

    /// Offset of the value's first byte in the document, a string's of its opening quote.
    pub fn offset(self) -> usize {
        let word = self.word();
        if word.node() == Node::String { word.start() - 1 } else { word.start() }
    }

    /// A scalar's text, a string's without quotes.
    #[inline(always)]
    fn content(self) -> &'a [u8] {
        let word = self.word();
        let start = word.start();
        let Some(len) = word.len() else { return self.long_content() };
        self.source.text.get(start..start + len).unwrap_or_default()
    }

    /// The content of a scalar whose length is not on the tape.
    #[cold]
    fn long_content(self) -> &'a [u8] {
        let rest = self.source.text.get(self.word().start()..).unwrap_or_default();
        let end = match self.word().node() {
            Node::String => text::closing_quote(rest),
            _ => rest.iter().position(|byte| matches!(byte, b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r')),
        };
        &rest[..end.unwrap_or(rest.len())]
    }

    #[inline(always)]
    fn as_utf8(self, bytes: &'a [u8]) -> Option<&'a str> {
        if self.source.checked {
            // SAFETY: `checked` says that pass one found the whole text to be UTF-8. `bytes` begins and ends beside a
            // structural byte, a quote or white space, all ASCII, or at the text's ends, so it cuts no sequence.
            Some(unsafe { core::str::from_utf8_unchecked(bytes) })
        } else {
            core::str::from_utf8(bytes).ok()
        }
    }
}

impl fmt::Debug for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", String::from_utf8_lossy(self.raw()))
    }
}

/// Nodes side by side.
#[derive(Clone)]
struct Nodes<'a> {
    source: Source<'a>,
    at: usize,
    end: usize,
}

impl<'a> Nodes<'a> {
    #[inline(always)]
    fn next(&mut self) -> Option<Value<'a>> {
        if self.at >= self.end {
            return None;
        }
        let value = Value::new(self.source, self.at);
        self.at = value.index_end();
        Some(value)
    }
}

/// The members of an object: key and value.
#[derive(Clone)]
pub struct Entries<'a> {
    nodes: Nodes<'a>,
}

impl<'a> Iterator for Entries<'a> {
    type Item = (Value<'a>, Value<'a>);

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        Some((self.nodes.next()?, self.nodes.next()?))
    }
}

/// The elements of an array.
#[derive(Clone)]
pub struct Elements<'a> {
    nodes: Nodes<'a>,
}

impl<'a> Iterator for Elements<'a> {
    type Item = Value<'a>;

    #[inline(always)]
    fn next(&mut self) -> Option<Value<'a>> {
        self.nodes.next()
    }
}

//! The cursor over a tape.

use super::long::LONG_WORDS;
use super::trust;
use crate::number::{self, MachineNumber, Number};
use crate::text;
use crate::word::{Node, Word};
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

/// A value of a document or record: a cursor, cheap to copy. Reading it changes nothing.
///
/// Invariant: `words` begins with a node that the tape's builder wrote for `text`, and holds all words of that
/// node. The builder has bounded everything: a container takes as many words as it says, the words of its
/// children fill them, and a scalar's text lies in `text`.
#[derive(Clone, Copy)]
pub struct Value<'a> {
    text: &'a [u8],
    /// From this value's first word on.
    words: &'a [u64],
}

impl<'a> Value<'a> {
    /// The root of the tape `words`.
    ///
    /// # Safety
    /// `words` must be the whole tape that the builder wrote for `text`. If it was built as checked, `text` must be
    /// UTF-8.
    #[inline(always)]
    pub(crate) unsafe fn new(text: &'a [u8], words: &'a [u64]) -> Self {
        Self { text, words }
    }

    /// Where its first word is.
    pub(super) fn first_word(self) -> *const u64 {
        self.words.as_ptr()
    }

    #[inline(always)]
    fn word(self) -> Word {
        // SAFETY: by the invariant there is a node, and a node has at least one word.
        Word::new(unsafe { trust::at(self.words, 0) })
    }

    /// A container's last word. Only for containers.
    #[inline(always)]
    fn close(self) -> Word {
        debug_assert!(self.word().is_open());
        // SAFETY: all words of the container are there, and `words_len` is their number.
        Word::new(unsafe { trust::at(self.words, self.words_len() - 1) })
    }

    /// The number of words that the value takes.
    #[inline(always)]
    pub(super) fn words_len(self) -> usize {
        if self.word().is_open() { self.word().count().unwrap_or_else(|| long_count(self.words, 1)) } else { 1 }
    }

    #[inline(always)]
    fn is_checked(self) -> bool {
        self.word().is_checked()
    }

    /// The value's kind. Free.
    #[inline(always)]
    pub fn kind(self) -> Kind {
        match self.word().node() {
            Node::Null => Kind::Null,
            Node::False | Node::True => Kind::Bool,
            Node::Number => Kind::Number,
            Node::String => Kind::String,
            Node::Object => Kind::Object,
            Node::Array => Kind::Array,
            Node::End => unreachable!("a value does not begin with a container's end"),
        }
    }

    /// Whether it is `null`.
    pub fn is_null(self) -> bool {
        self.word().node() == Node::Null
    }

    /// The boolean, if it is one.
    pub fn as_bool(self) -> Option<bool> {
        match self.word().node() {
            Node::False => Some(false),
            Node::True => Some(true),
            _ => None,
        }
    }

    /// The number with its text and exact value, if it is a number.
    #[inline]
    pub fn as_number(self) -> Option<Number<'a>> {
        let word = self.word();
        if word.node() != Node::Number {
            return None;
        }
        if self.is_checked() {
            Some(Number::of_checked(self.as_utf8(self.content())?))
        } else {
            Number::new(self.as_utf8(self.content())?)
        }
    }

    /// The number as a machine number: an integer as `i64` or `u64`, anything else as the nearest `f64`. `None` if
    /// it is not a number, or an integer beyond 64 bits, or too large for a finite double; [`Value::as_number`]
    /// still gives its text. Takes a few nanoseconds: the quickest way to read numbers whose type is not known in
    /// advance.
    ///
    /// ```
    /// use jird::value::MachineNumber::{F64, I64};
    /// let document = jird::parse(b"[7, 7.5, 123456789012345678901, null]")?;
    /// let numbers = document.root().elements().map(|value| value.machine_number()).collect::<Vec<_>>();
    /// assert_eq!(numbers, [Some(I64(7)), Some(F64(7.5)), None, None]);
    /// # Ok::<(), jird::Error>(())
    /// ```
    #[inline(always)]
    pub fn machine_number(self) -> Option<MachineNumber> {
        match self.plain(Word::CHECKED_NUMBER) {
            Some((start, end)) => number::to_machine_at(self.text, start, end),
            None => other_number(self.text, self.words, Number::machine_number),
        }
    }

    /// The number as an `i64`, if it is an integer by its syntax and fits.
    #[inline(always)]
    pub fn as_i64(self) -> Option<i64> {
        match self.plain(Word::CHECKED_NUMBER) {
            Some((start, end)) => number::to_i64_at(self.text, start, end),
            None => other_number(self.text, self.words, Number::as_i64),
        }
    }

    /// The number as a `u64`, if it is an integer by its syntax and fits.
    #[inline(always)]
    pub fn as_u64(self) -> Option<u64> {
        match self.plain(Word::CHECKED_NUMBER) {
            Some((start, end)) => number::to_u64_at(self.text, start, end),
            None => other_number(self.text, self.words, Number::as_u64),
        }
    }

    /// The number as the nearest `f64`. `None` if it is not a number, or too large for a finite `f64`.
    #[inline(always)]
    pub fn as_f64(self) -> Option<f64> {
        match self.plain(Word::CHECKED_NUMBER) {
            Some((start, end)) => number::to_f64_at(self.text, start, end),
            None => other_number(self.text, self.words, Number::to_f64),
        }
    }

    /// The range of the scalar's text, if the scalar is of this class and its length is on the tape.
    #[inline(always)]
    fn plain(self, class: u64) -> Option<(usize, usize)> {
        self.word().plain(class).map(|(start, len)| (start, start + len))
    }

    /// The document's text and the range of a checked number in it; `None` if its length is not on the tape.
    #[cfg(feature = "serde")]
    #[inline(always)]
    pub(crate) fn plain_number(self) -> Option<(&'a [u8], usize, usize)> {
        self.plain(Word::CHECKED_NUMBER).map(|(start, end)| (self.text, start, end))
    }

    /// The content of a checked string without escapes; `None` if its length is not on the tape.
    #[inline(always)]
    pub(crate) fn plain_str(self) -> Option<&'a str> {
        let (start, end) = self.plain(Word::CHECKED_STRING)?;
        // SAFETY: by the invariant the scalar's text lies in `text`, and this is its range; the class says that the
        // text was checked.
        Some(unsafe { text::trusted_str(trust::range(self.text, start, end)) })
    }

    /// Whether it is a number without a decimal point and exponent. Reads the number's text.
    #[inline(always)]
    pub fn is_integer(self) -> bool {
        match self.plain(Word::CHECKED_NUMBER) {
            Some((start, end)) => number::is_integer_at(self.text, start, end),
            None => other_number(self.text, self.words, |number| Some(number.is_integer())).unwrap_or(false),
        }
    }

    /// The string's content, if it is a string: borrowed from the text if it has no escapes, otherwise decoded into
    /// a new `String`. In a record that was not validated, also `None` if the text is not UTF-8.
    #[inline]
    pub fn as_str(self) -> Option<Cow<'a, str>> {
        let word = self.word();
        if word.node() != Node::String {
            return None;
        }
        if word.flag() {
            let mut decoded = String::new();
            unescape_into(self.text, self.words, &mut decoded)?;
            return Some(Cow::Owned(decoded));
        }
        self.as_utf8(self.content()).map(Cow::Borrowed)
    }

    /// The string's content as [`Value::as_str`] gives it, but decoded into `scratch` if it has escapes: after
    /// `scratch` has grown, nothing is allocated.
    #[inline]
    pub fn str_in<'s>(self, scratch: &'s mut String) -> Option<&'s str>
    where
        'a: 's,
    {
        if let Some(plain) = self.plain_str() {
            return Some(plain);
        }
        let word = self.word();
        if word.node() != Node::String {
            return None;
        }
        if word.flag() {
            scratch.clear();
            unescape_into(self.text, self.words, scratch)?;
            return Some(scratch);
        }
        other_str(self.text, self.words)
    }

    /// Whether it is a string with this content. Allocates nothing.
    #[inline]
    pub fn is_str(self, wanted: &str) -> bool {
        let word = self.word();
        if word.is_plain_string(wanted.len()) {
            let start = word.offset();
            // SAFETY: by the invariant the string's content lies in `text`; it begins at `start` and is as long as
            // `wanted`.
            return unsafe { trust::range(self.text, start, start + wanted.len()) } == wanted.as_bytes();
        }
        word.node() == Node::String && (word.flag() || word.len().is_none()) && self.is_str_at_length(wanted)
    }

    #[inline(never)]
    fn is_str_at_length(self, wanted: &str) -> bool {
        let raw = self.content();
        if self.word().flag() { text::eq_unescaped(raw, wanted) } else { raw == wanted.as_bytes() }
    }

    /// The value of the first member with this key, if it is an object that has one. Compares the keys one by one,
    /// in order.
    #[inline]
    pub fn get(self, key: &str) -> Option<Self> {
        self.entries().find(|(found, _)| found.is_str(key)).map(|(_, value)| value)
    }

    /// The element at this zero-based index, if it is an array with that many elements. Skips the elements before
    /// it.
    #[inline]
    pub fn at(self, index: usize) -> Option<Self> {
        self.elements().nth(index)
    }

    /// The value that a JSON Pointer (RFC 6901) leads to. `""` is this value.
    pub fn pointer(self, pointer: &str) -> Option<Self> {
        super::pointer::pointer(self, pointer)
    }

    /// The number of members or elements; 0 for a scalar. Free.
    #[inline]
    pub fn len(self) -> usize {
        match self.kind() {
            Kind::Object | Kind::Array => self.close().count().unwrap_or_else(|| long_count(self.words, 2)),
            _ => 0,
        }
    }

    /// Whether it has no members or elements.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The members in document order, each key as a string value; none if it is not an object.
    #[inline]
    pub fn entries(self) -> Entries<'a> {
        let nodes = self.children(Node::Object);
        Entries { words: nodes.words, nodes }
    }

    /// The elements in order; none if it is not an array.
    #[inline]
    pub fn elements(self) -> Elements<'a> {
        Elements { nodes: self.children(Node::Array) }
    }

    /// This value and everything in it, in document order: each object is followed by its keys and their values,
    /// each array by its elements. Keys come as string values. Use it if you want all values of a document but not
    /// its structure: it needs no recursion and no stack, so it is the fastest way through a large document.
    ///
    /// ```
    /// let document = jird::parse(br#"{"a": [1, {"b": "x"}]}"#)?;
    /// let strings = document.root().descendants().filter_map(|value| value.as_str()).collect::<Vec<_>>();
    /// assert_eq!(strings, ["a", "b", "x"]);
    /// # Ok::<(), jird::Error>(())
    /// ```
    #[inline]
    pub fn descendants(self) -> Descendants<'a> {
        // SAFETY: a value takes as many words as it says.
        Descendants { text: self.text, words: unsafe { trust::range(self.words, 0, self.words_len()) } }
    }

    #[inline(always)]
    fn children(self, node: Node) -> Nodes<'a> {
        if self.word().node() != node {
            return Nodes { text: self.text, words: &[] };
        }
        let from = if self.word().count().is_some() { 1 } else { 1 + LONG_WORDS };
        // SAFETY: a container's words are its first word, two counts if it is large, the words of its children, and
        // its last word.
        Nodes { text: self.text, words: unsafe { trust::range(self.words, from, self.words_len() - 1) } }
    }

    /// The value's bytes as they stand in the text; a string's with its quotes.
    pub fn raw(self) -> &'a [u8] {
        let start = self.offset();
        let end = match self.word().node() {
            // In a text that was not checked the literal may not be there; then the result is empty.
            Node::Null => return self.literal_text(b"null"),
            Node::False => return self.literal_text(b"false"),
            Node::True => return self.literal_text(b"true"),
            Node::Number => return self.content(),
            Node::Object | Node::Array | Node::End => self.close().offset(),
            // In a text that was not checked the closing quote may be missing.
            Node::String => self.text.len().min(start + self.content().len() + 2),
        };
        self.text.get(start..end).unwrap_or_default()
    }

    fn literal_text(self, word: &[u8]) -> &'a [u8] {
        let start = self.word().offset();
        self.text.get(start..start + word.len()).filter(|found| *found == word).unwrap_or_default()
    }

    /// The value's text as it stands in the input. `None` only if the record was not validated and the text is not
    /// UTF-8.
    pub fn raw_str(self) -> Option<&'a str> {
        self.as_utf8(self.raw())
    }

    /// The offset of the value's first byte in the document; for a string, of its opening quote.
    pub fn offset(self) -> usize {
        let word = self.word();
        if word.node() == Node::String { word.offset() - 1 } else { word.offset() }
    }

    /// A number's text, or a string's without quotes. Only for numbers and strings.
    #[inline(always)]
    fn content(self) -> &'a [u8] {
        let word = self.word();
        let start = word.offset();
        let Some(len) = word.len() else { return self.long_content() };
        debug_assert!(matches!(word.node(), Node::Number | Node::String));
        // SAFETY: by the invariant the scalar's text lies in `text`, and `start..start + len` is its range.
        unsafe { trust::range(self.text, start, start + len) }
    }

    /// The content of a scalar whose length is not on the tape.
    #[cold]
    fn long_content(self) -> &'a [u8] {
        let rest = &self.text[self.word().offset()..];
        let end = match self.word().node() {
            Node::String => text::closing_quote(rest),
            _ => rest.iter().position(|byte| matches!(byte, b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r')),
        };
        &rest[..end.unwrap_or(rest.len())]
    }

    #[inline(always)]
    fn as_utf8(self, bytes: &'a [u8]) -> Option<&'a str> {
        if self.is_checked() {
            // SAFETY: `is_checked` says that pass one found the whole text to be UTF-8. `bytes` begins and ends next to
            // a structural byte, a quote or white space, all ASCII, or at the text's ends, so it cuts no sequence.
            Some(unsafe { text::trusted_str(bytes) })
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

/// Calls `read` for a value that is not a plain checked number of moderate length. It is not inlined, so that
/// the common case stays small. It takes the value's parts, because a reference would force the value into
/// memory.
#[cold]
#[inline(never)]
fn other_number<'a, T>(text: &'a [u8], words: &'a [u64], read: impl FnOnce(Number<'a>) -> Option<T>) -> Option<T> {
    read(Value { text, words }.as_number()?)
}

/// The content of a string without escapes that was not checked or is long. In parts for the same reason.
#[inline(never)]
fn other_str<'a>(text: &'a [u8], words: &'a [u64]) -> Option<&'a str> {
    let value = Value { text, words };
    value.as_utf8(value.content())
}

/// Appends a decoded string. In parts for the same reason.
#[inline(never)]
fn unescape_into(text: &[u8], words: &[u64], out: &mut String) -> Option<()> {
    let value = Value { text, words };
    let content = value.as_utf8(value.content())?;
    let start = value.word().offset();
    // SAFETY: `content` is at `start` in the text, and is UTF-8.
    unsafe { text::unescape_in(text, start, start + content.len(), out) };
    Some(())
}

/// A count of the large container that begins with `words`: the number of its words (1) or of its children (2).
#[cold]
#[inline(never)]
fn long_count(words: &[u64], at: usize) -> usize {
    Word::new(words[at]).long_count()
}

/// Nodes that follow each other. Invariant: `words` is whole nodes that the builder wrote for `text`.
#[derive(Clone)]
struct Nodes<'a> {
    text: &'a [u8],
    words: &'a [u64],
}

impl<'a> Nodes<'a> {
    #[inline(always)]
    fn next(&mut self) -> Option<Value<'a>> {
        if self.words.is_empty() {
            return None;
        }
        let value = Value { text: self.text, words: self.words };
        // SAFETY: the node is whole, so it takes at most as many words as there are.
        self.words = unsafe { trust::range(self.words, value.words_len(), self.words.len()) };
        Some(value)
    }

    /// The next node, which is a key.
    #[inline(always)]
    fn next_key(&mut self) -> Option<Value<'a>> {
        if self.words.is_empty() {
            return None;
        }
        let key = Value { text: self.text, words: self.words };
        // SAFETY: there is a word, and a key takes one.
        self.words = unsafe { trust::range(self.words, 1, self.words.len()) };
        Some(key)
    }
}

/// The members of an object: key and value.
#[derive(Clone)]
pub struct Entries<'a> {
    nodes: Nodes<'a>,
    /// The words of all members, including those that the iterator has passed.
    words: &'a [u64],
}

impl<'a> Entries<'a> {
    /// Like [`Value::get`], but starts after the members that were passed: returns the value of the next member with
    /// this key, and the iterator continues after that member. If no later member has the key, the search goes on with
    /// the members before. Use it to get several keys: it looks at each member once if they are asked for in the order
    /// in which the object has them. If the key is not found, the iterator does not move.
    ///
    /// ```
    /// let document = jird::parse(br#"{"id": 7, "size": 1, "name": "x"}"#)?;
    /// let mut entries = document.root().entries();
    /// assert_eq!(entries.seek("id").and_then(|id| id.as_u64()), Some(7));
    /// assert_eq!(entries.seek("name").and_then(|name| name.as_str()).as_deref(), Some("x"));
    /// assert_eq!(entries.seek("size").and_then(|size| size.as_u64()), Some(1));
    /// assert!(entries.seek("other").is_none());
    /// # Ok::<(), jird::Error>(())
    /// ```
    #[inline]
    pub fn seek(&mut self, key: &str) -> Option<Value<'a>> {
        let found = |nodes: &mut Nodes<'a>| {
            while let (Some(name), Some(value)) = (nodes.next_key(), nodes.next()) {
                if name.is_str(key) {
                    return Some(value);
                }
            }
            None
        };
        let mut ahead = self.nodes.clone();
        if let Some(value) = found(&mut ahead) {
            self.nodes = ahead;
            return Some(value);
        }
        let (all, passed) = (self.words, self.words.len() - self.nodes.words.len());
        // SAFETY: the remaining words are the end of `all`.
        let mut before = Nodes { text: self.nodes.text, words: unsafe { trust::range(all, 0, passed) } };
        let value = found(&mut before)?;
        // SAFETY: the words left in `before` are the end of the passed words.
        self.nodes.words = unsafe { trust::range(all, passed - before.words.len(), all.len()) };
        Some(value)
    }
}

/// The members of an object in halves: a key, its value, the next key. Calls in any other order are safe.
#[cfg(feature = "serde")]
pub(crate) struct Halves<'a> {
    /// The nodes from a key or from a value on.
    nodes: Nodes<'a>,
    /// Whether a value comes next. A key takes one word and a value as many as it says, so each is read correctly.
    behind_key: bool,
}

#[cfg(feature = "serde")]
impl<'a> Halves<'a> {
    #[inline(always)]
    pub(crate) fn new(entries: Entries<'a>) -> Self {
        Self { nodes: entries.nodes, behind_key: false }
    }

    /// Whether a key was returned and its value was not.
    #[inline(always)]
    pub(crate) fn is_behind_key(&self) -> bool {
        self.behind_key
    }

    /// The next key; skips the value before it if it was not taken.
    #[inline(always)]
    pub(crate) fn next_key(&mut self) -> Option<Value<'a>> {
        if self.behind_key {
            self.nodes.next();
        }
        let key = self.nodes.next_key();
        self.behind_key = key.is_some();
        key
    }

    /// The value of the last key; `None` if it was taken before.
    #[inline(always)]
    pub(crate) fn next_value(&mut self) -> Option<Value<'a>> {
        if core::mem::replace(&mut self.behind_key, false) { self.nodes.next() } else { None }
    }
}

impl<'a> Iterator for Entries<'a> {
    type Item = (Value<'a>, Value<'a>);

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        Some((self.nodes.next_key()?, self.nodes.next()?))
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

/// A value and everything in it, in document order: see [`Value::descendants`].
#[derive(Clone)]
pub struct Descendants<'a> {
    text: &'a [u8],
    /// Invariant: the remaining words of a value, beginning with the first word of a node or the last word of a
    /// container.
    words: &'a [u64],
}

impl<'a> Iterator for Descendants<'a> {
    type Item = Value<'a>;

    #[inline(always)]
    fn next(&mut self) -> Option<Value<'a>> {
        while let Some((&word, rest)) = self.words.split_first() {
            let value = Value { text: self.text, words: self.words };
            self.words = rest;
            if Word::new(word).node() != Node::End {
                return Some(value);
            }
        }
        None
    }
}

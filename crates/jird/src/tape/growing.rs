//! The tape of a text that still arrives, which can be read at any time.
//!
//! The text consists of two parts. The nodes of the tape stand in the first one. The second one, the *tail*, holds the
//! bytes that no value can be made of yet, such as `, "nam`. To show the tape, the first part gets a closing quote and
//! brackets, and so does the tape: what is shown is the tape that [`parse`](super::parse) makes of that text. To hide it
//! again, both are cut back.

use super::value::Value;
use crate::limits::{COUNT_MAX, SIZE_MAX};
use crate::word::{Node, Word};

/// The tape of a text that grows. Offsets count from the beginning of the text.
///
/// Invariants: scalars and brackets stand in the text in ascending order, the last with a word ends at `words_end`, and
/// all of them begin and end between characters. Each container in `open` has its first word at `mark`; after it come
/// the whole nodes of its children, and then the next container of `open`.
#[derive(Debug, Default)]
pub(crate) struct GrowingTape {
    /// While the tape is shown, closing brackets stand after `text_len`.
    text: String,
    text_len: usize,
    tail: String,
    /// While the tape is shown, the words that close containers stand after `words_len`.
    words: Vec<u64>,
    words_len: usize,
    open: Vec<OpenNode>,
    /// The last key, until its value begins.
    key: Option<u64>,
    /// Where the last key ends, or the last scalar or bracket that has a word.
    end: usize,
    /// The same without the key.
    words_end: usize,
}

/// A container that is open.
#[derive(Debug)]
struct OpenNode {
    /// The index of its first word.
    mark: usize,
    /// The offset of its bracket.
    start: usize,
    is_object: bool,
    /// The children that have begun.
    count: u32,
}

/// A string's content.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StringSpan {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Whether it holds an escape.
    pub(crate) is_escaped: bool,
}

impl GrowingTape {
    /// Adds text to the tail. False if the text would then be too long.
    #[inline]
    pub(crate) fn append(&mut self, piece: &str) -> bool {
        self.hide();
        // A new byte makes a word, or opens a container, which takes two words and a bracket. Each container that is open
        // takes a word and a bracket more. What was read of the tail makes a key and a value at most.
        let new = piece.len().saturating_mul(2).saturating_add(self.open.len() + 4);
        // So no container gets as many words, or children, as `tape/long.rs` is for.
        if new.saturating_add(self.tail.len()) > SIZE_MAX - self.text_len || new >= COUNT_MAX - self.words_len {
            return false;
        }
        self.tail.push_str(piece);
        true
    }

    /// Moves the tail up to `offset` to the part of the text that has nodes. O(1) in the text, linear in the tail.
    #[inline]
    pub(crate) fn settle(&mut self, offset: usize) {
        let moved = offset.saturating_sub(self.text_len);
        if moved > 0 {
            self.text.push_str(&self.tail[..moved]);
            self.text_len = self.text.len();
            self.tail.drain(..moved);
        }
    }

    /// Where the tail begins.
    #[inline(always)]
    pub(crate) fn tail_start(&self) -> usize {
        self.text_len
    }

    #[inline(always)]
    pub(crate) fn tail(&self) -> &str {
        &self.tail
    }

    /// The part of the text that has nodes, and while the tape is shown, the brackets that close it.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The number of containers that are open.
    #[inline(always)]
    pub(crate) fn depth(&self) -> usize {
        self.open.len()
    }

    /// Whether the innermost open container is an object.
    #[inline(always)]
    pub(crate) fn in_object(&self) -> bool {
        self.open.last().is_some_and(|open| open.is_object)
    }

    /// A key, whose value is the next node.
    #[inline(always)]
    pub(crate) fn key(&mut self, key: StringSpan) {
        self.key = Some(self.string_word(key));
    }

    #[inline(always)]
    pub(crate) fn string(&mut self, string: StringSpan) {
        let word = self.string_word(string);
        self.push(word);
    }

    #[inline(always)]
    pub(crate) fn number(&mut self, start: usize, end: usize) {
        let word = self.scalar(Node::Number, false, start, end);
        self.push(word);
    }

    /// `true`, `false` or `null`.
    #[inline(always)]
    pub(crate) fn literal(&mut self, literal: Option<bool>, start: usize, end: usize) {
        let node = match literal {
            Some(true) => Node::True,
            Some(false) => Node::False,
            None => Node::Null,
        };
        let word = self.scalar(node, false, start, end);
        self.push(word);
    }

    /// A bracket that opens a container.
    #[inline(always)]
    pub(crate) fn begin(&mut self, is_object: bool, start: usize) {
        self.advance(start, start + 1);
        // The word is complete when the container is closed or shown.
        self.push(start as u64);
        self.open.push(OpenNode { mark: self.words_len - 1, start, is_object, count: 0 });
    }

    /// The bracket at `at` closes the innermost container.
    #[inline(always)]
    pub(crate) fn end(&mut self, at: usize) {
        self.advance(at, at + 1);
        if let Some(open) = self.open.pop() {
            open.close(&mut self.words, at + 1);
            (self.words_len, self.words_end) = (self.words.len(), self.end);
        }
    }

    /// The tape's value so far, with `string` as its last one if a string is open; the text of that value; and the tail.
    /// `None` if there is no value. Takes time linear in the number of open containers. The last key is left out if it
    /// has no value.
    pub(crate) fn show(&mut self, string: Option<StringSpan>) -> Option<(Value<'_>, &str, &str)> {
        self.hide();
        if let Some(string) = string {
            let StringSpan { start, end, is_escaped } = string;
            assert!(self.end <= start && end == self.text_len, "it follows the last node or key, and ends the text");
            assert!(start <= end && self.text.is_char_boundary(start), "it is whole characters");
            let word = Word::scalar(Node::String, is_escaped, start, end - start);
            self.words.extend(self.key.into_iter().chain([word]));
            self.text.push('"');
        }
        assert!(self.words_end <= self.text_len, "nodes are no part of the tail");
        let mut inner = u32::from(string.is_some());
        for open in self.open.iter().rev() {
            self.text.push(open.closing());
            OpenNode { count: open.count + inner, ..*open }.close(&mut self.words, self.text.len());
            inner = 0;
        }
        if self.words.is_empty() {
            return None;
        }
        // SAFETY: the text is UTF-8, because it is a `str`. Each scalar lies in it, between characters: `advance` has
        // tested that, and the assertions above say that it was moved from the tail. Each container was closed by
        // `close`, which counts its words; between its first and its last word are whole nodes. The text is at most
        // `SIZE_MAX` bytes long, and the tape has fewer than `COUNT_MAX` words, as `append` has tested; so offsets
        // and counts fit into their words.
        let root = unsafe { Value::new(self.text.as_bytes(), &self.words) };
        Some((root, &self.text, &self.tail))
    }

    /// Takes back what `show` has added.
    #[inline(always)]
    pub(crate) fn hide(&mut self) {
        self.text.truncate(self.text_len);
        self.words.truncate(self.words_len);
    }

    /// Adds a node, after its key if it has one.
    #[inline(always)]
    fn push(&mut self, word: u64) {
        debug_assert_eq!(self.in_object(), self.key.is_some(), "members have keys, and nothing else has");
        if let Some(key) = self.key.take() {
            self.words.push(key);
        }
        self.words.push(word);
        (self.words_len, self.words_end) = (self.words.len(), self.end);
        if let Some(open) = self.open.last_mut() {
            open.count += 1;
        }
    }

    fn string_word(&mut self, string: StringSpan) -> u64 {
        self.scalar(Node::String, string.is_escaped, string.start, string.end)
    }

    #[inline(always)]
    fn scalar(&mut self, node: Node, flag: bool, start: usize, end: usize) -> u64 {
        self.advance(start, end);
        Word::scalar(node, flag, start, end - start)
    }

    /// Tests that a node stands between characters of the text, and not before the last one.
    #[inline(always)]
    fn advance(&mut self, start: usize, end: usize) {
        assert!(self.end <= start && start <= end && self.is_boundary(start) && self.is_boundary(end));
        self.end = end;
    }

    #[inline(always)]
    fn is_boundary(&self, offset: usize) -> bool {
        match offset.checked_sub(self.text_len) {
            Some(offset) => self.tail.is_char_boundary(offset),
            None => self.text.is_char_boundary(offset),
        }
    }
}

impl OpenNode {
    fn closing(&self) -> char {
        if self.is_object { '}' } else { ']' }
    }

    /// Writes the last word of the container, whose text ends at `text_end`, and completes its first.
    #[inline(always)]
    fn close(&self, words: &mut Vec<u64>, text_end: usize) {
        words.push(Word::close(self.count, text_end));
        let node = if self.is_object { Node::Object } else { Node::Array };
        words[self.mark] = Word::open(node, words.len() - self.mark, self.start);
    }
}

//! From the walk to the tape.

use super::word::{Node, Word};
use crate::number::Class;
use crate::walk::{Bracket, Build, Literal, Pen};

/// A tape in the making.
#[derive(Debug, Default)]
pub(crate) struct TapeBuilder {
    pub(crate) words: Vec<u64>,
}

impl Build for TapeBuilder {
    type Mark = u32;
    type Pen<'b> = TapePen<'b>;

    #[inline(always)]
    fn pen(&mut self, tokens: usize) -> TapePen<'_> {
        // A token makes one word at most.
        TapePen::new(&mut self.words, tokens, 0)
    }
}

/// Writes the nodes it is told of, in order, into memory that was reserved for them. The length is a local of the walk:
/// kept in the vector, each node would wait for the store of the one before (a nanosecond per node).
pub(crate) struct TapePen<'b> {
    words: &'b mut Vec<u64>,
    /// The vector's memory, of which `len` words are written and `capacity` may be.
    start: *mut u64,
    len: usize,
    capacity: usize,
    /// Set in every first word.
    flag: u64,
}

impl<'b> TapePen<'b> {
    /// A pen for `more` words.
    #[inline(always)]
    fn new(words: &'b mut Vec<u64>, more: usize, flag: u64) -> Self {
        words.reserve(more);
        Self { start: words.as_mut_ptr(), len: words.len(), capacity: words.len() + more, words, flag }
    }

    #[inline(always)]
    fn push(&mut self, word: u64) {
        if cfg!(any(debug_assertions, jird_checked)) {
            assert!(self.len < self.capacity, "room for every word was reserved");
        }
        // SAFETY: `start` has room for `capacity` words, as many as the tokens of the batch can make, and each token is
        // told of once; so `len` is below it.
        unsafe { self.start.add(self.len).write(word) };
        self.len += 1;
    }

    #[inline(always)]
    fn scalar(&mut self, node: Node, flag: bool, start: usize, len: usize) {
        self.push(Word::scalar(node, flag, start, len) | self.flag);
    }
}

impl Pen for TapePen<'_> {
    /// The index of the container's first word.
    type Mark = u32;

    #[inline(always)]
    fn key(&mut self, _text: &[u8], start: usize, end: usize, escaped: bool) {
        self.string(start, end, escaped);
    }

    #[inline(always)]
    fn string(&mut self, start: usize, end: usize, escaped: bool) {
        self.scalar(Node::String, escaped, start, end - start);
    }

    #[inline(always)]
    fn number(&mut self, start: usize, end: usize, _class: Class) {
        self.scalar(Node::Number, false, start, end - start);
    }

    #[inline(always)]
    fn literal(&mut self, start: usize, literal: Literal) {
        let node = match literal {
            Literal::Null => Node::Null,
            Literal::False => Node::False,
            Literal::True => Node::True,
        };
        self.scalar(node, false, start, literal.text().len());
    }

    #[inline(always)]
    fn open(&mut self, _bracket: Bracket, start: usize) -> u32 {
        // A text below 2^32 bytes has fewer than 2^32 words: a word takes a byte at least.
        let mark = self.len as u32;
        self.push(start as u64);
        mark
    }

    #[inline(always)]
    fn close(&mut self, mark: u32, bracket: Bracket, count: u32, end: usize) {
        let node = match bracket {
            Bracket::Object => Node::Object,
            Bracket::Array => Node::Array,
        };
        let mark = mark as usize;
        self.push(Word::close(count, end) | self.flag);
        if cfg!(any(debug_assertions, jird_checked)) {
            assert!(mark < self.len, "open wrote a word");
        }
        // SAFETY: `mark` comes from `open`, which wrote the word there.
        unsafe {
            let first = self.start.add(mark);
            first.write(Word::open(node, self.len - mark, first.read() as usize) | self.flag);
        }
    }

    #[inline(always)]
    fn finish(self) {
        // SAFETY: `len` words were written, and the vector has room for them.
        unsafe { self.words.set_len(self.len) };
    }
}

/// Makes the tape of a text that was not checked, and says so in every node.
#[derive(Debug)]
pub(super) struct Unchecked<'b>(pub(super) &'b mut Vec<u64>);

impl Build for Unchecked<'_> {
    type Mark = u32;
    type Pen<'b>
        = TapePen<'b>
    where
        Self: 'b;

    fn pen(&mut self, tokens: usize) -> TapePen<'_> {
        // A value without a key gets one, a key without a value a null, and what is still open is closed.
        TapePen::new(self.0, 3 * tokens + 1, Word::UNCHECKED)
    }
}

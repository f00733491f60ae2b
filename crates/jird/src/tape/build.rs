//! Builds the tape from the events of the walk.

use crate::number::Class;
use crate::walk::{Bracket, Build, Literal, Visitor};
use crate::word::{Node, Word};

/// A tape in the making.
#[derive(Debug, Default)]
pub(crate) struct TapeBuilder {
    pub(crate) words: Vec<u64>,
}

impl Build for TapeBuilder {
    type Mark = usize;
    type Visitor<'b> = TapeVisitor<'b>;

    #[inline(always)]
    fn visitor(&mut self, tokens: usize) -> TapeVisitor<'_> {
        // A token makes one word at most.
        TapeVisitor::new(&mut self.words, tokens, 0)
    }
}

/// Writes the nodes that the walk reports, in order. The length is a local of the walk: if it were kept in the
/// vector, each node would wait for the store of the one before (a nanosecond per node).
///
/// Invariant: `start` points to the vector's memory, which has room for `capacity` words; the first `len` of
/// them are written, and `len <= capacity`.
pub(crate) struct TapeVisitor<'b> {
    words: &'b mut Vec<u64>,
    start: *mut u64,
    len: usize,
    capacity: usize,
    /// Or-ed into every first word.
    flag: u64,
}

impl<'b> TapeVisitor<'b> {
    /// A visitor that expects to write `more` words.
    #[inline(always)]
    fn new(words: &'b mut Vec<u64>, more: usize, flag: u64) -> Self {
        words.reserve(more);
        Self { start: words.as_mut_ptr(), len: words.len(), capacity: words.capacity(), words, flag }
    }

    #[inline(always)]
    fn push(&mut self, word: u64) {
        if self.len == self.capacity {
            self.grow();
        }
        // SAFETY: by the invariant there is room for `capacity` words, and `len < capacity`: either it was, or `grow`
        // made room.
        unsafe { self.start.add(self.len).write(word) };
        self.len += 1;
    }

    /// Makes room for more words than were expected.
    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        // SAFETY: by the invariant the first `len` words are written, and there is room for them.
        unsafe { self.words.set_len(self.len) };
        self.words.reserve(1);
        (self.start, self.capacity) = (self.words.as_mut_ptr(), self.words.capacity());
    }

    #[inline(always)]
    fn scalar(&mut self, node: Node, flag: bool, start: usize, len: usize) {
        self.push(Word::scalar(node, flag, start, len) | self.flag);
    }
}

impl Visitor for TapeVisitor<'_> {
    /// The index of the container's first word. It is as wide as an address: in a text that was not checked one
    /// token may make three words, and the tape may have more than 2^32 words.
    type Mark = usize;

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
    fn open(&mut self, _bracket: Bracket, start: usize) -> usize {
        let mark = self.len;
        self.push(start as u64);
        mark
    }

    #[inline(always)]
    fn close(&mut self, mark: usize, bracket: Bracket, count: u32, end: usize) {
        let node = match bracket {
            Bracket::Object => Node::Object,
            Bracket::Array => Node::Array,
        };
        self.push(Word::close(count, end) | self.flag);
        assert!(mark < self.len, "a mark is the index of a word that `open` has written");
        // SAFETY: `mark < len` was just asserted, and by the invariant the first `len` words are written.
        unsafe {
            let first = self.start.add(mark);
            first.write(Word::open(node, self.len - mark, first.read() as usize) | self.flag);
        }
    }

    #[inline(always)]
    fn finish(self) {
        // SAFETY: by the invariant `len` words were written, and the vector has room for them.
        unsafe { self.words.set_len(self.len) };
    }
}

/// Makes the tape of a text that was not checked, and marks every node as unchecked.
#[derive(Debug)]
pub(super) struct Unchecked<'b>(pub(super) &'b mut Vec<u64>);

impl Build for Unchecked<'_> {
    type Mark = usize;
    type Visitor<'b>
        = TapeVisitor<'b>
    where
        Self: 'b;

    fn visitor(&mut self, tokens: usize) -> TapeVisitor<'_> {
        // Most tokens make one word. The walk adds a key where a value has none, a null where a key has no value, and
        // the closing words of containers that are still open. A token then makes up to three words, and the visitor
        // grows the vector for them.
        TapeVisitor::new(self.0, tokens + 1, Word::UNCHECKED)
    }
}

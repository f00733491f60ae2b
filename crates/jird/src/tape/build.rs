//! From the walk to the tape.

use super::word::{Node, Word};
use crate::number::Class;
use crate::walk::{Bracket, Build, Literal};

/// Writes the nodes it is told of, in order.
#[derive(Debug, Default)]
pub(crate) struct TapeBuilder {
    pub(crate) words: Vec<u64>,
}

impl Build for TapeBuilder {
    /// The index of the container's first word.
    type Mark = u32;

    #[inline(always)]
    fn key(&mut self, _text: &[u8], start: usize, end: usize, escaped: bool) {
        self.string(start, end, escaped);
    }

    #[inline(always)]
    fn string(&mut self, start: usize, end: usize, escaped: bool) {
        self.words.push(Word::scalar(Node::String, escaped, start, end - start));
    }

    #[inline(always)]
    fn number(&mut self, start: usize, end: usize, class: Class) {
        self.words.push(Word::scalar(Node::Number, !class.is_integer(), start, end - start));
    }

    #[inline(always)]
    fn literal(&mut self, start: usize, literal: Literal) {
        let node = match literal {
            Literal::Null => Node::Null,
            Literal::False => Node::False,
            Literal::True => Node::True,
        };
        self.words.push(Word::scalar(node, false, start, literal.text().len()));
    }

    #[inline(always)]
    fn open(&mut self, _bracket: Bracket, start: usize) -> u32 {
        // A text below 2^32 bytes has fewer than 2^32 words: two for a container of two bytes at least, one for the rest.
        let mark = self.words.len() as u32;
        self.words.extend([start as u64, 0]);
        mark
    }

    #[inline(always)]
    fn close(&mut self, mark: u32, bracket: Bracket, count: u32, end: usize) {
        let node = match bracket {
            Bracket::Object => Node::Object,
            Bracket::Array => Node::Array,
        };
        let index_end = self.words.len();
        let [first, second] = &mut self.words[mark as usize..][..2] else { unreachable!("open wrote two words") };
        *first = Word::container(node, count, *first as usize);
        *second = Word::end(end, index_end);
    }
}

/// Tells nothing to nobody: for validation.
#[derive(Debug, Default)]
pub(crate) struct Nothing;

impl Build for Nothing {
    /// The tape builder's mark, so that one reader serves both.
    type Mark = u32;

    #[inline(always)]
    fn key(&mut self, _: &[u8], _: usize, _: usize, _: bool) {}
    #[inline(always)]
    fn string(&mut self, _: usize, _: usize, _: bool) {}
    #[inline(always)]
    fn number(&mut self, _: usize, _: usize, _: Class) {}
    #[inline(always)]
    fn literal(&mut self, _: usize, _: Literal) {}
    #[inline(always)]
    fn open(&mut self, _: Bracket, _: usize) -> u32 {
        0
    }
    #[inline(always)]
    fn close(&mut self, _: u32, _: Bracket, _: u32, _: usize) {}
}

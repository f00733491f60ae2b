//! A visitor that copies every token and sets the white space between tokens.

use crate::number::Class;
use crate::walk::{Bracket, Build, Literal, Visitor, own_visitor};

/// Copies the tokens of `text` that the walk visits.
pub(super) struct Rewrite<'t> {
    text: &'t [u8],
    out: Vec<u8>,
    /// The indent of a level, in spaces.
    indent: usize,
    depth: usize,
    /// The next value follows a key or is the root: nothing goes before it.
    placed: bool,
    /// The container was just opened.
    first: bool,
}

impl<'t> Rewrite<'t> {
    /// `indent` is the width of a level.
    pub(super) fn new(text: &'t [u8], indent: usize) -> Self {
        Self { text, out: Vec::with_capacity(text.len()), indent, depth: 0, placed: true, first: true }
    }

    pub(super) fn into_text(self) -> Vec<u8> {
        self.out
    }

    /// Writes what goes before a member or element.
    fn separate(&mut self) {
        if core::mem::take(&mut self.placed) {
            return;
        }
        if !core::mem::take(&mut self.first) {
            self.out.push(b',');
        }
        self.new_line();
    }

    fn new_line(&mut self) {
        self.out.push(b'\n');
        self.out.resize(self.out.len() + self.indent * self.depth, b' ');
    }

    fn copy(&mut self, start: usize, end: usize) {
        self.separate();
        self.out.extend_from_slice(&self.text[start..end]);
    }
}

impl<'t> Build for Rewrite<'t> {
    type Mark = ();
    own_visitor!(Rewrite<'t>);
}

impl Visitor for &mut Rewrite<'_> {
    type Mark = ();

    fn key(&mut self, _text: &[u8], start: usize, end: usize, _escaped: bool) {
        self.copy(start - 1, end + 1);
        self.out.push(b':');
        self.out.push(b' ');
        self.placed = true;
    }

    fn string(&mut self, start: usize, end: usize, _escaped: bool) {
        self.copy(start - 1, end + 1);
    }

    fn number(&mut self, start: usize, end: usize, _class: Class) {
        self.copy(start, end);
    }

    fn literal(&mut self, start: usize, literal: Literal) {
        self.copy(start, start + literal.text().len());
    }

    fn open(&mut self, bracket: Bracket, _start: usize) {
        self.separate();
        self.out.push(if bracket == Bracket::Object { b'{' } else { b'[' });
        self.depth += 1;
        self.first = true;
    }

    fn close(&mut self, (): (), bracket: Bracket, count: u32, _end: usize) {
        self.depth -= 1;
        self.first = false;
        if count > 0 {
            self.new_line();
        }
        self.out.push(if bracket == Bracket::Object { b'}' } else { b']' });
    }

    fn finish(self) {}
}

//! A piece of whole lines in memory, and the number of lines before any place in it.

use super::row::Bad;
use crate::locate::Located;
use core::cell::Cell;

/// The number of line feeds in a text.
pub fn newlines(text: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', text).count() as u64
}

/// A piece of whole lines. It belongs to a [`Part`](super::part::Part) of a text, and its lines are counted from the start of
/// that part: a thread that reads a part does not know how many lines come before it.
#[derive(Debug)]
pub struct LinePiece<'t> {
    text: &'t [u8],
    offset: u64,
    count: fn(&[u8]) -> u64,
    /// A place in the text, and the number of lines of the part that end before it.
    counted: Cell<(usize, u64)>,
}

impl<'t> LinePiece<'t> {
    pub(super) fn new(text: &'t [u8], offset: u64, lines_before: u64, count: fn(&[u8]) -> u64) -> Self {
        Self { text, offset, count, counted: Cell::new((0, lines_before)) }
    }

    /// The lines.
    pub fn text(&self) -> &'t [u8] {
        self.text
    }

    /// The offset of the lines in the whole text.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The number of lines of the part that end before byte `at` of this piece. If the places ascend from call to call,
    /// each byte is looked at once.
    pub fn lines_before(&self, at: usize) -> u64 {
        let at = at.min(self.text.len());
        let (known, lines) = self.counted.get();
        let lines = if at >= known {
            lines + (self.count)(&self.text[known..at])
        } else {
            lines - (self.count)(&self.text[at..known])
        };
        self.counted.set((at, lines));
        lines
    }

    /// The place of a bad record of this piece: its line in the part, and its offset in the whole text.
    /// [`Located::after_lines`] adds the lines before the part.
    pub fn locate(&self, bad: &Bad<'_>) -> Located {
        bad.locate().after_lines(self.lines_before(bad.offset), self.offset + bad.offset as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_wherever_one_asks() {
        let text = b"a\n\nb\nc";
        for first in 0..=text.len() {
            for second in 0..=text.len() + 1 {
                let piece = LinePiece::new(text, 100, 7, newlines);
                assert_eq!(piece.lines_before(first), 7 + newlines(&text[..first]));
                assert_eq!(piece.lines_before(second), 7 + newlines(&text[..second.min(text.len())]));
            }
        }
    }
}

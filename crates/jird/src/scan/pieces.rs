//! Text that the caller passes in pieces.

use super::source::{Slice, TextSource};
use std::io;

/// The pieces that were added and are not forgotten yet.
#[derive(Debug, Default)]
pub(crate) struct Pieces {
    buffer: Vec<u8>,
    /// The number of bytes at the start of the buffer that are forgotten.
    start: usize,
    ended: bool,
}

impl Pieces {
    /// Appends a piece to the window.
    pub(crate) fn add(&mut self, piece: &[u8]) {
        // Moving the rest costs no more than the bytes that were forgotten.
        if self.start > self.buffer.len() - self.start {
            self.buffer.drain(..self.start);
            self.start = 0;
        }
        self.buffer.extend_from_slice(piece);
    }

    /// Declares that no more pieces will come.
    pub(crate) fn end(&mut self) {
        self.ended = true;
    }
}

// SAFETY: `start..` of the buffer is the window. Pieces are added at its end, `forget` drops its beginning, and `add`
// moves it as a whole.
unsafe impl<'de> TextSource<'de> for Pieces {
    type Key = [u8; 0];
    const FORGETS_BYTES: usize = 4 << 10;

    #[inline(always)]
    fn window(&self) -> &[u8] {
        &self.buffer[self.start..]
    }

    fn forget(&mut self, bytes: usize) {
        self.start += bytes;
    }

    fn fill(&mut self, _len: usize, _room: usize) -> io::Result<bool> {
        Ok(self.ended)
    }

    #[inline(always)]
    fn slice(&self, start: usize, end: usize) -> Slice<'de, '_> {
        Slice::Passing(&self.window()[start..end])
    }

    fn key(&self, _start: usize, _next: usize) -> [u8; 0] {
        []
    }
}

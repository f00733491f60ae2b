//! The blocks of a chunk.

use super::Chunk;
use crate::kernel::{BLOCK, Simd};

/// The blocks of a chunk. At the end of the text comes one more, even if nothing is left: the rest of the text, filled
/// up with spaces. An escape that the last whole block leaves incomplete is found wrong there.
#[derive(Clone, Copy)]
pub(super) struct Blocks<'t, 'r> {
    whole: &'t [[u8; BLOCK]],
    rest: &'r [u8; BLOCK],
    len: usize,
}

impl<'t, 'r> Blocks<'t, 'r> {
    /// The blocks of `chunk`; `rest` gets the last one.
    #[inline(always)]
    pub(super) fn of<S: Simd>(simd: S, chunk: &Chunk<'t>, rest: &'r mut [u8; BLOCK]) -> Self {
        let Chunk { text, from, to } = *chunk;
        let (whole, _) = text[from..to].as_chunks();
        let is_last = to == text.len();
        if is_last {
            *rest = simd.load_end(text, from + whole.len() * BLOCK);
        }
        Self { whole, rest, len: whole.len() + usize::from(is_last) }
    }

    #[inline(always)]
    pub(super) fn len(self) -> usize {
        self.len
    }

    #[inline(always)]
    pub(super) fn at(self, index: usize) -> &'r [u8; BLOCK]
    where
        't: 'r,
    {
        self.whole.get(index).unwrap_or(self.rest)
    }
}

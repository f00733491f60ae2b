//! A text that is scanned chunk by chunk, and what is known of it so far.

use super::{Carry, Chunk, Mode, Tokens, Violations, scan};
use crate::kernel::{BLOCK, Kernel};
use core::ops::Range;

/// A text and the part of it that pass one has found to be UTF-8. Only [`TextSoFar::scan`] makes that part larger, so it
/// is true.
#[derive(Clone, Copy)]
pub(crate) struct TextSoFar<'t> {
    /// The chunk that was scanned last.
    chunk: Chunk<'t>,
    /// Before this offset nothing is wrong, but for bytes beyond ASCII directly before it, at most three, which the scan of
    /// the next chunk judges.
    utf8_to: usize,
}

impl<'t> TextSoFar<'t> {
    /// A text of which nothing was scanned.
    pub(crate) fn new(text: &'t [u8]) -> Self {
        Self { chunk: Chunk { text, from: 0, to: 0 }, utf8_to: 0 }
    }

    /// Scans the chunk that ends at `to`, and appends its tokens to `tokens`.
    ///
    /// # Panics
    /// If the chunk ends neither with a block nor with the text: pass one looks at whole blocks.
    pub(crate) fn scan(
        &mut self,
        kernel: Kernel,
        to: usize,
        mode: Mode,
        carry: &mut Carry,
        tokens: &mut Tokens,
    ) -> Violations {
        assert!(to == self.chunk.text.len() || to.is_multiple_of(BLOCK), "a chunk has whole blocks");
        self.chunk = Chunk { from: self.chunk.to, to, ..self.chunk };
        let found = scan(kernel, &self.chunk, mode, carry, tokens);
        let is_checked = !matches!(mode, Mode::DocumentTrusted | Mode::LinesTrusted);
        if is_checked && !found.not_utf8 && self.utf8_to == self.chunk.from {
            self.utf8_to = to;
        }
        found
    }

    /// The chunk that was scanned last.
    pub(crate) fn chunk(&self) -> Chunk<'t> {
        self.chunk
    }

    /// A part of the text that begins and ends with ASCII, as values do, if it is known to be UTF-8.
    #[inline]
    pub(crate) fn value(&self, range: Range<usize>) -> Option<&'t str> {
        let is_known = range.end <= self.utf8_to;
        let bytes = self.chunk.text.get(range)?;
        let is_whole = bytes.first()?.is_ascii() && bytes.last()?.is_ascii();
        // SAFETY: the scans looked at all bytes up to the end of this part. Its last byte is ASCII, so whatever begins before it
        // was judged by then, and was right; its first byte is ASCII, so no character is cut there.
        (is_known && is_whole).then(|| unsafe { crate::text::trusted_str(bytes) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_scanned_and_is_utf8_becomes_text() {
        for kernel in Kernel::available() {
            for pad in (BLOCK - 2..=2 * BLOCK).step_by(if cfg!(miri) { 2 * BLOCK } else { 1 }) {
                for middle in ["\u{e9}", "\u{20ac}", "\u{10ffff}"].map(str::as_bytes) {
                    let right = [&b" ".repeat(pad)[..], b"\"a", middle, b"\"", &b" ".repeat(2 * BLOCK)].concat();
                    let value = pad..pad + middle.len() + 3;
                    for cut in 0..=middle.len() {
                        // The character loses its end.
                        let mut text = right.clone();
                        text[value.start + 2 + cut..value.end - 1].fill(b'x');
                        let is_utf8 = cut == 0 || cut == middle.len();
                        for mode in [Mode::Document, Mode::DocumentTrusted] {
                            let (mut carry, mut tokens) = (Carry::default(), Tokens::default());
                            let mut scanned = TextSoFar::new(&text);
                            while scanned.chunk().to < text.len() {
                                let to = text.len().min(scanned.chunk().to + BLOCK);
                                scanned.scan(kernel, to, mode, &mut carry, &mut tokens);
                                let known = mode == Mode::Document && is_utf8 && value.end <= to;
                                let part = known.then(|| core::str::from_utf8(&text[value.clone()]).unwrap());
                                assert_eq!(scanned.value(value.clone()), part, "{kernel:?} {pad} {cut} {to}");
                            }
                            assert_eq!(
                                scanned.value(value.start + 2..value.end).is_some(),
                                mode == Mode::Document && cut == 0
                            );
                        }
                    }
                }
            }
        }
    }
}

//! A text that is scanned as one chunk, and what is known of it then.

use super::{Carry, Chunk, Found, Mode, Tokens, first_fault, scan};
use crate::fault::Fault;
use crate::kernel::Kernel;

/// A text, and what pass one has found in it. Made by a scan of the whole text and nothing else, so that what it says of
/// UTF-8 is true.
pub(crate) struct Whole<'t> {
    text: &'t [u8],
    found: Found,
    carry: Carry,
    mode: Mode,
}

impl<'t> Whole<'t> {
    /// Scans `text`, and appends its tokens to `tokens`.
    #[inline(always)]
    pub(crate) fn scan(kernel: Kernel, text: &'t [u8], mode: Mode, tokens: &mut Tokens) -> Self {
        let mut carry = Carry::default();
        let found = scan(kernel, Chunk { text, from: 0, to: text.len() }, mode, &mut carry, tokens);
        Self { text, found, carry, mode }
    }

    /// Whether the text ends inside a string.
    pub(crate) fn ends_in_string(&self) -> bool {
        self.carry.in_string()
    }

    /// The first offence against UTF-8, and against the rules for escapes and control characters.
    #[inline]
    pub(crate) fn first_fault(&self) -> Option<Fault> {
        first_fault(Chunk { text: self.text, from: 0, to: self.text.len() }, &self.found)
    }

    /// The text as `str`, if it was checked and is UTF-8; else up to `end`, where something is wrong, if that is UTF-8.
    #[inline]
    pub(crate) fn as_str_up_to(&self, end: usize) -> Option<&'t str> {
        match self.mode {
            Mode::DocumentTrusted | Mode::LinesTrusted => None,
            Mode::Document | Mode::DocumentBlanks | Mode::Lines if self.found.not_utf8 || end < self.text.len() => {
                // The fault may cut off a character, which is in no record that ends before it.
                self.text.get(..end)?.utf8_chunks().next().map(|chunk| chunk.valid())
            }
            // SAFETY: the scan of the whole text has checked it, and found it to be UTF-8.
            Mode::Document | Mode::DocumentBlanks | Mode::Lines => Some(unsafe { crate::text::trusted_str(self.text) }),
        }
    }
}

//! A text that is scanned as one chunk, with the results of the scan.

use super::escapes;
use super::{Carry, Chunk, Keeps, Mode, PassOne, Tokens, Violations, first_fault, scan};
use crate::fault::{ErrorKind, Fault};
use crate::kernel::{Kernel, Pass, Simd};

/// A text and the results of pass one. Only a scan of the whole text makes this type, so its statement about UTF-8 is
/// true.
pub(crate) struct Whole<'t> {
    text: &'t [u8],
    found: Violations,
    ends_in_string: bool,
    mode: Mode,
}

impl<'t> Whole<'t> {
    /// Scans `text`, and appends its tokens to `tokens`.
    #[inline(always)]
    pub(crate) fn scan(kernel: Kernel, text: &'t [u8], mode: Mode, tokens: &mut Tokens) -> Self {
        let mut carry = Carry::default();
        let found = scan(kernel, &Chunk { text, from: 0, to: text.len() }, mode, &mut carry, tokens);
        Self { text, found, ends_in_string: carry.in_string(), mode }
    }

    /// The same within the entry of a kernel, for a pass that goes on with the tokens. Checks everything but numbers. The
    /// text is a document, or with `LINES` some lines.
    #[inline(always)]
    pub(crate) fn scan_within<S: Simd, const LINES: bool>(simd: S, text: &'t [u8], tokens: &mut Tokens) -> Self {
        const NOTHING: u8 = Keeps::Nothing as u8;
        let mut carry = Carry::default();
        let chunk = Chunk { text, from: 0, to: text.len() };
        let mut found =
            PassOne::<LINES, true, NOTHING> { chunk: &chunk, carry: &mut carry, tokens: &mut *tokens }.run(simd);
        found.escape = escapes::check_within(simd, &chunk, tokens.escapes(), &mut carry);
        if !LINES {
            tokens.numbers_judged(false, false);
        }
        let mode = if LINES { Mode::Lines } else { Mode::Document };
        Self { text, found, ends_in_string: carry.in_string(), mode }
    }

    /// Whether pass one found nothing wrong, and all strings end.
    #[inline(always)]
    pub(crate) fn is_right(&self) -> bool {
        let Violations { control, escape, number, not_utf8 } = self.found;
        control.is_none() && escape.is_none() && !number && !not_utf8 && !self.ends_in_string
    }

    /// Whether the text ends inside a string.
    pub(crate) fn ends_in_string(&self) -> bool {
        self.ends_in_string
    }

    /// The first error in UTF-8, escapes or control characters.
    #[inline]
    pub(crate) fn first_fault(&self) -> Option<Fault> {
        first_fault(Chunk { text: self.text, from: 0, to: self.text.len() }, &self.found)
    }

    /// The same, or an unclosed string if the text ends in one.
    pub(crate) fn fault(&self) -> Option<Fault> {
        let unclosed = || Fault::at_byte(ErrorKind::String, self.text.len());
        self.first_fault().or_else(|| self.ends_in_string.then(unclosed))
    }

    /// The text as `str`, if it was checked and is UTF-8. If there is an error at `end`, the text up to it, as far as
    /// that is UTF-8.
    #[inline(always)]
    pub(crate) fn as_str_up_to(&self, end: usize) -> Option<&'t str> {
        match self.mode {
            Mode::DocumentTrusted | Mode::LinesTrusted => None,
            Mode::Document | Mode::DocumentBlanks | Mode::Lines if self.found.not_utf8 || end < self.text.len() => {
                // The error may be inside a character. No record that ends before the error contains that character.
                self.text.get(..end)?.utf8_chunks().next().map(|chunk| chunk.valid())
            }
            // SAFETY: the scan checked the whole text, and found it to be UTF-8.
            Mode::Document | Mode::DocumentBlanks | Mode::Lines => Some(unsafe { crate::text::trusted_str(self.text) }),
        }
    }
}

//! A token and its place in the text.

#![allow(unsafe_code, reason = "loads the whole words of a token's ends, which it has shown to be in the text")]

use super::swar::{HalfWord, Word, byte_unchecked};

/// A token, and the text around it, whose bytes may be loaded together with it.
#[derive(Clone, Copy)]
pub(super) struct Token<'a> {
    text: &'a [u8],
    /// Invariant: `start <= end && end <= text.len()`.
    start: usize,
    end: usize,
}

impl<'a> Token<'a> {
    /// A token with nothing around it.
    #[inline(always)]
    pub(super) fn alone(token: &'a [u8]) -> Self {
        Self { text: token, start: 0, end: token.len() }
    }

    /// `text[start..end]`.
    ///
    /// # Panics
    ///
    /// If `start..end` is not a range in `text`.
    #[inline(always)]
    pub(super) fn at(text: &'a [u8], start: usize, end: usize) -> Self {
        assert!(start <= end && end <= text.len(), "a token is in its text");
        Self { text, start, end }
    }

    /// The text, and the start and end of the token in it.
    #[inline(always)]
    pub(super) fn place(self) -> (&'a [u8], usize, usize) {
        (self.text, self.start, self.end)
    }

    /// The token's own bytes.
    #[inline(always)]
    pub(super) fn bytes(self) -> &'a [u8] {
        &self.text[self.start..self.end]
    }

    #[inline(always)]
    pub(super) fn len(self) -> usize {
        self.end - self.start
    }

    /// The token without its sign; true if the sign is a minus.
    #[inline(always)]
    pub(super) fn unsigned(self) -> (bool, Self) {
        if self.len() == 0 {
            return (false, self);
        }
        // SAFETY: the token is not empty, so `start < end`, and `end` is at most the text's length.
        let negative = unsafe { byte_unchecked(self.text, self.start) } == b'-';
        // At most one byte is removed, and the token has one: the invariant still holds.
        (negative, Self { start: self.start + usize::from(negative), ..self })
    }

    /// The first eight bytes. If the token is shorter, the bytes after it are arbitrary.
    #[inline(always)]
    pub(super) fn head(self) -> Word {
        if self.text.len() - self.start < Word::LEN {
            return head_short(&self.text[self.start..]);
        }
        // SAFETY: the test above found eight or more bytes from `start` on; the subtraction did not overflow, by the
        // invariant.
        unsafe { Word::load_unchecked(self.text, self.start) }
    }

    /// The first eight bytes, the four bytes before the last eight, and the last eight. The four bytes are zero digits
    /// if the token has at most 16 bytes; bytes that the words have in common come twice.
    ///
    /// # Safety
    ///
    /// `len() >= 8`
    #[inline(always)]
    pub(super) unsafe fn ends(self) -> (Word, HalfWord, Word) {
        const LEN: usize = Word::LEN + HalfWord::LEN;
        // SAFETY: `start + 8 <= end`, and `end` is in the text.
        let (head, last) = unsafe {
            (Word::load_unchecked(self.text, self.start), Word::load_unchecked(self.text, self.end - Word::LEN))
        };
        if self.len() <= 2 * Word::LEN {
            return (head, HalfWord::ZERO, last);
        }
        // SAFETY: `end - 12 > start`, and `end` is in the text.
        (head, unsafe { HalfWord::load_unchecked(self.text, self.end - LEN) }, last)
    }
}

/// [`Token::head`] near the end of the text. It is not inlined, so that the common case stays small.
#[cold]
#[inline(never)]
fn head_short(rest: &[u8]) -> Word {
    Word::load_short(rest)
}

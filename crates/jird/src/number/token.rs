//! Where a token stands.

#![allow(unsafe_code, reason = "loads the whole words of a token's ends, which it has shown to be in the text")]

use super::swar::{HalfWord, Word, byte_unchecked};

/// A token, and the text around it, which may be loaded together with it.
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
    /// If that is not a range in `text`.
    #[inline(always)]
    pub(super) fn at(text: &'a [u8], start: usize, end: usize) -> Self {
        assert!(start <= end && end <= text.len(), "a token is in its text");
        Self { text, start, end }
    }

    /// The text, and where in it the token begins and ends.
    #[inline(always)]
    pub(super) fn place(self) -> (&'a [u8], usize, usize) {
        (self.text, self.start, self.end)
    }

    /// Its own bytes.
    #[inline(always)]
    pub(super) fn bytes(self) -> &'a [u8] {
        &self.text[self.start..self.end]
    }

    #[inline(always)]
    pub(super) fn len(self) -> usize {
        self.end - self.start
    }

    /// Without its sign; true if that is a minus.
    #[inline(always)]
    pub(super) fn unsigned(self) -> (bool, Self) {
        if self.len() == 0 {
            return (false, self);
        }
        // SAFETY: there is a byte from `start` to `end`, and `end` is in the text.
        let negative = unsafe { byte_unchecked(self.text, self.start) } == b'-';
        // It is one byte at most: the invariant stands.
        (negative, Self { start: self.start + usize::from(negative), ..self })
    }

    /// Its first eight bytes. If it is shorter, those behind it are any.
    #[inline(always)]
    pub(super) fn head(self) -> Word {
        if self.text.len() - self.start < Word::LEN {
            return head_short(&self.text[self.start..]);
        }
        // SAFETY: eight bytes and more from `start` on, as was tested; and no overflow before that, by the invariant.
        unsafe { Word::load_unchecked(self.text, self.start) }
    }

    /// Its first eight bytes, the four before its last eight, and these. What the text has no room for is zeros; what is in
    /// the text and not in the token is any.
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

/// [`Token::head`] where the text ends. Out of the way of all other tokens.
#[cold]
#[inline(never)]
fn head_short(rest: &[u8]) -> Word {
    Word::load_short(rest)
}

//! Where a token stands.

/// A token together with the text behind it.
#[derive(Clone, Copy)]
pub(super) struct Token<'a> {
    rest: &'a [u8],
    /// `len <= rest.len()`.
    len: usize,
}

impl<'a> Token<'a> {
    /// A token with nothing behind it.
    #[inline(always)]
    pub(super) fn alone(token: &'a [u8]) -> Self {
        Self { rest: token, len: token.len() }
    }

    /// `text[start..end]`.
    ///
    /// # Panics
    ///
    /// If that is not a range in `text`.
    #[inline(always)]
    pub(super) fn at(text: &'a [u8], start: usize, end: usize) -> Self {
        assert!(start <= end && end <= text.len(), "a token is in its text");
        Self { rest: &text[start..], len: end - start }
    }

    /// Its own bytes.
    #[inline(always)]
    pub(super) fn bytes(self) -> &'a [u8] {
        &self.rest[..self.len]
    }

    /// What the text holds from its first byte on, its own bytes included.
    #[inline(always)]
    pub(super) fn rest(self) -> &'a [u8] {
        self.rest
    }

    #[inline(always)]
    pub(super) fn len(self) -> usize {
        self.len
    }

    /// Without its sign; true if that is a minus.
    #[inline(always)]
    pub(super) fn unsigned(self) -> (bool, Self) {
        let negative = self.len > 0 && self.rest[0] == b'-';
        let sign = usize::from(negative);
        (negative, Self { rest: &self.rest[sign..], len: self.len - sign })
    }
}

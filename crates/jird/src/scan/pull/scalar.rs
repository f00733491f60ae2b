//! The text of a string, a number or a literal.

use super::{Pull, TextSource, Token};
use crate::error::Error;
use crate::fault::ErrorKind;
use crate::number;
use crate::scan::ESCAPED;
use crate::text::not_utf8_at;
use crate::text::trim_end;

/// A string's content, not unescaped.
#[derive(Clone, Copy)]
pub(crate) enum Content<'de, 's> {
    Borrowed(&'de str),
    Passing(&'s str),
}

/// The kind of a string that holds an escape.
pub(super) const QUOTE: u8 = b'"' | ESCAPED;

#[cfg_attr(not(feature = "serde"), allow(dead_code, reason = "types pull more than events do"))]
impl<'de, S: TextSource<'de>> Pull<S> {
    /// The content of the string that is the next token; steps over it.
    #[inline(always)]
    pub(crate) fn string(&mut self) -> Result<Content<'de, '_>, Error> {
        let token = self.token();
        // No token is asked for after this, so the window does not move.
        self.step();
        self.content(token)
    }

    /// The content of the string at `token`.
    #[inline(always)]
    pub(crate) fn content(&mut self, token: Token) -> Result<Content<'de, '_>, Error> {
        let (start, last) = (token.start + 1, token.next.wrapping_sub(1));
        if !S::TRUSTED && self.text.is_content(start, last) {
            // SAFETY: `is_content` returned true.
            return Ok(unsafe { self.text.string_unchecked(start, last) });
        }
        self.content_far(start, token.next)
    }

    /// The content of a string that has white space after it or is incomplete, and of any string in a trusted text.
    #[inline(never)]
    fn content_far(&mut self, start: usize, next: usize) -> Result<Content<'de, '_>, Error> {
        let end = match trim_end(self.window(), start, next).checked_sub(1) {
            Some(last) if last >= start && self.window()[last] == b'"' => last,
            _ => return Err(self.syntax(ErrorKind::String, next)),
        };
        if !S::TRUSTED && self.text.is_content(start, end) {
            // SAFETY: `is_content` returned true.
            return Ok(unsafe { self.text.string_unchecked(start, end) });
        }
        self.checked(start, end)
    }

    /// A part of the text as `str`. Pass one has checked it, or it is checked here if the text is trusted.
    pub(super) fn checked(&mut self, start: usize, end: usize) -> Result<Content<'de, '_>, Error> {
        if S::TRUSTED {
            if let Some(wrong) = not_utf8_at(&self.window()[start..end]) {
                return Err(self.syntax(ErrorKind::Utf8, start + wrong));
            }
        } else if !self.text.is_checked(start, end) {
            // Only a bug in the engine leads here. It becomes an error, and unchecked text is not returned.
            debug_assert!(false, "{start}..{end} is no part of the checked text");
            return Err(self.syntax(ErrorKind::Utf8, start));
        }
        // SAFETY: if the text is trusted, this part was just checked; otherwise pass one checked it, because
        // `is_checked` returned true.
        Ok(unsafe { self.text.string_unchecked(start, end) })
    }

    /// The end of the scalar at `token`.
    #[inline(always)]
    pub(crate) fn scalar_end(&self, token: Token) -> usize {
        match self.window().get(token.next.wrapping_sub(1)) {
            Some(b' ' | b'\t' | b'\n' | b'\r') => trim_end(self.window(), token.start, token.next),
            _ => token.next,
        }
    }

    /// Checks the number that is the next token, and returns its end.
    #[inline(always)]
    pub(crate) fn checked_number(&mut self, token: Token) -> Result<usize, Error> {
        let end = self.scalar_end(token);
        if self.tokens.tokens().owe_numbers(self.tokens.at())
            && let Err(wrong) = number::check_at(self.window(), token.start, end)
        {
            return Err(self.syntax(ErrorKind::Number, token.start + wrong));
        }
        Ok(end)
    }

    /// Checks a string, number or literal whose value the caller does not need.
    #[inline(always)]
    pub(crate) fn check_scalar(&mut self, token: Token) -> Result<(), Error> {
        if S::TRUSTED {
            return Ok(());
        }
        match token.kind {
            b'"' | QUOTE => self.content(token).map(drop),
            b't' => self.check_literal(token, b"true"),
            b'f' => self.check_literal(token, b"false"),
            b'n' => self.check_literal(token, b"null"),
            _ => self.checked_number(token).map(drop),
        }
    }

    /// Checks that the next token is this literal, and steps over it.
    #[inline(always)]
    pub(crate) fn literal(&mut self, token: Token, wanted: &'static [u8]) -> Result<(), Error> {
        self.check_literal(token, wanted)?;
        self.step();
        Ok(())
    }

    /// Checks that the token is this literal.
    #[inline(always)]
    pub(crate) fn check_literal(&mut self, token: Token, wanted: &'static [u8]) -> Result<(), Error> {
        let end = self.scalar_end(token);
        if self.window().get(token.start..end) == Some(wanted) {
            return Ok(());
        }
        Err(self.wrong_literal(token.start, end, wanted))
    }

    #[cold]
    fn wrong_literal(&mut self, start: usize, end: usize, wanted: &[u8]) -> Error {
        let same = self.window()[start..end].iter().zip(wanted).take_while(|(found, wanted)| found == wanted).count();
        self.syntax(ErrorKind::Literal, start + same)
    }
}

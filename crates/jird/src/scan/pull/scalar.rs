//! What the text of a string, a number or a literal is.

use super::{Pull, Source, Token};
use crate::error::Error;
use crate::fault::ErrorKind;
use crate::number;
use crate::scan::{ESCAPED, Slice};
use crate::text::trusted_str;
use crate::walk::trim_end;

/// A string's content, not unescaped.
#[derive(Clone, Copy)]
pub(crate) enum Content<'de, 's> {
    Borrowed(&'de str),
    Passing(&'s str),
}

/// The kind of a string that holds an escape.
pub(super) const QUOTE: u8 = b'"' | ESCAPED;

#[cfg_attr(not(feature = "serde"), allow(dead_code, reason = "types pull more than events do"))]
impl<'de, S: Source<'de>> Pull<S> {
    /// The content of the string that is the next token; steps over it.
    #[inline(always)]
    pub(crate) fn string(&mut self) -> Result<Content<'de, '_>, Error> {
        let token = self.token();
        // No token is asked for, and so the text stays where it is.
        self.step();
        self.content(token)
    }

    /// The content of the string that a token is.
    #[inline(always)]
    pub(crate) fn content(&mut self, token: Token) -> Result<Content<'de, '_>, Error> {
        let (start, last) = (token.start + 1, token.next.wrapping_sub(1));
        let end = match self.window().get(last) {
            Some(b'"') if last >= start => last,
            _ => self.string_end_far(start, token.next)?,
        };
        if S::TRUSTED
            && let Err(wrong) = core::str::from_utf8(&self.window()[start..end])
        {
            return Err(self.syntax(ErrorKind::Utf8, start + wrong.valid_up_to()));
        }
        // SAFETY: this has just been checked; or pass one found the text to be UTF-8 from its start to the last of its tokens at
        // least, and this part begins behind a quote and ends before one.
        Ok(unsafe { content(self.source.slice(start, end)) })
    }

    #[inline(never)]
    fn string_end_far(&mut self, start: usize, next: usize) -> Result<usize, Error> {
        match trim_end(self.window(), start, next).checked_sub(1) {
            Some(last) if last >= start && self.window()[last] == b'"' => Ok(last),
            _ => Err(self.syntax(ErrorKind::String, next)),
        }
    }

    /// The text is not cut off at this token, by what pass one refuses.
    #[inline]
    pub(crate) fn check_cut(&mut self, token: Token) -> Result<(), Error> {
        match self.fault {
            Some(fault) if fault.offset() <= token.start as u64 => Err(self.syntax(fault.kind(), token.start)),
            _ => Ok(()),
        }
    }

    /// Where the scalar ends.
    #[inline(always)]
    pub(crate) fn scalar_end(&self, token: Token) -> usize {
        match self.window().get(token.next.wrapping_sub(1)) {
            Some(b' ' | b'\t' | b'\n' | b'\r') => trim_end(self.window(), token.start, token.next),
            _ => token.next,
        }
    }

    /// Where the number ends that is the next token, and whether it is one.
    #[inline(always)]
    pub(crate) fn checked_number(&mut self, token: Token) -> Result<usize, Error> {
        let end = self.scalar_end(token);
        if self.tokens.owe_numbers(self.at)
            && let Err(wrong) = number::check_at(self.window(), token.start, end)
        {
            return Err(self.syntax(ErrorKind::Number, token.start + wrong));
        }
        Ok(end)
    }

    /// Checks a token that is a string, a number or a literal, which nobody wants.
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

    /// Checks that a token is this literal.
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

/// A part of the text as `str`.
///
/// # Safety
/// It is UTF-8.
#[inline(always)]
pub(super) unsafe fn content<'de, 's>(slice: Slice<'de, 's>) -> Content<'de, 's> {
    // SAFETY: the caller's promise.
    unsafe {
        match slice {
            Slice::Borrowed(bytes) => Content::Borrowed(trusted_str(bytes)),
            Slice::Passing(bytes) => Content::Passing(trusted_str(bytes)),
        }
    }
}

//! Errors and their places.

use super::{Pull, TextSource, Token};
use crate::error::{Category, Error};
use crate::fault::ErrorKind;
use crate::number;
use crate::scan::Mode;
use crate::scan::tokens::CUT;

#[cfg_attr(not(feature = "serde"), allow(dead_code, reason = "types pull more than events do"))]
impl<'de, S: TextSource<'de>> Pull<S> {
    /// Checks that the text ends here.
    pub(crate) fn end(&mut self) -> Result<(), Error> {
        let token = self.token();
        if self.is_end(token) { Ok(()) } else { Err(self.unexpected(ErrorKind::Trailing)) }
    }

    /// Whether the text ends here without an error.
    pub(crate) fn is_end(&self, token: Token) -> bool {
        self.done && self.fault.is_none() && token.start == self.scanned
    }

    /// The error for the next token, which may not stand here; `wanted` says what should.
    #[cold]
    #[inline(never)]
    pub(crate) fn unexpected(&mut self, wanted: ErrorKind) -> Error {
        let token = self.token();
        self.unexpected_token(token, wanted)
    }

    /// The same for a token after the next one.
    #[cold]
    #[inline(never)]
    pub(crate) fn unexpected_token(&mut self, token: Token, wanted: ErrorKind) -> Error {
        if token.kind == CUT {
            // If nothing before it is wrong, the error is what cuts the token off.
            let wrong = self.wrong_so_far(token.start, token.next, wanted);
            let (kind, at) = wrong.unwrap_or((ErrorKind::String, token.next));
            return self.syntax(kind, at);
        }
        let kind = match wanted {
            ErrorKind::Empty | ErrorKind::Trailing => wanted,
            // A newline is a token where it ends a record.
            _ if self.is_end(token) || token.kind == b'\n' => ErrorKind::Unclosed,
            _ => wanted,
        };
        self.syntax(kind, token.start)
    }

    /// The error in `start..end` of the window, where `wanted` should stand. These bytes are the beginning of a
    /// string, number or literal, or of something that JSON does not have. `None` if a valid token may begin with
    /// them.
    #[cold]
    pub(super) fn wrong_so_far(&self, start: usize, end: usize, wanted: ErrorKind) -> Option<(ErrorKind, usize)> {
        let token = &self.window()[start..end];
        let is_value = matches!(wanted, ErrorKind::Empty | ErrorKind::Value);
        let word = |word: &[u8]| (ErrorKind::Literal, token.iter().zip(word).take_while(|(a, b)| a == b).count());
        let (kind, right) = match token.first() {
            Some(b'"') if is_value || wanted == ErrorKind::Key => return None,
            Some(b'-' | b'0'..=b'9') if is_value => {
                (ErrorKind::Number, number::check_at(self.window(), start, end).err().unwrap_or(end - start))
            }
            Some(b't') if is_value => word(b"true"),
            Some(b'f') if is_value => word(b"false"),
            Some(b'n') if is_value => word(b"null"),
            _ => (wanted, 0),
        };
        (right < end - start).then_some((kind, start + right))
    }

    /// The error at this offset, unless pass one found an error at or before it.
    #[cold]
    #[inline(never)]
    pub(crate) fn syntax(&mut self, kind: ErrorKind, at: usize) -> Error {
        let known = self.fault.filter(|fault| fault.offset() <= at as u64);
        if known.is_some_and(|fault| fault.kind() == ErrorKind::Io)
            && let Some(error) = self.io.take()
        {
            return Error::from(error);
        }
        let (kind, at) = known.map_or((kind, at), |fault| (fault.kind(), fault.offset() as usize));
        let ends_line = matches!(self.mode, Mode::Lines | Mode::LinesTrusted) && self.window().get(at) == Some(&b'\n');
        let kind = match kind {
            // A string cannot continue after the end of a line.
            ErrorKind::Utf8 | ErrorKind::Escape | ErrorKind::Control if ends_line => ErrorKind::String,
            _ => kind,
        };
        let ends = self.done && at == self.window().len() || ends_line;
        let error = Error::new(kind, at as u64);
        self.place(if ends { error.at_end() } else { error }, at)
    }

    /// Adds its place to an error about the value at this offset or before it.
    #[cold]
    #[inline(never)]
    pub(crate) fn place(&mut self, error: Error, at: usize) -> Error {
        if error.is_placed() || error.classify() == Category::Io {
            return error;
        }
        let at = at.min(self.window().len());
        let (offset, line) = (self.offset(at), self.line(at));
        let start = self.lines.start_at(at, self.text.window(), self.base);
        let error = error.placed(offset, line, offset - start + 1);
        if self.base == 0 { error.with_encoding(self.window()) } else { error }
    }

    /// As [`place`](Self::place), with an offset of the whole text. An offset that the window has dropped counts as
    /// the window's start.
    #[cold]
    #[inline(never)]
    pub(crate) fn place_at(&mut self, error: Error, offset: u64) -> Error {
        let at = usize::try_from(offset.saturating_sub(self.base)).unwrap_or(usize::MAX);
        self.place(error, at)
    }

    /// The one-based line of an offset of the window. Counts lines up to there.
    pub(crate) fn line(&mut self, at: usize) -> u64 {
        self.lines.ended_before(at, self.text.window(), self.base) + 1
    }
}

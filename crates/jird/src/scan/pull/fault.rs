//! What is wrong, and where.

use super::{Pull, TextSource, Token};
use crate::error::{Category, Error};
use crate::fault::ErrorKind;
use crate::number;
use crate::scan::Mode;
use crate::scan::tokens::CUT;

#[cfg_attr(not(feature = "serde"), allow(dead_code, reason = "types pull more than events do"))]
impl<'de, S: TextSource<'de>> Pull<S> {
    /// The end of the text must come next.
    pub(crate) fn end(&mut self) -> Result<(), Error> {
        let token = self.token();
        if self.is_end(token) { Ok(()) } else { Err(self.unexpected(ErrorKind::Trailing)) }
    }

    /// Whether the text ends here, and rightly.
    pub(crate) fn is_end(&self, token: Token) -> bool {
        self.done && self.fault.is_none() && token.start == self.scanned
    }

    /// The next token is none that may stand here, where `wanted` should.
    #[cold]
    #[inline(never)]
    pub(crate) fn unexpected(&mut self, wanted: ErrorKind) -> Error {
        let token = self.token();
        self.unexpected_token(token, wanted)
    }

    /// The same of a token behind it.
    #[cold]
    #[inline(never)]
    pub(crate) fn unexpected_token(&mut self, token: Token, wanted: ErrorKind) -> Error {
        if token.kind == CUT {
            // What cuts the token off is wrong with it, if nothing before that is.
            let wrong = self.wrong_so_far(token.start, token.next, wanted);
            let (kind, at) = wrong.unwrap_or((ErrorKind::String, token.next));
            return self.syntax(kind, at);
        }
        let kind = match wanted {
            ErrorKind::Empty | ErrorKind::Trailing => wanted,
            // A line feed is a token where it ends a record.
            _ if self.is_end(token) || token.kind == b'\n' => ErrorKind::Unclosed,
            _ => wanted,
        };
        self.syntax(kind, token.start)
    }

    /// What is wrong with `start..end` of the window, the beginning of a string, a number, a literal or of nothing that JSON has,
    /// where `wanted` should stand. `None` if it may go on rightly.
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

    /// The text is wrong at this offset, if pass one has not found it to be before.
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
            // No string goes over a line's end.
            ErrorKind::Utf8 | ErrorKind::Escape | ErrorKind::Control if ends_line => ErrorKind::String,
            _ => kind,
        };
        let ends = self.done && at == self.window().len() || ends_line;
        let error = Error::new(kind, at as u64);
        self.place(if ends { error.at_end() } else { error }, at)
    }

    /// Something about the value at this offset, or before it, is not as was wanted: adds where that is.
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

    /// As [`place`](Self::place), at an offset of the whole text. What the window has forgotten is taken for its beginning.
    #[cold]
    #[inline(never)]
    pub(crate) fn place_at(&mut self, error: Error, offset: u64) -> Error {
        let at = usize::try_from(offset.saturating_sub(self.base)).unwrap_or(usize::MAX);
        self.place(error, at)
    }

    /// Counts lines up to an offset of the window; the one-based line that it is in.
    pub(crate) fn line(&mut self, at: usize) -> u64 {
        self.lines.ended_before(at, self.text.window(), self.base) + 1
    }
}

//! What is wrong, and where.

use super::{Pull, Source, Token};
use crate::error::{Category, Error};
use crate::fault::ErrorKind;
use crate::scan::tokens::CUT;

#[cfg_attr(not(feature = "serde"), allow(dead_code, reason = "types pull more than events do"))]
impl<'de, S: Source<'de>> Pull<S> {
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
        let string_may_stand = matches!(wanted, ErrorKind::Empty | ErrorKind::Value | ErrorKind::Key);
        if string_may_stand && token.kind == CUT && self.window().get(token.start) == Some(&b'"') {
            return self.syntax(ErrorKind::String, token.next);
        }
        let kind = match wanted {
            ErrorKind::Empty | ErrorKind::Trailing => wanted,
            // A line feed is a token where it ends a record.
            _ if self.is_end(token) || token.kind == b'\n' => ErrorKind::Unclosed,
            _ => wanted,
        };
        self.syntax(kind, token.start)
    }

    /// The text is wrong at this offset, if pass one has not found it to be before.
    #[cold]
    #[inline(never)]
    pub(crate) fn syntax(&mut self, kind: ErrorKind, at: usize) -> Error {
        let (mut kind, mut at) = (kind, at);
        let known = self.fault.filter(|fault| fault.offset() <= at as u64);
        if let Some(fault) = known {
            (kind, at) = (fault.kind(), fault.offset() as usize);
            if let Some(error) = self.io.take() {
                return Error::from(error);
            }
        }
        let text = self.window();
        let sequence = &text[at.min(text.len())..text.len().min(at + 4)];
        let mut ends = self.done && at == text.len();
        if let Err(error) = core::str::from_utf8(sequence)
            && error.valid_up_to() == 0
        {
            // A sequence that a chunk's end leaves open is judged with the next chunk.
            kind = known.map_or(ErrorKind::Utf8, |fault| fault.kind());
            ends = error.error_len().is_none();
        }
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
        let start = self.lines.start_at(at, self.source.window(), self.base);
        error.placed(offset, line, offset - start + 1)
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
        self.lines.ended_before(at, self.source.window(), self.base) + 1
    }
}

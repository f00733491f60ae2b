//! What neither strict JSON nor an option allows.

use super::hexadecimal::HEX_DIGITS_MAX;
use super::options::Allow;
use crate::fault::ErrorKind;
use crate::locate::{line_and_column, snippet};
use core::fmt;

/// Why a text could not be turned into strict JSON: the rule that it breaks, the place in the text as it was given, and the
/// option that would allow it. `Display` writes all of it in one line; `{:#}` leaves the place out.
///
/// ```
/// use jird::lenient::{Allow, Leniency, to_strict};
/// let error = to_strict(b"[1, // one\n 2]", Leniency::STRICT).unwrap_err();
/// assert_eq!((error.line(), error.column(), error.offset()), (1, 5, 4));
/// assert_eq!(error.option(), Some(Allow::Comments));
/// assert_eq!((error.snippet(), error.caret()), ("[1, // one", 4));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LenientError(Box<Refusal>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Refusal {
    kind: ErrorKind,
    offset: u64,
    line: u64,
    column: u64,
    snippet: String,
    caret: usize,
    reason: Option<Reason>,
}

/// Why the front went no further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    /// This is not allowed.
    Refused(Allow),
    /// A hexadecimal integer has too many digits.
    Digits,
    /// A comment is not closed.
    Comment,
}

impl LenientError {
    /// The rule of strict JSON that is broken.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The offset in the text as it was given, in bytes.
    pub fn offset(&self) -> u64 {
        self.0.offset
    }

    /// One-based line.
    pub fn line(&self) -> u64 {
        self.0.line
    }

    /// One-based column, in bytes.
    pub fn column(&self) -> u64 {
        self.0.column
    }

    /// The option that would allow what stands at this place; `None` if no option does.
    pub fn option(&self) -> Option<Allow> {
        match self.0.reason {
            Some(Reason::Refused(allow)) => Some(allow),
            _ => None,
        }
    }

    /// The part of the line around the error, made printable.
    pub fn snippet(&self) -> &str {
        &self.0.snippet
    }

    /// The number of characters of the [`snippet`](Self::snippet) that stand before the error.
    pub fn caret(&self) -> usize {
        self.0.caret
    }

    /// The same place in an input whose first line has `columns` more bytes before this text. Call it before
    /// [`after_lines`](Self::after_lines), which changes the lines.
    #[must_use]
    pub fn after_columns(mut self, columns: u64) -> Self {
        if self.0.line == 1 {
            self.0.column += columns;
        }
        self
    }

    /// The same place in an input that has `lines` more lines, and `base` more bytes, before this text.
    #[must_use]
    pub fn after_lines(mut self, lines: u64, base: u64) -> Self {
        self.0.line += lines;
        self.0.offset += base;
        self
    }

    /// The error at `offset`, which lies at or after the place where the front stopped if that is the cause.
    #[cold]
    pub(super) fn new(text: &[u8], kind: ErrorKind, offset: usize, stop: Option<(usize, Reason)>) -> Self {
        let offset = offset.min(text.len());
        let reason = stop.filter(|(at, _)| offset >= *at).map(|(_, reason)| reason);
        let kind = if reason == Some(Reason::Refused(Allow::InvalidUtf8)) { ErrorKind::Utf8 } else { kind };
        let (line, column) = line_and_column(&text[..offset]);
        let line_start = text[..offset].iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        let (snippet, caret) = snippet(text, line_start, offset);
        Self(Box::new(Refusal { kind, offset: offset as u64, line, column, snippet, caret, reason }))
    }
}

impl fmt::Display for LenientError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Refusal { kind, offset, line, column, reason, .. } = &*self.0;
        kind.fmt(f)?;
        if !f.alternate() {
            write!(f, " at line {line} column {column} (byte {offset})")?;
        }
        match reason {
            None => Ok(()),
            Some(Reason::Digits) => write!(f, "; a hexadecimal integer has at most {HEX_DIGITS_MAX} digits"),
            Some(Reason::Comment) => f.write_str("; the comment is not closed"),
            Some(Reason::Refused(Allow::NonfiniteAsNull)) => f.write_str(
                "; strict JSON has no NaN and no infinities: the option `nonfinite-as-null` makes them null, \
                 `nonfinite-as-text` strings",
            ),
            Some(Reason::Refused(allow)) => write!(f, "; the option `{}` allows {}", allow.name(), allow.about()),
        }
    }
}

impl std::error::Error for LenientError {}

//! Finds the line, column, path and a snippet for an offset, in a second walk. It is slow and simple, and meant for
//! messages to people.

use crate::error::Error;
use crate::fault::ErrorKind;
use crate::message::{self, At, Step, printable, write_step};
use crate::text;
use std::fmt;

/// How many bytes of the line a snippet shows before and after the error.
const SNIPPET_BEFORE: usize = 60;
const SNIPPET_AFTER: usize = 20;

impl Error {
    /// Finds the line, column and path in `input`, the text that the error is about. Walks `input` up to the error, so
    /// call it for reports and not for decisions.
    pub fn locate(&self, input: &[u8]) -> Located {
        let offset = usize::try_from(self.offset()).unwrap_or(usize::MAX).min(input.len());
        let before = &input[..offset];
        let (line, column) = line_and_column(before);
        let line_start = offset + 1 - column as usize;
        let (snippet, caret) = snippet(input, line_start, offset);
        Located {
            error: self.clone().with_encoding(input),
            line,
            column,
            pointer: pointer(through_key(self.kind(), input, before)),
            snippet,
            caret,
        }
    }
}

/// An [`Error`] with its place. `Display` writes the message, the place, and the line with a caret below it; `{:#}`
/// writes only the message and the place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located {
    error: Error,
    line: u64,
    column: u64,
    pointer: String,
    snippet: String,
    caret: usize,
}

impl Located {
    /// The error.
    pub fn error(&self) -> &Error {
        &self.error
    }

    /// One-based line.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// One-based column, in bytes.
    pub fn column(&self) -> u64 {
        self.column
    }

    /// The JSON Pointer (RFC 6901) of the value that the error is in; empty for the document as a whole.
    pub fn pointer(&self) -> &str {
        &self.pointer
    }

    /// The offset and the path in brackets, as messages show them: `(byte 12, at /a/2)`. Characters that would control a
    /// terminal are replaced by visible ones.
    ///
    /// ```
    /// let located = jird::validate(b"[1, x]").unwrap_err().locate(b"[1, x]");
    /// assert_eq!(located.place().to_string(), "(byte 4, at /1)");
    /// ```
    pub fn place(&self) -> impl fmt::Display + '_ {
        At { offset: Some(self.error.offset()), pointer: &self.pointer }
    }

    /// The part of the line around the error, made printable.
    pub fn snippet(&self) -> &str {
        &self.snippet
    }

    /// The number of characters of the [`snippet`](Self::snippet) that stand before the error.
    ///
    /// ```
    /// let located = jird::validate(b"[1, x]").unwrap_err().locate(b"[1, x]");
    /// assert_eq!((located.snippet(), located.caret()), ("[1, x]", 4));
    /// ```
    pub fn caret(&self) -> usize {
        self.caret
    }

    /// The same place in an input whose first line has `columns` more bytes before this one. Call it before
    /// [`after_lines`](Self::after_lines), which changes the lines.
    ///
    /// ```
    /// let located = jird::validate(b"[1,\n x]").unwrap_err().locate(b"[1,\n x]").after_columns(10);
    /// assert_eq!(located.column(), 2);
    /// let located = jird::validate(b"[x]").unwrap_err().locate(b"[x]").after_columns(10);
    /// assert_eq!(located.after_lines(4, 50).to_string().lines().next(), Some("expected a value at line 5 column 12 (byte 51, at /0)"));
    /// ```
    #[must_use]
    pub fn after_columns(self, columns: u64) -> Self {
        Self { column: if self.line == 1 { self.column + columns } else { self.column }, ..self }
    }

    /// The same place in an input that has `lines` more lines, and `base` more bytes, before this one.
    #[must_use]
    pub fn after_lines(self, lines: u64, base: u64) -> Self {
        Self { line: self.line + lines, error: self.error.shifted(base), ..self }
    }
}

impl fmt::Display for Located {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { error, line, column, snippet, caret, .. } = self;
        write!(f, "{} at line {line} column {column} {}", error.kind(), self.place())?;
        if let Some(encoding) = error.encoding() {
            write!(f, ": {encoding}")?;
        }
        if f.alternate() { Ok(()) } else { write!(f, "\n  {snippet}\n  {:caret$}^", "") }
    }
}

impl std::error::Error for Located {}

/// The line and column at which `before` ends, counted from one; columns are bytes.
pub(crate) fn line_and_column(before: &[u8]) -> (u64, u64) {
    let line_start = memchr::memrchr(b'\n', before).map_or(0, |at| at + 1);
    (memchr::memchr_iter(b'\n', before).count() as u64 + 1, (before.len() - line_start) as u64 + 1)
}

/// A container that is open at the end of the walked text.
enum OpenPlace<'a> {
    /// An array, and the number of its complete elements.
    Array(usize),
    /// An object, and the raw text of the member's key once it is known.
    Object(Option<&'a [u8]>),
}

/// The JSON Pointer of the place where `before` ends. `before` must be valid as far as it goes.
fn pointer(before: &[u8]) -> String {
    let mut frames: Vec<OpenPlace<'_>> = Vec::new();
    let mut at = 0;
    let mut last_string: &[u8] = b"";
    while let Some(&byte) = before.get(at) {
        match byte {
            b'{' => frames.push(OpenPlace::Object(None)),
            b'[' => frames.push(OpenPlace::Array(0)),
            b'}' | b']' => drop(frames.pop()),
            b':' => {
                if let Some(OpenPlace::Object(key)) = frames.last_mut() {
                    *key = Some(last_string);
                }
            }
            b',' => match frames.last_mut() {
                Some(OpenPlace::Object(key)) => *key = None,
                Some(OpenPlace::Array(index)) => *index += 1,
                None => {}
            },
            b'"' => {
                let end = string_end(before, at + 1);
                last_string = &before[at + 1..end];
                at = end;
            }
            _ => {}
        }
        at += 1;
    }
    render(&frames)
}

/// The text before an error, and the repeated key if that is the error: the place is the value that it would have.
fn through_key<'i>(kind: ErrorKind, input: &'i [u8], before: &'i [u8]) -> &'i [u8] {
    if kind != ErrorKind::Duplicate {
        return before;
    }
    let end = string_end(input, before.len() + 1);
    match input.get(end..).and_then(|rest| memchr::memchr(b':', rest)) {
        Some(colon) => &input[..=end + colon],
        None => before,
    }
}

/// Offset of the quote that closes the string whose content begins at `at`, or the end of the text.
fn string_end(text: &[u8], mut at: usize) -> usize {
    while let Some(found) = text.get(at..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest)) {
        if text[at + found] == b'"' {
            return at + found;
        }
        at += found + 2;
    }
    text.len()
}

fn render(frames: &[OpenPlace<'_>]) -> String {
    // The innermost object has no key yet where a key is due.
    let len = frames.len() - usize::from(matches!(frames.last(), Some(OpenPlace::Object(None))));
    message::pointer(len, |out, depth| {
        let _ = match &frames[depth] {
            OpenPlace::Array(index) => write_step(out, &Step::Index(*index)),
            OpenPlace::Object(raw) => {
                let mut key = String::new();
                text::unescape(&String::from_utf8_lossy(raw.unwrap_or_default()), &mut key);
                write_step(out, &Step::Key(&key))
            }
        };
    })
}

/// The line around `offset` as printable text, and the width of the text before `offset` in it.
pub(crate) fn snippet(input: &[u8], line_start: usize, offset: usize) -> (String, usize) {
    let mut start = line_start.max(offset.saturating_sub(SNIPPET_BEFORE));
    // Begin at a character, not inside one.
    while start < offset && input[start] & 0xC0 == 0x80 {
        start += 1;
    }
    let rest = &input[offset..];
    let after = memchr::memchr(b'\n', rest).unwrap_or(rest.len()).min(SNIPPET_AFTER);
    let mut text = if start > line_start { String::from("…") } else { String::new() };
    printable(&input[start..offset], &mut text);
    let caret = text.chars().count();
    printable(&rest[..after], &mut text);
    if after == SNIPPET_AFTER && rest.len() > after {
        text.push('…');
    }
    (text, caret)
}

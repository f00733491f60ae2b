//! What can be wrong with a text, and where.
//!
//! An [`Error`] is two words: the rule that was broken and the offset of the first byte at which the text could no longer
//! be right. Line, column and path are found by a second walk, and only when somebody asks: [`Error::locate`].

use core::fmt;

/// The rule that a text breaks. Each has a stable code in words, [`ErrorKind::code`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u8)]
pub enum ErrorKind {
    /// Bytes that are not UTF-8 (RFC 8259 §8.1, RFC 3629 §4).
    Utf8,
    /// A string that is not closed (RFC 8259 §7).
    String,
    /// A backslash followed by what is no escape, or half a surrogate pair (RFC 8259 §7).
    Escape,
    /// A control character inside a string (RFC 8259 §7).
    Control,
    /// A number that breaks the grammar (RFC 8259 §6).
    Number,
    /// A number that the policy refuses: infinite as a double, or an integer beyond 64 bits.
    Range,
    /// A word that is not `true`, `false` or `null` (RFC 8259 §3).
    Literal,
    /// A byte where a value should begin (RFC 8259 §2).
    Value,
    /// No value at all.
    Empty,
    /// An object's member that does not begin with a string (RFC 8259 §4).
    Key,
    /// No `:` after a key (RFC 8259 §4).
    Colon,
    /// Neither `,` nor the matching bracket after a value (RFC 8259 §4, §5).
    Comma,
    /// The text ends inside an object or array (RFC 8259 §4, §5).
    Unclosed,
    /// Something after the value (RFC 8259 §2).
    Trailing,
    /// Nested more deeply than the policy allows (RFC 8259 §9).
    Depth,
    /// Longer than the limit for a document or record (RFC 8259 §9).
    Size,
    /// A key that the object had before, where the policy refuses that (RFC 8259 §4).
    Duplicate,
}

impl ErrorKind {
    /// The kind in one word, the same in every version.
    pub fn code(self) -> &'static str {
        self.words().0
    }

    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Utf8 => ("utf8", "bytes that are not UTF-8"),
            Self::String => ("string", "the string that begins before is not closed"),
            Self::Escape => ("escape", "not a valid escape"),
            Self::Control => ("control", "a control character in a string must be escaped"),
            Self::Number => ("number", "not a valid number"),
            Self::Range => ("range", "the number is out of the allowed range"),
            Self::Literal => ("literal", "expected `true`, `false` or `null`"),
            Self::Value => ("value", "expected a value"),
            Self::Empty => ("empty", "expected a value, found nothing"),
            Self::Key => ("key", "expected a key in double quotes"),
            Self::Colon => ("colon", "expected `:` after the key"),
            Self::Comma => ("comma", "expected `,` or the closing bracket"),
            Self::Unclosed => ("unclosed", "the text ends before every bracket is closed"),
            Self::Trailing => ("trailing", "something follows the value"),
            Self::Depth => ("depth", "nested too deeply"),
            Self::Size => ("size", "longer than the limit"),
            Self::Duplicate => ("duplicate", "the object has this key already"),
        }
    }
}

/// A text breaks a rule, at an offset. Cheap to make and to copy.
///
/// ```
/// let text = b"{\"a\": [1, 2,]}";
/// let error = jird::validate(text).unwrap_err();
/// assert_eq!((error.code(), error.offset()), ("value", 12));
/// assert_eq!(error.locate(text).to_string(), "\
/// expected a value at line 1, column 13 (byte 12, at /a/2)
///   {\"a\": [1, 2,]}
///               ^");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error {
    kind: ErrorKind,
    offset: u64,
}

const _: () = assert!(size_of::<Result<(), Error>>() <= 16, "results travel in two registers");

impl Error {
    /// An error of this kind at this offset.
    pub fn new(kind: ErrorKind, offset: u64) -> Self {
        Self { kind, offset }
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn at_byte(kind: ErrorKind, offset: usize) -> Self {
        Self { kind, offset: offset as u64 }
    }

    /// The rule that was broken.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The rule that was broken, in one word.
    pub fn code(&self) -> &'static str {
        self.kind.code()
    }

    /// Offset, from the start of the input, of the first byte at which it could no longer be right; the input's length if
    /// it ends too early.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The same error in an input that has `base` bytes before this one's.
    #[must_use]
    pub fn shifted(self, base: u64) -> Self {
        Self { offset: self.offset + base, ..self }
    }

    /// Finds line, column and path in `input`, the text that the error is about. Walks `input` up to the error: call it to
    /// report, not to decide.
    pub fn locate(&self, input: &[u8]) -> Located {
        crate::locate::locate(*self, input)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (byte {})", self.kind.words().1, self.offset)
    }
}

impl std::error::Error for Error {}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.words().1)
    }
}

/// An [`Error`] with its place in words. `Display` gives the message, the place, and the line with a caret beneath; with
/// `{:#}` the message and the place alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located {
    pub(crate) error: Error,
    pub(crate) line: u64,
    pub(crate) column: u64,
    pub(crate) pointer: String,
    pub(crate) snippet: String,
    pub(crate) caret: usize,
}

impl Located {
    /// What is wrong.
    pub fn error(&self) -> Error {
        self.error
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

    /// The part of the line around the error, made printable.
    pub fn snippet(&self) -> &str {
        &self.snippet
    }

    /// The same place in an input that has `lines` lines before this one.
    #[must_use]
    pub fn after_lines(self, lines: u64, base: u64) -> Self {
        Self { line: self.line + lines, error: self.error.shifted(base), ..self }
    }
}

impl fmt::Display for Located {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { error, line, column, pointer, snippet, caret } = self;
        write!(f, "{} at line {line}, column {column} (byte {}", error.kind, error.offset)?;
        if !pointer.is_empty() {
            let mut shown = String::new();
            crate::locate::printable(pointer.as_bytes(), &mut shown);
            write!(f, ", at {shown}")?;
        }
        f.write_str(")")?;
        if f.alternate() { Ok(()) } else { write!(f, "\n  {snippet}\n  {:caret$}^", "") }
    }
}

impl std::error::Error for Located {}

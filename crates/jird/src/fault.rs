//! Errors inside the engine. A fault is two words: the rule that a text breaks, and the offset of the first byte at
//! which the text can no longer be valid. [`crate::error`] turns it into the error that users see.

use core::fmt;

/// The rule that a text breaks. Each kind has a stable code, [`ErrorKind::code`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u8)]
pub enum ErrorKind {
    /// Bytes that are not UTF-8 (RFC 8259 §8.1, RFC 3629 §4).
    Utf8,
    /// A string that is not closed (RFC 8259 §7).
    String,
    /// A backslash that does not begin a valid escape, or half a surrogate pair (RFC 8259 §7).
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
    /// There is no value.
    Empty,
    /// An object's member that does not begin with a string (RFC 8259 §4).
    Key,
    /// No `:` after a key (RFC 8259 §4).
    Colon,
    /// Neither `,` nor the matching bracket after a value (RFC 8259 §4, §5).
    Comma,
    /// The text ends inside an object or array (RFC 8259 §4, §5).
    Unclosed,
    /// More text after the value (RFC 8259 §2).
    Trailing,
    /// Nested more deeply than the policy allows (RFC 8259 §9).
    Depth,
    /// Longer than the limit for a document or record (RFC 8259 §9).
    Size,
    /// A key that the object already has, if the policy refuses that (RFC 8259 §4).
    Duplicate,
    /// Valid JSON, but not the data that the caller asked for.
    Data,
    /// Reading or writing failed.
    Io,
}

impl ErrorKind {
    /// The kind in one word, which stays the same in every version.
    pub fn code(self) -> &'static str {
        self.words().0
    }

    /// The kind that has this [`code`](Self::code), as quarantine files name it.
    ///
    /// ```
    /// use jird::ErrorKind;
    /// assert_eq!(ErrorKind::of_code("comma"), Some(ErrorKind::Comma));
    /// assert_eq!(ErrorKind::of_code("semicolon"), None);
    /// ```
    pub fn of_code(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.code() == code)
    }

    /// All kinds, in the order of their numbers.
    const ALL: [Self; 19] = [
        Self::Utf8,
        Self::String,
        Self::Escape,
        Self::Control,
        Self::Number,
        Self::Range,
        Self::Literal,
        Self::Value,
        Self::Empty,
        Self::Key,
        Self::Colon,
        Self::Comma,
        Self::Unclosed,
        Self::Trailing,
        Self::Depth,
        Self::Size,
        Self::Duplicate,
        Self::Data,
        Self::Io,
    ];

    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Utf8 => ("utf8", "bytes that are not UTF-8"),
            Self::String => ("string", "the string is not closed"),
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
            Self::Unclosed => ("unclosed", "an array or object is not closed"),
            Self::Trailing => ("trailing", "unexpected text after the value"),
            Self::Depth => ("depth", "nested too deeply"),
            Self::Size => ("size", "longer than the limit"),
            Self::Duplicate => ("duplicate", "the object already has this key"),
            Self::Data => ("data", "not what was asked for"),
            Self::Io => ("io", "reading or writing failed"),
        }
    }
}

/// A broken rule, and its offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    kind: ErrorKind,
    offset: u64,
}

const _: () = assert!(size_of::<Result<(), Fault>>() <= 16, "results travel in two registers");

impl Fault {
    pub(crate) fn new(kind: ErrorKind, offset: u64) -> Self {
        Self { kind, offset }
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn at_byte(kind: ErrorKind, offset: usize) -> Self {
        Self { kind, offset: offset as u64 }
    }

    pub(crate) fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Offset of the first byte at which the text can no longer be valid; the text's length if it ends too early.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// The same fault in an input that has `base` more bytes before this text.
    pub(crate) fn shifted(self, base: u64) -> Self {
        Self { offset: self.offset + base, ..self }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.words().1)
    }
}

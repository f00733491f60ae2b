//! The one error type that users see, for every kind of failure.

use crate::encoding::{ENCODING_BYTES, Encoding, encoding_of};
use crate::fault::{ErrorKind, Fault};
use crate::message::{self, At};
use crate::path::Step;
use core::fmt::{self, Write};
use std::io;
use std::sync::{Arc, OnceLock};

/// Why a text was refused, why a value does not fit the requested type, or why reading or writing failed; and where.
///
/// It is a single pointer, so that results are small. Decoding and encoding types sets line and column at once.
/// [`parse`](crate::parse) and similar functions leave them to [`Error::locate`], so that their errors cost no more
/// than a result.
///
/// ```
/// let text = b"{\"a\": [1, 2,]}";
/// let error = jird::validate(text).unwrap_err();
/// assert_eq!((error.code(), error.offset()), ("value", 12));
/// assert_eq!(error.to_string(), "expected a value (byte 12)");
/// assert_eq!(error.locate(text).to_string(), "\
/// expected a value at line 1 column 13 (byte 12, at /a/2)
///   {\"a\": [1, 2,]}
///               ^");
/// ```
#[derive(Clone)]
pub struct Error(Box<Repr>);

#[derive(Clone)]
struct Repr {
    what: Cause,
    category: Category,
    offset: u64,
    line: u64,
    column: u64,
    /// The encoding that the text's first bytes suggest, if the error is there.
    encoding: Option<Encoding>,
    /// The steps to the value that contains the error, the last step first.
    steps: Vec<Step>,
    path: OnceLock<String>,
}

#[derive(Clone)]
enum Cause {
    /// A rule of JSON or of the policy.
    Rule(ErrorKind),
    /// A message in free form.
    Message(Box<str>),
    Io(Arc<io::Error>),
}

/// What an error is about, in the same categories as in `serde_json`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Category {
    /// Reading or writing failed.
    Io,
    /// The text is not JSON, or the policy refuses it; or a value cannot be written as JSON.
    Syntax,
    /// The text is JSON, but does not fit the requested type.
    Data,
    /// The text ended too early: more bytes after it could have made it valid.
    Eof,
}

/// The maximum number of bytes of a key that a path shows.
#[cfg(any(feature = "serde", feature = "jsonpath"))]
const KEY_SHOWN: usize = 80;

impl Error {
    /// An error of this kind at this offset.
    pub fn new(kind: ErrorKind, offset: u64) -> Self {
        let category = match kind {
            ErrorKind::Empty | ErrorKind::Unclosed | ErrorKind::String => Category::Eof,
            ErrorKind::Data => Category::Data,
            ErrorKind::Io => Category::Io,
            _ => Category::Syntax,
        };
        Self::of(Cause::Rule(kind), category, offset)
    }

    /// A fault in `text`. Its line is not computed here: that would take a good part of the time that finding the fault
    /// took.
    #[cold]
    #[inline(never)]
    pub(crate) fn in_text(fault: Fault, text: &[u8]) -> Self {
        let error = Self::from(fault).with_encoding(text);
        if fault.offset() == text.len() as u64 { error.at_end() } else { error }
    }

    /// If the error is at the beginning of `text`, looks there for a byte order mark, and for UTF-16 and UTF-32.
    #[cold]
    pub(crate) fn with_encoding(mut self, text: &[u8]) -> Self {
        if self.0.offset < ENCODING_BYTES as u64 && self.0.category != Category::Io {
            self.0.encoding = encoding_of(text);
        }
        self
    }

    /// An error with this message. Its position is added later, or never.
    #[cold]
    #[inline(never)]
    pub(crate) fn message(category: Category, message: &dyn fmt::Display) -> Self {
        // Avoids `to_string`, which panics if a caller's `Display` returns an error.
        let mut text = String::new();
        if write!(text, "{message}").is_err() {
            text.push_str("(a message that could not be displayed)");
        }
        Self::of(Cause::Message(text.into()), category, 0)
    }

    #[cold]
    fn of(what: Cause, category: Category, offset: u64) -> Self {
        Self(Box::new(Repr {
            what,
            category,
            offset,
            line: 0,
            column: 0,
            encoding: None,
            steps: Vec::new(),
            path: OnceLock::new(),
        }))
    }

    /// The rule that was broken.
    pub fn kind(&self) -> ErrorKind {
        match &self.0.what {
            Cause::Rule(kind) => *kind,
            Cause::Message(_) => ErrorKind::Data,
            Cause::Io(_) => ErrorKind::Io,
        }
    }

    /// The rule that was broken, in one word.
    pub fn code(&self) -> &'static str {
        self.kind().code()
    }

    /// Offset, from the start of the input, of the first byte that makes the input invalid, whatever follows; the
    /// input's length if it ends too early.
    ///
    /// The bytes before this offset could still have become valid. So in a character that is not UTF-8, it is the
    /// offset of the byte that cannot continue the character; in an escape, that of the digit that cannot stand there.
    /// For a value that the policy or a type refuses, it is the offset at which the value begins.
    ///
    /// ```
    /// let offset = |text: &[u8]| jird::validate(text).unwrap_err().offset();
    /// assert_eq!(offset(b"\"\xE0\x80\""), 2); // After E0 comes A0 to BF.
    /// assert_eq!(offset(br#""\udc00""#), 4); // `\ud` may begin a character, `\udc` may not.
    /// assert_eq!(offset(b"\"\xE2\x82"), 3); // The euro sign, and the string, could go on.
    /// ```
    pub fn offset(&self) -> u64 {
        self.0.offset
    }

    /// One-based line; zero if it is not known, as after [`parse`](crate::parse).
    pub fn line(&self) -> usize {
        self.0.line as usize
    }

    /// One-based column in bytes; zero if it is not known.
    pub fn column(&self) -> usize {
        self.0.column as usize
    }

    /// The JSON Pointer (RFC 6901) of the value that contains the error, as `/statuses/3/user/id`. Empty for the whole
    /// text, and for text that was not decoded into a type; [`locate`](Self::locate) finds a path in that case. Long keys
    /// and long paths are shortened.
    pub fn path(&self) -> &str {
        let steps = &self.0.steps;
        if steps.is_empty() {
            return "";
        }
        self.0.path.get_or_init(|| {
            message::pointer(steps.len(), |out, index| {
                let _ = message::write_step(out, &steps[steps.len() - 1 - index].borrowed());
            })
        })
    }

    /// The encoding that the text seems to have, if the error is in its first bytes because it begins with a byte order
    /// mark, or is UTF-16 or UTF-32. The message then names it.
    ///
    /// ```
    /// let error = jird::validate(b"\xEF\xBB\xBF[1]").unwrap_err();
    /// assert_eq!((error.code(), error.offset()), ("value", 0));
    /// assert_eq!(error.encoding(), Some(jird::Encoding::Utf8WithMark));
    /// assert_eq!(
    ///     error.to_string(),
    ///     "expected a value (byte 0): the text begins with a UTF-8 byte order mark; remove these three bytes"
    /// );
    /// ```
    pub fn encoding(&self) -> Option<Encoding> {
        self.0.encoding
    }

    /// The category of the error.
    pub fn classify(&self) -> Category {
        self.0.category
    }

    /// Whether reading or writing failed.
    pub fn is_io(&self) -> bool {
        self.classify() == Category::Io
    }

    /// Whether the text is not JSON, or the policy refuses it, or a value cannot be written as JSON.
    pub fn is_syntax(&self) -> bool {
        self.classify() == Category::Syntax
    }

    /// Whether the text is JSON, but does not fit the requested type.
    pub fn is_data(&self) -> bool {
        self.classify() == Category::Data
    }

    /// Whether the text ended too early: more bytes after it could have made it valid.
    pub fn is_eof(&self) -> bool {
        self.classify() == Category::Eof
    }

    /// The kind of the I/O error, if reading or writing failed.
    pub fn io_error_kind(&self) -> Option<io::ErrorKind> {
        if let Cause::Io(error) = &self.0.what { Some(error.kind()) } else { None }
    }

    /// The same error in an input that has `base` more bytes before this one's. Line and column are no longer known.
    #[must_use]
    pub fn shifted(mut self, base: u64) -> Self {
        if base > 0 {
            (self.0.offset, self.0.line, self.0.column) = (self.0.offset + base, 0, 0);
            // The input no longer begins at this text.
            self.0.encoding = None;
        }
        self
    }
}

impl Error {
    /// Sets the position in the stream that contains the error.
    #[cold]
    pub(crate) fn placed(mut self, offset: u64, line: u64, column: u64) -> Self {
        (self.0.offset, self.0.line, self.0.column) = (offset, line, column);
        self
    }

    /// The error is at the end of the text: a longer text could have been valid, unless it is too long already.
    #[cold]
    pub(crate) fn at_end(mut self) -> Self {
        if self.0.category == Category::Syntax && self.kind() != ErrorKind::Size {
            self.0.category = Category::Eof;
        }
        self
    }

    /// Whether the error has a position. An error with a message has none until one is added.
    pub(crate) fn is_placed(&self) -> bool {
        self.0.line != 0
    }
}

#[cfg(any(feature = "serde", feature = "jsonpath"))]
impl Error {
    /// Adds a step to the path: the error is inside the value that the step leads to.
    #[cold]
    #[inline(never)]
    pub(crate) fn inside(mut self, step: Step) -> Self {
        self.0.steps.push(step);
        self
    }
}

#[cfg(any(feature = "serde", feature = "jsonpath"))]
impl Step {
    /// The step to a member's value. A long key is shortened to its beginning.
    pub(crate) fn key(key: &str) -> Self {
        if key.len() > KEY_SHOWN { Self::key_begins(key) } else { Self::Key(key.into()) }
    }

    /// The step to a member's value, given the beginning of its key.
    pub(crate) fn key_begins(key: &str) -> Self {
        Self::Key(format!("{}…", &key[..key.floor_char_boundary(KEY_SHOWN)]).into())
    }
}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Self {
        Self::new(fault.kind(), fault.offset())
    }
}

impl From<io::Error> for Error {
    /// Reading or writing failed. An [`Error`] that was wrapped in an `io::Error` is unwrapped.
    fn from(error: io::Error) -> Self {
        match error.downcast::<Self>() {
            Ok(ours) => ours,
            Err(error) => Self::of(Cause::Io(Arc::new(error)), Category::Io, 0),
        }
    }
}

impl From<Error> for io::Error {
    /// The error of a reader or a writer as it was, unless a clone of the [`Error`] still has it.
    fn from(error: Error) -> Self {
        let error = match *error.0 {
            Repr { what: Cause::Io(io), steps, .. } if steps.is_empty() => match Arc::try_unwrap(io) {
                Ok(io) => return io,
                Err(io) => Error::of(Cause::Io(io), Category::Io, 0),
            },
            repr => Error(Box::new(repr)),
        };
        let kind = match error.classify() {
            Category::Io => error.io_error_kind().unwrap_or(io::ErrorKind::Other),
            Category::Syntax | Category::Data => io::ErrorKind::InvalidData,
            Category::Eof => io::ErrorKind::UnexpectedEof,
        };
        Self::new(kind, error)
    }
}

/// Equal if kind, offset, path and message are equal.
impl PartialEq for Error {
    fn eq(&self, other: &Self) -> bool {
        let words =
            |error: &Self| if let Cause::Rule(_) = error.0.what { None } else { Some(error.0.what.to_string()) };
        (self.kind(), self.offset(), self.path()) == (other.kind(), other.offset(), other.path())
            && words(self) == words(other)
    }
}

impl Eq for Error {}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rule(kind) => kind.fmt(f),
            Self::Message(words) => f.write_str(words),
            Self::Io(error) => error.fmt(f),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Repr { what, category, offset, line, column, encoding, .. } = &*self.0;
        what.fmt(f)?;
        if *line > 0 {
            write!(f, " at line {line} column {column}")?;
        }
        let is_placed = *line == 0 && matches!(what, Cause::Rule(_)) && *category != Category::Io;
        let at = At { offset: is_placed.then_some(*offset), pointer: self.path() };
        if at.is_known() {
            write!(f, " {at}")?;
        }
        encoding.map_or(Ok(()), |encoding| write!(f, ": {encoding}"))
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Error({:?}, {:?}, offset: {})", self.kind(), self.to_string(), self.offset())
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        if let Cause::Io(error) = &self.0.what { error.source() } else { None }
    }
}

const _: () = assert!(size_of::<Result<(), Error>>() == size_of::<usize>(), "results travel in a register");

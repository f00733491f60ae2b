//! Reads the elements of an array as lines.
//!
//! Bytes are changed in place and keep their offsets. The separator between records becomes a line feed. A line feed
//! within a record becomes a carriage return, which JSON also allows as white space and also forbids in strings. So one
//! pass finds the borders between records, and the scanner then reads lines as usual.

use jird::hooks::lines::newlines;
use jird::{Error, ErrorKind};
use jird_formats::files::FileFormat;
use std::io::{self, Read};

/// The layout of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// One record per line.
    Lines,
    /// One array, whose elements are the records.
    Array,
    /// A quarantine: bad records, each within a line that describes it.
    Quarantine,
    /// A table, or JSON values anywhere in a text: they are converted to lines.
    Table(FileFormat),
}

impl Layout {
    /// The format of such texts.
    #[cfg(feature = "cluster")]
    pub(crate) fn format(self) -> FileFormat {
        match self {
            Self::Lines => FileFormat::Ndjson,
            Self::Array => FileFormat::Json,
            Self::Quarantine => FileFormat::Quarantine,
            Self::Table(format) => format,
        }
    }

    /// The byte of the converted text that stands for a line feed of the original. A table without lines has one for
    /// each row.
    fn newline(self) -> u8 {
        match self {
            Self::Lines | Self::Quarantine => b'\n',
            Self::Table(format) if format.is_binary() => b'\n',
            Self::Array | Self::Table(_) => b'\r',
        }
    }

    /// Whether this byte of the converted text was a line feed in the original.
    pub(crate) fn is_newline(self, byte: u8) -> bool {
        byte == self.newline()
    }

    /// Counts the original line feeds in a piece of the converted text.
    pub(crate) fn counting(self) -> fn(&[u8]) -> u64 {
        match self.newline() {
            b'\n' => newlines,
            _ => |text| memchr::memchr_iter(b'\r', text).count() as u64,
        }
    }

    /// Whether a record may span several lines.
    pub(crate) fn has_long_records(self) -> bool {
        self == Self::Array
    }
}

/// Reads an array as lines.
#[derive(Debug)]
pub(crate) struct Elements<R> {
    inner: R,
    state: State,
    /// The error, kept until the text before it was handed out.
    wrong: Option<Error>,
    offset: u64,
}

/// The position in the syntax of a text.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a question of its own")]
struct State {
    depth: u64,
    in_string: bool,
    /// The last byte was a backslash in a string.
    escaped: bool,
    /// The array has begun.
    begun: bool,
    /// The array has ended.
    ended: bool,
    /// A value has begun since the last comma of the array.
    has_value: bool,
    /// The array had a comma.
    has_comma: bool,
}

impl<R: Read> Elements<R> {
    pub(crate) fn new(inner: R) -> Self {
        Self { inner, state: State::default(), wrong: None, offset: 0 }
    }
}

impl<R: Read> Read for Elements<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.wrong.is_none() {
            let read = self.inner.read(buffer)?;
            let fault = match read {
                0 if buffer.is_empty() => None,
                0 => self.state.end().map(|kind| (kind, 0)),
                _ => self.state.lines(&mut buffer[..read]),
            };
            let Some((kind, at)) = fault else {
                self.offset += read as u64;
                return Ok(read);
            };
            self.wrong = Some(Error::new(kind, self.offset + at as u64));
            if at > 0 {
                return Ok(at);
            }
        }
        match self.wrong.clone() {
            Some(error) => Err(io::Error::new(io::ErrorKind::InvalidData, error)),
            None => Ok(0),
        }
    }
}

impl State {
    /// Converts a piece of the text to lines. Returns the kind and offset of the first error.
    fn lines(&mut self, text: &mut [u8]) -> Option<(ErrorKind, usize)> {
        let mut at = 0;
        if std::mem::take(&mut self.escaped) {
            at = within_string(text, 0);
        }
        while at < text.len() {
            if self.in_string {
                at += memchr::memchr3(b'"', b'\\', b'\n', &text[at..])?;
                match text[at] {
                    b'"' => {
                        self.in_string = false;
                        at += 1;
                    }
                    b'\\' if at + 1 == text.len() => {
                        self.escaped = true;
                        return None;
                    }
                    b'\\' => at = within_string(text, at + 1),
                    _ => at = within_string(text, at),
                }
                continue;
            }
            let byte = text[at];
            match byte {
                b'\n' => text[at] = b'\r',
                b' ' | b'\t' => {}
                b'\r' => text[at] = b' ',
                b',' if self.depth == 1 => {
                    if !std::mem::take(&mut self.has_value) {
                        return Some((ErrorKind::Value, at));
                    }
                    self.has_comma = true;
                    text[at] = b'\n';
                }
                _ if self.depth == 0 => {
                    if self.ended {
                        return Some((ErrorKind::Trailing, at));
                    }
                    if byte != b'[' {
                        return Some((ErrorKind::Value, at));
                    }
                    (self.begun, self.depth) = (true, 1);
                    text[at] = b' ';
                }
                b']' if self.depth == 1 => {
                    if self.has_comma && !self.has_value {
                        return Some((ErrorKind::Value, at));
                    }
                    (self.ended, self.depth) = (true, 0);
                    text[at] = b'\n';
                }
                b'}' if self.depth == 1 => return Some((ErrorKind::Comma, at)),
                _ => {
                    self.has_value = true;
                    match byte {
                        b'"' => self.in_string = true,
                        b'{' | b'[' => self.depth += 1,
                        b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                        _ => {}
                    }
                }
            }
            at += 1;
        }
        None
    }

    /// The error if the text ends here.
    fn end(self) -> Option<ErrorKind> {
        match self {
            Self { ended: true, .. } => None,
            Self { in_string: true, .. } => Some(ErrorKind::String),
            Self { begun: true, .. } => Some(ErrorKind::Unclosed),
            _ => None,
        }
    }
}

/// Skips a byte of a string. A line feed becomes a carriage return, which is as invalid but does not end the line.
fn within_string(text: &mut [u8], at: usize) -> usize {
    if text[at] == b'\n' {
        text[at] = b'\r';
    }
    at + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reader that returns this many bytes at a time.
    struct Few<'t>(&'t [u8], usize);

    impl Read for Few<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let len = self.1.min(self.0.len()).min(buffer.len());
            buffer[..len].copy_from_slice(&self.0[..len]);
            self.0 = &self.0[len..];
            Ok(len)
        }
    }

    fn lines(text: &str) -> (String, Option<(ErrorKind, u64)>) {
        let mut all = Vec::new();
        for few in [1, 2, 3, 7, 100] {
            let mut out = Vec::new();
            let read = Elements::new(Few(text.as_bytes(), few)).read_to_end(&mut out);
            let wrong = read.err().map(|error| {
                let error = error.into_inner().unwrap();
                let error = error.downcast_ref::<Error>().unwrap();
                (error.kind(), error.offset())
            });
            all.push((String::from_utf8(out).unwrap(), wrong));
        }
        let first = all.remove(0);
        all.iter().for_each(|other| assert_eq!(*other, first, "{text:?}"));
        first
    }

    #[test]
    fn elements_are_lines_and_keep_their_offsets() {
        for (text, expected) in [
            ("[1,2]", " 1\n2\n"),
            ("  [ ]\r\n", "    \n \r"),
            ("[{\"a\":[1,\n2]},\n \"x,]\\\"\",[]]\n", " {\"a\":[1,\r2]}\n\r \"x,]\\\"\"\n[]\n\r"),
            ("[\"a\nb\\\nc\"]", " \"a\rb\\\rc\"\n"),
        ] {
            assert_eq!(lines(text), (expected.to_owned(), None), "{text}");
        }
    }

    #[test]
    fn what_is_no_array_is_told_after_what_comes_before_it() {
        for (text, before, kind, at) in [
            ("[1,]", " 1\n", ErrorKind::Value, 3),
            ("[,1]", " ", ErrorKind::Value, 1),
            ("[1,,2]", " 1\n", ErrorKind::Value, 3),
            ("[1] 2", " 1\n ", ErrorKind::Trailing, 4),
            ("[1", " 1", ErrorKind::Unclosed, 2),
            ("[\"a", " \"a", ErrorKind::String, 3),
            ("[1}", " 1", ErrorKind::Comma, 2),
            ("{}", "", ErrorKind::Value, 0),
        ] {
            assert_eq!(lines(text), (before.to_owned(), Some((kind, at))), "{text}");
        }
    }
}

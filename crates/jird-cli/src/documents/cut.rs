//! Cuts a text into its documents.

use jird::Located;
use jird_formats::files::RECORD_SEPARATOR;
use std::io::{self, BufRead, Read};

/// How several documents stand in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Each line is one.
    Lines,
    /// Each follows a record separator (RFC 7464).
    Sequence,
    /// One follows another, with white space between them or nothing.
    Concatenated,
}

/// Where a document begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Begin {
    /// The line feeds before it.
    pub(crate) lines: u64,
    /// The bytes before it in its line.
    pub(crate) column: u64,
    /// The bytes before it.
    pub(crate) offset: u64,
}

impl Begin {
    /// The place of an error in a document that begins here.
    pub(crate) fn locate(self, wrong: &jird::Error, document: &[u8]) -> Located {
        wrong.locate(document).after_columns(self.column).after_lines(self.lines, self.offset)
    }

    fn pass(&mut self, text: &[u8]) {
        self.offset += text.len() as u64;
        self.lines += jird::hooks::lines::newlines(text);
        self.column = match memchr::memrchr(b'\n', text) {
            Some(newline) => (text.len() - newline - 1) as u64,
            None => self.column + text.len() as u64,
        };
    }
}

/// Cuts a text into its documents. It does not check them: broken text is passed on, for the parser to refuse. Linear; the
/// longest document is in memory.
#[derive(Debug)]
pub(crate) struct Cutter<R> {
    text: R,
    shape: Shape,
    bytes_max: usize,
    next: Begin,
    /// A record separator was just read.
    is_separated: bool,
}

/// A document that is longer than the limit.
const TOO_LONG: &str = "longer than the limit";

/// Whether the error is that a document is too long.
pub(crate) fn is_too_long(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::InvalidData && error.to_string() == TOO_LONG
}

impl<R: BufRead> Cutter<R> {
    /// Cuts a text. Documents that are longer than `bytes_max` bytes are errors.
    pub(crate) fn new(text: R, shape: Shape, bytes_max: usize) -> Self {
        Self { text, shape, bytes_max, next: Begin::default(), is_separated: false }
    }

    /// The line in which the text goes on, from one.
    pub(crate) fn line(&self) -> u64 {
        self.next.lines + 1
    }

    /// Puts the next document that is not blank into `document`. `None` at the end. A record separator before a document is a
    /// blank of it.
    ///
    /// # Errors
    /// Errors of reading, and [`TOO_LONG`].
    pub(crate) fn next(&mut self, document: &mut Vec<u8>) -> io::Result<Option<Begin>> {
        loop {
            document.clear();
            let (begin, ended) = match self.shape {
                Shape::Lines => self.until(b'\n', document)?,
                Shape::Sequence => self.until(RECORD_SEPARATOR, document)?,
                Shape::Concatenated => self.value(document)?,
            };
            let is_blank = document.trim_ascii().is_empty();
            if ended || !is_blank {
                return Ok((!is_blank).then_some(begin));
            }
        }
    }

    /// Reads up to and with `end`. Where it begins, and whether the text has ended.
    fn until(&mut self, end: u8, document: &mut Vec<u8>) -> io::Result<(Begin, bool)> {
        let (mut begin, limit) = (self.next, (self.bytes_max as u64).saturating_add(1));
        if std::mem::take(&mut self.is_separated) {
            document.push(b' ');
            (begin.offset, begin.column) = (begin.offset - 1, begin.column - 1);
        }
        let before = document.len();
        let read = (&mut self.text).take(limit).read_until(end, document)?;
        if read as u64 == limit {
            return Err(too_long());
        }
        self.next.pass(&document[before..]);
        if end == RECORD_SEPARATOR {
            self.is_separated = document.pop_if(|last| *last == RECORD_SEPARATOR).is_some();
        }
        Ok((begin, read == 0))
    }

    /// Reads the next value. Where it begins, and whether the text has ended.
    fn value(&mut self, document: &mut Vec<u8>) -> io::Result<(Begin, bool)> {
        let (mut state, mut begin) = (ValuePart::Before, self.next);
        loop {
            let buffer = match self.text.fill_buf() {
                Ok(buffer) => buffer,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if buffer.is_empty() {
                return Ok((begin, true));
            }
            if state == ValuePart::Before {
                let blank = buffer.iter().take_while(|byte| is_between(**byte)).count();
                self.next.pass(&buffer[..blank]);
                begin = self.next;
                if blank > 0 {
                    self.text.consume(blank);
                    continue;
                }
            }
            let (len, ended) = state.pass(buffer);
            document.extend_from_slice(&buffer[..len]);
            self.next.pass(&buffer[..len]);
            self.text.consume(len);
            if document.len() > self.bytes_max {
                return Err(too_long());
            }
            if ended {
                return Ok((begin, false));
            }
        }
    }
}

fn too_long() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, TOO_LONG)
}

/// White space, and record separators, which `jird query` takes for white space too.
fn is_between(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | RECORD_SEPARATOR)
}

/// What of a value was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ValuePart {
    Before,
    /// A part of a number or a word.
    Scalar,
    /// So many brackets are open. In a string, and after a backslash there.
    Within {
        depth: u64,
        in_string: bool,
        escaped: bool,
    },
}

impl ValuePart {
    /// Passes over a piece of the text. Returns how many bytes belong to the value, and whether it ends there.
    fn pass(&mut self, text: &[u8]) -> (usize, bool) {
        let mut at = 0;
        while let Some(&byte) = text.get(at) {
            match self {
                Self::Before => {
                    *self = match byte {
                        b'{' | b'[' => Self::Within { depth: 1, in_string: false, escaped: false },
                        b'"' => Self::Within { depth: 0, in_string: true, escaped: false },
                        // No value begins so.
                        b'}' | b']' | b',' | b':' => return (1, true),
                        _ => Self::Scalar,
                    };
                }
                Self::Scalar => {
                    if is_between(byte) || b"{}[],:\"".contains(&byte) {
                        return (at, true);
                    }
                }
                Self::Within { escaped: escaped @ true, .. } => *escaped = false,
                Self::Within { depth, in_string: in_string @ true, escaped } => {
                    let Some(found) = memchr::memchr2(b'"', b'\\', &text[at..]) else { break };
                    at += found;
                    if text[at] == b'\\' {
                        *escaped = true;
                    } else {
                        *in_string = false;
                        if *depth == 0 {
                            return (at + 1, true);
                        }
                    }
                }
                Self::Within { depth, in_string, .. } => match byte {
                    b'"' => *in_string = true,
                    b'{' | b'[' => *depth += 1,
                    b'}' | b']' => {
                        *depth -= 1;
                        if *depth == 0 {
                            return (at + 1, true);
                        }
                    }
                    _ => {}
                },
            }
            at += 1;
        }
        (text.len(), false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufReader;

    fn cut(text: &str, shape: Shape) -> Vec<(String, Begin)> {
        let cut = |len| {
            let mut cutter = Cutter::new(BufReader::with_capacity(len, text.as_bytes()), shape, 100);
            let (mut all, mut document) = (Vec::new(), Vec::new());
            while let Some(begin) = cutter.next(&mut document).unwrap() {
                all.push((String::from_utf8(document.clone()).unwrap(), begin));
            }
            all
        };
        let all = cut(1000);
        (1..5).for_each(|len| assert_eq!(cut(len), all, "{text:?} in pieces of {len}"));
        // Each document is where it is said to be.
        for (document, begin) in &all {
            let at = usize::try_from(begin.offset).unwrap();
            assert!(text[at..].replacen('\u{1e}', " ", 1).starts_with(document), "{document:?} of {text:?}");
            let line = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
            assert_eq!((begin.column, begin.lines), ((at - line) as u64, text[..at].matches('\n').count() as u64));
        }
        all
    }

    fn texts(text: &str, shape: Shape) -> Vec<String> {
        cut(text, shape).into_iter().map(|(document, _)| document).collect()
    }

    #[test]
    fn values_end_where_they_are_closed() {
        for (text, expected) in [
            ("", &[][..]),
            (" \n\u{1e}\n", &[]),
            ("{}", &["{}"]),
            ("{\"a\":[1]}{\"b\":\"}\\\"{\"} [\n]\n", &["{\"a\":[1]}", "{\"b\":\"}\\\"{\"}", "[\n]"]),
            ("1 2.50\n\"x\"null[1,\n2]true", &["1", "2.50", "\"x\"", "null", "[1,\n2]", "true"]),
            ("\"\\\\\"\"\\\"\"", &["\"\\\\\"", "\"\\\"\""]),
            ("\u{1e}1\n\u{1e}2\n", &["1", "2"]),
            ("{} ] , {", &["{}", "]", ",", "{"]),
            ("12\"a", &["12", "\"a"]),
            ("[[[]]", &["[[[]]"]),
        ] {
            assert_eq!(texts(text, Shape::Concatenated), expected, "{text:?}");
        }
    }

    #[test]
    fn elements_of_a_sequence_stand_behind_separators() {
        assert_eq!(texts("\u{1e}{}\n\u{1e}\u{1e}1\n\u{1e}[1", Shape::Sequence), [" {}\n", " 1\n", " [1"]);
        assert_eq!(texts("\u{1e}", Shape::Sequence), [""; 0]);
        assert_eq!(texts("1\n\n 2", Shape::Lines), ["1\n", " 2"]);
    }

    #[test]
    fn a_long_document_is_refused_before_it_is_read() {
        for shape in [Shape::Lines, Shape::Sequence, Shape::Concatenated] {
            let text = io::repeat(b'[');
            let mut cutter = Cutter::new(BufReader::with_capacity(16, text), shape, 1000);
            let mut document = Vec::new();
            assert!(is_too_long(&cutter.next(&mut document).unwrap_err()), "{shape:?}");
            assert!(document.len() <= 1016);
        }
    }
}

//! Writes cells as fields of lines.

use super::dialect::{Dialect, Terminator};
use super::row::is_value;
use crate::Cell;

/// The text that is written.
#[derive(Debug)]
pub(super) struct Lines {
    pub(super) out: Vec<u8>,
    pub(super) dialect: Dialect,
    /// Bytes that no field has without quotes: delimiter, quote, and the ends of a record.
    marks: [u8; 4],
    /// Some mark of the dialect can be a part of a number or a boolean.
    marks_values: bool,
}

/// The error if the dialect cannot represent a field.
pub(super) struct Unwritable;

impl Lines {
    /// Appends to `out`.
    pub(super) fn new(out: Vec<u8>, dialect: Dialect) -> Self {
        let [end, other] = dialect.ends();
        let marks = [dialect.delimiter, dialect.quote.unwrap_or(dialect.delimiter), end, other];
        let is_in_values = |mark| b"0123456789+-.eEtrufals".contains(&mark);
        let marks_values = marks.into_iter().chain(dialect.comment).any(is_in_values);
        Self { out, dialect, marks, marks_values }
    }

    #[inline(always)]
    pub(super) fn delimit(&mut self, column: usize) {
        if column > 0 {
            self.out.push(self.dialect.delimiter);
        }
    }

    #[inline(always)]
    pub(super) fn end_line(&mut self) {
        match self.dialect.terminator {
            Terminator::Lines => self.out.push(b'\n'),
            Terminator::Crlf => self.out.extend_from_slice(b"\r\n"),
            Terminator::Byte(byte) => self.out.push(byte),
        }
    }

    #[inline(always)]
    pub(super) fn cell(&mut self, cell: Cell<'_>, column: usize, keeps_types: bool) -> Result<(), Unwritable> {
        match cell {
            Cell::Missing | Cell::Null => Ok(()),
            Cell::Text(text) => self.text(text, column, keeps_types && is_value(text)),
            Cell::Number(number) => {
                let start = self.out.len();
                number.write(&mut self.out);
                self.check(start)
            }
            Cell::Bool(value) => {
                let start = self.out.len();
                self.out.extend_from_slice(if value { b"true" } else { b"false" });
                self.check(start)
            }
            Cell::Json(json) => self.text(json, column, false),
            Cell::Bytes(bytes) => self.text(&jird::hooks::base64(bytes), column, false),
            Cell::Timestamp(time) => self.text(&time.to_string(), column, false),
        }
    }

    /// Checks a value that was written without quotes, and adds quotes if it contains marks of the dialect.
    #[inline(always)]
    fn check(&mut self, start: usize) -> Result<(), Unwritable> {
        if !self.marks_values {
            return Ok(());
        }
        let text = self.out.split_off(start);
        self.quoted(&text)
    }

    #[inline(always)]
    pub(super) fn text(&mut self, text: &str, column: usize, in_quotes: bool) -> Result<(), Unwritable> {
        let bytes = text.as_bytes();
        if in_quotes || bytes.is_empty() || self.has_mark(bytes) || (column == 0 && self.is_beginning(bytes)) {
            return self.quoted(bytes);
        }
        self.out.extend_from_slice(bytes);
        Ok(())
    }

    /// Whether a first field, without quotes, would be read as a comment or as a UTF-8 byte order mark.
    fn is_beginning(&self, text: &[u8]) -> bool {
        text.first().copied() == self.dialect.comment && !text.is_empty() || text.starts_with(b"\xef\xbb\xbf")
    }

    /// Whether the text contains a delimiter, a quote, or a record's end. Compares eight bytes at a time, with no
    /// branch on their values.
    #[inline(always)]
    fn has_mark(&self, text: &[u8]) -> bool {
        let marks = self.marks.map(|mark| u64::from_ne_bytes([mark; 8]));
        let found_in = |word: u64| {
            marks.iter().fold(0, |found, mark| {
                // The lowest zero byte, and perhaps some above it, get their highest bit set.
                let other = word ^ mark;
                found | other.wrapping_sub(u64::from_ne_bytes([1; 8])) & !other
            })
        };
        let mut found = 0;
        for chunk in text.as_chunks().0 {
            found |= found_in(u64::from_ne_bytes(*chunk));
        }
        if let Some(last) = text.last_chunk() {
            found |= found_in(u64::from_ne_bytes(*last));
        } else if let (Some(first), Some(last)) = (text.first_chunk(), text.last_chunk()) {
            let (first, last) = (u32::from_ne_bytes(*first), u32::from_ne_bytes(*last));
            found |= found_in(u64::from(first) << 32 | u64::from(last));
        } else {
            return text.iter().any(|byte| self.marks.contains(byte));
        }
        found & u64::from_ne_bytes([0x80; 8]) != 0
    }

    /// Writes a field in quotes.
    #[inline(never)]
    fn quoted(&mut self, text: &[u8]) -> Result<(), Unwritable> {
        let Dialect { quote, escape, double_quote, .. } = self.dialect;
        let Some(quote) = quote else {
            // Without quotes, an empty string is written as an empty field.
            return if text.is_empty() { Ok(()) } else { Err(Unwritable) };
        };
        self.out.push(quote);
        let mut rest = text;
        while let Some(at) = match escape {
            Some(escape) => memchr::memchr2(quote, escape, rest),
            None => memchr::memchr(quote, rest),
        } {
            self.out.extend_from_slice(&rest[..at]);
            let before = match escape {
                Some(escape) => escape,
                None if double_quote => quote,
                None => return Err(Unwritable),
            };
            self.out.extend_from_slice(&[before, rest[at]]);
            rest = &rest[at + 1..];
        }
        self.out.extend_from_slice(rest);
        self.out.push(quote);
        Ok(())
    }

    /// Writes an empty field in quotes.
    pub(super) fn quotes(&mut self) -> Result<(), Unwritable> {
        if self.dialect.quote.is_none() { Err(Unwritable) } else { self.quoted(b"") }
    }
}

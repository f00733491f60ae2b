//! Reads records, one at a time.

use super::dialect::{Dialect, Terminator};
use super::scan::{Field, Form, Scan, ScanEnd};
use crate::error::{Error, ErrorKind};
use csv_core::ReadFieldResult;
use jird::event::Place;
use std::io;

/// Bytes asked of the reader at a time.
pub(super) const BUFFER: usize = 128 << 10;
/// The default limit of a record's length in bytes.
pub(super) const RECORD_BYTES_MAX: usize = 64 << 20;

/// A record. Its fields are ranges of a text.
pub(super) struct Record<'a> {
    text: &'a str,
    pub(super) fields: &'a [Field],
    pub(super) place: Place,
    /// Some field contains quotes.
    pub(super) has_doubled: bool,
    quote: u8,
}

impl<'a> Record<'a> {
    /// The length of its text in bytes.
    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    pub(super) fn quote(&self) -> u8 {
        self.quote
    }

    /// A field as it stands in the text, without the quotes around it.
    #[inline(always)]
    pub(super) fn raw(&self, field: Field) -> &'a str {
        &self.text[field.start as usize..field.end as usize]
    }

    /// A field's content, which may need `scratch`.
    #[inline(always)]
    pub(super) fn content<'s>(&self, field: Field, scratch: &'s mut String) -> &'s str
    where
        'a: 's,
    {
        let raw = self.raw(field);
        if field.form == Form::Doubled { undouble(raw, self.quote, scratch) } else { raw }
    }
}

/// Replaces pairs of quotes with single ones; every quote has its pair. Returns the resulting number of bytes, or
/// `None` if `to` is shorter.
pub(super) fn undouble_into(raw: &str, quote: u8, to: &mut [u8]) -> Option<usize> {
    let (mut rest, mut len) = (raw.as_bytes(), 0);
    loop {
        let at = memchr::memchr(quote, rest);
        let part = &rest[..at.map_or(rest.len(), |at| at + 1)];
        to.get_mut(len..len + part.len())?.copy_from_slice(part);
        len += part.len();
        let Some(at) = at else { return Some(len) };
        rest = &rest[at + 2..];
    }
}

/// Does the same into a string.
fn undouble<'s>(raw: &str, quote: u8, scratch: &'s mut String) -> &'s str {
    scratch.clear();
    let mut rest = raw;
    while let Some(at) = memchr::memchr(quote, rest.as_bytes()) {
        scratch.push_str(&rest[..=at]);
        rest = &rest[at + 2..];
    }
    scratch.push_str(rest);
    scratch
}

/// Reads records.
#[derive(Debug)]
pub(super) struct Records<R> {
    input: R,
    dialect: Dialect,
    /// The input may end within quotes.
    lenient: bool,
    pub(super) record_bytes_max: usize,
    pub(super) chunk_bytes: usize,
    buffer: Vec<u8>,
    filled: usize,
    /// The offset of the buffer's first byte in the input.
    base: u64,
    /// Where the last record that was read begins and ends in the buffer.
    start: usize,
    end: usize,
    /// Where the next record begins, and its line.
    next: usize,
    line: u64,
    /// The number of records that were read.
    pub(super) count: u64,
    place: Place,
    scan: Scan,
    /// The search for the first record has begun.
    begun: bool,
    /// The record is too long, and its end was not found yet.
    overlong: bool,
    odd: Option<Odd>,
    core: csv_core::Reader,
    /// The contents of the fields of an odd record, followed by remains of other records: clearing the buffer would be
    /// expensive.
    contents: Vec<u8>,
}

/// The state of a record that csv-core reads.
#[derive(Clone, Copy, Debug)]
struct Odd {
    /// Where reading continues in the buffer.
    at: usize,
    /// Where the field begins in the contents; and whether it begins with a quote, once that is known.
    field: usize,
    quoted: Option<bool>,
    /// The number of bytes in the contents.
    len: usize,
}

impl<R: io::Read> Records<R> {
    pub(super) fn new(input: R, dialect: Dialect) -> Self {
        Self {
            input,
            dialect,
            lenient: false,
            record_bytes_max: RECORD_BYTES_MAX,
            chunk_bytes: BUFFER,
            buffer: Vec::new(),
            filled: 0,
            base: 0,
            start: 0,
            end: 0,
            next: 0,
            line: 1,
            count: 0,
            place: Place::default(),
            scan: Scan::new(&dialect),
            begun: false,
            overlong: false,
            odd: None,
            core: dialect.core(),
            contents: Vec::new(),
        }
    }

    /// Allows the input to end within quotes.
    pub(super) fn be_lenient(&mut self) {
        self.lenient = true;
    }

    pub(super) fn dialect(&self) -> &Dialect {
        &self.dialect
    }

    /// The last record that was read, unchanged, without the bytes that end it. If the record is too long, the part
    /// that was read.
    pub(super) fn raw(&self) -> &[u8] {
        &self.buffer[self.start..self.end.max(self.start)]
    }

    /// The record's place.
    pub(super) fn place(&self) -> Place {
        self.place
    }

    /// The number of its fields.
    pub(super) fn fields(&self) -> u64 {
        self.scan.count()
    }

    /// The next record.
    #[inline]
    pub(super) fn next(&mut self) -> Result<Option<Record<'_>>, Error> {
        if !self.begun || self.overlong {
            self.prepare()?;
        }
        if !self.begin()? {
            return Ok(None);
        }
        let found = self.scan.run(&self.buffer[..self.filled]);
        let ScanEnd::End(end) = found else { return self.next_slowly(found) };
        self.complete(end, end + 1)
    }

    /// Reads a record that is odd, or not completely in the buffer.
    #[cold]
    #[inline(never)]
    fn next_slowly(&mut self, found: ScanEnd) -> Result<Option<Record<'_>>, Error> {
        let (end, next) = self.advance(found)?;
        self.complete(end, next)
    }

    /// Runs before the first record, and after one that was too long.
    #[cold]
    fn prepare(&mut self) -> Result<(), Error> {
        if !self.begun {
            if let Some(fault) = self.dialect.fault() {
                return Err(Error::new(ErrorKind::Dialect, fault));
            }
            while self.filled < 3 && self.fill()? {}
            self.next = if self.buffer[..self.filled].starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
            self.begun = true;
        }
        if self.overlong {
            let (_, next) = if self.odd.is_some() { self.advance_odd()? } else { self.advance(ScanEnd::Dry)? };
            self.overlong = false;
            self.line += count(&self.buffer[self.start..next]);
            self.next = next;
        }
        Ok(())
    }

    /// Moves to where the next record begins. Returns false if there is none.
    #[inline(always)]
    fn begin(&mut self) -> Result<bool, Error> {
        let [end, other] = self.dialect.ends();
        loop {
            let Some(&byte) = self.buffer[..self.filled].get(self.next) else {
                self.start = self.next;
                if self.fill()? {
                    continue;
                }
                self.end = self.next;
                return Ok(false);
            };
            if byte == end || byte == other {
                self.line += u64::from(byte == b'\n');
                self.next += 1;
            } else if self.dialect.comment == Some(byte) {
                self.pass_comment()?;
            } else {
                break;
            }
        }
        self.start = self.next;
        self.odd = None;
        self.scan.begin(self.start);
        self.place = Place { record: self.count, offset: self.base + self.start as u64, line: self.line };
        Ok(true)
    }

    #[cold]
    fn pass_comment(&mut self) -> Result<(), Error> {
        loop {
            if let Some(at) = memchr::memchr(b'\n', &self.buffer[self.next..self.filled]) {
                self.next += at + 1;
                self.line += 1;
                return Ok(());
            }
            self.next = self.filled;
            self.start = self.next;
            if !self.fill()? {
                return Ok(());
            }
        }
    }

    /// Moves to the record's end. Returns where it ends, and where the next one begins.
    fn advance(&mut self, mut found: ScanEnd) -> Result<(usize, usize), Error> {
        loop {
            match found {
                ScanEnd::End(end) => return Ok((end, end + 1)),
                ScanEnd::Dry => {
                    self.check_size()?;
                    if !self.fill()? {
                        if !self.scan.finish(self.filled) && !self.lenient && !self.overlong {
                            return Err(self.unclosed());
                        }
                        return Ok((self.filled, self.filled));
                    }
                }
                // Bytes after the closing quote belong to the field. How they are read does not change where the record
                // ends.
                ScanEnd::Odd(_) if self.overlong && self.dialect.double_quote && self.dialect.escape.is_none() => {}
                ScanEnd::Odd(at) => {
                    self.fresh_core();
                    let at = if self.overlong { at } else { self.start };
                    self.scan.clear();
                    self.odd = Some(Odd { at, field: 0, quoted: None, len: 0 });
                    return self.advance_odd();
                }
            }
            found = self.scan.run(&self.buffer[..self.filled]);
        }
    }

    /// Puts csv-core at a record's beginning. At an input's beginning it would skip a UTF-8 byte order mark.
    fn fresh_core(&mut self) {
        self.core.reset();
        self.core.read_field(&[], &mut []);
    }

    /// Does what [`advance`](Self::advance) does, with csv-core.
    fn advance_odd(&mut self) -> Result<(usize, usize), Error> {
        loop {
            let Some(mut odd) = self.odd else { unreachable!("only what is odd comes here") };
            if odd.at == self.filled {
                self.check_size()?;
                if self.fill()? {
                    continue;
                }
                return self.finish_odd();
            }
            let input = &self.buffer[odd.at..self.filled];
            odd.quoted.get_or_insert(Some(input[0]) == self.dialect.quote);
            if self.contents.len() < odd.len + input.len() {
                // Content is never longer than its text.
                self.contents.resize(odd.len + input.len(), 0);
            }
            let (result, used, written) = self.core.read_field(input, &mut self.contents[odd.len..]);
            odd.at += used;
            odd.len += written;
            self.odd = Some(odd);
            if let ReadFieldResult::Field { record_end } = result {
                self.push_odd();
                if record_end {
                    return Ok((odd.at - 1, odd.at));
                }
            }
        }
    }

    /// Finishes the record at the end of the input. Feeding csv-core one more byte, a terminator, tells whether quotes
    /// are open.
    fn finish_odd(&mut self) -> Result<(usize, usize), Error> {
        let [end, _] = self.dialect.ends();
        let (result, ..) = self.core.read_field(&[end], &mut [0]);
        let closed = matches!(result, ReadFieldResult::Field { .. });
        if !closed && !self.lenient && !self.overlong {
            return Err(self.unclosed());
        }
        self.push_odd();
        Ok((self.filled, self.filled))
    }

    fn push_odd(&mut self) {
        let Some(odd) = &mut self.odd else { return };
        let form = if odd.quoted == Some(true) { Form::Quoted } else { Form::Plain };
        if self.overlong {
            odd.len = 0;
        } else {
            self.scan.push_field(Field { start: odd.field as u32, end: odd.len as u32, form });
        }
        (odd.field, odd.quoted) = (odd.len, None);
    }

    /// Checks the record that was read, and returns it.
    #[inline(always)]
    fn complete(&mut self, end: usize, next: usize) -> Result<Option<Record<'_>>, Error> {
        (self.end, self.next) = (end, next);
        self.count += 1;
        let raw = &self.buffer[self.start..end];
        // A line feed may be within quotes, or end the record, or be anywhere.
        if self.scan.quotes_marks() || self.odd.is_some() || matches!(self.dialect.terminator, Terminator::Byte(_)) {
            self.line += count(raw);
        }
        if next > end {
            self.line += u64::from(self.buffer[end] == b'\n');
        }
        if raw.len() > self.record_bytes_max {
            return Err(self.too_long());
        }
        let mut text = match core::str::from_utf8(raw) {
            Ok(text) => text,
            Err(error) => return Err(self.not_text(error.valid_up_to())),
        };
        if self.scan.count() > super::COLUMNS_MAX as u64 {
            return Err(self.too_many());
        }
        if let Some(odd) = self.odd {
            // Only ASCII bytes were left out.
            text = core::str::from_utf8(&self.contents[..odd.len]).expect("a part of text is text");
        }
        let quote = self.dialect.quote.unwrap_or(0);
        Ok(Some(Record {
            text,
            fields: self.scan.fields(),
            place: self.place,
            has_doubled: self.scan.has_doubled(),
            quote,
        }))
    }

    /// Reads once, and appends to the record, which is kept. Returns false at the end of the input.
    #[cold]
    #[inline(never)]
    fn fill(&mut self) -> Result<bool, Error> {
        if self.overlong {
            self.forget();
        } else if self.start > 0 {
            self.buffer.copy_within(self.start..self.filled, 0);
            self.filled -= self.start;
            self.base += self.start as u64;
            self.next -= self.start;
            self.scan.shift(self.start);
            if let Some(odd) = &mut self.odd {
                odd.at = odd.at.saturating_sub(self.start);
            }
            (self.start, self.end) = (0, 0);
        }
        if self.buffer.len() < self.filled + self.chunk_bytes {
            // Doubling means that a record of any length is moved a constant number of times.
            let len = (2 * self.buffer.len()).clamp(self.chunk_bytes, self.record_bytes_max.saturating_add(BUFFER));
            self.buffer.resize(len.max(self.filled + self.chunk_bytes), 0);
        }
        let room = self.filled..self.filled + self.chunk_bytes;
        loop {
            match self.input.read(&mut self.buffer[room.clone()]) {
                Ok(read) if read <= room.len() => {
                    self.filled += read;
                    return Ok(read > 0);
                }
                Ok(read) => {
                    let words = format!("the reader said that it read {read} bytes into a buffer of {}", room.len());
                    return Err(io::Error::other(words).into());
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Drops what was read of a record that is too long.
    fn forget(&mut self) {
        self.line += count(&self.buffer[self.start..self.filled]);
        self.base += self.filled as u64;
        self.scan.forget(self.filled);
        if let Some(odd) = &mut self.odd {
            (odd.at, odd.len, odd.field) = (0, 0, 0);
        }
        (self.start, self.end, self.next, self.filled) = (0, 0, 0, 0);
    }

    /// Checks that the record may still grow.
    fn check_size(&mut self) -> Result<(), Error> {
        if self.overlong || self.filled - self.start <= self.record_bytes_max {
            return Ok(());
        }
        (self.overlong, self.end) = (true, self.filled);
        self.count += 1;
        Err(self.too_long())
    }

    #[cold]
    fn too_long(&self) -> Error {
        let message = format!("more than {} bytes", self.record_bytes_max);
        Error::new(ErrorKind::Size, message).at(self.place)
    }

    #[cold]
    fn too_many(&self) -> Error {
        let message = format!("{} fields, which is more than {}", self.fields(), super::COLUMNS_MAX);
        Error::new(ErrorKind::Columns, message).at(self.place)
    }

    #[cold]
    fn unclosed(&mut self) -> Error {
        (self.end, self.next) = (self.filled, self.filled);
        self.count += 1;
        self.line += count(self.raw());
        Error::new(ErrorKind::Unclosed, "the input ends within quotes").at(self.place)
    }

    #[cold]
    fn not_text(&self, at: usize) -> Error {
        let offset = self.place.offset + at as u64;
        let line = self.place.line + count(&self.raw()[..at]);
        Error::new(ErrorKind::Utf8, "bytes that are not UTF-8").at(Place { offset, line, ..self.place })
    }
}

/// The number of line feeds in `text`.
fn count(text: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', text).count() as u64
}

//! The fields of a record as most are written: found by their marks, resumed at any byte.
//!
//! On entry: the buffer holds the record from its first byte as far as it was read. On exit: its fields and where it ends; or that
//! more bytes are needed, and then `run` goes on where it stopped; or that the record is out of the ordinary.

use super::COLUMNS_MAX;
use super::dialect::Dialect;
use super::masks::{BLOCK, Marks};

/// A field of a record.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field {
    /// From the record's first byte, without quotes around it.
    pub(super) start: u32,
    pub(super) end: u32,
    pub(super) form: Form,
}

/// How a field is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Plain,
    /// In quotes, or it was.
    Quoted,
    /// In quotes, and with quotes in it, each of them twice.
    Doubled,
}

/// How far a scan came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// The record ends before this byte, which is an end.
    End(usize),
    /// More bytes are needed.
    Dry,
    /// A quoted field, from this byte on, is none that is understood here.
    Odd(usize),
}

#[derive(Debug)]
pub(super) struct Scan {
    marks_of: Marks,
    /// Quoted fields are understood: quotes within are doubled and there are no other escapes.
    understands_quotes: bool,
    /// The block that was looked at last, its marks from here on, and its end.
    block: usize,
    block_end: usize,
    marks: u64,
    quotes: u64,
    /// Where the record begins.
    origin: usize,
    /// Where the field begins; [`FORGOTTEN`] if that is not known any more.
    field: usize,
    within: Within,
    fields: Vec<Field>,
    /// Fields that were counted only.
    uncounted: u64,
    /// How many fields are kept at most.
    kept_max: usize,
    /// A delimiter or an end was met within quotes: it may be a line's.
    quotes_marks: bool,
}

/// Where the next byte stands.
#[derive(Clone, Copy, Debug)]
enum Within {
    Plain,
    /// In quotes; some may have been doubled.
    Quoted(Form),
    /// Just behind a quote in quotes: the second of two, or the field is over.
    Behind(Form, usize),
}

const FORGOTTEN: usize = usize::MAX;

impl Scan {
    pub(super) fn new(dialect: &Dialect) -> Self {
        let (quote, has_quotes) = (dialect.quote.unwrap_or(0), dialect.quote.is_some());
        Self {
            marks_of: Marks { delimiter: dialect.delimiter, ends: dialect.ends(), quote, has_quotes },
            understands_quotes: dialect.double_quote && dialect.escape.is_none(),
            block: 0,
            block_end: 0,
            marks: 0,
            quotes: 0,
            origin: 0,
            field: 0,
            within: Within::Plain,
            fields: Vec::new(),
            uncounted: 0,
            kept_max: COLUMNS_MAX,
            quotes_marks: false,
        }
    }

    pub(super) fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// How many fields there are, be they kept or not.
    pub(super) fn count(&self) -> u64 {
        self.fields.len() as u64 + self.uncounted
    }

    pub(super) fn quotes_marks(&self) -> bool {
        self.quotes_marks
    }

    /// A record begins at this byte.
    #[inline(always)]
    pub(super) fn begin(&mut self, at: usize) {
        self.clear();
        (self.origin, self.field, self.within, self.quotes_marks) = (at, at, Within::Plain, false);
        self.kept_max = COLUMNS_MAX;
        self.pass(at);
    }

    pub(super) fn clear(&mut self) {
        self.fields.clear();
        self.uncounted = 0;
    }

    /// The buffer lost its first bytes, all of them before the record. All that it has were scanned, or will be begun with.
    pub(super) fn shift(&mut self, bytes: usize) {
        self.origin = self.origin.saturating_sub(bytes);
        self.field = self.field.saturating_sub(bytes);
        if let Within::Behind(_, next) = &mut self.within {
            *next = next.saturating_sub(bytes);
        }
        self.block_end = self.block_end.saturating_sub(bytes);
        (self.block, self.marks, self.quotes) = (self.block_end, 0, 0);
    }

    /// The buffer lost all of its `filled` bytes, all of them scanned. From now on fields of this record are not even counted.
    pub(super) fn forget(&mut self, filled: usize) {
        self.clear();
        self.kept_max = 0;
        self.origin = 0;
        self.field = if self.field == filled { 0 } else { FORGOTTEN };
        if let Within::Behind(_, next) = &mut self.within {
            *next = 0;
        }
        (self.block, self.block_end, self.marks, self.quotes) = (0, 0, 0, 0);
    }

    /// Goes on through `text`, the buffer as far as it is filled.
    #[inline(always)]
    pub(super) fn run(&mut self, text: &[u8]) -> Found {
        loop {
            let found = match self.within {
                Within::Plain => self.plain(text),
                Within::Quoted(form) => self.quoted(text, form),
                Within::Behind(form, next) => self.behind(text, form, next),
            };
            if let Some(found) = found {
                return found;
            }
        }
    }

    /// Goes on to the record's end or to a quoted field.
    #[inline(always)]
    fn plain(&mut self, text: &[u8]) -> Option<Found> {
        loop {
            // All that is looked at again and again is in locals, which are in registers.
            let (block, mut field, delimiter) = (self.block, self.field, self.marks_of.delimiter);
            let (mut marks, mut quotes) = (self.marks, self.quotes);
            let found = loop {
                let both = marks | quotes;
                if both == 0 {
                    break None;
                }
                let at = block + both.trailing_zeros() as usize;
                let bit = both & both.wrapping_neg();
                if quotes & bit != 0 {
                    quotes ^= bit;
                    if at == field {
                        break Some(Found::Odd(at));
                    }
                    continue;
                }
                marks ^= bit;
                self.push(field, at, Form::Plain);
                field = at + 1;
                if text[at] != delimiter {
                    break Some(Found::End(at));
                }
            };
            (self.field, self.marks, self.quotes) = (field, marks, quotes);
            match found {
                Some(Found::Odd(_)) if self.understands_quotes => {
                    self.within = Within::Quoted(Form::Quoted);
                    return None;
                }
                Some(found) => return Some(found),
                None if self.load(text) => {}
                None => return Some(Found::Dry),
            }
        }
    }

    /// Goes on to the next quote.
    #[inline(always)]
    fn quoted(&mut self, text: &[u8], form: Form) -> Option<Found> {
        // The marks that are left are all behind the opening quote.
        while self.quotes == 0 {
            self.quotes_marks |= self.marks != 0;
            if !self.load(text) {
                return Some(Found::Dry);
            }
        }
        let quote = self.quotes.trailing_zeros();
        self.quotes_marks |= self.marks & ((1 << quote) - 1) != 0;
        self.within = Within::Behind(form, self.block + quote as usize + 1);
        None
    }

    /// Looks at the byte behind a quote.
    #[inline(always)]
    fn behind(&mut self, text: &[u8], form: Form, next: usize) -> Option<Found> {
        let Some(&byte) = text.get(next) else { return Some(Found::Dry) };
        if byte == self.marks_of.quote {
            self.step(text, next);
            self.within = Within::Quoted(Form::Doubled);
        } else if self.is_mark(byte) {
            self.step(text, next);
            self.push(self.field.wrapping_add(1), next.wrapping_sub(1), form);
            (self.field, self.within) = (next + 1, Within::Plain);
            if byte != self.marks_of.delimiter {
                return Some(Found::End(next));
            }
        } else {
            self.pass(next);
            (self.field, self.within) = (FORGOTTEN, Within::Plain);
            return Some(Found::Odd(next));
        }
        None
    }

    /// The input is over, so that the field is, and the record. False if there are quotes around it that are not closed.
    pub(super) fn finish(&mut self, end: usize) -> bool {
        let content = self.field.wrapping_add(1);
        match self.within {
            Within::Plain => self.push(self.field, end, Form::Plain),
            Within::Behind(form, next) => self.push(content, next.wrapping_sub(1), form),
            Within::Quoted(form) => {
                self.push(content, end, form);
                return false;
            }
        }
        true
    }

    /// A field between these bytes.
    #[inline(always)]
    fn push(&mut self, start: usize, end: usize, form: Form) {
        if self.fields.len() < self.kept_max {
            let (start, end) = ((start - self.origin) as u32, (end - self.origin) as u32);
            self.fields.push(Field { start, end, form });
        } else {
            self.uncounted += 1;
        }
    }

    /// A field that was made elsewhere.
    pub(super) fn push_field(&mut self, field: Field) {
        if self.fields.len() < self.kept_max {
            self.fields.push(field);
        } else {
            self.uncounted += 1;
        }
    }

    #[inline(always)]
    fn is_mark(&self, byte: u8) -> bool {
        let Marks { delimiter, ends: [end, other], .. } = self.marks_of;
        byte == delimiter || byte == end || byte == other
    }

    /// No mark up to `at`, and that included, is looked at again. It is in this block or the first of the next.
    #[inline(always)]
    fn step(&mut self, text: &[u8], at: usize) {
        if at >= self.block_end {
            self.load(text);
        }
        self.pass(at + 1);
    }

    /// No mark before `at` is looked at again.
    #[inline(always)]
    fn pass(&mut self, at: usize) {
        if at >= self.block_end {
            (self.block, self.block_end, self.marks, self.quotes) = (at, at, 0, 0);
        } else {
            let left = u64::MAX << (at - self.block);
            self.marks &= left;
            self.quotes &= left;
        }
    }

    /// Looks at the next block. False if there is none.
    #[inline(always)]
    fn load(&mut self, text: &[u8]) -> bool {
        self.block = self.block_end;
        let rest = &text[self.block..];
        if let Some(block) = rest.first_chunk() {
            (self.marks, self.quotes) = self.marks_of.of(block);
            self.block_end += BLOCK;
            return true;
        }
        self.load_rest(rest)
    }

    #[cold]
    #[inline(never)]
    fn load_rest(&mut self, rest: &[u8]) -> bool {
        let mut block = [0; BLOCK];
        block[..rest.len()].copy_from_slice(rest);
        let (marks, quotes) = self.marks_of.of(&block);
        let there = (1 << rest.len()) - 1;
        (self.marks, self.quotes) = (marks & there, quotes & there);
        self.block_end += rest.len();
        !rest.is_empty()
    }
}

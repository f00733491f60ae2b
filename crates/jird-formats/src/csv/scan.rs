//! Finds the fields of an ordinary record by their marks, and can resume at any byte.
//!
//! On entry, the buffer holds the record from its first byte, as far as it was read. The result is one of three: the
//! fields and the record's end; or that more bytes are needed, after which `run` continues where it stopped; or that
//! the record is out of the ordinary.

use super::COLUMNS_MAX;
use super::dialect::Dialect;
use super::masks::{BLOCK, Marks};

/// A field of a record.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field {
    /// Offset from the record's first byte, without the quote before the field.
    pub(super) start: u32,
    pub(super) end: u32,
    pub(super) form: Form,
}

/// How a field is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Plain,
    /// In quotes, or it was in the input.
    Quoted,
    /// In quotes, and contains quotes, each of them doubled.
    Doubled,
}

/// How far a scan got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScanEnd {
    /// The record ends before this byte, which is a terminator.
    End(usize),
    /// More bytes are needed.
    Dry,
    /// The scan does not understand the quoted field at this byte.
    Odd(usize),
}

#[derive(Debug)]
pub(super) struct Scan {
    marks_of: Marks,
    /// Whether the scan understands quoted fields: quotes within them are doubled, and there are no other escapes.
    understands_quotes: bool,
    /// The last block that was loaded, its end, and the masks of its remaining marks.
    block: usize,
    block_end: usize,
    marks: u64,
    quotes: u64,
    /// Where the record begins.
    origin: usize,
    /// Where the field begins; [`FORGOTTEN`] if that is no longer known.
    field: usize,
    within: Within,
    fields: Vec<Field>,
    /// The number of fields that were counted but not kept.
    uncounted: u64,
    /// The most fields to keep.
    kept_max: usize,
    /// A delimiter or a terminator was found within quotes; it may be a line feed.
    quotes_marks: bool,
    /// A doubled quote was found.
    has_doubled: bool,
}

/// What the next byte belongs to.
#[derive(Clone, Copy, Debug)]
enum Within {
    Plain,
    /// In quotes; there may have been doubled quotes.
    Quoted(Form),
    /// Right after a quote in quotes: the next byte is the second of two, or the field is over.
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
            has_doubled: false,
        }
    }

    pub(super) fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// The number of fields, kept or not.
    pub(super) fn count(&self) -> u64 {
        self.fields.len() as u64 + self.uncounted
    }

    pub(super) fn quotes_marks(&self) -> bool {
        self.quotes_marks
    }

    pub(super) fn has_doubled(&self) -> bool {
        self.has_doubled
    }

    /// Begins a record at this byte.
    #[inline(always)]
    pub(super) fn begin(&mut self, at: usize) {
        self.clear();
        (self.origin, self.field, self.within, self.quotes_marks) = (at, at, Within::Plain, false);
        self.has_doubled = false;
        self.kept_max = COLUMNS_MAX;
        self.pass(at);
    }

    pub(super) fn clear(&mut self) {
        self.fields.clear();
        self.uncounted = 0;
    }

    /// Adjusts to a buffer that lost its first bytes, all of which were before the record. Every byte left was scanned,
    /// or is where a record will begin.
    pub(super) fn shift(&mut self, bytes: usize) {
        self.origin = self.origin.saturating_sub(bytes);
        self.field = self.field.saturating_sub(bytes);
        if let Within::Behind(_, next) = &mut self.within {
            *next = next.saturating_sub(bytes);
        }
        self.block_end = self.block_end.saturating_sub(bytes);
        (self.block, self.marks, self.quotes) = (self.block_end, 0, 0);
    }

    /// Adjusts to a buffer that lost all of its `filled` bytes, all of which were scanned. From now on, no field of
    /// this record is kept, and `count` starts again at zero.
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

    /// Continues through `text`, the filled part of the buffer.
    #[inline(always)]
    pub(super) fn run(&mut self, text: &[u8]) -> ScanEnd {
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

    /// Continues to the record's end or to a quoted field.
    #[inline(always)]
    fn plain(&mut self, text: &[u8]) -> Option<ScanEnd> {
        loop {
            // The state of the inner loop is in locals, so that it stays in registers.
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
                    if at != field {
                        continue;
                    }
                    // Most quoted fields end in the block in which they begin, with a quote right before a mark.
                    let close = quotes & quotes.wrapping_neg();
                    let mark = close << 1;
                    if marks & mark == 0 || !self.understands_quotes {
                        break Some(ScanEnd::Odd(at));
                    }
                    let (within, end) = (close - 1, block + close.trailing_zeros() as usize);
                    self.quotes_marks |= marks & within != 0;
                    marks &= !(within | mark);
                    quotes ^= close;
                    self.push(at + 1, end, Form::Quoted);
                    field = end + 2;
                    if text[end + 1] != delimiter {
                        break Some(ScanEnd::End(end + 1));
                    }
                    continue;
                }
                marks ^= bit;
                self.push(field, at, Form::Plain);
                field = at + 1;
                if text[at] != delimiter {
                    break Some(ScanEnd::End(at));
                }
            };
            (self.field, self.marks, self.quotes) = (field, marks, quotes);
            match found {
                Some(ScanEnd::Odd(_)) if self.understands_quotes => {
                    self.within = Within::Quoted(Form::Quoted);
                    return None;
                }
                Some(found) => return Some(found),
                None if self.load(text) => {}
                None => return Some(ScanEnd::Dry),
            }
        }
    }

    /// Continues to the next quote.
    #[inline(always)]
    fn quoted(&mut self, text: &[u8], form: Form) -> Option<ScanEnd> {
        // All remaining marks are after the opening quote.
        while self.quotes == 0 {
            self.quotes_marks |= self.marks != 0;
            if !self.load(text) {
                return Some(ScanEnd::Dry);
            }
        }
        let quote = self.quotes.trailing_zeros();
        self.quotes_marks |= self.marks & ((1 << quote) - 1) != 0;
        self.within = Within::Behind(form, self.block + quote as usize + 1);
        None
    }

    /// Looks at the byte after a quote.
    #[inline(always)]
    fn behind(&mut self, text: &[u8], form: Form, next: usize) -> Option<ScanEnd> {
        let Some(&byte) = text.get(next) else { return Some(ScanEnd::Dry) };
        if byte == self.marks_of.quote {
            self.step(text, next);
            self.within = Within::Quoted(Form::Doubled);
            self.has_doubled = true;
        } else if self.is_mark(byte) {
            self.step(text, next);
            self.push(self.field.wrapping_add(1), next.wrapping_sub(1), form);
            (self.field, self.within) = (next + 1, Within::Plain);
            if byte != self.marks_of.delimiter {
                return Some(ScanEnd::End(next));
            }
        } else {
            self.pass(next);
            (self.field, self.within) = (FORGOTTEN, Within::Plain);
            return Some(ScanEnd::Odd(next));
        }
        None
    }

    /// Ends the field and the record at the end of the input. Returns false if quotes are open.
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

    /// Adds a field between these bytes.
    #[inline(always)]
    fn push(&mut self, start: usize, end: usize, form: Form) {
        if self.fields.len() < self.kept_max {
            let (start, end) = ((start - self.origin) as u32, (end - self.origin) as u32);
            self.fields.push(Field { start, end, form });
        } else {
            self.uncounted += 1;
        }
    }

    /// Adds a field that csv-core read.
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

    /// Drops the marks up to and including `at`, which is in this block or the first byte of the next.
    #[inline(always)]
    fn step(&mut self, text: &[u8], at: usize) {
        if at >= self.block_end {
            self.load(text);
        }
        self.pass(at + 1);
    }

    /// Drops the marks before `at`.
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

    /// Loads the next block. Returns false if there is none.
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

//! Rows as records.

use super::dialect::{Dialect, Terminator};
use super::error::{CsvError, CsvErrorKind};
use super::row::is_value;
use crate::{Cell, Row, Rows, Table};
use jird::event::{Interest, KeyTable, PartBuffer, Parts, Place};
use std::io;

/// CSV as a sink: a [`Table`], to which [`Rows`] hands records.
///
/// **Columns** are the keys of the first record, in its order, or those that were said before ([`columns`](Self::columns),
/// [`select`](Self::select)). The header stands at the top, so a key that comes later is an error: whoever cannot know reads the
/// input twice, once into a [`Schema`](crate::Schema).
///
/// **Fields** are in quotes only if they must be: if there is a delimiter, a quote or a line's end in them, or if they are empty strings
/// (RFC 4180 §2), so that `""` is a string, and nothing at all is null or missing. A row of one column that has nothing is `""`, as an
/// empty line is no record. A number has the text that it came with; bytes are base64, times as RFC 3339 has them, and what is nested
/// is JSON text. With [`keep_types`](Self::keep_types) strings and values are kept apart.
///
/// **Formulas.** A field is written as it is, also when it begins with `=`, `+`, `-` or `@`, which spreadsheets run as a formula, be it
/// in quotes or not. Nothing is put before it: that would change values. Whoever opens text of strangers in a spreadsheet imports
/// such columns as text.
///
/// **Cost.** One copy; memory for one row and 64 KB. A row is written as a whole or, if its source fails, not at all.
///
/// ```
/// use jird::event::{self, JsonSource};
/// use jird_formats::CsvSink;
/// let text = br#"{"id":1.50,"name":"Tor, Ann","tags":["a"]} {"name":"","id":null}"#;
/// let mut rows = CsvSink::new(Vec::new()).rows();
/// event::copy(&mut JsonSource::from_slice(text), &mut rows)?;
/// let wanted = "id,name,tags\n1.50,\"Tor, Ann\",\"[\"\"a\"\"]\"\n,\"\",\n";
/// assert_eq!(String::from_utf8(rows.into_table().into_inner())?, wanted);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct CsvSink<W> {
    writer: W,
    lines: Lines,
    columns: KeyTable,
    /// Which keys there may be beside the columns.
    others: Others,
    keeps_types: bool,
    /// The header was written, or is none.
    begun: bool,
    rows: u64,
}

/// What becomes of a key that has no column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Others {
    /// It is one.
    Join,
    /// An error.
    Late,
    /// Nobody asked for it.
    Skip,
}

/// What a writer is handed at once, about.
const BUFFER: usize = 64 << 10;

impl<W: io::Write> CsvSink<W> {
    /// CSV with a header, as in RFC 4180, but with `\n` at the end of a line.
    pub fn new(writer: W) -> Self {
        Self::with_dialect(writer, Dialect::default())
    }

    /// Another dialect. If that makes no sense, the first row is an error.
    ///
    /// ```
    /// use jird::event::{self, JsonSource};
    /// use jird_formats::{CsvSink, Dialect, Terminator};
    /// let dialect = Dialect { header: false, terminator: Terminator::Crlf, ..Dialect::tsv() };
    /// let mut rows = CsvSink::with_dialect(Vec::new(), dialect).rows();
    /// event::copy(&mut JsonSource::from_slice(br#"{"a":"1,2","b":"\t"}"#), &mut rows)?;
    /// assert_eq!(rows.into_table().into_inner(), b"1,2\t\"\t\"\r\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_dialect(writer: W, dialect: Dialect) -> Self {
        let [end, other] = dialect.ends();
        let marks = [dialect.delimiter, dialect.quote.unwrap_or(dialect.delimiter), end, other];
        let is_in_values = |mark| b"0123456789+-.eEtrufals".contains(&mark);
        let marks_values = marks.into_iter().chain(dialect.comment).any(is_in_values);
        Self {
            writer,
            lines: Lines { out: Vec::with_capacity(BUFFER), dialect, marks, marks_values },
            columns: KeyTable::new(),
            others: Others::Join,
            keeps_types: false,
            begun: false,
            rows: 0,
        }
    }

    /// These are all columns, in this order; any other key is an error. Names that come again count once.
    #[must_use]
    pub fn columns<'n>(mut self, names: impl IntoIterator<Item = &'n str>) -> Self {
        self.put(names);
        self.others = Others::Late;
        self
    }

    /// Only these keys are wanted, in this order; sources need not send others.
    ///
    /// ```
    /// use jird::event::{self, JsonSource};
    /// use jird_formats::CsvSink;
    /// let mut rows = CsvSink::new(Vec::new()).select(["b", "c"]).rows();
    /// event::copy(&mut JsonSource::from_slice(br#"{"a":1,"b":2} {"c":true}"#), &mut rows)?;
    /// assert_eq!(rows.into_table().into_inner(), b"b,c\n2,\n,true\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn select<'n>(mut self, names: impl IntoIterator<Item = &'n str>) -> Self {
        self.put(names);
        self.others = Others::Skip;
        self
    }

    fn put<'n>(&mut self, names: impl IntoIterator<Item = &'n str>) {
        for name in names {
            self.columns.insert(name);
        }
    }

    /// Strings that look like a number, `true` or `false` are in quotes, so that [`typed`](crate::CsvSource::typed) reads back strings as
    /// strings and numbers as numbers.
    ///
    /// ```
    /// use jird::event::{self, JsonSource};
    /// use jird_formats::CsvSink;
    /// let mut rows = CsvSink::new(Vec::new()).keep_types().rows();
    /// event::copy(&mut JsonSource::from_slice(br#"{"a":1,"b":"1","c":"007","d":"true"}"#), &mut rows)?;
    /// assert_eq!(rows.into_table().into_inner(), b"a,b,c,d\n1,\"1\",007,\"true\"\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn keep_types(mut self) -> Self {
        self.keeps_types = true;
        self
    }

    /// The event sink that makes rows for it.
    pub fn rows(self) -> Rows<Self> {
        let names: Vec<String> = self.columns.names().map(str::to_owned).collect();
        Rows::with_columns(self, names.iter().map(String::as_str))
    }

    /// The writer. What was not [finished](jird::event::Sink::finish) may be missing there.
    pub fn into_inner(self) -> W {
        self.writer
    }

    /// Before the first row.
    #[cold]
    fn begin(&mut self) -> Result<(), CsvError> {
        if let Some(fault) = self.lines.dialect.fault() {
            return Err(CsvError::new(CsvErrorKind::Dialect, fault, Place::default()));
        }
        self.begun = true;
        if self.lines.dialect.header {
            for (column, name) in self.columns.names().enumerate() {
                self.lines.delimit(column);
                self.lines.text(name, column, false).map_err(|Unwritable| self.unwritable(column))?;
            }
            self.lines.end_line();
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), CsvError> {
        self.writer.write_all(&self.lines.out)?;
        self.lines.out.clear();
        Ok(())
    }

    #[cold]
    fn unwritable(&self, column: usize) -> CsvError {
        let name = self.columns.name(column as u32);
        let message = format!("the dialect has no way to write a field of column `{name}`, in row {}", self.rows + 1);
        CsvError::new(CsvErrorKind::Quote, message, Place::default())
    }
}

impl<W: io::Write> Table for CsvSink<W> {
    type Error = CsvError;

    fn add_column(&mut self, name: &str) -> Result<Interest, CsvError> {
        match self.others {
            Others::Skip => return Ok(Interest::Skip),
            Others::Join if !self.begun => {
                self.columns.insert(name);
                return Ok(Interest::Take);
            }
            Others::Join | Others::Late => {}
        }
        let row = self.rows + 1;
        let message = format!("key `{name}` of row {row} has no column, and the header is written or was given");
        Err(CsvError::new(CsvErrorKind::LateColumn, message, Place::default()))
    }

    fn add_row(&mut self, row: &mut Row, _place: Place) -> Result<(), CsvError> {
        if !self.begun {
            self.begin()?;
        }
        let start = self.lines.out.len();
        let columns = self.columns.len();
        for column in 0..columns.min(row.len()) {
            self.lines.delimit(column);
            if let Err(Unwritable) = self.lines.cell(row.cell(column), column, self.keeps_types) {
                self.lines.out.truncate(start);
                return Err(self.unwritable(column));
            }
        }
        if columns == 1 && self.lines.out.len() == start {
            // An empty line is no record.
            self.lines.quotes().map_err(|Unwritable| self.unwritable(0))?;
        }
        self.lines.end_line();
        self.rows += 1;
        if self.lines.out.len() >= BUFFER { self.flush() } else { Ok(()) }
    }

    fn finish(&mut self) -> Result<(), CsvError> {
        if !self.begun && !self.columns.is_empty() {
            self.begin()?;
        }
        self.flush()?;
        Ok(self.writer.flush()?)
    }
}

/// All columns must be known: those of a key that no record had before the parts were made are late.
impl<W: io::Write> Parts for Rows<CsvSink<W>> {
    type Part = Rows<CsvSink<PartBuffer>>;

    fn part(&self, bytes_max: usize) -> Self::Part {
        let CsvSink { lines, columns, others, keeps_types, .. } = self.table();
        let mut part = CsvSink::with_dialect(PartBuffer::new(bytes_max), lines.dialect);
        part.columns.clone_from(columns);
        part.others = if *others == Others::Join { Others::Late } else { *others };
        (part.keeps_types, part.begun) = (*keeps_types, true);
        part.rows()
    }

    fn join(&mut self, part: Self::Part) -> Result<(), CsvError> {
        let mut part = part.into_table();
        let whole = self.table_mut();
        if !whole.begun && part.rows > 0 {
            whole.begin()?;
        }
        whole.rows += part.rows;
        part.flush()?;
        whole.flush()?;
        Ok(whole.writer.write_all(part.writer.bytes())?)
    }

    fn flush(&mut self) -> Result<(), CsvError> {
        let table = self.table_mut();
        table.flush()?;
        Ok(table.writer.flush()?)
    }
}

/// Text as it is written down.
#[derive(Debug)]
struct Lines {
    out: Vec<u8>,
    dialect: Dialect,
    /// What no field has without quotes: delimiter, quote, and a record's ends.
    marks: [u8; 4],
    /// A mark of the dialect may be a part of a number or a boolean.
    marks_values: bool,
}

/// The dialect has no way to write a field.
struct Unwritable;

impl Lines {
    #[inline(always)]
    fn delimit(&mut self, column: usize) {
        if column > 0 {
            self.out.push(self.dialect.delimiter);
        }
    }

    #[inline(always)]
    fn end_line(&mut self) {
        match self.dialect.terminator {
            Terminator::Lines => self.out.push(b'\n'),
            Terminator::Crlf => self.out.extend_from_slice(b"\r\n"),
            Terminator::Byte(byte) => self.out.push(byte),
        }
    }

    #[inline(always)]
    fn cell(&mut self, cell: Cell<'_>, column: usize, keeps_types: bool) -> Result<(), Unwritable> {
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
            Cell::Bytes(bytes) => self.text(&jird::event::base64(bytes), column, false),
            Cell::Timestamp(time) => self.text(&time.to_string(), column, false),
        }
    }

    /// A value was written without quotes, which does not do if it has marks of the dialect.
    #[inline(always)]
    fn check(&mut self, start: usize) -> Result<(), Unwritable> {
        if !self.marks_values {
            return Ok(());
        }
        let text = self.out.split_off(start);
        self.quoted(&text)
    }

    #[inline(always)]
    fn text(&mut self, text: &str, column: usize, in_quotes: bool) -> Result<(), Unwritable> {
        let bytes = text.as_bytes();
        if in_quotes || bytes.is_empty() || self.has_mark(bytes) || (column == 0 && self.is_beginning(bytes)) {
            return self.quoted(bytes);
        }
        self.out.extend_from_slice(bytes);
        Ok(())
    }

    /// Whether a first field, without quotes, would be read as a comment or as a mark of UTF-8.
    fn is_beginning(&self, text: &[u8]) -> bool {
        text.first().copied() == self.dialect.comment && !text.is_empty() || text.starts_with(b"\xef\xbb\xbf")
    }

    /// Whether there is a delimiter, a quote, or a record's end. Eight bytes at once, without a branch on what they are.
    #[inline(always)]
    fn has_mark(&self, text: &[u8]) -> bool {
        let marks = self.marks.map(|mark| u64::from_ne_bytes([mark; 8]));
        let found_in = |word: u64| {
            marks.iter().fold(0, |found, mark| {
                // The lowest byte that is zero, and perhaps others above it, gets its highest bit.
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

    /// A field in quotes.
    #[inline(never)]
    fn quoted(&mut self, text: &[u8]) -> Result<(), Unwritable> {
        let Dialect { quote, escape, double_quote, .. } = self.dialect;
        let Some(quote) = quote else {
            // Nothing is nothing.
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

    /// A field that has nothing, in quotes.
    fn quotes(&mut self) -> Result<(), Unwritable> {
        if self.dialect.quote.is_none() { Err(Unwritable) } else { self.quoted(b"") }
    }
}

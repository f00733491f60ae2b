//! Writes rows as records.

use super::dialect::Dialect;
use super::lines::{Lines, Unwritable};
use crate::error::{Error, ErrorKind};
use crate::rows::VALUE;
use crate::{Cell, Row, Rows, Table};
use jird::event::{Interest, Place};
use jird::hooks::event::{KeyTable, PartBuffer, Parts};
use std::io;

/// CSV as a sink. It is a [`Table`], which gets its records from [`Rows`].
///
/// *Columns** are the keys of the first record, in its order, or those that the caller gave before
/// ([`columns`](Self::columns), [`select`](Self::select)). The header is at the top, so a key that first comes later is
/// an error. A caller that does not know all keys reads the input twice, the first time into a
/// [`Schema`](crate::Schema).
///
/// *Fields** are in quotes only if they must be: if they contain a delimiter, a quote or a line end, or if they are
/// empty strings (RFC 4180 §2). So `""` is a string, and an empty field is null or missing. A row whose only column is
/// null or missing is written as `""`, because an empty line is not a record. A number keeps the text that it came
/// with. Bytes are base64, times are as in RFC 3339, and nested values are JSON text. With
/// [`keep_types`](Self::keep_types) strings stay distinct from values.
///
/// *Formulas.** A field is written unchanged, even if it begins with `=`, `+`, `-` or `@`. Spreadsheets run such a
/// field as a formula, whether it is in quotes or not. The sink puts nothing before it, because that would change
/// values. To open untrusted text in a spreadsheet, import such columns as text.
///
/// *Cost.** One copy, and memory for one row and 64 KB. A row is written completely or, if its source fails, not at
/// all.
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
    /// What happens to keys that are not columns.
    others: Others,
    keeps_types: bool,
    /// The header was written, or there is none.
    begun: bool,
    rows: u64,
    /// The number of cells in the row that is being written, and the offset at which it begins.
    column: usize,
    row_at: usize,
}

/// What happens to a key that has no column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Others {
    /// It becomes a column.
    Join,
    /// It is an error.
    Late,
    /// It is not wanted.
    Skip,
}

/// Approximate number of bytes handed to the writer at a time.
const BUFFER: usize = 64 << 10;

impl<W: io::Write> CsvSink<W> {
    /// CSV with a header, as in RFC 4180, but with `\n` at the end of a line.
    pub fn new(writer: W) -> Self {
        Self::with_dialect(writer, Dialect::default())
    }

    /// CSV in another dialect. If the dialect is invalid, the first row is an error.
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
        Self {
            writer,
            lines: Lines::new(Vec::with_capacity(BUFFER), dialect),
            columns: KeyTable::new(),
            others: Others::Join,
            keeps_types: false,
            begun: false,
            rows: 0,
            column: 0,
            row_at: 0,
        }
    }

    /// Makes these all of the columns, in this order. Any other key is an error. Repeated names count once.
    #[must_use]
    pub fn columns<'n>(mut self, names: impl IntoIterator<Item = &'n str>) -> Self {
        self.put(names);
        self.others = Others::Late;
        self
    }

    /// Selects only these keys, in this order. Sources need not send others.
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

    /// Puts strings that look like a number, `true` or `false` in quotes, so that [`typed`](crate::CsvSource::typed)
    /// reads strings back as strings and numbers as numbers.
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

    /// The writer. If it is a buffer, the caller may empty it, because the sink reads nothing back from it. Data that
    /// was not [flushed](Self::flush) may be missing there.
    pub fn get_mut(&mut self) -> &mut W {
        &mut self.writer
    }

    /// The writer. Data that was not [finished](jird::event::Sink::finish) may be missing there.
    pub fn into_inner(self) -> W {
        self.writer
    }

    /// Writes the next cell of a row, for programs that have cells but no records. After one call for each column, the
    /// caller calls [`end_row`](Self::end_row).
    ///
    /// ```
    /// use jird_formats::{Cell, CsvSink, Table};
    /// let mut sink = CsvSink::new(Vec::new()).columns(["id", "name"]);
    /// sink.cell(Cell::Bool(true))?;
    /// sink.cell(Cell::Text(""))?;
    /// sink.end_row()?;
    /// sink.finish()?;
    /// assert_eq!(sink.into_inner(), b"id,name\ntrue,\"\"\n");
    /// # Ok::<(), jird_formats::Error>(())
    /// ```
    #[inline]
    pub fn cell(&mut self, cell: Cell<'_>) -> Result<(), Error> {
        if self.column == 0 {
            self.begin_row()?;
        }
        let column = std::mem::take(&mut self.column);
        self.write_cell(column, cell)?;
        self.column = column + 1;
        Ok(())
    }

    /// Ends a row that has a cell for each column.
    #[inline]
    pub fn end_row(&mut self) -> Result<(), Error> {
        if std::mem::take(&mut self.column) == 0 {
            self.begin_row()?;
        }
        self.complete_row()
    }

    #[inline]
    fn begin_row(&mut self) -> Result<(), Error> {
        if !self.begun {
            self.begin()?;
        }
        self.row_at = self.lines.out.len();
        Ok(())
    }

    #[inline(always)]
    fn write_cell(&mut self, column: usize, cell: Cell<'_>) -> Result<(), Error> {
        self.lines.delimit(column);
        if let Err(Unwritable) = self.lines.cell(cell, column, self.keeps_types) {
            self.lines.out.truncate(self.row_at);
            return Err(self.unwritable(column));
        }
        Ok(())
    }

    #[inline]
    fn complete_row(&mut self) -> Result<(), Error> {
        if self.columns.len() <= 1 && self.lines.out.len() == self.row_at {
            // An empty line is not a record.
            self.lines.quotes().map_err(|Unwritable| self.unwritable(0))?;
        }
        self.lines.end_line();
        self.rows += 1;
        if self.lines.out.len() >= BUFFER { self.flush() } else { Ok(()) }
    }

    /// Prepares the output before the first row.
    #[cold]
    fn begin(&mut self) -> Result<(), Error> {
        if let Some(fault) = self.lines.dialect.fault() {
            return Err(Error::new(ErrorKind::Dialect, fault));
        }
        self.begun = true;
        if self.lines.dialect.header {
            if self.columns.is_empty() {
                // Rows without columns have an empty field each, because an empty line is not a record.
                self.lines.text(VALUE, 0, false).map_err(|Unwritable| self.unwritable(0))?;
            }
            for (column, name) in self.columns.names().enumerate() {
                self.lines.delimit(column);
                self.lines.text(name, column, false).map_err(|Unwritable| self.unwritable(column))?;
            }
            self.lines.end_line();
        }
        Ok(())
    }

    /// Hands the rows so far to the writer.
    pub fn flush(&mut self) -> Result<(), Error> {
        self.writer.write_all(&self.lines.out)?;
        self.lines.out.clear();
        Ok(())
    }

    #[cold]
    fn unwritable(&self, column: usize) -> Error {
        let name = self.columns.name(column as u32);
        let message = format!("the dialect has no way to write a field of column `{name}`, in row {}", self.rows + 1);
        Error::new(ErrorKind::Dialect, message).in_column(name)
    }
}

impl<W: io::Write> Table for CsvSink<W> {
    type Error = Error;

    fn add_column(&mut self, name: &str) -> Result<Interest, Error> {
        match self.others {
            Others::Skip => return Ok(Interest::Skip),
            Others::Join if !self.begun => {
                self.columns.insert(name);
                return Ok(Interest::Take);
            }
            Others::Join | Others::Late => {}
        }
        let row = self.rows + 1;
        let message = format!("the key `{name}` of row {row} has no column, and the header can no longer change");
        Err(Error::new(ErrorKind::LateColumn, message).in_column(name))
    }

    fn add_row(&mut self, row: &mut Row, _place: Place) -> Result<(), Error> {
        self.begin_row()?;
        for column in 0..self.columns.len().min(row.len()) {
            self.write_cell(column, row.cell(column))?;
        }
        self.complete_row()
    }

    fn finish(&mut self) -> Result<(), Error> {
        if !self.begun && !self.columns.is_empty() {
            self.begin()?;
        }
        self.flush()?;
        Ok(self.writer.flush()?)
    }
}

/// All columns must be known before the parts are made: a key that no record had until then is an error.
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

    fn join(&mut self, part: Self::Part) -> Result<(), Error> {
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

    fn flush(&mut self) -> Result<(), Error> {
        let table = self.table_mut();
        table.flush()?;
        Ok(table.writer.flush()?)
    }
}

//! Reads records one by one.

use super::columns::Names;
use super::dialect::Dialect;
use super::records::{Record, Records};
use super::row::{CsvRow, Spare};
use crate::error::{Error, ErrorKind};
use core::cell::Cell;
use core::fmt;
use jird::event::{Failure, Place, Row, Sink, Source};
use std::io;

/// CSV as a source. A record is an object, with a member for each column.
///
/// *Names** come from the header. A column without a name is `column3`, by its one-based place; if there is no header,
/// all columns are named like this. The second column `a` is `a_2`, or `a_3` if there is an `a_2`. The caller's own
/// names can replace the header's ([`columns`](Self::columns)).
///
/// *Values** are strings, exactly as they stand, spaces included, unless the caller asks for types: for all columns
/// ([`typed`](Self::typed)) or for one ([`column_type`](Self::column_type)). Nothing is guessed from a sample: a
/// field's value depends on its own text only. A field in quotes is distinct from one without, so that `""` can be an
/// empty string while an empty field is null ([`empty`](Self::empty)).
///
/// *Lines.** Any of `\n`, `\r\n` and `\r` ends a record. Empty lines and a byte order mark are skipped. Line numbers
/// count `\n`.
///
/// *Bad records.** A record is checked completely before any of it is sent (UTF-8, quotes, the number of its fields),
/// except for the types of columns. Records are independent of each other: after an error,
/// [`send_record`](Source::send_record) goes on with the next one, and [`bad_record`](Self::bad_record) has the text of
/// the bad one. If a record is too long, the search for its end takes constant memory. Only if the header cannot be
/// read, no more records follow.
///
/// *Cost.** Memory for the longest record, which has at most 64 MB unless [another limit](Self::record_bytes_max) is
/// set, and for 2^20 fields. No memory is allocated per record. The time is linear in the input.
///
/// ```
/// use jird::event::{self, JsonSink};
/// use jird_formats::{CsvSource, CsvType};
/// let text = "id,name,note\r\n1,\"Tor, Ann\",\r\n007,true,\"say \"\"hi\"\"\"\r\n";
/// let mut strings = JsonSink::new(Vec::new());
/// event::copy(&mut CsvSource::new(text.as_bytes()), &mut strings)?;
/// let wanted = r#"{"id":"1","name":"Tor, Ann","note":""}
/// {"id":"007","name":"true","note":"say \"hi\""}
/// "#;
/// assert_eq!(String::from_utf8(strings.into_inner())?, wanted);
///
/// let mut values = JsonSink::new(Vec::new());
/// let mut source = CsvSource::new(text.as_bytes()).typed().column_type("name", CsvType::Text);
/// event::copy(&mut source, &mut values)?;
/// let wanted = r#"{"id":1,"name":"Tor, Ann","note":null}
/// {"id":"007","name":"true","note":"say \"hi\""}
/// "#;
/// assert_eq!(String::from_utf8(values.into_inner())?, wanted);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct CsvSource<R> {
    records: Records<R>,
    head: Head,
    /// The caller's names.
    given: Option<Vec<String>>,
    plan: Plan,
    scratch: String,
    spare: Spare,
}

/// Describes the fields of a record.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) columns: Vec<CsvColumn>,
    names: Names,
    default_type: CsvType,
    types: Vec<(String, CsvType)>,
    pub(super) empty: Empty,
    pub(super) nulls: Vec<String>,
    flexible: bool,
    /// Some column is JSON, so a record is not a row of scalars.
    has_json: bool,
}

#[derive(Debug)]
pub(super) struct CsvColumn {
    pub(super) name: String,
    pub(super) column_type: CsvType,
}

/// What is known about the columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Head {
    Unread,
    /// There is no header. The first record determines the number of columns.
    None,
    Read,
    Failed,
}

/// The type of a column's fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CsvType {
    /// Strings.
    Text,
    /// Without quotes: a number if the text is exactly a JSON number, with that text (`1.50` is one, `007` and `+1` are
    /// not); a boolean if it is `true` or `false`; otherwise a string. In quotes: a string.
    Auto,
    /// JSON numbers, in quotes or not. Anything else is an error.
    Number,
    /// `true` and `false`, in quotes or not. Anything else is an error.
    Bool,
    /// JSON text, in quotes or not, sent as the value that it denotes. Anything else is an error.
    Json,
}

impl fmt::Display for CsvType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Text | Self::Auto => "text",
            Self::Number => "a number",
            Self::Bool => "true or false",
            Self::Json => "JSON",
        })
    }
}

/// The value of a field that is empty and has no quotes. In a column of numbers, booleans or JSON, [`Text`](Self::Text)
/// acts as [`Null`](Self::Null).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Empty {
    /// An empty string, as with quotes.
    Text,
    /// Null.
    Null,
    /// Missing: the record has no such key.
    Missing,
}

impl<R: io::Read> CsvSource<R> {
    /// CSV with a header, as in RFC 4180. The reader needs no buffer of its own.
    pub fn new(reader: R) -> Self {
        Self::with_dialect(reader, Dialect::default())
    }

    /// CSV in another dialect. If the dialect is invalid, the first record is an error.
    ///
    /// ```
    /// use jird::event::{self, JsonSink};
    /// use jird_formats::{CsvSource, Dialect};
    /// let dialect = Dialect { header: false, comment: Some(b'#'), ..Dialect::tsv() };
    /// let mut lines = JsonSink::new(Vec::new());
    /// event::copy(&mut CsvSource::with_dialect("# none\nx\ty, z".as_bytes(), dialect), &mut lines)?;
    /// assert_eq!(lines.into_inner(), b"{\"column1\":\"x\",\"column2\":\"y, z\"}\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_dialect(reader: R, dialect: Dialect) -> Self {
        Self {
            records: Records::new(reader, dialect),
            head: Head::Unread,
            given: None,
            plan: Plan {
                columns: Vec::new(),
                names: Names::default(),
                default_type: CsvType::Text,
                types: Vec::new(),
                empty: Empty::Text,
                nulls: Vec::new(),
                flexible: false,
                has_json: false,
            },
            scratch: String::new(),
            spare: Spare::default(),
        }
    }

    /// Names for the columns. They replace those of the header, which is skipped, or `column1`, `column2`, ….
    #[must_use]
    pub fn columns<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.given = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// Gives each field the type that its text looks like: [`CsvType::Auto`], with [`Empty::Null`].
    #[must_use]
    pub fn typed(mut self) -> Self {
        (self.plan.default_type, self.plan.empty) = (CsvType::Auto, Empty::Null);
        self
    }

    /// Sets the type of one column's fields.
    ///
    /// ```
    /// use jird::event::{self, JsonSink};
    /// use jird_formats::{CsvSource, CsvType};
    /// let text = "tags,zip\n\"[1,{\"\"a\"\":null}]\",01234\n,\n";
    /// let mut lines = JsonSink::new(Vec::new());
    /// let mut source = CsvSource::new(text.as_bytes()).column_type("tags", CsvType::Json);
    /// event::copy(&mut source, &mut lines)?;
    /// assert_eq!(lines.into_inner(), b"{\"tags\":[1,{\"a\":null}],\"zip\":\"01234\"}\n{\"tags\":null,\"zip\":\"\"}\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn column_type(mut self, name: impl Into<String>, column_type: CsvType) -> Self {
        self.plan.types.push((name.into(), column_type));
        self
    }

    /// Sets the value of a field that is empty and has no quotes; an empty string by default.
    #[must_use]
    pub fn empty(mut self, empty: Empty) -> Self {
        self.plan.empty = empty;
        self
    }

    /// Makes fields with one of these texts null, unless they are in quotes; `NA`, for example.
    #[must_use]
    pub fn nulls<N: Into<String>>(mut self, texts: impl IntoIterator<Item = N>) -> Self {
        self.plan.nulls.extend(texts.into_iter().map(Into::into));
        self
    }

    /// Allows records with fewer fields than there are columns, whose last keys are then missing, and records with
    /// more, whose extra keys are named `column5`, by their place. Also allows the input to end within quotes.
    #[must_use]
    pub fn flexible(mut self) -> Self {
        self.plan.flexible = true;
        self.records.be_lenient();
        self
    }

    /// Limits how many bytes a record may have. The default is 64 MB, and the most is 2 GiB.
    #[must_use]
    pub fn record_bytes_max(mut self, bytes: usize) -> Self {
        self.records.record_bytes_max = bytes.min(1 << 31);
        self
    }

    /// Reads this many bytes at a time, for tests that want chunk borders everywhere.
    #[doc(hidden)]
    #[must_use]
    pub fn chunk_bytes(mut self, bytes: usize) -> Self {
        self.records.chunk_bytes = bytes.max(1);
        self
    }

    /// The columns' names, as far as they are known before the first record. Reads the header if it was not read yet.
    ///
    /// ```
    /// let mut source = jird_formats::CsvSource::new("a,,a\n".as_bytes());
    /// assert_eq!(source.names()?.collect::<Vec<_>>(), ["a", "column2", "a_2"]);
    /// # Ok::<(), jird_formats::Error>(())
    /// ```
    pub fn names(&mut self) -> Result<impl Iterator<Item = &str>, Error> {
        self.read_head()?;
        Ok(self.plan.columns.iter().map(|column| column.name.as_str()))
    }

    /// The text of the record that the last error is about, without the bytes that end it. If the record is too long,
    /// the part that was read.
    pub fn bad_record(&self) -> &[u8] {
        self.records.raw()
    }

    /// The place of the record that was sent last or is bad.
    pub fn place(&self) -> Place {
        self.records.place()
    }

    /// Reads the header, if there is one and it was not read yet.
    fn read_head(&mut self) -> Result<(), Error> {
        match self.head {
            Head::Read | Head::None => return Ok(()),
            Head::Unread => self.head = Head::Failed,
            Head::Failed => {
                let message = "the header could not be read, so fields have no names";
                return Err(Error::new(ErrorKind::Header, message));
            }
        }
        let has_header = self.records.dialect().header;
        let mut names = None;
        if has_header && let Some(record) = self.records.next().map_err(Error::in_header)? {
            let content = |&field| record.content(field, &mut self.scratch).to_owned();
            names = Some(record.fields.iter().map(content).collect());
            self.records.count = 0;
        }
        if self.given.is_some() {
            names = self.given.take();
        }
        self.head = Head::None;
        if let Some(names) = names {
            self.plan.start(names)?;
            self.head = Head::Read;
        }
        Ok(())
    }
}

impl Plan {
    /// Sets the columns.
    fn start(&mut self, names: Vec<String>) -> Result<(), Error> {
        for name in self.names.distinct(names) {
            self.add_column(name);
        }
        let is_there = |named: &str| self.columns.iter().any(|column| column.name == named);
        if let Some((name, _)) = self.types.iter().find(|(name, _)| !is_there(name)) {
            let message = format!("a type is given for the column `{name}`, which does not exist");
            return Err(Error::new(ErrorKind::Missing, message));
        }
        Ok(())
    }

    fn add_column(&mut self, name: String) {
        let given = self.types.iter().rfind(|(named, _)| *named == name);
        let column_type = given.map_or(self.default_type, |(_, given)| *given);
        self.has_json |= column_type == CsvType::Json;
        self.columns.push(CsvColumn { name, column_type });
    }

    /// Handles a record whose number of fields is not the number of columns: an error, unless records may differ. Extra
    /// fields add columns.
    #[cold]
    fn fit(&mut self, record: &Record<'_>) -> Result<(), Error> {
        let (found, wanted) = (record.fields.len(), self.columns.len());
        if !self.flexible {
            let plural = |count| if count == 1 { "" } else { "s" };
            let are = if wanted == 1 { "is" } else { "are" };
            let message = format!("{found} field{} where there {are} {wanted} column{}", plural(found), plural(wanted));
            return Err(Error::new(ErrorKind::Fields, message).at(record.place));
        }
        for column in wanted..found {
            let name = self.names.numbered(column);
            self.add_column(name);
        }
        Ok(())
    }

    /// Whether a field without quotes is null or missing.
    pub(super) fn absent(&self, text: &str, column_type: CsvType) -> Option<Empty> {
        if text.is_empty() {
            match (self.empty, column_type) {
                (Empty::Text, CsvType::Text | CsvType::Auto) => {}
                (Empty::Text | Empty::Null, _) => return Some(Empty::Null),
                (Empty::Missing, _) => return Some(Empty::Missing),
            }
        }
        (!self.nulls.is_empty() && self.nulls.iter().any(|null| null == text)).then_some(Empty::Null)
    }
}

impl<R: io::Read> Source for CsvSource<R> {
    type Error = Error;

    #[inline]
    fn send_record<S: Sink>(&mut self, sink: &mut S) -> Result<bool, Failure<Error, S::Error>> {
        if self.head != Head::Read {
            self.read_head().map_err(Failure::Source)?;
        }
        let Some(record) = self.records.next().map_err(Failure::Source)? else { return Ok(false) };
        if self.head == Head::None {
            self.plan.start(vec![String::new(); record.fields.len()]).map_err(Failure::Source)?;
            self.head = Head::Read;
        }
        if record.fields.len() != self.plan.columns.len() {
            self.plan.fit(&record).map_err(Failure::Source)?;
        }
        let spare = Cell::new(self.spare.for_doubled(&record));
        let row = CsvRow { record, plan: &self.plan, scratch: &mut self.scratch, spare };
        let sent = if self.plan.has_json { row.send(sink) } else { sink.row(row) };
        sent.map(|()| true)
    }
}

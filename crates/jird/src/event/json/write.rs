//! JSON text as a sink.

use crate::error::{Category, Error};
use crate::event::{Interest, JsonText, Key, Numeral, PartBuffer, Parts, Place, Sink};
use crate::layout::{Canonical, Layout};
use crate::text::{Drain, Out, Writer};
use std::io;

/// Writes records as JSON text: each on a line of its own (NDJSON), or all in one array.
///
/// Numbers that have a text keep it, and strings get as few escapes as possible. A value that arrives as [JSON
/// text](JsonText) keeps its escapes. The output goes through a buffer of 64 KB. If the source abandons a record and
/// begins the next, the abandoned one is not written. If it was longer than the buffer, a part of it has already been
/// written: lines then have a broken line, and an array fails, since it cannot go on.
///
/// ```
/// use jird::event::{self, JsonSink, JsonSource};
/// let mut array = JsonSink::new(Vec::new()).array();
/// event::copy(&mut JsonSource::from_slice(b"1.50 [true,\"\\u0041\"]"), &mut array)?;
/// assert_eq!(array.into_inner(), b"[\n1.50,\n[true,\"A\"]\n]\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct JsonSink<W: io::Write> {
    out: Out<Drain<W>>,
    layout: Layout,
    canonical: Option<Box<Canonical>>,
    /// All records are elements of one array.
    array: bool,
    records: u64,
    /// The line of the last record, if lines are kept.
    line: Option<u64>,
    /// Where the record that is not complete begins, as an offset in the whole output.
    open_at: Option<u64>,
    /// The number of open arrays and objects.
    depth: usize,
    /// Nothing was written yet in the innermost open array or object.
    first: bool,
    /// The next event is the value of a key.
    behind_key: bool,
}

/// About how many bytes are handed to the writer at once.
const BUFFER: usize = 64 << 10;

impl JsonSink<io::Sink> {
    /// Keeps all output in memory for [`take_text`](Self::take_text).
    pub(crate) fn in_memory() -> Self {
        let mut sink = Self { out: Out::new(Vec::new(), Drain::new(io::sink())), ..Self::new(io::sink()) };
        sink.out.overflow().holds = true;
        sink
    }
}

impl<W: io::Write> JsonSink<W> {
    /// Writes each record on a line of its own, without white space in it.
    pub fn new(writer: W) -> Self {
        Self {
            out: Out::new(Vec::with_capacity(BUFFER), Drain::new(writer)),
            layout: Layout::Minify,
            canonical: None,
            array: false,
            records: 0,
            line: None,
            open_at: None,
            depth: 0,
            first: true,
            behind_key: false,
        }
    }

    /// Keeps the lines of the source, if it has lines: before each record stand carriage returns, which are white space in
    /// JSON, so that there are as many before it as line feeds in the source.
    ///
    /// ```
    /// use jird::event::{self, JsonSink, JsonSource};
    /// let mut lines = JsonSink::new(Vec::new()).keeping_lines();
    /// event::copy(&mut JsonSource::from_slice(b"\n[1,\n2] 3\n\n4"), &mut lines)?;
    /// assert_eq!(lines.into_inner(), b"\r[1,2]\n\r3\n\r\r4\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn keeping_lines(mut self) -> Self {
        self.line = Some(1);
        self
    }

    /// Writes all records as elements of one array.
    #[must_use]
    pub fn array(mut self) -> Self {
        self.array = true;
        self
    }

    /// Sets the layout of each record. The canonical form takes memory for a whole record.
    #[must_use]
    pub fn layout(mut self, layout: Layout) -> Self {
        self.layout = layout;
        self.canonical = (layout == Layout::Canonical).then(|| Box::new(Canonical::new()));
        self
    }

    /// The writer. Output that was not [finished](Sink::finish) may be missing from it.
    pub fn into_inner(self) -> W {
        self.out.into_overflow().writer
    }

    /// The output that was not handed to the writer yet. O(1).
    pub fn so_far(&self) -> &[u8] {
        self.out.buffer()
    }

    /// Passes the text written so far to `then`, and forgets it.
    pub(crate) fn take_text<T>(&mut self, then: impl FnOnce(&str) -> T) -> T {
        let made = then(core::str::from_utf8(self.out.buffer()).expect("what is written is text"));
        self.out.held(|_, _| Ok(())).expect("nothing is written");
        (self.open_at, self.depth, self.first, self.behind_key) = (None, 0, true, false);
        made
    }

    /// Writes what goes before a value, and then the value.
    #[inline(always)]
    fn value(&mut self, write: impl FnOnce(&mut Writer<'_, Drain<W>>) -> Result<(), Error>) -> Result<(), Error> {
        let before = self.before();
        let mut writer = self.out.writer();
        separate(&mut writer, before)?;
        write(&mut writer)?;
        writer.commit();
        Ok(())
    }

    /// What goes before the next value or key: whether a comma, and a line break with this depth and indent width.
    #[inline(always)]
    fn before(&mut self) -> (bool, Option<(usize, usize)>) {
        let first = core::mem::replace(&mut self.first, false);
        if core::mem::replace(&mut self.behind_key, false) || self.depth == 0 {
            return (false, None);
        }
        (!first, self.line(self.depth))
    }

    fn line(&self, depth: usize) -> Option<(usize, usize)> {
        if let Layout::Indent(width) = self.layout { Some((depth, width)) } else { None }
    }

    fn open(&mut self, bracket: u8) -> Result<(), Error> {
        self.value(|writer| writer.bytes([bracket], 1))?;
        self.depth += 1;
        self.first = true;
        Ok(())
    }

    fn close(&mut self, bracket: u8) -> Result<(), Error> {
        self.depth = self.depth.saturating_sub(1);
        let line = if self.first { None } else { self.line(self.depth) };
        self.first = false;
        let mut writer = self.out.writer();
        separate(&mut writer, (false, line))?;
        writer.bytes([bracket], 1)?;
        writer.commit();
        Ok(())
    }

    fn raw(&mut self, text: &str) -> Result<(), Error> {
        let mut writer = self.out.writer();
        writer.raw(text)?;
        writer.commit();
        Ok(())
    }

    /// Removes the abandoned record from the output. If a part of it was already handed to the writer, a broken line
    /// remains, and an array cannot go on.
    #[cold]
    fn take_back(&mut self, open_at: u64) -> Result<(), Error> {
        match open_at.checked_sub(self.out.overflow().taken).map(usize::try_from) {
            Some(Ok(kept)) if kept <= self.out.buffer().len() => {
                self.out.truncate(kept);
                self.records -= 1;
                Ok(())
            }
            _ if self.array => {
                self.open_at = Some(open_at);
                Err(Error::message(Category::Io, &"the array is broken: it has a part of a record that was abandoned"))
            }
            _ => self.raw("\n"),
        }
    }

    /// Holds the record back; it is laid out when it is complete.
    fn hold(&mut self) -> Result<(), Error> {
        self.out.flush()?;
        self.out.overflow().holds = true;
        Ok(())
    }

    /// Writes the canonical form of the record that was held back.
    fn release(&mut self) -> Result<(), Error> {
        let canonical = self.canonical.get_or_insert_with(|| Box::new(Canonical::new()));
        self.out.held(|text, drain| {
            drain.holds = false;
            drain.write(&canonical.of(text)?)
        })
    }
}

/// For an array of records.
const BEGIN: &str = "[\n";
const SEPARATOR: &str = ",\n";

const SPACES: &str = "                                ";

/// Writes a comma, and a newline with the indent for its depth.
#[inline(always)]
fn separate<W: io::Write>(
    writer: &mut Writer<'_, Drain<W>>,
    before: (bool, Option<(usize, usize)>),
) -> Result<(), Error> {
    let (comma, line) = before;
    writer.bytes([b','], usize::from(comma))?;
    let Some((depth, width)) = line else { return Ok(()) };
    writer.bytes([b'\n'], 1)?;
    let mut left = depth.saturating_mul(width);
    while left > 0 {
        let part = left.min(SPACES.len());
        writer.raw(&SPACES[..part])?;
        left -= part;
    }
    Ok(())
}

impl<W: io::Write> Sink for JsonSink<W> {
    type Error = Error;

    fn begin_record(&mut self, place: Place) -> Result<(), Error> {
        if let Some(open_at) = self.open_at.take() {
            self.take_back(open_at)?;
        }
        if let Some(line) = self.line {
            for _ in line..place.line {
                self.raw("\r")?;
            }
            self.line = Some(line.max(place.line));
        }
        self.open_at = Some(self.out.overflow().taken + self.out.buffer().len() as u64);
        (self.depth, self.first, self.behind_key) = (0, true, false);
        if self.array {
            self.raw(if self.records == 0 { BEGIN } else { SEPARATOR })?;
        }
        self.records += 1;
        if self.layout == Layout::Canonical { self.hold() } else { Ok(()) }
    }

    fn end_record(&mut self) -> Result<(), Error> {
        self.open_at = None;
        if self.layout == Layout::Canonical {
            self.release()?;
        }
        if self.array { Ok(()) } else { self.raw("\n") }
    }

    #[inline]
    fn begin_object(&mut self) -> Result<(), Error> {
        self.open(b'{')
    }

    #[inline]
    fn key(&mut self, key: Key<'_>) -> Result<Interest, Error> {
        let colon = if let Layout::Indent(_) = self.layout { 2 } else { 1 };
        self.value(|writer| {
            writer.string(key.text())?;
            writer.bytes(*b": ", colon)
        })?;
        self.behind_key = true;
        Ok(Interest::Take)
    }

    #[inline]
    fn end_object(&mut self) -> Result<(), Error> {
        self.close(b'}')
    }

    #[inline]
    fn begin_array(&mut self) -> Result<(), Error> {
        self.open(b'[')
    }

    #[inline]
    fn end_array(&mut self) -> Result<(), Error> {
        self.close(b']')
    }

    #[inline]
    fn null(&mut self) -> Result<(), Error> {
        self.value(|writer| writer.bytes(*b"null", 4))
    }

    #[inline]
    fn bool(&mut self, value: bool) -> Result<(), Error> {
        self.value(|writer| if value { writer.bytes(*b"true", 4) } else { writer.bytes(*b"false", 5) })
    }

    #[inline]
    fn number(&mut self, number: Numeral<'_>) -> Result<(), Error> {
        self.value(|writer| match number {
            Numeral::I64(value) => writer.signed(value),
            Numeral::U64(value) => writer.unsigned(value),
            Numeral::F64(value) => writer.double(value),
            Numeral::Text(number) => writer.raw(number.text()),
        })
    }

    #[inline]
    fn string(&mut self, text: &str) -> Result<(), Error> {
        self.value(|writer| writer.string(text))
    }

    fn json(&mut self, text: JsonText<'_>) -> Result<(), Error> {
        if let Layout::Indent(_) = self.layout {
            text.send(self)
        } else {
            self.value(|writer| writer.raw(text.as_str()))
        }
    }

    fn finish(&mut self) -> Result<(), Error> {
        if let Some(open_at) = self.open_at.take() {
            self.take_back(open_at)?;
        }
        if self.array {
            self.raw(if self.records == 0 { "[]\n" } else { "\n]\n" })?;
        }
        self.out.flush()?;
        self.out.overflow().writer.flush()?;
        Ok(())
    }
}

impl<W: io::Write> Parts for JsonSink<W> {
    type Part = JsonSink<PartBuffer>;

    /// The part counts one record already, so that it writes a separator before its first record.
    fn part(&self, bytes_max: usize) -> JsonSink<PartBuffer> {
        JsonSink { layout: self.layout, array: self.array, records: 1, ..JsonSink::new(PartBuffer::new(bytes_max)) }
    }

    fn join(&mut self, mut part: JsonSink<PartBuffer>) -> Result<(), Error> {
        part.out.flush()?;
        let (records, text) = (part.records - 1, part.into_inner());
        self.out.flush()?;
        let mut text = text.bytes();
        if self.array && self.records == 0 && records > 0 {
            text = &text[SEPARATOR.len()..];
            self.out.overflow().write(BEGIN.as_bytes())?;
        }
        self.records += records;
        self.out.overflow().write(text)
    }

    fn flush(&mut self) -> Result<(), Error> {
        self.out.flush()?;
        Ok(self.out.overflow().writer.flush()?)
    }
}

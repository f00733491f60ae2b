//! JSON text as a source.

use super::Failing;
use super::machine::{Machine, Went};
use crate::error::{Category, Error};
use crate::event::pattern::Pattern;
use crate::event::{Failure, Place, Sink, Source};
use crate::fault::ErrorKind;
use crate::kernel::Kernel;
#[cfg(feature = "serde")]
use crate::path::Step;
use crate::policy::DEPTH_MAX;
use crate::policy::RECORD_BYTES_MAX;
use crate::scan::{IoRead, Pull, Read, SliceRead, Token, Trusted};
use crate::text;
use std::io;

/// JSON text as a source of records. By default the records are consecutive values, with or without white space between
/// them. They can also be the lines of NDJSON ([`lines`](Self::lines)), or parts of each document
/// ([`records`](Self::records)).
///
/// Everything is checked, skipped values too. Memory is bounded by the largest token plus one read: an array may have
/// any number of elements. Strings without escapes are not copied, and numbers are not converted.
///
/// ```
/// use jird::event::{self, JsonSink, JsonSource};
/// let text = r#"{"next":null,"items":[{"id":1},{"id":2,"tags":[]}]}"#;
/// let mut items = JsonSource::from_reader(text.as_bytes()).records("/items/*".parse()?);
/// let mut lines = JsonSink::new(Vec::new());
/// event::copy(&mut items, &mut lines)?;
/// assert_eq!(lines.into_inner(), b"{\"id\":1}\n{\"id\":2,\"tags\":[]}\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct JsonSource<R> {
    pub(super) pull: Pull<R>,
    cutter: Cutter,
    checks_first: bool,
}

impl<'de> JsonSource<SliceRead<'de>> {
    /// Reads from memory.
    pub fn from_slice(text: &'de [u8]) -> Self {
        Self::new(SliceRead::new(text))
    }
}

impl<R: io::Read> JsonSource<IoRead<R>> {
    /// Reads from a reader, which needs no buffer of its own.
    pub fn from_reader(reader: R) -> Self {
        Self::new(IoRead::new(reader)).record_bytes_max(RECORD_BYTES_MAX)
    }
}

impl<'de> JsonSource<Trusted<SliceRead<'de>>> {
    /// Reads text from memory that was checked before, with fewer checks.
    ///
    /// Strings, keys and numbers are checked when they are sent, and so is the grammar around them, except for the
    /// meaning of escapes. No sink ever sees a `&str` that is not UTF-8. For a skipped value, the source only finds the
    /// end, by counting brackets. If the text was not checked before, some errors go unnoticed. That is safe, and takes
    /// no longer.
    ///
    /// ```
    /// use jird::event::{self, JsonSink, JsonSource, Pattern, filter::Project};
    /// let log = br#"{"id":1,"skipped":{"not":[json,]}} {"id":2}"#;
    /// let mut ids = Project::new(JsonSink::new(Vec::new()), [Pattern::dotted("id")]);
    /// event::copy(&mut JsonSource::from_slice_trusted(log), &mut ids)?;
    /// assert_eq!(ids.into_inner().into_inner(), b"{\"id\":1}\n{\"id\":2}\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn from_slice_trusted(text: &'de [u8]) -> Self {
        Self::new(Trusted(SliceRead::new(text)))
    }
}

impl<R: io::Read> JsonSource<Trusted<IoRead<R>>> {
    /// As [`from_slice_trusted`](JsonSource::from_slice_trusted), from a reader.
    pub fn from_reader_trusted(reader: R) -> Self {
        Self::new(Trusted(IoRead::new(reader)))
    }
}

impl<'de, R: Read<'de>> JsonSource<R> {
    pub(super) fn new(source: R) -> Self {
        Self { pull: Pull::new(source, Kernel::best()), cutter: Cutter::new(), checks_first: false }
    }

    /// Reads the text as NDJSON: each line that is not blank is a record, and no record extends past the end of its
    /// line. The caller can then skip a bad line ([`skip_line`](Self::skip_line)). Call this before anything is sent.
    #[must_use]
    pub fn lines(mut self) -> Self {
        self.pull = self.pull.in_lines();
        self.cutter.lines = true;
        self
    }

    /// The records are the values that `pattern` leads to in each document. The other values are checked but not sent.
    #[must_use]
    pub fn records(mut self, pattern: Pattern) -> Self {
        self.cutter.pattern = pattern;
        self
    }

    /// Limits the number of arrays and objects that may be open at once; [`DEPTH_MAX`] by default.
    #[must_use]
    pub fn depth_max(mut self, depth_max: usize) -> Self {
        self.cutter.depth_max = depth_max;
        self
    }

    /// Checks each record before sending it, so that an invalid record causes no events. Memory is then bounded by the
    /// largest record. The check costs about as much as skipping the record.
    #[must_use]
    pub fn check_first(mut self) -> Self {
        self.checks_first = true;
        self
    }

    /// The text is a part of a longer text, and begins there at `place`, at the start of a line. Places and error
    /// positions count from the longer text's beginning. Call this before anything is sent.
    ///
    /// ```
    /// use jird::event::{Failure, JsonSink, JsonSource, Place, Source};
    /// let place = Place { record: 1000, offset: 123_456, line: 1001 };
    /// let mut source = JsonSource::from_slice(b"1\n2\nno\n").lines().begins_at(place);
    /// let mut out = JsonSink::new(Vec::new());
    /// assert!(source.send_record(&mut out)? && source.send_record(&mut out)?);
    /// assert_eq!(source.place(), Place { record: 1001, offset: 123_458, line: 1002 });
    /// let Err(Failure::Source(wrong)) = source.send_record(&mut out) else { panic!("it is no JSON") };
    /// assert_eq!((wrong.line(), wrong.offset()), (1003, 123_461));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn begins_at(mut self, place: Place) -> Self {
        self.pull.begins_at(place.offset, place.line);
        self.cutter.records = place.record;
        self
    }

    /// Scans chunks of `bytes` bytes, for tests that need many chunk borders.
    #[doc(hidden)]
    #[must_use]
    pub fn chunk_bytes(mut self, bytes: usize) -> Self {
        self.pull.set_chunk_bytes(bytes);
        self
    }

    /// After an error in a source of [`lines`](Self::lines): continues after the line that contains the error. Returns
    /// the text of the bad record, as far as it stands in that line; without [`check_first`](Self::check_first), only
    /// the part that is still in memory.
    ///
    /// # Errors
    /// If reading fails.
    pub fn skip_line(&mut self, error: &Error) -> Result<Vec<u8>, Error> {
        self.cutter.restart();
        Ok(self.pull.drop_line(self.cutter.begun, error.offset())?)
    }

    /// Limits the size of the text kept in memory at once, which is a token, or a record that is [checked
    /// first](Self::check_first). The default is [`RECORD_BYTES_MAX`](crate::lines::RECORD_BYTES_MAX). A longer one is
    /// an error of kind [`Size`](ErrorKind::Size). Text that was given in memory has no limit.
    #[must_use]
    pub fn record_bytes_max(mut self, bytes: usize) -> Self {
        self.pull.set_window_max(bytes);
        self
    }

    /// The place of the last record that was sent or begun.
    pub fn place(&self) -> Place {
        self.cutter.place
    }

    /// The number of records that were sent or begun, including those [before the text](Self::begins_at).
    pub fn records_begun(&self) -> u64 {
        self.cutter.records
    }
}

impl<'de, R: Read<'de>> Source for JsonSource<R> {
    type Error = Error;

    fn send_record<S: Sink>(&mut self, sink: &mut S) -> Result<bool, Failing<S::Error>> {
        if self.checks_first {
            self.cutter.check(&mut self.pull).map_err(Failure::Source)?;
        }
        // `Dry` cannot occur: it comes only from a `Feed`.
        let cut = self.cutter.run(&mut self.pull, sink).map_err(|failure| self.cutter.located(failure))?;
        Ok(cut == Cut::Record)
    }
}

/// Finds the records in the text around them.
#[derive(Debug)]
pub(crate) struct Cutter {
    pattern: Pattern,
    depth_max: usize,
    lines: bool,
    machine: Machine,
    scratch: String,
    at: At,
    /// The arrays and objects that are open around the record.
    levels: Vec<RecordLevel>,
    place: Place,
    /// The number of records that were begun.
    records: u64,
    /// Where the last record that was looked at begins.
    begun: u64,
    /// The last run failed, or a sink panicked, so it is unknown which of the record's events the sink has received.
    is_broken: bool,
}

#[derive(Debug)]
struct RecordLevel {
    object: bool,
    /// Index of the element that comes next, or has begun.
    index: u64,
    /// The key that the pattern led through.
    #[cfg(feature = "serde")]
    key: String,
}

impl RecordLevel {
    fn new(object: bool) -> Self {
        Self {
            object,
            index: 0,
            #[cfg(feature = "serde")]
            key: String::new(),
        }
    }
}

/// What comes next in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    /// A value that matches the pattern so far.
    Value,
    /// The rest of a record.
    Record,
    /// The rest of a value that is not a record and contains none.
    Beside,
    /// The first key, or the object's end.
    FirstMember,
    Member,
    /// A colon, and a value; true if the pattern leads to the value.
    Colon(bool),
    /// The first element, or the array's end.
    FirstElement,
    Element,
    /// What follows a value: a comma or a closing bracket.
    Next,
}

/// What was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cut {
    Record,
    End,
    /// There is no more text for now.
    Dry,
}

impl Cutter {
    pub(super) fn new() -> Self {
        Self {
            pattern: Pattern::default(),
            depth_max: DEPTH_MAX,
            lines: false,
            machine: Machine::default(),
            scratch: String::new(),
            at: At::Value,
            levels: Vec::new(),
            place: Place::default(),
            records: 0,
            begun: 0,
            is_broken: false,
        }
    }

    pub(crate) fn with_pattern(pattern: Pattern) -> Self {
        Self { pattern, ..Self::new() }
    }

    pub(crate) fn restart(&mut self) {
        self.machine.reset();
        self.levels.clear();
        self.at = At::Value;
        self.is_broken = false;
    }

    /// Whether a record was begun and is not complete.
    pub(super) fn in_record(&self) -> bool {
        self.at == At::Record
    }

    /// Adds the place of the record at which the sink stopped.
    #[cold]
    pub(super) fn located<E>(&self, failure: Failing<E>) -> Failing<E> {
        match failure {
            Failure::Sink(error, _) => Failure::Sink(error, self.place),
            Failure::Source(error) => Failure::Source(error),
        }
    }

    /// Checks the next record, and goes back to its start.
    fn check<'de, R: crate::scan::TextSource<'de>>(&mut self, pull: &mut Pull<R>) -> Result<(), Error> {
        let begins = self.go(pull)?;
        if begins == Cut::Record {
            let start = pull.token().start;
            self.begun = pull.offset(start);
            pull.keep();
            self.machine.skip(pull, &mut self.scratch, self.depth_max - self.levels.len())?;
            self.check_line_end(pull)?;
            pull.rewind();
        }
        Ok(())
    }

    /// Goes to the start of the next record, which the caller then reads itself. Returns false if there is none.
    #[cfg(feature = "serde")]
    #[inline]
    pub(crate) fn begin<'de, R: crate::scan::TextSource<'de>>(&mut self, pull: &mut Pull<R>) -> Result<bool, Error> {
        // Takes the same step as `pass`, inlined for the most frequent case.
        if self.at == At::Next
            && let Some(level) = self.levels.last_mut()
            && !level.object
            && self.pattern.segments()[self.pattern.segments().len() - 1].is_any()
            && self.levels.len() == self.pattern.segments().len()
            && pull.token().plain() == b','
        {
            pull.step();
            self.levels.last_mut().expect("it was there").index += 1;
            self.at = At::Value;
            return Ok(true);
        }
        Ok(self.go(pull)? == Cut::Record)
    }

    /// The caller has read the record.
    #[cfg(feature = "serde")]
    #[inline]
    pub(crate) fn taken<'de, R: crate::scan::TextSource<'de>>(&mut self, pull: &mut Pull<R>) -> Result<(), Error> {
        self.at = At::Next;
        self.check_line_end(pull)
    }

    /// Adds the steps that lead to the record.
    #[cfg(feature = "serde")]
    #[cold]
    pub(crate) fn inside(&self, error: Error) -> Error {
        let step = |level: &RecordLevel| {
            if level.object {
                Step::key(&level.key)
            } else {
                Step::Index(usize::try_from(level.index).unwrap_or(usize::MAX))
            }
        };
        self.levels.iter().rev().fold(error, |error, level| error.inside(step(level)))
    }

    /// Makes each line a document; blank lines are ignored.
    #[cfg(feature = "serde")]
    pub(crate) fn set_lines(&mut self) {
        self.lines = true;
    }

    /// Sends one record, or the rest of one. After an error it cannot be called again without a `restart`.
    pub(super) fn run<'de, R: crate::scan::TextSource<'de>, S: Sink>(
        &mut self,
        pull: &mut Pull<R>,
        sink: &mut S,
    ) -> Result<Cut, Failing<S::Error>> {
        if self.is_broken {
            return Err(Failure::Source(used_again()));
        }
        self.is_broken = true;
        let cut = self.send(pull, sink)?;
        self.is_broken = false;
        Ok(cut)
    }

    #[inline(always)]
    fn send<'de, R: crate::scan::TextSource<'de>, S: Sink>(
        &mut self,
        pull: &mut Pull<R>,
        sink: &mut S,
    ) -> Result<Cut, Failing<S::Error>> {
        if self.at != At::Record {
            let cut = self.go(pull).map_err(Failure::Source)?;
            if cut != Cut::Record {
                return Ok(cut);
            }
            let token = pull.token();
            self.place = Place { record: self.records, offset: pull.offset(token.start), line: pull.line(token.start) };
            self.records += 1;
            self.at = At::Record;
            sink.begin_record(self.place).map_err(|error| Failure::Sink(error, self.place))?;
        }
        let depth_max = self.depth_max - self.levels.len();
        if self.machine.run(pull, &mut self.scratch, depth_max, sink)? == Went::Dry {
            return Ok(Cut::Dry);
        }
        self.at = At::Next;
        self.check_line_end(pull).map_err(Failure::Source)?;
        sink.end_record().map_err(|error| Failure::Sink(error, self.place))?;
        Ok(Cut::Record)
    }

    /// In `lines` mode: checks that nothing follows a record in its line, before the record is reported as complete.
    fn check_line_end<'de, R: crate::scan::TextSource<'de>>(&self, pull: &mut Pull<R>) -> Result<(), Error> {
        if !self.lines || !self.levels.is_empty() {
            return Ok(());
        }
        let token = pull.token();
        if token.kind == b'\n' || pull.is_end(token) || pull.is_dry(token) {
            return Ok(());
        }
        Err(pull.unexpected(ErrorKind::Trailing))
    }

    /// Goes to where the next record begins.
    fn go<'de, R: crate::scan::TextSource<'de>>(&mut self, pull: &mut Pull<R>) -> Result<Cut, Error> {
        loop {
            if self.at == At::Next && self.levels.is_empty() {
                self.check_line_end(pull)?;
                self.at = At::Value;
            }
            if self.at == At::Value && self.levels.len() == self.pattern.segments().len() {
                if !self.levels.is_empty() {
                    return Ok(Cut::Record);
                }
                let token = pull.token();
                if self.lines && token.kind == b'\n' {
                    pull.step();
                } else if pull.is_end(token) {
                    return Ok(Cut::End);
                } else {
                    // An error in a record is reported only after the record has begun.
                    let waits = pull.waits_for(token, ErrorKind::Value).unwrap_or(false);
                    return Ok(if waits { Cut::Dry } else { Cut::Record });
                }
            } else if let Some(cut) = self.pass(pull)? {
                return Ok(cut);
            }
        }
    }

    /// Takes one step through the text around records. Not inlined, to keep it out of the path of documents that are
    /// records as a whole.
    #[inline(never)]
    fn pass<'de, R: crate::scan::TextSource<'de>>(&mut self, pull: &mut Pull<R>) -> Result<Option<Cut>, Error> {
        if matches!(self.at, At::Beside) {
            let depth_max = self.depth_max - self.levels.len();
            if self.machine.skip(pull, &mut self.scratch, depth_max)? == Went::Dry {
                return Ok(Some(Cut::Dry));
            }
            self.at = At::Next;
            return Ok(None);
        }
        let token = pull.token();
        let wanted = match self.at {
            At::Value if self.levels.is_empty() => {
                if self.lines && token.kind == b'\n' {
                    pull.step();
                    return Ok(None);
                }
                if pull.is_end(token) {
                    return Ok(Some(Cut::End));
                }
                ErrorKind::Value
            }
            At::Value | At::Element | At::FirstElement => ErrorKind::Value,
            At::FirstMember | At::Member => ErrorKind::Key,
            At::Colon(_) => ErrorKind::Colon,
            At::Next | At::Record | At::Beside => ErrorKind::Comma,
        };
        if pull.waits_for(token, wanted)? {
            return Ok(Some(Cut::Dry));
        }
        let bracket = pull.bracket(token);
        self.at = match (self.at, bracket) {
            (At::Value, b'{' | b'[') => {
                if self.levels.len() >= self.depth_max {
                    return Err(pull.syntax(ErrorKind::Depth, token.start));
                }
                let object = bracket == b'{';
                self.levels.push(RecordLevel::new(object));
                pull.step();
                if object { At::FirstMember } else { At::FirstElement }
            }
            (At::Value, _) => At::Beside,
            (At::FirstMember, b'}') | (At::FirstElement, b']') => self.close(pull),
            (At::FirstMember | At::Member, b'"') => At::Colon(self.leads_by_key(pull, token)?),
            (At::FirstElement | At::Element, _) => {
                let segment = &self.pattern.segments()[self.levels.len() - 1];
                if segment.is_index(self.levels[self.levels.len() - 1].index) { At::Value } else { At::Beside }
            }
            (At::Colon(leads), b':') => {
                pull.step();
                if leads { At::Value } else { At::Beside }
            }
            (At::Next, b',') => {
                pull.step();
                let level = self.levels.last_mut().expect("something is open");
                level.index += 1;
                if level.object { At::Member } else { At::Element }
            }
            (At::Next, b'}') if self.levels.last().is_some_and(|level| level.object) => self.close(pull),
            (At::Next, b']') if self.levels.last().is_some_and(|level| !level.object) => self.close(pull),
            _ => return Err(pull.unexpected(wanted)),
        };
        Ok(None)
    }

    /// Steps over a closing bracket.
    fn close<'de, R: crate::scan::TextSource<'de>>(&mut self, pull: &mut Pull<R>) -> At {
        pull.step();
        self.levels.pop();
        At::Next
    }

    /// Whether the pattern leads through the key that is the next token; steps over it.
    fn leads_by_key<'de, R: crate::scan::TextSource<'de>>(
        &mut self,
        pull: &mut Pull<R>,
        token: Token,
    ) -> Result<bool, Error> {
        let (crate::scan::Content::Borrowed(raw) | crate::scan::Content::Passing(raw)) = pull.string()?;
        let depth = self.levels.len() - 1;
        let segment = &self.pattern.segments()[depth];
        let key = if token.kind == b'"' {
            raw
        } else {
            self.scratch.clear();
            text::unescape(raw, &mut self.scratch);
            &self.scratch
        };
        let leads = segment.is_key(key);
        #[cfg(feature = "serde")]
        if leads {
            self.levels[depth].key.clear();
            self.levels[depth].key.push_str(key);
        }
        Ok(leads)
    }
}

#[cold]
fn used_again() -> Error {
    let words = "this source was used again after an error; begin anew, or after a bad line skip the line first";
    Error::message(Category::Data, &words)
}

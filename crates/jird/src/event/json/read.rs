//! JSON text as a source.

use super::Failing;
use super::cutter::{Cutter, CutterStep};
use crate::error::Error;
use crate::event::pattern::Pattern;
use crate::event::{Failure, Place, Sink, Source};
use crate::kernel::Kernel;
use crate::policy::RECORD_BYTES_MAX;
use crate::scan::{IoRead, Pull, Read, SliceRead, Trusted};
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
        Self { pull: Pull::new(source, Kernel::best()), cutter: Cutter::new(Pattern::default()), checks_first: false }
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
        self.cutter.set_pattern(pattern);
        self
    }

    /// Limits the number of arrays and objects that may be open at once; [`Policy::DEPTH_MAX`](crate::policy::Policy::DEPTH_MAX) by
    /// default.
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
    /// first](Self::check_first). The default is [`RECORD_BYTES_MAX`](crate::policy::RECORD_BYTES_MAX). A longer one is
    /// an error of kind [`Size`](crate::ErrorKind::Size). Text that was given in memory has no limit.
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
        Ok(self.cutter.run(&mut self.pull, sink)? == CutterStep::Record)
    }
}

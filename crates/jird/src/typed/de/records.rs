//! Iterates over parts of a document.

use super::{Deserializer, Read};
use crate::error::Error;
use crate::event::{Cutter, Pattern};
use core::marker::PhantomData;
use serde_core::de::Deserialize;

/// An iterator over the records of a text or a reader, which decodes each record as its text arrives.
/// [`Deserializer::records`] returns it.
///
/// Memory is bounded by the largest token and one read, whatever the number of records. The iterator ends after the
/// first error, which has the record's path from the top of its document. With [`lines`](Self::lines), it continues
/// with the next line instead.
///
/// ```
/// let text = br#"{"a": [1, 2], "b": [3, "4"]}"#;
/// let mut numbers = jird::Deserializer::from_slice(text).records::<u8>("/*/*".parse()?);
/// assert_eq!(numbers.by_ref().take(3).collect::<Result<Vec<_>, _>>()?, [1, 2, 3]);
/// let error = numbers.next().unwrap().unwrap_err();
/// assert_eq!(error.to_string(), "invalid type: string \"4\", expected u8 at line 1 column 24 (at /b/1)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Records<'de, R, T> {
    de: Deserializer<R>,
    cutter: Cutter,
    state: RecordsState,
    values: PhantomData<fn() -> (T, &'de ())>,
}

#[derive(Clone, Copy)]
enum RecordsState {
    Good,
    /// The line that contains this offset is invalid.
    BadLine(u64),
    Over,
}

impl<'de, R: Read<'de>, T: Deserialize<'de>> Records<'de, R, T> {
    pub(super) fn new(de: Deserializer<R>, pattern: Pattern) -> Self {
        Self { de, cutter: Cutter::new(pattern), state: RecordsState::Good, values: PhantomData }
    }

    /// Reads the text as NDJSON: each line that is not blank is a document, and no document extends past the end of its
    /// line. An invalid line yields one error; the records before the invalid part are yielded first. Call this before
    /// the first record is requested.
    ///
    /// ```
    /// let log = jird::Deserializer::from_str("1\n\n\"2\"\n[\n4").records::<u8>(Default::default()).lines();
    /// let log: Vec<_> = log.map(|item| item.map_err(|error| (error.line(), error.code()))).collect();
    /// assert_eq!(log, [Ok(1), Err((3, "data")), Err((4, "data")), Ok(4)]);
    /// ```
    #[must_use]
    pub fn lines(mut self) -> Self {
        self.de.pull = self.de.pull.in_lines();
        self.cutter.lines = true;
        self
    }

    #[inline]
    fn record(&mut self) -> Result<Option<T>, Error> {
        if let RecordsState::BadLine(offset) = self.state {
            self.cutter.restart();
            self.de.depth_left = self.de.depth_max;
            self.de.pull.drop_line(offset, offset)?;
            self.state = RecordsState::Good;
        }
        if !self.cutter.begin(&mut self.de.pull)? {
            return Ok(None);
        }
        match self.de.value() {
            Ok(value) => {
                self.cutter.taken(&mut self.de.pull)?;
                Ok(Some(value))
            }
            Err(error) => Err(self.cutter.inside(error)),
        }
    }
}

impl<'de, R: Read<'de>, T: Deserialize<'de>> Iterator for Records<'de, R, T> {
    type Item = Result<T, Error>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if matches!(self.state, RecordsState::Over) {
            return None;
        }
        let record = self.record();
        match &record {
            Ok(Some(_)) => {}
            Err(error) if self.cutter.lines && !error.is_io() => self.state = RecordsState::BadLine(error.offset()),
            Ok(None) | Err(_) => self.state = RecordsState::Over,
        }
        record.transpose()
    }
}

impl<'de, R: Read<'de>, T: Deserialize<'de>> core::iter::FusedIterator for Records<'de, R, T> {}

//! Going on after a bad record.

#[cfg(any(feature = "arrow", feature = "csv", feature = "sqlite"))]
use crate::error::Error;
use jird::event::{Place, Source};

/// A bad record of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadRow {
    /// A short name for what is wrong, which never changes.
    pub kind: &'static str,
    /// Where the record is.
    pub place: Place,
    /// What is wrong, and where.
    pub message: String,
    /// The record's text; of formats that are not text, its JSON, in which the values that JSON cannot represent are
    /// written in a form that JSON refuses.
    pub raw: Vec<u8>,
}

/// A source whose errors may be those of one record. Sending goes on with the next one.
pub trait Recover: Source {
    /// The bad record that the last error of [`send_record`](Source::send_record) tells of; `None` if it is an error of
    /// the whole input.
    ///
    /// ```
    /// use jird::event::{Failure, JsonSink, Source};
    /// use jird_formats::{CsvSource, Recover};
    ///
    /// let mut table = CsvSource::new("a,b\n1,2,3\n4,5\n".as_bytes());
    /// let mut out = JsonSink::new(Vec::new());
    /// let Err(Failure::Source(error)) = table.send_record(&mut out) else { panic!("the record has too many fields") };
    /// assert_eq!(table.bad_row(&error)?.map(|bad| bad.raw).as_deref(), Some(&b"1,2,3"[..]));
    /// assert!(table.send_record(&mut out).is_ok_and(|sent| sent));
    /// # Ok::<(), jird_formats::Error>(())
    /// ```
    ///
    /// # Errors
    /// Errors of reading the rest of the record.
    fn bad_row(&mut self, error: &Self::Error) -> Result<Option<BadRow>, Self::Error>;
}

/// A text that is not JSON has no records after the error.
impl<'de, R: jird::de::Read<'de>> Recover for jird::event::JsonSource<R> {
    fn bad_row(&mut self, _: &jird::Error) -> Result<Option<BadRow>, jird::Error> {
        Ok(None)
    }
}

/// The bad record that an error of a table tells of, with its text.
#[cfg(any(feature = "arrow", feature = "csv", feature = "sqlite"))]
fn bad_row(error: &Error, raw: impl FnOnce() -> Result<Vec<u8>, Error>) -> Result<Option<BadRow>, Error> {
    if !error.is_of_record() {
        return Ok(None);
    }
    let (kind, place) = (error.kind().code(), error.place().unwrap_or_default());
    Ok(Some(BadRow { kind, place, message: error.to_string(), raw: raw()? }))
}

#[cfg(feature = "csv")]
impl<R: std::io::Read> Recover for crate::CsvSource<R> {
    fn bad_row(&mut self, error: &Error) -> Result<Option<BadRow>, Error> {
        bad_row(error, || Ok(self.bad_record().to_vec()))
    }
}

#[cfg(feature = "sqlite")]
impl Recover for crate::sqlite::SqliteSource<'_> {
    fn bad_row(&mut self, error: &Error) -> Result<Option<BadRow>, Error> {
        bad_row(error, || self.bad_record())
    }
}

#[cfg(feature = "arrow")]
impl Recover for crate::ColumnSource<'_> {
    fn bad_row(&mut self, error: &Error) -> Result<Option<BadRow>, Error> {
        bad_row(error, || self.bad_record())
    }
}

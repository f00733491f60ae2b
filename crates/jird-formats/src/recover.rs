//! Going on after a bad record.

#[cfg(feature = "arrow")]
use crate::arrow::ArrowError;
#[cfg(any(feature = "arrow", feature = "sqlite"))]
use crate::bad_value::BadValue;
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
    /// # Ok::<(), jird_formats::CsvError>(())
    /// ```
    ///
    /// # Errors
    /// Errors of reading the rest of the record.
    fn bad_row(&mut self, error: &Self::Error) -> Result<Option<BadRow>, Self::Error>;

    /// Whether an error is one of a record. O(1).
    fn is_of_row(error: &Self::Error) -> bool;
}

#[cfg(any(feature = "arrow", feature = "sqlite"))]
impl BadRow {
    pub(crate) fn of_value(value: &BadValue, raw: Vec<u8>) -> Self {
        Self { kind: value.kind().code(), place: value.place(), message: value.to_string(), raw }
    }
}

/// A text that is not JSON has no records after the error.
impl<'de, R: jird::de::Read<'de>> Recover for jird::event::JsonSource<R> {
    fn bad_row(&mut self, _: &jird::Error) -> Result<Option<BadRow>, jird::Error> {
        Ok(None)
    }

    fn is_of_row(_: &jird::Error) -> bool {
        false
    }
}

#[cfg(feature = "csv")]
impl<R: std::io::Read> Recover for crate::CsvSource<R> {
    fn bad_row(&mut self, error: &crate::CsvError) -> Result<Option<BadRow>, crate::CsvError> {
        let bad = |raw| BadRow { kind: error.kind().code(), place: error.place(), message: error.to_string(), raw };
        Ok(Self::is_of_row(error).then(|| bad(self.bad_record().to_vec())))
    }

    fn is_of_row(error: &crate::CsvError) -> bool {
        let of_file = ["header", "dialect", "io", "no_column", "columns"];
        !error.is_of_header() && !of_file.contains(&error.kind().code())
    }
}

#[cfg(feature = "sqlite")]
impl Recover for crate::sqlite::SqliteSource<'_> {
    fn bad_row(&mut self, error: &crate::sqlite::SqliteError) -> Result<Option<BadRow>, crate::sqlite::SqliteError> {
        error.bad_value().map(|value| Ok(BadRow::of_value(value, self.bad_record()?))).transpose()
    }

    fn is_of_row(error: &crate::sqlite::SqliteError) -> bool {
        error.bad_value().is_some()
    }
}

#[cfg(feature = "arrow")]
impl<R: std::io::Read> Recover for crate::ArrowSource<R> {
    fn bad_row(&mut self, error: &ArrowError) -> Result<Option<BadRow>, ArrowError> {
        error.bad_value().map(|value| Ok(BadRow::of_value(value, self.bad_record()?))).transpose()
    }

    fn is_of_row(error: &ArrowError) -> bool {
        error.bad_value().is_some()
    }
}

#[cfg(feature = "parquet")]
impl<R: ::parquet::file::reader::ChunkReader + 'static> Recover for crate::ParquetSource<R> {
    fn bad_row(&mut self, error: &ArrowError) -> Result<Option<BadRow>, ArrowError> {
        error.bad_value().map(|value| Ok(BadRow::of_value(value, self.bad_record()?))).transpose()
    }

    fn is_of_row(error: &ArrowError) -> bool {
        error.bad_value().is_some()
    }
}

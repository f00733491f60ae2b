//! Values that a table holds and JSON cannot represent: they make a bad record, not a bad file.
//!
//! A source that meets such a value returns an error, and goes on with the next record. The bad record can be written as JSON, except that the values that JSON cannot represent are written in a form that JSON
//! refuses. So a record that was set aside is never read back as something that it was not.

use crate::cell::Cell;
use crate::error::{Error, ErrorKind};
use crate::rows::Json;
use core::fmt;
use jird::event::{Interest, Key, Numeral, Place, Sink, Timestamp};
use jird::hooks::write_string;
use std::convert::Infallible;

impl Error {
    /// The error for a record with a value that JSON cannot represent.
    #[cold]
    pub(crate) fn of_value(column: &str, value: &Untold<'_>) -> Self {
        Self::new(value.kind(), format!("the column {column:?} holds {value}")).in_column(column)
    }
}

/// A value that JSON cannot represent. `Display` says what it is, and why.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(not(all(feature = "arrow", feature = "sqlite")), expect(dead_code, reason = "each format has its own"))]
pub(crate) enum Untold<'a> {
    NotFinite(f64),
    /// A time of day, and how many of its units make a second.
    Time(i64, i64),
    NotUtf8(&'a [u8]),
    NotJson(&'a str),
    NullKey,
    /// A type number that the union does not have.
    NoType(i8),
}

impl Untold<'_> {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::NotFinite(_) => ErrorKind::NotFinite,
            Self::Time(..) => ErrorKind::Time,
            Self::NotUtf8(_) => ErrorKind::Utf8,
            Self::NotJson(_) => ErrorKind::Json,
            Self::NullKey => ErrorKind::Key,
            Self::NoType(_) => ErrorKind::Union,
        }
    }
}

impl fmt::Display for Untold<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::NotFinite(value) if value.is_nan() => f.write_str("NaN, which JSON does not have"),
            Self::NotFinite(_) => f.write_str("an infinite number, which JSON does not have"),
            Self::Time(value, per_second) => {
                write!(f, "the time of day {}, which is beyond the day", time_of_day(value, per_second))
            }
            Self::NotUtf8(_) => f.write_str("a text that is not UTF-8"),
            Self::NotJson(_) => f.write_str("a text that is not JSON"),
            Self::NullKey => f.write_str("a map with a key that is null"),
            Self::NoType(number) => write!(f, "a union's element of the type {number}, which the union does not have"),
        }
    }
}

/// Hours, minutes and seconds since midnight, such as `12:30:00.5`; `25:00:00` is after the day, `-00:00:01` before it.
pub(crate) fn time_of_day(value: i64, per_second: i64) -> String {
    let (sign, value, per_second) = (if value < 0 { "-" } else { "" }, value.unsigned_abs(), per_second.unsigned_abs());
    let (seconds, part) = (value / per_second, value % per_second * (1_000_000_000 / per_second));
    let text = format!("{sign}{:02}:{:02}:{:02}.{part:09}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A sink that writes a record as JSON, for a source that also hands it the values that JSON cannot represent.
#[derive(Debug, Default)]
pub(crate) struct RawRecord(Json);

impl RawRecord {
    /// The record's text.
    pub(crate) fn into_text(self) -> Vec<u8> {
        self.0.text
    }

    /// Writes the value in a form that JSON refuses: `NaN`, `25:00:00`, a string with bytes that are not UTF-8, `not
    /// JSON: "…"`.
    pub(crate) fn untold(&mut self, value: &Untold<'_>) {
        let mut text = Vec::new();
        match *value {
            Untold::NotFinite(value) if value.is_nan() => text.extend_from_slice(b"NaN"),
            Untold::NotFinite(value) => text.extend_from_slice(if value > 0.0 { b"Infinity" } else { b"-Infinity" }),
            Untold::Time(value, per_second) => text.extend_from_slice(time_of_day(value, per_second).as_bytes()),
            Untold::NotUtf8(bytes) => write_broken_string(bytes, &mut text),
            Untold::NotJson(content) => {
                text.extend_from_slice(b"not JSON: ");
                write_string(content, &mut text);
            }
            Untold::NullKey => text.extend_from_slice(b"null"),
            Untold::NoType(_) => text.extend_from_slice(b"no such type"),
        }
        match value {
            Untold::NullKey => self.0.raw_key(&text),
            _ => self.0.raw(&text),
        }
    }
}

/// Writes bytes as a string: UTF-8 is escaped, and all other bytes are copied.
fn write_broken_string(bytes: &[u8], text: &mut Vec<u8>) {
    text.push(b'"');
    for chunk in bytes.utf8_chunks() {
        let mut valid = Vec::new();
        write_string(chunk.valid(), &mut valid);
        text.extend_from_slice(&valid[1..valid.len() - 1]);
        text.extend_from_slice(chunk.invalid());
    }
    text.push(b'"');
}

impl Sink for RawRecord {
    type Error = Infallible;

    fn begin_record(&mut self, _: Place) -> Result<(), Infallible> {
        self.0.begin();
        Ok(())
    }

    fn begin_object(&mut self) -> Result<(), Infallible> {
        self.0.open(b'{');
        Ok(())
    }

    fn key(&mut self, key: Key<'_>) -> Result<Interest, Infallible> {
        self.0.key(key.text());
        Ok(Interest::Take)
    }

    fn end_object(&mut self) -> Result<(), Infallible> {
        self.0.close(b'}');
        Ok(())
    }

    fn begin_array(&mut self) -> Result<(), Infallible> {
        self.0.open(b'[');
        Ok(())
    }

    fn end_array(&mut self) -> Result<(), Infallible> {
        self.0.close(b']');
        Ok(())
    }

    fn null(&mut self) -> Result<(), Infallible> {
        self.0.cell(Cell::Null);
        Ok(())
    }

    fn bool(&mut self, value: bool) -> Result<(), Infallible> {
        self.0.cell(Cell::Bool(value));
        Ok(())
    }

    fn number(&mut self, number: Numeral<'_>) -> Result<(), Infallible> {
        self.0.cell(Cell::Number(number));
        Ok(())
    }

    fn string(&mut self, text: &str) -> Result<(), Infallible> {
        self.0.cell(Cell::Text(text));
        Ok(())
    }

    fn bytes(&mut self, bytes: &[u8]) -> Result<(), Infallible> {
        self.0.cell(Cell::Bytes(bytes));
        Ok(())
    }

    fn timestamp(&mut self, time: Timestamp) -> Result<(), Infallible> {
        self.0.cell(Cell::Timestamp(time));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_day_are_written_within_and_beyond_the_day() {
        let day = 86_400_i64;
        for (value, per_second, text) in [
            (0, 1, "00:00:00"),
            (45_000_500, 1000, "12:30:00.5"),
            (day * 1_000_000_000 - 1, 1_000_000_000, "23:59:59.999999999"),
            (day, 1, "24:00:00"),
            (day * 1000 + 1, 1000, "24:00:00.001"),
            (-1, 1, "-00:00:01"),
            (i64::MIN, 1_000_000_000, "-2562047:47:16.854775808"),
        ] {
            assert_eq!(time_of_day(value, per_second), text);
        }
    }

    #[test]
    fn a_bad_value_is_written_in_a_form_that_json_refuses() {
        for (value, written) in [
            (Untold::NotFinite(f64::NAN), &b"NaN"[..]),
            (Untold::NotFinite(f64::NEG_INFINITY), b"-Infinity"),
            (Untold::Time(90_000, 1), b"25:00:00"),
            (Untold::Time(-1, 1), b"-00:00:01"),
            (Untold::NotUtf8(b"a\"\xff\n"), b"\"a\\\"\xff\\n\""),
            (Untold::NotJson("1,\"b\":2"), b"not JSON: \"1,\\\"b\\\":2\""),
            (Untold::NoType(7), b"no such type"),
        ] {
            let mut record = RawRecord::default();
            let Ok(()) = record.begin_record(Place::default());
            let Ok(()) = record.begin_object();
            let Ok(_) = record.key(Key::new("a"));
            record.untold(&value);
            let Ok(_) = record.key(Key::new("b"));
            let Ok(()) = record.null();
            let Ok(()) = record.end_object();
            let text = record.into_text();
            assert_eq!(text, [b"{\"a\":", written, b",\"b\":null}"].concat());
            assert!(jird::validate(&text).is_err());
        }
    }
}

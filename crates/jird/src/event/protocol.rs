//! The two traits, and what goes through them.

use super::{JsonText, Row};
use crate::number::{MachineNumber, Number};
use core::fmt;

/// Whoever receives values. Anyone may implement it.
///
/// Events come in the order of the text: a value is one scalar, or `begin_object`, then for each member `key` and a value, then
/// `end_object`, or `begin_array`, values, `end_array`. What is told of was checked before: a sink need not check nesting.
/// A stream of records puts each value between [`begin_record`](Self::begin_record) and [`end_record`](Self::end_record).
///
/// **Abandonment.** A source may fail at any event. What came of the current record until then is to be forgotten, and
/// [`finish`](Self::finish) is not called: who writes outside commits there and nowhere else.
///
/// **Stopping.** An error from any method ends the stream at once, and reaches the caller as [`Failure::Sink`].
///
/// ```
/// use jird::event::{self, Interest, Key, Numeral, Sink};
///
/// /// Adds up one field.
/// #[derive(Default)]
/// struct Total(f64);
///
/// impl Sink for Total {
///     type Error = std::convert::Infallible;
///
///     fn key(&mut self, key: Key<'_>) -> Result<Interest, Self::Error> {
///         Ok(Interest::take_if(key.text() == "Elapsed"))
///     }
///
///     fn number(&mut self, number: Numeral<'_>) -> Result<(), Self::Error> {
///         self.0 += number.to_f64().unwrap_or(0.0);
///         Ok(())
///     }
/// }
///
/// let mut total = Total::default();
/// let log = br#"{"Elapsed":1.5,"Id":7} {"Elapsed":2,"Tags":[1,2]}"#;
/// event::copy(&mut event::JsonSource::from_slice(log), &mut total)?;
/// assert_eq!(total.0, 3.5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Sink {
    /// Why it stops.
    type Error;

    /// A record begins at this place.
    #[inline(always)]
    fn begin_record(&mut self, place: Place) -> Result<(), Self::Error> {
        let _ = place;
        Ok(())
    }
    /// The record is complete, and was right.
    #[inline(always)]
    fn end_record(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }
    /// `{`
    #[inline(always)]
    fn begin_object(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }
    /// A member's key. The answer is binding: no event comes of a value that is to be skipped.
    #[inline(always)]
    fn key(&mut self, key: Key<'_>) -> Result<Interest, Self::Error> {
        let _ = key;
        Ok(Interest::Take)
    }
    /// `}`
    #[inline(always)]
    fn end_object(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }
    /// `[`
    #[inline(always)]
    fn begin_array(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }
    /// `]`
    #[inline(always)]
    fn end_array(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }
    /// `null`
    #[inline(always)]
    fn null(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }
    /// `true` or `false`
    #[inline(always)]
    fn bool(&mut self, value: bool) -> Result<(), Self::Error> {
        let _ = value;
        Ok(())
    }
    /// A number, as its source has it.
    #[inline(always)]
    fn number(&mut self, number: Numeral<'_>) -> Result<(), Self::Error> {
        let _ = number;
        Ok(())
    }
    /// A string's content.
    #[inline(always)]
    fn string(&mut self, text: &str) -> Result<(), Self::Error> {
        let _ = text;
        Ok(())
    }
    /// Bytes, of a source that has such. Unless the sink has them too, they are a string in base64 (RFC 4648 §4).
    fn bytes(&mut self, bytes: &[u8]) -> Result<(), Self::Error> {
        self.string(&base64(bytes))
    }
    /// A point in time, of a source that has such. Unless the sink has them too, it is a string as RFC 3339 writes it.
    fn timestamp(&mut self, time: Timestamp) -> Result<(), Self::Error> {
        self.string(&time.to_string())
    }
    /// A value as JSON text, of a source that has such. Unless the sink copies it as it is, the value's events come.
    fn json(&mut self, text: JsonText<'_>) -> Result<(), Self::Error> {
        text.send(self)
    }
    /// A whole record, of a source that has [rows](Row). Unless the sink asks for the row's values, its events come.
    #[inline(always)]
    fn row<R: Row>(&mut self, row: R) -> Result<(), Failure<R::Error, Self::Error>>
    where
        Self: Sized,
    {
        row.send(self)
    }
    /// Whether another record is wanted, asked between records. If not, the source stops there, and all is well.
    #[inline(always)]
    fn wants_more(&self) -> bool {
        true
    }
    /// All records have come: commit.
    #[inline(always)]
    fn finish(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }
}

/// Whoever sends values.
///
/// ```
/// use jird::event::{Failure, Interest, Key, Numeral, Place, Sink, Source};
///
/// /// Squares, a record each.
/// struct Squares(std::ops::Range<u64>);
///
/// impl Source for Squares {
///     type Error = std::convert::Infallible;
///
///     fn send_record<S: Sink>(&mut self, sink: &mut S) -> Result<bool, Failure<Self::Error, S::Error>> {
///         let Some(root) = self.0.next() else { return Ok(false) };
///         let place = Place { record: root, ..Place::default() };
///         let mut send = || {
///             sink.begin_record(place)?;
///             sink.begin_object()?;
///             if sink.key(Key::numbered("square", 0))? == Interest::Take {
///                 sink.number(Numeral::U64(root * root))?;
///             }
///             sink.end_object()?;
///             sink.end_record()
///         };
///         send().map(|()| true).map_err(|error| Failure::Sink(error, place))
///     }
/// }
///
/// let mut lines = jird::event::JsonSink::new(Vec::new());
/// jird::event::copy(&mut Squares(2..4), &mut lines)?;
/// assert_eq!(lines.into_inner(), b"{\"square\":4}\n{\"square\":9}\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Source {
    /// Why it fails.
    type Error;

    /// Sends the next record, between `begin_record` and `end_record`. False if there is none.
    fn send_record<S: Sink>(&mut self, sink: &mut S) -> Result<bool, Failure<Self::Error, S::Error>>;

    /// Sends all records that are left, as long as the sink [wants more](Sink::wants_more).
    fn send<S: Sink>(&mut self, sink: &mut S) -> Result<(), Failure<Self::Error, S::Error>> {
        while sink.wants_more() && self.send_record(sink)? {}
        Ok(())
    }
}

/// Sends all that `source` has to `sink`, or all that this [wants](Sink::wants_more), and [finishes](Sink::finish) it.
///
/// # Errors
/// The first of either; then the sink is not finished.
pub fn copy<A: Source, S: Sink>(source: &mut A, sink: &mut S) -> Result<(), Failure<A::Error, S::Error>> {
    source.send(sink)?;
    sink.finish().map_err(|error| Failure::Sink(error, Place::default()))
}

/// Bytes as text: base64 with the standard alphabet and padding (RFC 4648 §4), what [`Sink::bytes`] makes of them.
///
/// ```
/// assert_eq!(jird::event::base64(b"Hello"), "SGVsbG8=");
/// ```
pub fn base64(bytes: &[u8]) -> String {
    base64_simd::STANDARD.encode_to_string(bytes)
}

/// Whether a sink wants the value behind a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interest {
    /// Send it.
    Take,
    /// Do not; but it is checked all the same, unless the source reads on trust.
    Skip,
}

impl Interest {
    /// [`Take`](Self::Take) if so.
    #[inline(always)]
    pub fn take_if(wanted: bool) -> Self {
        if wanted { Self::Take } else { Self::Skip }
    }
}

/// A member's key: its text; and a small number, if the source has one that is the same in all of its records, such as a
/// column's.
#[derive(Clone, Copy, Debug)]
pub struct Key<'a> {
    text: &'a str,
    number: u32,
}

impl<'a> Key<'a> {
    const NO_NUMBER: u32 = u32::MAX;

    /// A key without a number.
    #[inline(always)]
    pub fn new(text: &'a str) -> Self {
        Self { text, number: Self::NO_NUMBER }
    }

    /// A key that has the same number in each record of its source. Numbers begin at zero and are dense. Another source has others: a
    /// sink that may be sent to by several takes a number for where to look first, and compares the text.
    #[inline(always)]
    pub fn numbered(text: &'a str, number: u32) -> Self {
        Self { text, number }
    }

    /// What it says.
    #[inline(always)]
    pub fn text(self) -> &'a str {
        self.text
    }

    /// The source's number for it, if it has one.
    #[inline(always)]
    pub fn number(self) -> Option<u32> {
        (self.number != Self::NO_NUMBER).then_some(self.number)
    }
}

/// A number as its source has it: one of the machine's, or JSON's text, which is exact and converted when somebody asks.
#[derive(Clone, Copy, Debug)]
pub enum Numeral<'a> {
    /// An integer.
    I64(i64),
    /// An integer.
    U64(u64),
    /// A finite double. What is not finite is for a source to send as null, or to refuse.
    F64(f64),
    /// A number's text.
    Text(Number<'a>),
}

impl<'a> Numeral<'a> {
    /// The number that `text` is, from its first byte to its last; `None` if it is none by RFC 8259 §6. A short integer is converted
    /// at once, which takes no longer than to check it, and is written as the same text.
    ///
    /// ```
    /// use jird::event::Numeral;
    /// assert!(matches!(Numeral::new("120"), Some(Numeral::U64(120))));
    /// assert!(matches!(Numeral::new("1.20"), Some(Numeral::Text(_))));
    /// assert!(Numeral::new("007").is_none());
    /// ```
    #[inline]
    pub fn new(text: &'a str) -> Option<Self> {
        match crate::number::to_short(text.as_bytes()) {
            Some(value) => Some(Self::U64(value)),
            None => Number::new(text).map(Self::Text),
        }
    }

    /// As what a machine has for it: see [`MachineNumber`] for which; `None` if it has nothing.
    #[inline(always)]
    pub fn machine(self) -> Option<MachineNumber> {
        match self {
            Self::I64(value) => Some(MachineNumber::I64(value)),
            Self::U64(value) => Some(i64::try_from(value).map_or(MachineNumber::U64(value), MachineNumber::I64)),
            Self::F64(value) => Some(MachineNumber::F64(value)),
            Self::Text(number) => number.machine_number(),
        }
    }

    /// The value, if it is an integer in range.
    #[inline]
    pub fn as_i64(self) -> Option<i64> {
        match self {
            Self::I64(value) => Some(value),
            Self::U64(value) => i64::try_from(value).ok(),
            Self::F64(_) => None,
            Self::Text(number) => number.as_i64(),
        }
    }

    /// The value, if it is an integer in range.
    #[inline]
    pub fn as_u64(self) -> Option<u64> {
        match self {
            Self::I64(value) => u64::try_from(value).ok(),
            Self::U64(value) => Some(value),
            Self::F64(_) => None,
            Self::Text(number) => number.as_u64(),
        }
    }

    /// The nearest double; `None` if that is infinite.
    #[inline]
    #[expect(clippy::cast_precision_loss, reason = "the nearest is what is asked for")]
    pub fn to_f64(self) -> Option<f64> {
        match self {
            Self::I64(value) => Some(value as f64),
            Self::U64(value) => Some(value as f64),
            Self::F64(value) => Some(value),
            Self::Text(number) => number.to_f64(),
        }
    }

    /// Appends the number as JSON: its text, or the shortest digits that read back as the same.
    pub fn write(self, text: &mut Vec<u8>) {
        match self {
            Self::Text(number) => text.extend_from_slice(number.text().as_bytes()),
            Self::I64(value) => crate::text::write_number(text, |writer| writer.signed(value)),
            Self::U64(value) => crate::text::write_number(text, |writer| writer.unsigned(value)),
            Self::F64(value) => crate::text::write_number(text, |writer| writer.double(value)),
        }
    }
}

/// A value without others inside, for whoever treats them alike.
#[derive(Clone, Copy, Debug)]
pub enum Scalar<'a> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, as its source has it.
    Number(Numeral<'a>),
    /// A string's content.
    String(&'a str),
    /// Bytes, of a source that has such.
    Bytes(&'a [u8]),
    /// A point in time, of a source that has such.
    Timestamp(Timestamp),
}

impl Scalar<'_> {
    /// Sends it as its event.
    ///
    /// # Errors
    /// The sink's.
    #[inline(always)]
    pub fn send<S: Sink + ?Sized>(self, sink: &mut S) -> Result<(), S::Error> {
        match self {
            Self::Null => sink.null(),
            Self::Bool(value) => sink.bool(value),
            Self::Number(number) => sink.number(number),
            Self::String(text) => sink.string(text),
            Self::Bytes(bytes) => sink.bytes(bytes),
            Self::Timestamp(time) => sink.timestamp(time),
        }
    }
}

/// In a sink: scalars by its method `scalar`.
macro_rules! scalars {
    () => {
        #[inline]
        fn null(&mut self) -> Result<(), Self::Error> {
            self.scalar($crate::event::protocol::Scalar::Null)
        }
        #[inline]
        fn bool(&mut self, value: bool) -> Result<(), Self::Error> {
            self.scalar($crate::event::protocol::Scalar::Bool(value))
        }
        #[inline]
        fn number(&mut self, number: $crate::event::Numeral<'_>) -> Result<(), Self::Error> {
            self.scalar($crate::event::protocol::Scalar::Number(number))
        }
        #[inline]
        fn string(&mut self, text: &str) -> Result<(), Self::Error> {
            self.scalar($crate::event::protocol::Scalar::String(text))
        }
        #[inline]
        fn bytes(&mut self, bytes: &[u8]) -> Result<(), Self::Error> {
            self.scalar($crate::event::protocol::Scalar::Bytes(bytes))
        }
        #[inline]
        fn timestamp(&mut self, time: $crate::event::Timestamp) -> Result<(), Self::Error> {
            self.scalar($crate::event::protocol::Scalar::Timestamp(time))
        }
    };
}
pub(super) use scalars;

/// Where a record stands in its source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// How many records come before it.
    pub record: u64,
    /// Its first byte, from the start of the input; zero if the source has no bytes.
    pub offset: u64,
    /// Its one-based line; zero if the source has no lines, or has not counted them yet.
    pub line: u64,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "record {}", self.record + 1)?;
        if self.line > 0 { write!(f, " at line {} (byte {})", self.line, self.offset) } else { Ok(()) }
    }
}

/// A point in time, to the nanosecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timestamp {
    /// Seconds since 1970-01-01 00:00, by days of 86,400 seconds; negative before that.
    pub seconds: i64,
    /// 0..1,000,000,000.
    pub nanoseconds: u32,
    /// Whether it is in UTC, and not in a zone that nobody said.
    pub is_utc: bool,
}

impl fmt::Display for Timestamp {
    /// As RFC 3339 has it, with as many digits of a second as are needed, and `Z` for UTC.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (days, second) = (self.seconds.div_euclid(86_400), self.seconds.rem_euclid(86_400));
        let (year, month, day) = civil(days);
        let sign = if year < 0 { "-" } else { "" };
        let (hour, minute) = (second / 3600, second / 60 % 60);
        write!(f, "{sign}{:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{:02}", year.abs(), second % 60)?;
        match self.nanoseconds {
            0 => Ok(()),
            nanoseconds => f.write_str(format!(".{nanoseconds:09}").trim_end_matches('0')),
        }?;
        f.write_str(if self.is_utc { "Z" } else { "" })
    }
}

/// Year, month and day of the Gregorian calendar, by days since 1970-01-01: Hinnant, "chrono-Compatible Low-Level Date
/// Algorithms", `civil_from_days`.
fn civil(days: i64) -> (i64, i64, i64) {
    const ERA_DAYS: i64 = 146_097;
    // Years begin in March, so that the day that some lack is the last.
    let days = days + 719_468;
    let (era, day) = (days.div_euclid(ERA_DAYS), days.rem_euclid(ERA_DAYS));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let (day, month) = (day - (153 * month + 2) / 5 + 1, if month < 10 { month + 3 } else { month - 9 });
    (400 * era + year + i64::from(month <= 2), month, day)
}

/// Why a stream ended early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure<A, B> {
    /// The source could not go on.
    Source(A),
    /// The sink did not want to, at this record.
    Sink(B, Place),
}

impl<A, B> Failure<A, B> {
    /// Both errors as one type.
    pub fn either<E: From<A> + From<B>>(self) -> E {
        match self {
            Self::Source(error) => error.into(),
            Self::Sink(error, _) => error.into(),
        }
    }
}

impl<A: fmt::Display, B: fmt::Display> fmt::Display for Failure<A, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Source(error) => error.fmt(f),
            Self::Sink(error, place) => write!(f, "{error}, at {place}"),
        }
    }
}

impl<A: std::error::Error, B: std::error::Error> std::error::Error for Failure<A, B> {}

/// Hands everything on.
macro_rules! forward {
    ($($type:ty),+) => {
        $(
            impl<S: Sink + ?Sized> Sink for $type {
                type Error = S::Error;

                #[inline(always)]
                fn begin_record(&mut self, place: Place) -> Result<(), S::Error> { (**self).begin_record(place) }
                #[inline(always)]
                fn end_record(&mut self) -> Result<(), S::Error> { (**self).end_record() }
                #[inline(always)]
                fn begin_object(&mut self) -> Result<(), S::Error> { (**self).begin_object() }
                #[inline(always)]
                fn key(&mut self, key: Key<'_>) -> Result<Interest, S::Error> { (**self).key(key) }
                #[inline(always)]
                fn end_object(&mut self) -> Result<(), S::Error> { (**self).end_object() }
                #[inline(always)]
                fn begin_array(&mut self) -> Result<(), S::Error> { (**self).begin_array() }
                #[inline(always)]
                fn end_array(&mut self) -> Result<(), S::Error> { (**self).end_array() }
                #[inline(always)]
                fn null(&mut self) -> Result<(), S::Error> { (**self).null() }
                #[inline(always)]
                fn bool(&mut self, value: bool) -> Result<(), S::Error> { (**self).bool(value) }
                #[inline(always)]
                fn number(&mut self, number: Numeral<'_>) -> Result<(), S::Error> { (**self).number(number) }
                #[inline(always)]
                fn string(&mut self, text: &str) -> Result<(), S::Error> { (**self).string(text) }
                #[inline(always)]
                fn bytes(&mut self, bytes: &[u8]) -> Result<(), S::Error> { (**self).bytes(bytes) }
                #[inline(always)]
                fn timestamp(&mut self, time: Timestamp) -> Result<(), S::Error> { (**self).timestamp(time) }
                #[inline(always)]
                fn json(&mut self, text: JsonText<'_>) -> Result<(), S::Error> { (**self).json(text) }
                #[inline(always)]
                fn wants_more(&self) -> bool { (**self).wants_more() }
                #[inline(always)]
                fn finish(&mut self) -> Result<(), S::Error> { (**self).finish() }
            }
        )+
    };
}

forward!(&mut S, Box<S>);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_rfc_3339_has_them() {
        let time = |seconds, nanoseconds, is_utc| Timestamp { seconds, nanoseconds, is_utc }.to_string();
        assert_eq!(time(0, 0, true), "1970-01-01T00:00:00Z");
        assert_eq!(time(951_782_400, 500_000_000, false), "2000-02-29T00:00:00.5");
        assert_eq!(time(-1, 999_999_999, true), "1969-12-31T23:59:59.999999999Z");
        assert_eq!(time(4_107_542_400, 0, true), "2100-03-01T00:00:00Z");
        assert_eq!(time(-62_135_596_800, 0, true), "0001-01-01T00:00:00Z");
        assert_eq!(time(-62_167_219_201, 0, true), "-0001-12-31T23:59:59Z");
    }
}

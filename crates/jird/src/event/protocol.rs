//! The two traits, [`Source`] and [`Sink`], and the types that pass between them.

use super::{JsonText, Row};
use crate::number::{MachineNumber, Number};
use core::fmt;

/// Receives values as events. Any type may implement it.
///
/// Events arrive in document order. A value is one scalar; or `begin_object`, then for each member `key` and a value,
/// then `end_object`; or `begin_array`, values, `end_array`. The source has checked the input before it sends an event,
/// so a sink need not check nesting. A stream of records puts each value between [`begin_record`](Self::begin_record)
/// and [`end_record`](Self::end_record).
///
/// **Abandonment.** A source may fail at any event. The sink must then forget what it has received of the current
/// record, and [`finish`](Self::finish) is not called. A sink that writes to the outside commits in `finish` and
/// nowhere else.
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
///
/// # Errors
/// Each method may return an error of the sink's own type. The source then stops, and hands it to its caller as
/// [`Failure::Sink`] with the place of the record.
#[allow(clippy::missing_errors_doc, reason = "said once, above: it is the same for each method")]
pub trait Sink {
    /// Why the sink stops.
    type Error;

    /// A record begins at `place`.
    #[inline(always)]
    fn begin_record(&mut self, place: Place) -> Result<(), Self::Error> {
        let _ = place;
        Ok(())
    }
    /// The record is complete and was valid.
    #[inline(always)]
    fn end_record(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }
    /// `{`
    #[inline(always)]
    fn begin_object(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }
    /// A member's key. The answer is binding: the source sends no events for a value that the sink skips.
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
    /// A number, in the form the source has it in.
    #[inline(always)]
    fn number(&mut self, number: Numeral<'_>) -> Result<(), Self::Error> {
        let _ = number;
        Ok(())
    }
    /// A string's content, with escapes decoded.
    #[inline(always)]
    fn string(&mut self, text: &str) -> Result<(), Self::Error> {
        let _ = text;
        Ok(())
    }
    /// Bytes, from a source that has a byte type. By default they are sent as a string in base64 (RFC 4648 §4).
    fn bytes(&mut self, bytes: &[u8]) -> Result<(), Self::Error> {
        self.string(&base64(bytes))
    }
    /// A point in time, from a source that has a time type. By default it is sent as a string in the form of RFC 3339.
    fn timestamp(&mut self, time: Timestamp) -> Result<(), Self::Error> {
        self.string(&time.to_string())
    }
    /// A value as JSON text, from a source that keeps it in that form. By default the value's events are sent; a sink
    /// that can copy the text as it is overrides this.
    fn json(&mut self, text: JsonText<'_>) -> Result<(), Self::Error> {
        text.send(self)
    }
    /// A whole record, from a source that has [rows](Row). By default the row's events are sent; a sink that wants to
    /// ask for single values overrides this.
    #[inline(always)]
    fn row<R: Row>(&mut self, row: R) -> Result<(), Failure<R::Error, Self::Error>>
    where
        Self: Sized,
    {
        row.send(self)
    }
    /// Whether the sink wants another record. Asked between records. If not, the source stops there without an error.
    #[inline(always)]
    fn wants_more(&self) -> bool {
        true
    }
    /// All records have arrived: commit.
    #[inline(always)]
    fn finish(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }
}

/// Sends values as events.
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
    /// Why the source fails.
    type Error;

    /// Sends the next record, between `begin_record` and `end_record`. Returns false if there is none.
    ///
    /// # Errors
    /// Why the source has no next record, or the sink's first error.
    fn send_record<S: Sink>(&mut self, sink: &mut S) -> Result<bool, Failure<Self::Error, S::Error>>;

    /// Sends all remaining records, as long as the sink [wants more](Sink::wants_more).
    ///
    /// # Errors
    /// The first error of either side.
    fn send<S: Sink>(&mut self, sink: &mut S) -> Result<(), Failure<Self::Error, S::Error>> {
        while sink.wants_more() && self.send_record(sink)? {}
        Ok(())
    }
}

/// Sends the records of `source` to `sink`, until the source has no more or the sink [wants no more](Sink::wants_more),
/// and then [finishes](Sink::finish) the sink.
///
/// # Errors
/// The first error of either side; the sink is not finished then.
pub fn copy<A: Source, S: Sink>(source: &mut A, sink: &mut S) -> Result<(), Failure<A::Error, S::Error>> {
    source.send(sink)?;
    sink.finish().map_err(|error| Failure::Sink(error, Place::default()))
}

/// Bytes as text: base64 with the standard alphabet and padding (RFC 4648 §4). [`Sink::bytes`] uses it by default.
///
/// ```
/// assert_eq!(jird::event::base64(b"Hello"), "SGVsbG8=");
/// ```
pub fn base64(bytes: &[u8]) -> String {
    base64_simd::STANDARD.encode_to_string(bytes)
}

/// Whether a sink wants the value of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interest {
    /// Send it.
    Take,
    /// Do not send it. The source still checks it, unless the source trusts its input.
    Skip,
}

impl Interest {
    /// [`Take`](Self::Take) if `wanted`, otherwise [`Skip`](Self::Skip).
    #[inline(always)]
    pub fn take_if(wanted: bool) -> Self {
        if wanted { Self::Take } else { Self::Skip }
    }
}

/// A member's key: its text, and optionally a small number. A source numbers its keys if each key keeps its number in
/// all records, as the columns of a table do.
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

    /// A key that has the same number in each record of its source. Numbers begin at zero and are dense. Another source
    /// may number its keys differently: a sink that may receive from several sources uses the number as a hint where to
    /// look first, and compares the text.
    #[inline(always)]
    pub fn numbered(text: &'a str, number: u32) -> Self {
        Self { text, number }
    }

    /// The key's text, with escapes decoded. O(1).
    #[inline(always)]
    pub fn text(self) -> &'a str {
        self.text
    }

    /// The source's number for the key, if it has one.
    #[inline(always)]
    pub fn number(self) -> Option<u32> {
        (self.number != Self::NO_NUMBER).then_some(self.number)
    }
}

/// A number in the form its source has it in: a machine number, or JSON's text, which is exact and is converted on
/// demand.
#[derive(Clone, Copy, Debug)]
pub enum Numeral<'a> {
    /// A signed integer.
    I64(i64),
    /// An unsigned integer.
    U64(u64),
    /// A finite double. A source sends a number that is not finite as null, or refuses it.
    F64(f64),
    /// A number's text.
    Text(Number<'a>),
}

impl<'a> Numeral<'a> {
    /// Parses `text` as one number, from its first byte to its last; `None` if it is not a number by RFC 8259 §6. A
    /// short integer is converted at once, which takes no longer than checking it, and is later written as the same
    /// text.
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

    /// The number as a machine type: see [`MachineNumber`] for the choice of type; `None` if no machine type fits. O(n)
    /// in the digits of a [`Text`](Self::Text), which is converted at each call; O(1) otherwise.
    #[inline(always)]
    pub fn machine(self) -> Option<MachineNumber> {
        match self {
            Self::I64(value) => Some(MachineNumber::I64(value)),
            Self::U64(value) => Some(i64::try_from(value).map_or(MachineNumber::U64(value), MachineNumber::I64)),
            Self::F64(value) => Some(MachineNumber::F64(value)),
            Self::Text(number) => number.machine_number(),
        }
    }

    /// The value, if it is an integer in range. O(n) in the digits of a [`Text`](Self::Text), which is converted at
    /// each call; O(1) otherwise.
    #[inline]
    pub fn as_i64(self) -> Option<i64> {
        match self {
            Self::I64(value) => Some(value),
            Self::U64(value) => i64::try_from(value).ok(),
            Self::F64(_) => None,
            Self::Text(number) => number.as_i64(),
        }
    }

    /// The value, if it is an integer in range. O(n) in the digits of a [`Text`](Self::Text), which is converted at
    /// each call; O(1) otherwise.
    #[inline]
    pub fn as_u64(self) -> Option<u64> {
        match self {
            Self::I64(value) => u64::try_from(value).ok(),
            Self::U64(value) => Some(value),
            Self::F64(_) => None,
            Self::Text(number) => number.as_u64(),
        }
    }

    /// The nearest double; `None` if that is infinite. O(n) in the digits of a [`Text`](Self::Text), which is converted
    /// at each call; O(1) otherwise.
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

    /// Appends the number as JSON: its own text, or the shortest digits that read back as the same number.
    pub fn write(self, text: &mut Vec<u8>) {
        match self {
            Self::Text(number) => text.extend_from_slice(number.text().as_bytes()),
            Self::I64(value) => crate::text::write_number(text, |writer| writer.signed(value)),
            Self::U64(value) => crate::text::write_number(text, |writer| writer.unsigned(value)),
            Self::F64(value) => crate::text::write_number(text, |writer| writer.double(value)),
        }
    }
}

/// The number as JSON, as [`Numeral::write`] appends it.
///
/// ```
/// use jird::event::Numeral;
/// let numbers = [Numeral::I64(-7), Numeral::F64(1e21), Numeral::new("1.20").unwrap()];
/// assert_eq!(numbers.map(|number| number.to_string()), ["-7", "1e+21", "1.20"]);
/// ```
impl fmt::Display for Numeral<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = Vec::new();
        self.write(&mut text);
        f.pad(core::str::from_utf8(&text).unwrap_or_default())
    }
}

/// A value with no other values inside, for sinks that treat all such values alike.
#[derive(Clone, Copy, Debug)]
pub enum Scalar<'a> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, in the form its source has it in.
    Number(Numeral<'a>),
    /// A string's content, with escapes decoded.
    String(&'a str),
    /// Bytes, from a source that has a byte type.
    Bytes(&'a [u8]),
    /// A point in time, from a source that has a time type.
    Timestamp(Timestamp),
}

impl Scalar<'_> {
    /// Sends the scalar as its event.
    ///
    /// # Errors
    /// The sink's error.
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

/// Inside a sink's `impl`: forwards every scalar event to the sink's own method `scalar`.
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

/// Inside a sink's `impl`: forwards calls without arguments to another sink, whose errors are converted.
macro_rules! forwards {
    ($self:ident => $sink:expr, $error:expr; $($call:ident)+) => {
        $( forwards!(@$call $self, $sink, $error); )+
    };
    (@wants_more $self:ident, $sink:expr, $error:expr) => {
        fn wants_more(&$self) -> bool {
            $sink.wants_more()
        }
    };
    (@$call:ident $self:ident, $sink:expr, $error:expr) => {
        #[inline]
        fn $call(&mut $self) -> Result<(), Self::Error> {
            $sink.$call().map_err($error)
        }
    };
}
pub(super) use forwards;

/// Where a record stands in its source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The number of records before it.
    pub record: u64,
    /// Offset of its first byte from the start of the input; zero if the source has no bytes.
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
    /// Seconds since 1970-01-01 00:00, counted in days of 86,400 seconds; negative before that.
    pub seconds: i64,
    /// The fraction of a second, in 0..1,000,000,000.
    pub nanoseconds: u32,
    /// True if the time is in UTC; false if its zone is not known.
    pub is_utc: bool,
}

impl fmt::Display for Timestamp {
    /// As in RFC 3339, with as many digits of a second as are needed, and `Z` for UTC.
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

/// Year, month and day of the Gregorian calendar, from days since 1970-01-01: Hinnant, "chrono-Compatible Low-Level
/// Date Algorithms", `civil_from_days`.
fn civil(days: i64) -> (i64, i64, i64) {
    const ERA_DAYS: i64 = 146_097;
    // Years begin in March here, so that the leap day is the last day of a year.
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
    /// The source could not continue.
    Source(A),
    /// The sink stopped the stream at this record.
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

/// Implements [`Sink`] for pointers to sinks, by forwarding every event.
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

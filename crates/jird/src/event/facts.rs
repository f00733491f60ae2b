//! What events tell: keys, numbers, times, places, and why a stream ended.

use crate::number::{MachineNumber, Number};
use crate::text::compose::WriteScalar;
use core::fmt;

/// Bytes as text: base64 with the standard alphabet and padding (RFC 4648 §4). [`Sink::bytes`](super::Sink::bytes) uses it by default.
///
/// ```
/// assert_eq!(jird::hooks::base64(b"Hello"), "SGVsbG8=");
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

impl WriteScalar for Numeral<'_> {
    #[inline]
    fn write(self, text: &mut Vec<u8>) {
        Numeral::write(self, text);
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

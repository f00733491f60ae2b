//! Dates, times and durations, from RFC 3339 and ISO 8601.

use super::decoder::{DecodeResult, wanted};
use super::fault::Fault;
use super::plan::Step;
use jird::Value;
use pyo3::prelude::*;
use pyo3::types::{PyDate, PyDateTime, PyDelta, PyTime, PyTzInfo};

const DAY: i64 = 24 * 60 * 60;

/// The `datetime`, `date`, `time` or `timedelta` that a string stands for.
pub(super) fn time<'py>(py: Python<'py>, step: &Step, value: Value<'_>) -> DecodeResult<'py> {
    let text = value.as_str().unwrap_or_default();
    match time_of(py, step, text.as_bytes()) {
        Some(Ok(made)) => Ok(made),
        Some(Err(error)) => Err(Fault::raised(py, error, value)),
        None => Err(Fault::expected(&wanted(step), value)),
    }
}

/// The same of a text; `None` if it is none.
pub(super) fn time_of<'py>(py: Python<'py>, step: &Step, text: &[u8]) -> Option<PyResult<Bound<'py, PyAny>>> {
    let mut text = Text(text);
    // Python refuses what is not in the calendar.
    let made = match step {
        Step::DateTime => text.date_time().map(|time| time.object(py)),
        Step::Date => text.date().map(|(year, month, day)| Ok(PyDate::new(py, year, month, day)?.into_any())),
        Step::Time => text.clock().and_then(|clock| Some((clock, text.zone()?))).map(|(clock, zone)| {
            let zone = zone_of(py, zone)?;
            Ok(PyTime::new(py, clock.hour, clock.minute, clock.second, clock.micro, zone.as_ref())?.into_any())
        }),
        Step::TimeDelta => text.duration().filter(|micros| is_in_reach(*micros)).map(|micros| {
            let (seconds, micros) = (micros.div_euclid(1_000_000), micros.rem_euclid(1_000_000));
            let (days, seconds) = (seconds.div_euclid(i128::from(DAY)), seconds.rem_euclid(i128::from(DAY)));
            // There are no more than Python has.
            let days = i32::try_from(days).unwrap_or_default();
            Ok(PyDelta::new(py, days, seconds as i32, micros as i32, true)?.into_any())
        }),
        _ => None,
    };
    made.filter(|_| text.0.is_empty())
}

/// Whether this number of microseconds fits into a `timedelta`, which has 999,999,999 days at most.
fn is_in_reach(micros: i128) -> bool {
    micros.div_euclid(i128::from(DAY) * 1_000_000).unsigned_abs() <= 999_999_999
}

struct DateTime {
    date: (i32, u8, u8),
    clock: Clock,
    zone: Option<i32>,
}

struct Clock {
    hour: u8,
    minute: u8,
    second: u8,
    micro: u32,
}

impl DateTime {
    fn object<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let (year, month, day) = self.date;
        let Clock { hour, minute, second, micro } = self.clock;
        let zone = zone_of(py, self.zone)?;
        Ok(PyDateTime::new(py, year, month, day, hour, minute, second, micro, zone.as_ref())?.into_any())
    }
}

/// The time zone with this difference to UTC in seconds.
fn zone_of(py: Python<'_>, seconds: Option<i32>) -> PyResult<Option<Bound<'_, PyTzInfo>>> {
    match seconds {
        None => Ok(None),
        Some(0) => Ok(Some(PyTzInfo::utc(py)?.to_owned())),
        Some(seconds) => Ok(Some(PyTzInfo::fixed_offset(py, PyDelta::new(py, 0, seconds, 0, true)?)?)),
    }
}

/// The number of two digits.
#[inline(always)]
fn pair(tens: u8, ones: u8) -> Option<u8> {
    let (tens, ones) = (tens.wrapping_sub(b'0'), ones.wrapping_sub(b'0'));
    (tens <= 9 && ones <= 9).then(|| tens * 10 + ones)
}

/// What is left of a text. Each method takes what it reads off the beginning.
struct Text<'t>(&'t [u8]);

impl Text<'_> {
    fn take(&mut self, wanted: &[u8]) -> Option<u8> {
        let (&first, rest) = self.0.split_first()?;
        if !wanted.contains(&first) {
            return None;
        }
        self.0 = rest;
        Some(first)
    }

    /// Exactly this many digits.
    fn digits(&mut self, count: usize) -> Option<u32> {
        let (digits, rest) = self.0.split_at_checked(count)?;
        let mut number = 0;
        for &digit in digits {
            number = number * 10 + char::from(digit).to_digit(10)?;
        }
        self.0 = rest;
        Some(number)
    }

    fn two(&mut self) -> Option<u8> {
        self.digits(2).map(|number| number as u8)
    }

    /// `2024-05-01`, or `20240501`, ISO 8601's basic form.
    #[inline(always)]
    fn date(&mut self) -> Option<(i32, u8, u8)> {
        if let Some((&[a, b, c, d, b'-', e, f, b'-', g, h], rest)) = self.0.split_first_chunk() {
            self.0 = rest;
            let digits = [a, b, c, d, e, f, g, h].map(|digit| digit.wrapping_sub(b'0'));
            let pair = |at: usize| digits[at] * 10 + digits[at + 1];
            let is_date = digits.into_iter().fold(0, u8::max) <= 9;
            return is_date.then(|| (i32::from(pair(0)) * 100 + i32::from(pair(2)), pair(4), pair(6)));
        }
        let year = self.digits(4)?;
        let is_basic = self.take(b"-").is_none();
        let month = self.two()?;
        if !is_basic {
            self.take(b"-")?;
        }
        Some((year as i32, month, self.two()?))
    }

    /// `12:30:00.5`, `123000.5`, and both without seconds.
    fn clock(&mut self) -> Option<Clock> {
        if let Some((&[a, b, b':', c, d, b':', e, f], rest)) = self.0.split_first_chunk() {
            self.0 = rest;
            let micro = if self.take(b".,").is_some() { self.fraction()? } else { 0 };
            return Some(Clock { hour: pair(a, b)?, minute: pair(c, d)?, second: pair(e, f)?, micro });
        }
        let hour = self.two()?;
        let is_basic = self.take(b":").is_none();
        let minute = self.two()?;
        let has_seconds = if is_basic { self.begins_with_digit() } else { self.take(b":").is_some() };
        let second = if has_seconds { self.two()? } else { 0 };
        let micro = if has_seconds && self.take(b".,").is_some() { self.fraction()? } else { 0 };
        Some(Clock { hour, minute, second, micro })
    }

    fn begins_with_digit(&self) -> bool {
        self.0.first().is_some_and(u8::is_ascii_digit)
    }

    /// The digits after a point, as millionths; further digits are cut off, as Python does.
    fn fraction(&mut self) -> Option<u32> {
        let len = self.0.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (digits, rest) = self.0.split_at(len);
        if digits.is_empty() {
            return None;
        }
        let digit = |at| digits.get(at).map_or(0, |digit| u32::from(digit - b'0'));
        self.0 = rest;
        Some((0..6).fold(0, |number, at| number * 10 + digit(at)))
    }

    fn date_time(&mut self) -> Option<DateTime> {
        let date = self.date()?;
        self.take(b"Tt ")?;
        let clock = self.clock()?;
        Some(DateTime { date, clock, zone: self.zone()? })
    }

    /// `Z`, `+10:30`, `+1030`, `+10` or nothing; the outer option is that of a text that is none of them.
    #[expect(clippy::option_option, reason = "a text may be wrong, or have no zone")]
    fn zone(&mut self) -> Option<Option<i32>> {
        if self.0.is_empty() {
            return Some(None);
        }
        let sign = match self.take(b"Zz+-")? {
            b'+' => 1,
            b'-' => -1,
            _ => return Some(Some(0)),
        };
        let hours = self.two()?;
        let has_minutes = self.take(b":").is_some() || self.begins_with_digit();
        let minutes = if has_minutes { self.two()? } else { 0 };
        (hours < 24 && minutes < 60).then(|| Some(sign * (i32::from(hours) * 3600 + i32::from(minutes) * 60)))
    }

    /// `P1DT2H3M4.5S` or `P2W` in microseconds. Years and months have no length of their own.
    fn duration(&mut self) -> Option<i128> {
        let sign = if self.take(b"-").is_some() { -1 } else { 1 };
        self.take(b"P")?;
        let (mut micros, mut is_time, mut last) = (0_i128, false, 0);
        while !self.0.is_empty() {
            if !is_time && self.take(b"T").is_some() {
                is_time = true;
            }
            let number = self.number()?;
            let micro = if self.take(b".,").is_some() { i64::from(self.fraction()?) } else { 0 };
            // The order of the units, and how many seconds each has.
            let (rank, seconds) = match (self.take(b"WDHMS")?, is_time) {
                (b'W', false) => (1, 7 * DAY),
                (b'D', false) => (2, DAY),
                (b'H', true) => (3, 3600),
                (b'M', true) => (4, 60),
                (b'S', true) => (5, 1),
                _ => return None,
            };
            if rank <= last || micro != 0 && !self.0.is_empty() {
                return None;
            }
            last = rank;
            let part = (i128::from(number) * 1_000_000 + i128::from(micro)) * i128::from(seconds);
            micros = micros.checked_add(part)?;
        }
        (last > 0).then_some(sign * micros)
    }

    fn number(&mut self) -> Option<i64> {
        let len = self.0.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (digits, rest) = self.0.split_at(len);
        let number = core::str::from_utf8(digits).ok()?.parse().ok()?;
        self.0 = rest;
        Some(number)
    }
}

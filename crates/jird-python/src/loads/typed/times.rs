//! Dates, times and durations, from RFC 3339 and ISO 8601.

use super::decoder::{DecodeResult, wanted};
use super::digits::{TENS, formed, head, pairs};
use super::fault::Fault;
use super::plan::Step;
use jird::Value;
use pyo3::prelude::*;
use pyo3::types::{PyDate, PyDateTime, PyDelta, PyTime, PyTzInfo};

const DAY: i64 = 24 * 60 * 60;

/// The `datetime`, `date`, `time` or `timedelta` that a string stands for.
pub(super) fn time<'py>(py: Python<'py>, step: &Step, value: Value<'_>) -> DecodeResult<'py> {
    let text = value.as_str().unwrap_or_default();
    match Moment::of(step, text.as_bytes()) {
        Some(time) => time.object(py).map_err(|error| Fault::raised(py, error, value)),
        None => Err(Fault::expected(&wanted(step), value)),
    }
}

/// What a text says, which need not be in the calendar.
pub(super) enum Moment {
    DateTime(Date, Clock, Zone),
    Date(Date),
    Time(Clock, Zone),
    /// Microseconds.
    Delta(i128),
}

impl Moment {
    /// What the text says that such a step is made of.
    pub(super) fn of(step: &Step, text: &[u8]) -> Option<Self> {
        Self::first(step, text).filter(|(_, rest)| rest.is_empty()).map(|(time, _)| time)
    }

    /// The time at the beginning of a text, and the text behind it.
    #[inline(always)]
    pub(super) fn first<'t>(step: &Step, text: &'t [u8]) -> Option<(Self, &'t [u8])> {
        let mut text = Text(text);
        let time = match step {
            Step::DateTime => text.date_time()?,
            Step::Date => Self::Date(text.date()?),
            Step::Time => Self::Time(text.clock()?, text.zone()?),
            Step::TimeDelta => Self::Delta(text.duration().filter(|micros| is_in_reach(*micros))?),
            _ => return None,
        };
        Some((time, text.0))
    }

    /// Python's object. Python refuses what is not in the calendar.
    #[inline(always)]
    pub(super) fn object(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        match self {
            Self::DateTime((year, month, day), Clock { hour, minute, second, micro }, zone) => {
                let zone = zone_of(py, zone)?;
                Ok(PyDateTime::new(py, year, month, day, hour, minute, second, micro, zone.as_ref())?.into_any())
            }
            Self::Date((year, month, day)) => Ok(PyDate::new(py, year, month, day)?.into_any()),
            Self::Time(Clock { hour, minute, second, micro }, zone) => {
                Ok(PyTime::new(py, hour, minute, second, micro, zone_of(py, zone)?.as_ref())?.into_any())
            }
            Self::Delta(micros) => delta(py, micros),
        }
    }
}

fn delta(py: Python<'_>, micros: i128) -> PyResult<Bound<'_, PyAny>> {
    let (seconds, micros) = (micros.div_euclid(1_000_000), micros.rem_euclid(1_000_000));
    let (days, seconds) = (seconds.div_euclid(i128::from(DAY)), seconds.rem_euclid(i128::from(DAY)));
    // There are no more than Python has.
    let days = i32::try_from(days).unwrap_or_default();
    Ok(PyDelta::new(py, days, seconds as i32, micros as i32, true)?.into_any())
}

/// Whether this number of microseconds fits into a `timedelta`, which has 999,999,999 days at most.
fn is_in_reach(micros: i128) -> bool {
    micros.div_euclid(i128::from(DAY) * 1_000_000).unsigned_abs() <= 999_999_999
}

/// Year, month and day.
type Date = (i32, u8, u8);

/// The difference to UTC in seconds, if it is told.
type Zone = Option<i32>;

pub(super) struct Clock {
    hour: u8,
    minute: u8,
    second: u8,
    micro: u32,
}

/// The time zone with this difference to UTC in seconds.
#[inline(always)]
fn zone_of(py: Python<'_>, seconds: Zone) -> PyResult<Option<Bound<'_, PyTzInfo>>> {
    match seconds {
        None => Ok(None),
        Some(0) => Ok(Some(PyTzInfo::utc(py)?.to_owned())),
        Some(seconds) => Ok(Some(PyTzInfo::fixed_offset(py, PyDelta::new(py, 0, seconds, 0, true)?)?)),
    }
}

/// What is left of a text. Each method takes what it reads off the beginning.
struct Text<'t>(&'t [u8]);

impl Text<'_> {
    #[inline(always)]
    fn is_over(&self) -> bool {
        matches!(self.0, [] | [b'"', ..])
    }

    #[inline(always)]
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
    fn date(&mut self) -> Option<Date> {
        if let Some((date, rest)) = self.0.split_first_chunk::<10>()
            && let Some(month) = date.first_chunk().and_then(|date| formed(date, b"0000-00-"))
            && let Some(day) = date.last_chunk().and_then(|date| formed(date, b"00-00-00"))
        {
            self.0 = rest;
            let ([hundreds, _, years, _, _, month, ..], [.., day, _]) = (pairs(month), pairs(day));
            return Some((i32::from(hundreds) * 100 + i32::from(years), month, day));
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
    #[inline(always)]
    fn clock(&mut self) -> Option<Clock> {
        if let Some((clock, rest)) = self.0.split_first_chunk()
            && let Some(digits) = formed(clock, b"00:00:00")
        {
            self.0 = rest;
            let [hour, _, _, minute, _, _, second, _] = pairs(digits);
            return Some(Clock { hour, minute, second, micro: self.micros()? });
        }
        let hour = self.two()?;
        let is_basic = self.take(b":").is_none();
        let minute = self.two()?;
        let has_seconds = if is_basic { self.begins_with_digit() } else { self.take(b":").is_some() };
        let second = if has_seconds { self.two()? } else { 0 };
        let micro = if has_seconds { self.micros()? } else { 0 };
        Some(Clock { hour, minute, second, micro })
    }

    /// A fraction of a second, if there is one.
    #[inline(always)]
    fn micros(&mut self) -> Option<u32> {
        if self.take(b".,").is_some() { self.fraction() } else { Some(0) }
    }

    fn begins_with_digit(&self) -> bool {
        self.0.first().is_some_and(u8::is_ascii_digit)
    }

    /// The digits after a point, as millionths; further digits are cut off, as Python does.
    fn fraction(&mut self) -> Option<u32> {
        if let Some(word) = self.0.first_chunk()
            && let (count @ 1..=6, digits) = head(*word)
        {
            self.0 = &self.0[count..];
            return Some((digits * TENS[6 - count]) as u32);
        }
        let len = self.0.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (digits, rest) = self.0.split_at(len);
        if digits.is_empty() {
            return None;
        }
        let digit = |at| digits.get(at).map_or(0, |digit| u32::from(digit - b'0'));
        self.0 = rest;
        Some((0..6).fold(0, |number, at| number * 10 + digit(at)))
    }

    #[inline(always)]
    fn date_time(&mut self) -> Option<Moment> {
        let date = self.date()?;
        self.take(b"Tt ")?;
        Some(Moment::DateTime(date, self.clock()?, self.zone()?))
    }

    /// `Z`, `+10:30`, `+1030`, `+10` or nothing; the outer option is that of a text that is none of them.
    #[inline(always)]
    fn zone(&mut self) -> Option<Zone> {
        if self.is_over() {
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
        while !self.is_over() {
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
            if rank <= last || micro != 0 && !self.is_over() {
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

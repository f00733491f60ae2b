//! Dates and times by RFC 3339.

use super::{NAIVE_UTC, OMIT_MICROSECONDS, UTC_Z, is_on};
use crate::raw::encode::{Encoder, Failure, because};
use core::fmt::Write;
use pyo3::prelude::*;
use pyo3::types::{PyDateAccess, PyDateTime, PyDelta, PyDeltaAccess, PyTime, PyTimeAccess, PyTzInfoAccess};

const DAY: i32 = 24 * 60 * 60;

/// `1970-01-01`
pub(super) fn date<T: PyDateAccess>(date: &T) -> String {
    format!("{:04}-{:02}-{:02}", date.get_year(), date.get_month(), date.get_day())
}

/// `1970-01-01T00:00:00.000001+00:00`
pub(super) fn date_time<'py>(encoder: &Encoder<'_, 'py>, time: &Bound<'py, PyDateTime>) -> Result<String, Failure> {
    let mut text = date(time);
    text.push('T');
    clock(&mut text, time, is_on(encoder, OMIT_MICROSECONDS));
    let seconds = match time.get_tzinfo() {
        None if is_on(encoder, NAIVE_UTC) => 0,
        None => return Ok(text),
        Some(_) => offset(time)?,
    };
    zone(&mut text, seconds, is_on(encoder, UTC_Z));
    Ok(text)
}

/// `00:00:00.000001`
pub(super) fn time<'py>(encoder: &Encoder<'_, 'py>, time: &Bound<'py, PyTime>) -> Result<String, Failure> {
    if time.get_tzinfo().is_some() {
        return Err(because("datetime.time must not have tzinfo set"));
    }
    let mut text = String::new();
    clock(&mut text, time, is_on(encoder, OMIT_MICROSECONDS));
    Ok(text)
}

/// The date and time `microseconds` after 1970, which has no time zone.
pub(super) fn since_1970(encoder: &Encoder<'_, '_>, microseconds: i64) -> Result<String, Failure> {
    let (seconds, micro) = (microseconds.div_euclid(1_000_000), microseconds.rem_euclid(1_000_000));
    let (days, clock) = (seconds.div_euclid(i64::from(DAY)), seconds.rem_euclid(i64::from(DAY)));
    let (year, month, day) = civil(days);
    if !(0..=9999).contains(&year) {
        return Err(because("unsupported numpy.datetime64: the year has more than four digits"));
    }
    let (hour, minute, second) = (clock / 3600, clock / 60 % 60, clock % 60);
    let mut text = format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}");
    if micro != 0 && !is_on(encoder, OMIT_MICROSECONDS) {
        let _ = write!(text, ".{micro:06}");
    }
    if is_on(encoder, NAIVE_UTC) {
        zone(&mut text, 0, is_on(encoder, UTC_Z));
    }
    Ok(text)
}

/// Year, month and day of a day after 1 January 1970, in the Gregorian calendar: Howard Hinnant, "chrono-Compatible
/// Low-Level Date Algorithms", `civil_from_days`.
fn civil(days: i64) -> (i64, i64, i64) {
    // Years begin in March, so that the leap day is the last.
    let since = days + 719_468;
    let (era, day_of_era) = (since.div_euclid(146_097), since.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

fn clock<T: PyTimeAccess>(text: &mut String, time: &T, is_short: bool) {
    let _ = write!(text, "{:02}:{:02}:{:02}", time.get_hour(), time.get_minute(), time.get_second());
    let micro = time.get_microsecond();
    if micro != 0 && !is_short {
        let _ = write!(text, ".{micro:06}");
    }
}

/// The difference to UTC in seconds.
fn offset(time: &Bound<'_, PyDateTime>) -> Result<i32, Failure> {
    let offset = time.call_method0("utcoffset")?;
    if offset.is_none() {
        return Err(because("datetime's tzinfo has no utcoffset"));
    }
    let delta = offset.cast::<PyDelta>().map_err(|_| because("utcoffset() of a datetime's tzinfo is no timedelta"))?;
    Ok(delta.get_days() * DAY + delta.get_seconds())
}

/// `+10:30`; seconds are rounded to the nearest minute, since RFC 3339 has none.
fn zone(text: &mut String, seconds: i32, has_z: bool) {
    if seconds == 0 && has_z {
        text.push('Z');
        return;
    }
    let sign = if seconds < 0 { '-' } else { '+' };
    let minutes = (seconds.abs() + 30) / 60;
    let _ = write!(text, "{sign}{:02}:{:02}", minutes / 60, minutes % 60);
}

/// The number of days from 1 January 1970 to the first of a month: the inverse of `civil`.
pub(super) fn days_before(year: i64, month: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

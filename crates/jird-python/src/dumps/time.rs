//! Dates and times by RFC 3339.

use crate::raw::encode::{Encoder, Failure, TimeForm, because};
use crate::raw::short_text::ShortText;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDateAccess, PyDateTime, PyDelta, PyDeltaAccess, PyTime, PyTimeAccess, PyTzInfo, PyTzInfoAccess};

const DAY: i32 = 24 * 60 * 60;

fn date_of(date: &impl PyDateAccess) -> [u32; 3] {
    [date.get_year().unsigned_abs(), date.get_month().into(), date.get_day().into()]
}

fn clock_of(time: &impl PyTimeAccess, form: TimeForm) -> [u32; 4] {
    let micro = if form.has_micros { time.get_microsecond() } else { 0 };
    [time.get_hour().into(), time.get_minute().into(), time.get_second().into(), micro]
}

/// `1970-01-01`
pub(super) fn date(date: &impl PyDateAccess) -> ShortText {
    ShortText::date(date_of(date))
}

/// `1970-01-01T00:00:00.000001+00:00`
pub(super) fn date_time<'py>(encoder: &Encoder<'_, 'py>, time: &Bound<'py, PyDateTime>) -> Result<ShortText, Failure> {
    let form = encoder.settings.times;
    let mut text = ShortText::date_time(date_of(time), clock_of(time, form));
    let seconds = match time.get_tzinfo() {
        None if form.is_utc => 0,
        None => return Ok(text),
        Some(zone) => offset(time, &zone)?,
    };
    text.add_zone(seconds, form.has_z);
    Ok(text)
}

/// `00:00:00.000001`
pub(super) fn time<'py>(encoder: &Encoder<'_, 'py>, time: &Bound<'py, PyTime>) -> Result<ShortText, Failure> {
    if time.get_tzinfo().is_some() {
        return Err(because("datetime.time must not have tzinfo set"));
    }
    Ok(ShortText::time(clock_of(time, encoder.settings.times)))
}

/// The date and time `microseconds` after 1970, which has no time zone.
pub(super) fn since_1970(encoder: &Encoder<'_, '_>, microseconds: i64) -> Result<ShortText, Failure> {
    let (seconds, micro) = (microseconds.div_euclid(1_000_000), microseconds.rem_euclid(1_000_000) as u32);
    let (days, clock) = (seconds.div_euclid(i64::from(DAY)), seconds.rem_euclid(i64::from(DAY)) as u32);
    let (year, month, day) = civil(days);
    let Some(year) = u32::try_from(year).ok().filter(|year| *year <= 9999) else {
        return Err(because("unsupported numpy.datetime64: the year has more than four digits"));
    };
    let form = encoder.settings.times;
    let micro = if form.has_micros { micro } else { 0 };
    let mut text = ShortText::date_time([year, month, day], [clock / 3600, clock / 60 % 60, clock % 60, micro]);
    if form.is_utc {
        text.add_zone(0, form.has_z);
    }
    Ok(text)
}

/// Year, month and day of a day after 1 January 1970, in the Gregorian calendar: Howard Hinnant, "chrono-Compatible
/// Low-Level Date Algorithms", `civil_from_days`.
fn civil(days: i64) -> (i64, u32, u32) {
    // Years begin in March, so that the leap day is the last.
    let since = days + 719_468;
    let (era, day_of_era) = (since.div_euclid(146_097), since.rem_euclid(146_097) as u32);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    (i64::from(year_of_era) + era * 400 + i64::from(month <= 2), month, day)
}

/// The difference to UTC in seconds, which is less than a day.
fn offset<'py>(time: &Bound<'py, PyDateTime>, zone: &Bound<'py, PyTzInfo>) -> Result<i32, Failure> {
    let py = time.py();
    if PyTzInfo::utc(py).is_ok_and(|utc| zone.is(utc)) {
        return Ok(0);
    }
    // As `time.utcoffset()` does, which would be one more call.
    let offset = zone.call_method1(intern!(py, "utcoffset"), (time,))?;
    if offset.is_none() {
        return Err(because("datetime's tzinfo has no utcoffset"));
    }
    let delta = offset.cast::<PyDelta>().map_err(|_| because("utcoffset() of a datetime's tzinfo is no timedelta"))?;
    let seconds = i64::from(delta.get_days()) * i64::from(DAY) + i64::from(delta.get_seconds());
    if seconds <= -i64::from(DAY) || seconds >= i64::from(DAY) {
        return Err(because("utcoffset() of a datetime's tzinfo is not less than a day"));
    }
    Ok(seconds as i32)
}

/// The number of days from 1 January 1970 to the first of a month: the inverse of `civil`.
pub(super) fn days_before(year: i64, month: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

//! `time_bucket('1 hour', t)`: the start of the bucket that contains a time.

use super::stateless::{Makes, Takes, column, function};
use super::timestamp::data_type;
use crate::base::error::Error;
use arrow::array::timezone::Tz;
use arrow::array::{ArrayRef, AsArray, TimestampMicrosecondArray};
use arrow::datatypes::{DataType, TimestampMicrosecondType};
use arrow_cast::cast;
use chrono::{DateTime, LocalResult, Offset, TimeZone, Utc};
use datafusion::common::ScalarValue;
use datafusion::error::Result;
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDF};
use jird_store::time::{date, days};
use std::sync::Arc;

const SECOND: i64 = 1_000_000;
const DAY: i64 = 86_400 * SECOND;

/// Monday, 3 January 2000: weeks begin on Mondays, and shorter buckets begin with the day.
const ORIGIN: i64 = 946_857_600 * SECOND;

/// The function. Days, months and years are those of the time's zone, as in `time_bucket('1 day', t at time zone
/// 'Europe/Berlin')`; times without a zone are UTC.
pub(super) fn time_bucket() -> ScalarUDF {
    let made = |types: &[DataType]| match &types[1] {
        DataType::Timestamp(_, Some(zone)) => data_type(Some(Arc::clone(zone))),
        _ => data_type(Some("UTC".into())),
    };
    function("time_bucket", Takes::Exactly(2), Makes::ByTypes(made), buckets)
}

fn buckets(args: &ScalarFunctionArgs) -> Result<ArrayRef> {
    let width = match &args.args[0] {
        ColumnarValue::Scalar(scalar) => Width::of(scalar),
        ColumnarValue::Array(_) => None,
    };
    let Some(width) = width else {
        return Err(Error::sql(
            "time_bucket takes a width such as '15 minutes', '1h', '1 month' or interval '1 day': a number and one of \
             ms, s, m, h, d, w, month, quarter, year",
        )
        .into());
    };
    let kind = args.return_field.data_type();
    let DataType::Timestamp(_, Some(zone)) = kind else {
        return Err(Error::sql("time_bucket takes a time").into());
    };
    let tz: Tz = zone.parse()?;
    let times = cast(&column(args, 1)?, kind)?;
    let times = times.as_primitive::<TimestampMicrosecondType>();
    let buckets: TimestampMicrosecondArray = match width {
        // Most times: nothing has to be known of clocks.
        Width::Micros(width) if matches!(&**zone, "UTC" | "+00:00") => {
            times.unary_opt(|time| start_in_utc(time, width))
        }
        _ => times.iter().map(|time| width.start(time?, tz)).collect(),
    };
    Ok(Arc::new(buckets.with_timezone(Arc::clone(zone))))
}

/// The greatest length of a bucket of this width, in nanoseconds, but for hours that clocks are set by.
pub(crate) fn bucket_nanoseconds(width: &ScalarValue) -> Option<i128> {
    Some(match Width::of(width)? {
        Width::Micros(length) => i128::from(length) * 1000,
        Width::Months(months) => i128::from(months) * 31 * i128::from(DAY) * 1000,
    })
}

/// The width of a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Width {
    Micros(i64),
    Months(i64),
}

impl Width {
    fn of(scalar: &ScalarValue) -> Option<Self> {
        let width = match scalar {
            ScalarValue::IntervalMonthDayNano(Some(interval)) => match (interval.months, interval.days) {
                (0, days) => Self::Micros(i64::from(days).checked_mul(DAY)?.checked_add(interval.nanoseconds / 1000)?),
                (months, 0) if interval.nanoseconds == 0 => Self::Months(months.into()),
                _ => return None,
            },
            ScalarValue::IntervalDayTime(Some(interval)) => {
                Self::Micros(i64::from(interval.days) * DAY + i64::from(interval.milliseconds) * 1000)
            }
            ScalarValue::IntervalYearMonth(Some(months)) => Self::Months((*months).into()),
            text => Self::parse(text.try_as_str().flatten()?)?,
        };
        let (Self::Micros(length) | Self::Months(length)) = width;
        (length > 0).then_some(width)
    }

    /// Reads `15m` or `15 minutes`.
    fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let (count, unit) = text.split_at(text.find(|char: char| !char.is_ascii_digit())?);
        let count = count.parse::<i64>().ok()?;
        let unit = unit.trim().to_lowercase();
        let micros = |micros: i64| count.checked_mul(micros).map(Self::Micros);
        let months = |months: i64| count.checked_mul(months).map(Self::Months);
        match if unit.len() > 2 { unit.trim_end_matches('s') } else { &unit } {
            "us" | "microsecond" => micros(1),
            "ms" | "millisecond" => micros(1000),
            "s" | "sec" | "second" => micros(SECOND),
            "m" | "min" | "minute" => micros(60 * SECOND),
            "h" | "hr" | "hour" => micros(3600 * SECOND),
            "d" | "day" => micros(DAY),
            "w" | "week" => micros(7 * DAY),
            "mon" | "month" => months(1),
            "q" | "quarter" => months(3),
            "y" | "yr" | "year" => months(12),
            "decade" => months(120),
            "century" | "centurie" => months(1200),
            "millennium" => months(12_000),
            _ => None,
        }
    }

    /// The start of the bucket of a time. None if it is beyond the years that times have.
    fn start(self, time: i64, zone: Tz) -> Option<i64> {
        let offset = offset(time, zone)?;
        let local = time.checked_add(offset)?;
        match self {
            Self::Micros(width) => {
                let start = local.checked_sub(local.checked_sub(ORIGIN)?.rem_euclid(width))?;
                // Both hours that a clock shows twice are buckets of their own.
                let same = start.checked_sub(offset)?;
                if width < DAY && self::offset(same, zone) == Some(offset) { Some(same) } else { instant(start, zone) }
            }
            Self::Months(width) => {
                let (year, month, _) = date(local.div_euclid(DAY));
                let months = (year - 2000) * 12 + month - 1;
                let start = months - months.rem_euclid(width);
                let day = days(2000 + start.div_euclid(12), start.rem_euclid(12) + 1, 1);
                instant(day.checked_mul(DAY)?, zone)
            }
        }
    }
}

/// The start of the bucket of a time in UTC. None if it is beyond the years that times have.
fn start_in_utc(time: i64, width: i64) -> Option<i64> {
    let years = DateTime::<Utc>::MIN_UTC.timestamp_micros()..=DateTime::<Utc>::MAX_UTC.timestamp_micros();
    let start = time.checked_sub(time.checked_sub(ORIGIN)?.rem_euclid(width))?;
    (years.contains(&time) && years.contains(&start)).then_some(start)
}

/// How far the clocks of a zone are ahead of UTC, in microseconds.
fn offset(time: i64, zone: Tz) -> Option<i64> {
    let time = DateTime::from_timestamp_micros(time)?;
    Some(i64::from(zone.offset_from_utc_datetime(&time.naive_utc()).fix().local_minus_utc()) * SECOND)
}

/// The instant when the clocks of a zone show a time; if they pass over it, the instant when they do.
fn instant(local: i64, zone: Tz) -> Option<i64> {
    let shown = DateTime::from_timestamp_micros(local)?.naive_utc();
    match zone.from_local_datetime(&shown) {
        LocalResult::Single(time) | LocalResult::Ambiguous(time, _) => Some(time.timestamp_micros()),
        LocalResult::None => local.checked_sub(offset(local - 3600 * SECOND * 3, zone)?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_a_number_and_a_unit() {
        for (text, width) in [
            ("1h", Some(Width::Micros(3600 * SECOND))),
            ("1 hour", Some(Width::Micros(3600 * SECOND))),
            ("15 minutes", Some(Width::Micros(900 * SECOND))),
            ("2ms", Some(Width::Micros(2000))),
            ("1 month", Some(Width::Months(1))),
            ("2 years", Some(Width::Months(24))),
            ("0s", None),
            ("h", None),
            ("1x", None),
            ("", None),
        ] {
            assert_eq!(Width::of(&ScalarValue::from(text)), width, "{text}");
        }
    }

    #[test]
    fn buckets_in_utc_are_those_of_any_zone() {
        let zone = "UTC".parse().unwrap();
        let mut times = vec![i64::MIN, i64::MAX, ORIGIN, ORIGIN - 1, 0, -1];
        for edge in [DateTime::<Utc>::MIN_UTC, DateTime::<Utc>::MAX_UTC] {
            times.extend((-2..3).map(|by| edge.timestamp_micros() + by * SECOND));
        }
        times.extend(
            (0..2000).map(|number: i64| number.wrapping_mul(0x9E37_79B9_7F4A_7C15_u64 as i64) >> (number % 40)),
        );
        for width in [1, 999, 1000, 7 * SECOND, 3600 * SECOND, DAY, 7 * DAY, 1000 * DAY] {
            for time in &times {
                let start = Width::Micros(width).start(*time, zone);
                assert_eq!(start_in_utc(*time, width), start, "{time} {width}");
            }
        }
    }

    #[test]
    fn buckets_begin_at_the_clocks_of_the_zone() {
        let time = |text: &str| {
            let (seconds, nanos) = jird_store::time::parse(text.as_bytes()).unwrap();
            seconds * SECOND + i64::from(nanos / 1000)
        };
        for (width, zone, at, start) in [
            ("1h", "UTC", "2024-03-05T07:59:59.999999Z", "2024-03-05T07:00:00Z"),
            ("1 week", "UTC", "2024-03-10T12:00:00Z", "2024-03-04T00:00:00Z"),
            ("1 month", "UTC", "2024-02-29T23:00:00Z", "2024-02-01T00:00:00Z"),
            ("1 quarter", "UTC", "1969-12-31T23:00:00Z", "1969-10-01T00:00:00Z"),
            ("1 year", "UTC", "0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"),
            ("1 day", "Europe/Berlin", "2024-03-05T23:30:00Z", "2024-03-06T00:00:00+01:00"),
            ("1 day", "Europe/Berlin", "2024-07-05T22:30:00Z", "2024-07-06T00:00:00+02:00"),
            ("1 month", "America/New_York", "2024-03-01T03:00:00Z", "2024-02-01T00:00:00-05:00"),
            // Clocks show the hour from 2 to 3 twice.
            ("1h", "Europe/Berlin", "2024-10-27T00:30:00Z", "2024-10-27T00:00:00Z"),
            ("1h", "Europe/Berlin", "2024-10-27T01:30:00Z", "2024-10-27T01:00:00Z"),
            // Clocks pass over the hour from 2 to 3: this bucket has five hours.
            ("6h", "Europe/Berlin", "2024-03-30T23:30:00Z", "2024-03-31T00:00:00+01:00"),
            ("6h", "Europe/Berlin", "2024-03-31T01:30:00Z", "2024-03-31T00:00:00+01:00"),
            // In this zone, the day begins at one o'clock when clocks go forward.
            ("1 day", "America/Sao_Paulo", "2018-11-04T12:00:00Z", "2018-11-04T03:00:00Z"),
        ] {
            let width = Width::of(&ScalarValue::from(width)).unwrap();
            assert_eq!(width.start(time(at), zone.parse().unwrap()), Some(time(start)), "{at} {zone}");
        }
    }
}

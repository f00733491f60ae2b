//! Points in time, from texts in the notation of ISO 8601 and from numbers. Stores, their windows and queries read them
//! alike: a text without a zone is UTC, a number counts seconds, milliseconds, microseconds or nanoseconds by its size.

use jird::Number;

const DAY: i64 = 86_400;
const SECOND: i64 = 1_000_000_000;

/// A point in time of any year from 0 to 9999: seconds since 1970 in UTC, and the nanoseconds that follow them.
pub type Time = (i64, u32);

/// Reads `2024-03-05`, `2024-03-05T07:00` or `2024-03-05 07:00:00.123456789`. The last two may have a zone such as `Z`,
/// `+01:00` or `-0530`; without one, the time is UTC. Digits after the ninth decimal are ignored. `None` if the text is
/// not a time.
///
/// ```
/// use jird_store::time::parse;
/// assert_eq!(parse(b"1970-01-02T00:00:00.5+01:00"), Some((82_800, 500_000_000)));
/// assert_eq!(parse(b"0001-01-01"), Some((-62_135_596_800, 0)));
/// assert_eq!(parse(b"soon"), None);
/// ```
pub fn parse(text: &[u8]) -> Option<Time> {
    let mut rest = text;
    let year = digits(&mut rest, 4)?;
    expect(&mut rest, b"-")?;
    let month = digits(&mut rest, 2).filter(|month| (1..=12).contains(month))?;
    expect(&mut rest, b"-")?;
    let day = digits(&mut rest, 2).filter(|day| (1..=days_of(year, month)).contains(day))?;
    let midnight = days(year, month, day) * DAY;
    if rest.is_empty() {
        return Some((midnight, 0));
    }
    expect(&mut rest, b"Tt ")?;
    let hour = digits(&mut rest, 2).filter(|hour| *hour < 24)?;
    expect(&mut rest, b":")?;
    let minute = digits(&mut rest, 2).filter(|minute| *minute < 60)?;
    let (mut second, mut nanos) = (0, 0);
    if expect(&mut rest, b":").is_some() {
        // A leap second counts as the start of the next minute.
        second = digits(&mut rest, 2).filter(|second| *second <= 60)?;
        if expect(&mut rest, b".,").is_some() {
            nanos = fraction(&mut rest)?;
        }
    }
    let zone = zone(rest)?;
    Some((midnight + hour * 3600 + minute * 60 + second - zone, nanos))
}

/// A number as a time since 1970: in seconds, or in milliseconds, microseconds or nanoseconds if seconds would lead beyond
/// the year 5138 (10¹¹ seconds), and so on by factors of a thousand. A number with a point or an exponent is rounded to
/// microseconds. `None` if the text is not a number, or too large.
///
/// ```
/// assert_eq!(jird_store::time::parse_number("1709622600123"), Some((1_709_622_600, 123_000_000)));
/// ```
pub fn parse_number(text: &str) -> Option<Time> {
    let number = Number::new(text)?;
    let size = number.to_f64()?.abs();
    let per_second: i64 = match size {
        _ if size < 1e11 => 1,
        _ if size < 1e14 => 1000,
        _ if size < 1e17 => 1_000_000,
        _ => SECOND,
    };
    if let Ok(whole) = text.parse::<i64>() {
        let nanos = whole.rem_euclid(per_second) * (SECOND / per_second);
        return Some((whole.div_euclid(per_second), u32::try_from(nanos).ok()?));
    }
    #[expect(clippy::cast_precision_loss, reason = "a power of ten")]
    let micros = (number.to_f64()? * (1e6 / per_second as f64)).round();
    let micros = (micros.abs() < 9e18).then_some(micros as i64)?;
    Some((micros.div_euclid(1_000_000), u32::try_from(micros.rem_euclid(1_000_000) * 1000).ok()?))
}

/// The time of a text in nanoseconds since 1970, as [`parse`] reads it; `None` also for a time that is not between the
/// years 1677 and 2262, which 64 bits of nanoseconds hold.
pub fn of_text(text: &[u8]) -> Option<i64> {
    parse(text).and_then(nanoseconds)
}

/// The same for a number, as [`parse_number`] reads it.
pub fn of_number(text: &str) -> Option<i64> {
    parse_number(text).and_then(nanoseconds)
}

/// The units of times ago, in seconds.
const UNITS: [(&str, i64); 5] = [("s", 1), ("m", 60), ("h", 3600), ("d", 86_400), ("w", 7 * 86_400)];

/// A point in time as a user writes it, in nanoseconds since 1970: by ISO 8601, or how long before `now`, as `90s`,
/// `30m`, `1h`, `2d`, `1w`. The error goes on after the text.
///
/// ```
/// use jird_store::time::meant;
/// assert_eq!(meant("1970-01-01T00:01:00Z", 0), Ok(60_000_000_000));
/// assert_eq!(meant("1m", 60_000_000_000), Ok(0));
/// assert!(meant("yesterday", 0).is_err());
/// ```
pub fn meant(text: &str, now: i64) -> Result<i64, &'static str> {
    let ago = UNITS.iter().find_map(|(unit, seconds)| {
        let count = text.strip_suffix(unit)?.trim_end();
        let is_count = !count.is_empty() && count.bytes().all(|byte| byte.is_ascii_digit());
        is_count.then(|| now.checked_sub(count.parse::<i64>().ok()?.checked_mul(seconds * 1_000_000_000)?))
    });
    if ago == Some(None) {
        return Err(" is too long ago: the earliest time is 1677-09-21");
    }
    ago.flatten()
        .or_else(|| of_text(text.as_bytes()))
        .ok_or(": write a time such as 2024-03-05T07:00:00Z, or how long ago, such as 90s, 30m, 1h, 2d, 1w")
}

/// A time as a text, with as many decimals as it needs.
///
/// ```
/// assert_eq!(jird_store::time::to_text(1_709_622_000_500_000_000), "2024-03-05T07:00:00.5Z");
/// assert_eq!(jird_store::time::to_text(-1), "1969-12-31T23:59:59.999999999Z");
/// ```
pub fn to_text(time: i64) -> String {
    let wide = to_wide_text(time);
    let short = wide.trim_end_matches('Z').trim_end_matches('0').trim_end_matches('.');
    format!("{short}Z")
}

/// A time as a text with nine decimals: of such texts the order is that of their times.
///
/// ```
/// assert_eq!(jird_store::time::to_wide_text(1_709_622_000_500_000_000), "2024-03-05T07:00:00.500000000Z");
/// ```
pub fn to_wide_text(time: i64) -> String {
    let (second, nanos) = (time.div_euclid(SECOND), time.rem_euclid(SECOND));
    let (day, second) = (second.div_euclid(DAY), second.rem_euclid(DAY));
    let (year, month, day) = date(day);
    let clock = format!("{:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{clock}.{nanos:09}Z")
}

/// The width of a text whose order is that of its time, if the text is one: `2024-03-05T07:00:00Z`, with up to nine
/// decimals.
pub(crate) fn ordered_width(text: &[u8]) -> Option<u8> {
    let (head, rest) = text.split_at_checked(19)?;
    let marks = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':')];
    let is_plain = marks.iter().all(|&(at, mark)| head[at] == mark) && &head[17..] != b"60";
    let is_end = match rest {
        [b'Z'] => true,
        [b'.', decimals @ .., b'Z'] => decimals.len() <= 9,
        _ => false,
    };
    (is_plain && is_end).then_some(text.len() as u8)
}

/// The text of a time that has this [width](ordered_width).
pub(crate) fn of_width(time: i64, width: u8) -> String {
    let mut text = to_wide_text(time);
    text.truncate(usize::from(width).saturating_sub(1).max(19));
    text.push('Z');
    text
}

/// Writes times as texts of one [width](ordered_width), quickly if they are of the same day.
#[derive(Debug)]
pub(crate) struct TimeTexts {
    width: usize,
    day: i64,
    /// The day, with what stands before and behind the hours.
    text: [u8; 30],
}

impl TimeTexts {
    pub(crate) fn new(width: u8) -> Self {
        let mut texts = Self { width: usize::from(width).clamp(20, 30), day: 0, text: [0; 30] };
        texts.begin(0);
        texts
    }

    fn begin(&mut self, day: i64) {
        self.day = day;
        let text = to_wide_text(day.saturating_mul(DAY * SECOND));
        if let Some(text) = text.as_bytes().first_chunk() {
            self.text = *text;
        }
    }

    /// The text of a time.
    pub(crate) fn of(&mut self, time: i64) -> &str {
        let (second, mut nanos) = (time.div_euclid(SECOND), time.rem_euclid(SECOND));
        let (day, second) = (second.div_euclid(DAY), second.rem_euclid(DAY));
        if day != self.day {
            self.begin(day);
        }
        for (at, value) in [(11, second / 3600), (14, second / 60 % 60), (17, second % 60)] {
            self.text[at] = b'0' + (value / 10) as u8;
            self.text[at + 1] = b'0' + (value % 10) as u8;
        }
        self.text[19] = b'.';
        for at in (20..29).rev() {
            self.text[at] = b'0' + (nanos % 10) as u8;
            nanos /= 10;
        }
        self.text[self.width - 1] = b'Z';
        let text = std::str::from_utf8(&self.text[..self.width]);
        text.unwrap_or_default()
    }
}

fn nanoseconds((seconds, nanos): Time) -> Option<i64> {
    // Near the lowest time, the seconds alone would overflow although the sum does not.
    i64::try_from(i128::from(seconds) * i128::from(SECOND) + i128::from(nanos)).ok()
}

fn digits(rest: &mut &[u8], count: usize) -> Option<i64> {
    let (digits, behind) = rest.split_at_checked(count)?;
    *rest = behind;
    digits.iter().try_fold(0, |value, digit| digit.is_ascii_digit().then(|| value * 10 + i64::from(digit - b'0')))
}

fn expect(rest: &mut &[u8], any: &[u8]) -> Option<()> {
    let (first, behind) = rest.split_first()?;
    any.contains(first).then(|| *rest = behind)
}

fn fraction(rest: &mut &[u8]) -> Option<u32> {
    let count = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, behind) = rest.split_at(count);
    *rest = behind;
    let nanos = |at: usize| digits.get(at).map_or(0, |digit| u32::from(digit - b'0'));
    (count > 0).then(|| (0..9).fold(0, |value, at| value * 10 + nanos(at)))
}

/// How many seconds a zone is ahead of UTC.
fn zone(mut rest: &[u8]) -> Option<i64> {
    let sign = match rest {
        [] | [b'Z' | b'z'] => return Some(0),
        [b'+', ..] => 1,
        [b'-', ..] => -1,
        _ => return None,
    };
    rest = &rest[1..];
    let hours = digits(&mut rest, 2).filter(|hours| *hours < 24)?;
    let _colon = expect(&mut rest, b":");
    let minutes = if rest.is_empty() { 0 } else { digits(&mut rest, 2).filter(|minutes| *minutes < 60)? };
    rest.is_empty().then_some(sign * (hours * 3600 + minutes * 60))
}

fn days_of(year: i64, month: i64) -> i64 {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 => 28 + i64::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// The days from 1970 to a date of the Gregorian calendar. Years are counted from March here, so that leap days come
/// last.
pub fn days(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * month + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// The year, month and day of a day since 1970.
///
/// ```
/// use jird_store::time::{date, days};
/// assert_eq!(date(days(2024, 2, 29)), (2024, 2, 29));
/// ```
pub fn date(day: i64) -> (i64, i64, i64) {
    let day = day + 719_468;
    let era = day.div_euclid(146_097);
    let of_era = day.rem_euclid(146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let (year, month, day) = (year + era * 400, month, of_year - (153 * month + 2) / 5 + 1);
    if month < 10 { (year, month + 3, day) } else { (year + 1, month - 9, day) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_texts_of_one_width() {
        let times = [0, 1, -1, 1_709_622_000_500_000_000, 1_709_683_199_999_999_999, i64::MIN + DAY * SECOND, i64::MAX];
        for width in [20, 21, 22, 24, 28, 30] {
            let mut texts = TimeTexts::new(width);
            for time in times.into_iter().chain(times) {
                assert_eq!(texts.of(time), of_width(time, width), "{time} {width}");
            }
        }
    }

    #[test]
    fn texts_and_numbers_are_times() {
        for (text, time) in [
            ("1970-01-01T00:00:00Z", Some(0)),
            ("1970-01-01", Some(0)),
            ("1970-01-02 00:00:00.000000001", Some(86_400_000_000_001)),
            ("1970-01-01T01:00:00+01:00", Some(0)),
            ("2024-02-29T23:59:59.123456789123Z", Some(1_709_251_199_123_456_789)),
            ("1969-12-31T23:59:59.999Z", Some(-1_000_000)),
            ("1677-09-21T00:12:43.145224192Z", Some(i64::MIN)),
            ("1677-09-21T00:12:43.145224191Z", None),
            ("2262-04-11T23:47:16.854775807Z", Some(i64::MAX)),
            ("9999-01-01", None),
            ("2023-02-29", None),
            ("2024-01-01T00:00:00 ", None),
            ("soon", None),
            ("", None),
        ] {
            assert_eq!(of_text(text.as_bytes()), time, "{text}");
        }
        for (text, time) in [
            ("0", Some(0)),
            ("1709622600.25", Some(1_709_622_600_250_000_000)),
            ("1709622600123", Some(1_709_622_600_123_000_000)),
            ("1709622600123456789", Some(1_709_622_600_123_456_789)),
            ("-1", Some(-1_000_000_000)),
            ("99999999999", None),
            ("1e30", None),
        ] {
            assert_eq!(of_number(text), time, "{text}");
        }
    }

    #[test]
    fn texts_of_one_width_have_the_order_of_their_times() {
        for (text, width) in [
            ("2024-03-05T07:00:00Z", Some(20)),
            ("2024-03-05T07:00:00.123Z", Some(24)),
            ("2024-03-05T07:00:00.1234567890Z", None),
            ("2024-03-05 07:00:00Z", None),
            ("2024-03-05T07:00:60Z", None),
            ("2024-03-05T07:00:00+00:00", None),
            ("2024-03-05T07:00:00", None),
        ] {
            assert_eq!(ordered_width(text.as_bytes()), width, "{text}");
        }
    }

    #[test]
    fn numbers_are_times_by_their_size() {
        for (text, time) in [
            ("0", (0, 0)),
            ("1709622600", (1_709_622_600, 0)),
            ("1709622600.25", (1_709_622_600, 250_000_000)),
            ("1709622600123", (1_709_622_600, 123_000_000)),
            ("1709622600123456", (1_709_622_600, 123_456_000)),
            ("1709622600123456789", (1_709_622_600, 123_456_789)),
            ("-1", (-1, 0)),
            ("-1709622600001", (-1_709_622_601, 999_000_000)),
            ("1.7096226e9", (1_709_622_600, 0)),
        ] {
            assert_eq!(parse_number(text), Some(time), "{text}");
        }
        assert_eq!(parse_number("1e30"), None);
    }
    #[test]
    fn every_day_comes_after_the_one_before() {
        let mut before = days(0, 1, 1) - 1;
        for year in 0..=2400 {
            for month in 1..=12 {
                for day in 1..=days_of(year, month) {
                    before += 1;
                    assert_eq!(days(year, month, day), before);
                    assert_eq!(date(before), (year, month, day));
                }
            }
        }
        assert_eq!(days(1970, 1, 1), 0);
    }

    #[test]
    fn what_is_no_time_is_none() {
        for text in [
            "",
            "soon",
            "2024",
            "2024-13-01",
            "2023-02-29",
            "2024-01-01T25:00",
            "2024-01-01T00:00:00+1",
            "2024-01-01T00:00:00 ",
        ] {
            assert_eq!(parse(text.as_bytes()), None, "{text}");
        }
    }
}

//! Durations as they are typed.

use anyhow::{Context, Result};
use jird_store::time;
use std::time::Duration;

/// A count and a unit, such as 90s, 10m or 2d.
pub(crate) fn duration(text: &str) -> Option<Duration> {
    // An age, but no time of a calendar.
    let is_age = text.starts_with(|first: char| first.is_ascii_digit()) && text.ends_with(['s', 'm', 'h', 'd', 'w']);
    let ago = time::meant(text, 0).ok().filter(|_| is_age)?;
    Some(Duration::from_nanos(ago.unsigned_abs()))
}

/// How long events are kept, such as 30d.
pub(crate) fn age(text: &str) -> Result<Duration> {
    duration(text).filter(|age| !age.is_zero()).context("wanted an age such as 90s, 30m, 12h, 30d or 4w")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_a_count_and_a_unit() {
        let check = |text: &str, wanted: Option<u64>| {
            assert_eq!(duration(text), wanted.map(Duration::from_secs), "{text}");
            assert_eq!(age(text).ok(), wanted.filter(|age| *age > 0).map(Duration::from_secs), "{text}");
        };
        check("0s", Some(0));
        check("90s", Some(90));
        check("10m", Some(600));
        check("1 h", Some(3600));
        check("2d", Some(172_800));
        check("2w", Some(1_209_600));
        for text in ["", "10", "m", "-1m", "1.5h", "1y", "2024-03-05", "1970-01-01T00:00:00Z", "99999999w", "forever"] {
            check(text, None);
        }
    }
}

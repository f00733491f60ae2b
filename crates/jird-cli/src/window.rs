//! Times as they are typed, and the window of the events that a query reads from a store.

use anyhow::{Result, bail};
use jird_store::{Window, time};
use std::time::{SystemTime, UNIX_EPOCH};

/// Which events of a store are read.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct WindowArgs {
    /// For stores: only events since this time, such as 2024-03-05T07:00:00+01:00, 2024-03-05, or an age such as 1h
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// For stores: only events before this time
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
}

impl WindowArgs {
    /// Whether a time is named.
    #[cfg(feature = "query")]
    pub(crate) fn is_given(&self) -> bool {
        self.since.is_some() || self.until.is_some()
    }

    /// The window, if it is `now`, in nanoseconds since 1970.
    pub(crate) fn window(&self, now: i64) -> Result<Window> {
        let meant = |name, text: &Option<String>| text.as_deref().map(|text| nanoseconds(name, text, now)).transpose();
        let window = Window { since: meant("--since", &self.since)?, until: meant("--until", &self.until)? };
        match (window.since, window.until) {
            (Some(since), Some(until)) if since >= until => {
                bail!("--since is not before --until, so no event is between them")
            }
            _ => Ok(window),
        }
    }
}

/// Nanoseconds since 1970.
pub(crate) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}

/// A point in time, in nanoseconds since 1970: by ISO 8601, or as an age.
pub(crate) fn nanoseconds(name: &str, text: &str, now: i64) -> Result<i64> {
    time::meant(text, now).map_err(|why| anyhow::anyhow!("{name} {text}{why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_absolute_or_ago() {
        let check = |text: &str, expected: i64| {
            assert_eq!(nanoseconds("--since", text, 1_000_000_000_000_000_000).unwrap(), expected, "{text}");
        };
        check("1970-01-01", 0);
        check("1970-01-01T01:00:00.5+01:00", 500_000_000);
        check("0s", 1_000_000_000_000_000_000);
        check("90s", 999_999_910_000_000_000);
        check("2m", 999_999_880_000_000_000);
        check("1h", 999_996_400_000_000_000);
        check("1 d", 999_913_600_000_000_000);
        check("1w", 999_395_200_000_000_000);
    }

    #[test]
    fn what_is_no_time_is_refused() {
        let said = |text: &str| nanoseconds("--until", text, 0).expect_err(text).to_string();
        for text in ["", "h", "-1h", "+1h", "1.5h", "1y", "yesterday", "2024-13-01"] {
            assert!(said(text).contains("write a time such as"), "{text}: {}", said(text));
        }
        for text in ["900000d", "106752d", "99999999999999999999d", "9999999999999w"] {
            assert!(said(text).contains("too long ago"), "{text}: {}", said(text));
        }
        assert!(nanoseconds("--until", "106751d", 0).is_ok());
        let backwards = WindowArgs { since: Some("1h".into()), until: Some("2h".into()) };
        assert!(backwards.window(0).is_err());
    }
}

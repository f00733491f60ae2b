//! `--wait`: commands that wait for another process that is at work on the same store.

use anyhow::{Error, Result, anyhow};
use jird_store::{ErrorKind, Patience, time};
use std::time::Duration;

/// How long a command waits for another one.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct WaitArgs {
    /// If another process is at work on the store, wait until it ends; --wait=10m waits at most that long
    #[arg(long, value_name = "DURATION", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    wait: Option<String>,
}

impl WaitArgs {
    /// The patience of the command.
    pub(crate) fn patience(&self) -> Result<Patience> {
        match self.wait.as_deref() {
            None => Ok(Patience::None),
            Some("") => Ok(Patience::Endless),
            Some(text) => duration(text).map(Patience::For).ok_or_else(|| {
                anyhow!("--wait={text} is no duration: write one such as 30s, 10m, 1h or 2d, or --wait alone")
            }),
        }
    }

    /// An error of the store. If another process is at work there, with what can be done about it.
    pub(crate) fn told(&self, error: jird_store::Error) -> Error {
        match self.wait.as_deref() {
            _ if error.kind() != ErrorKind::Locked => error.into(),
            None => anyhow!("{error}; with --wait, this command waits, with --wait=10m at most that long"),
            Some(text) => anyhow!("{error}; it did not end within {text}"),
        }
    }
}

/// A count and a unit.
fn duration(text: &str) -> Option<Duration> {
    // An age, but no time of a calendar.
    let is_age = text.starts_with(|first: char| first.is_ascii_digit()) && text.ends_with(['s', 'm', 'h', 'd', 'w']);
    let ago = time::meant(text, 0).ok().filter(|_| is_age)?;
    Some(Duration::from_nanos(ago.unsigned_abs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_a_count_and_a_unit() {
        let check = |text: &str, wanted: Option<u64>| {
            assert_eq!(duration(text), wanted.map(Duration::from_secs), "{text}");
        };
        check("0s", Some(0));
        check("90s", Some(90));
        check("10m", Some(600));
        check("2d", Some(172_800));
        for text in ["10", "m", "-1m", "1.5h", "2024-03-05", "1970-01-01T00:00:00Z", "99999999w", "forever"] {
            check(text, None);
        }
    }
}

//! `--wait`: commands that wait for another process that is at work on the same store.

use crate::durations::duration;
use anyhow::{Error, Result, anyhow};
use jird_store::{ErrorKind, Patience};

/// What `--wait` alone means.
const FOREVER: &str = "forever";

/// How long a command waits for another one.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct WaitArgs {
    /// If another process is at work on the store, wait until it ends; --wait=10m waits at most that long
    #[arg(long, value_name = "DURATION", num_args = 0..=1, require_equals = true, default_missing_value = FOREVER)]
    wait: Option<String>,
}

impl WaitArgs {
    /// The patience of the command.
    pub(crate) fn patience(&self) -> Result<Patience> {
        match self.wait.as_deref() {
            None => Ok(Patience::None),
            Some(FOREVER) => Ok(Patience::Endless),
            Some(text) => duration(text).map(Patience::For).ok_or_else(|| {
                anyhow!("--wait={text} is not a duration that jird knows: write one such as 30s, 10m, 1h or 2d, or --wait alone")
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

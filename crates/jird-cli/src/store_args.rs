//! Options of the commands that put events into a store.

use crate::durations::duration;
use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use jird::Path;
use jird_store::{FutureLimit, Sync};
use std::time::Duration;

/// When events are flushed to disk.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum SyncArgument {
    /// Each batch is on disk before it is acknowledged
    Batch,
    /// A power failure loses at most the last 200 ms
    Interval,
    /// A power failure loses what the operating system has not written yet
    None,
}

/// A power failure loses at most the events of this time.
const INTERVAL: Duration = Duration::from_millis(200);

impl From<SyncArgument> for Sync {
    fn from(argument: SyncArgument) -> Self {
        match argument {
            SyncArgument::Batch => Self::Batch,
            SyncArgument::Interval => Self::Interval(INTERVAL),
            SyncArgument::None => Self::None,
        }
    }
}

/// How far in the future the times of events may be: 10m, 1d.
pub(crate) fn future_limit(text: &str) -> Result<FutureLimit> {
    duration(text).map(FutureLimit::new).context("wanted a duration such as 90s, 10m, 1h, 1d or 4w")
}

/// The path of a field: a.b is the key b of the object a; one that begins with a slash is a JSON Pointer.
pub(crate) fn path_of(field: &str) -> Result<Path> {
    let keys: Vec<String> = match field.strip_prefix('/') {
        Some(pointer) => pointer.split('/').map(|key| key.replace("~1", "/").replace("~0", "~")).collect(),
        None => field.split('.').map(str::to_owned).collect(),
    };
    if keys.iter().any(String::is_empty) {
        bail!("{field:?} names no field: write a.b for the key b of the object a, or a JSON Pointer such as /a/b");
    }
    Ok(keys.into_iter().fold(Path::root(), Path::key))
}

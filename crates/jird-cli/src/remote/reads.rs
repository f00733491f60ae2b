//! Inputs that are URLs, and the options for them.

use anyhow::{Result, anyhow};
use bytesize::ByteSize;
use jird_formats::files::Reader;
pub(crate) use jird_formats::remote::RemoteFile;
use jird_formats::remote::{Listed, Remote, RemoteOptions, Remotes};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// How URLs are read.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct RemoteArgs {
    /// Of inputs that are URLs, fetch at most this many bytes, such as 500M or 10G, and stop with an error before more
    #[arg(long = "remote-budget", value_name = "BYTES")]
    budget: Option<ByteSize>,
    /// Give up a server that sends nothing, or almost nothing, for this many seconds
    #[arg(long = "remote-patience", value_name = "SECONDS", default_value_t = RemoteOptions::PATIENCE.as_secs_f64(), value_parser = seconds)]
    patience: f64,
    #[arg(long = "remote-block", hide = true, value_name = "BYTES", value_parser = clap::value_parser!(u64).range(1..))]
    block: Option<u64>,
}

/// A time that is longer than nothing and shorter than a day.
fn seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(seconds) if seconds > 0.0 && seconds <= 86_400.0 => Ok(seconds),
        _ => Err("is no number of seconds above 0, and at most a day".to_owned()),
    }
}

/// What all inputs of the command share. A command has one kind of options.
static REMOTES: Mutex<Option<Remotes>> = Mutex::new(None);

impl RemoteArgs {
    /// All URLs of the command are read like this from now on.
    pub(crate) fn begin(self) -> Remotes {
        let default = RemoteOptions::default();
        let remotes = Remotes::new(RemoteOptions {
            budget: self.budget.map(|budget| budget.as_u64()),
            patience: Duration::from_secs_f64(self.patience),
            block_bytes: self.block.unwrap_or(default.block_bytes),
        });
        *REMOTES.lock().unwrap_or_else(PoisonError::into_inner) = Some(remotes.clone());
        remotes
    }
}

fn remotes() -> Remotes {
    REMOTES.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default().clone()
}

/// The URLs that a URL stands for: a pattern or a folder has several. If it cannot be read, why.
pub(crate) fn expand(url: &Path) -> Vec<(PathBuf, Option<String>)> {
    let one = |failure| vec![(url.to_owned(), failure)];
    match remotes().list(&url.to_string_lossy()) {
        Ok(Listed::One) => one(None),
        Ok(Listed::Many(listing)) if listing.urls.is_empty() => {
            one(Some("no object below it has a name that ends in .ndjson, .jsonl or .json".to_owned()))
        }
        Ok(Listed::Many(listing)) => listing.urls.into_iter().map(|url| (PathBuf::from(url), None)).collect(),
        Ok(Listed::Store(_)) => one(Some("is an event store, which only `jird query` reads from there".to_owned())),
        Err(error) => one(Some(error.to_string())),
    }
}

/// An open URL.
pub(crate) enum Open {
    /// It can be read again, at any offset.
    File(RemoteFile),
    /// It can be read once; and how long it is.
    Once(Reader, u64),
}

/// Opens a URL.
pub(crate) fn open(url: &Path) -> Result<Open> {
    match remotes().open(&url.to_string_lossy()) {
        Ok(Remote::File(file)) => Ok(Open::File(file)),
        Ok(Remote::Whole(download)) => {
            let len = download.len();
            Ok(Open::Once(Box::new(download), len))
        }
        Err(error) => Err(anyhow!("{}: {error}", url.display())),
    }
}

/// Whether an event store is there.
#[cfg(feature = "query")]
pub(crate) fn has_store(url: &Path) -> Result<bool> {
    remotes().has_store(&url.to_string_lossy()).map_err(|error| anyhow!("{}: {error}", url.display()))
}

//! Inputs that are URLs, in a program that reads none.

use anyhow::{Result, bail};
use jird::hooks::lines::ReadAt;
use jird_formats::files::Reader;
use std::io;
use std::path::{Path, PathBuf};

/// How URLs are read: not at all, and there are no options.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct RemoteArgs {}

#[cfg(feature = "query")]
use jird_query::Remotes;
/// There is nothing to say.
#[cfg(not(feature = "query"))]
#[derive(Clone, Debug, Default)]
pub(crate) struct Remotes(());

impl RemoteArgs {
    #[expect(clippy::unused_self, reason = "where URLs are read, there are options")]
    pub(crate) fn begin(self) -> Remotes {
        Remotes::default()
    }
}

pub(crate) fn expand(url: &Path) -> Vec<(PathBuf, Option<String>)> {
    vec![(url.to_owned(), None)]
}

/// There are none.
#[derive(Clone, Debug)]
pub(crate) enum RemoteFile {}

impl RemoteFile {
    pub(crate) fn len(&self) -> u64 {
        match *self {}
    }

    pub(crate) fn reader(&self) -> io::Empty {
        match *self {}
    }
}

impl ReadAt for RemoteFile {
    fn read_at(&self, _: &mut [u8], _: u64) -> io::Result<usize> {
        match *self {}
    }
}

#[expect(dead_code, reason = "as with the feature")]
pub(crate) enum Open {
    File(RemoteFile),
    Once(Reader, u64),
}

pub(crate) fn open(url: &Path) -> Result<Open> {
    bail!("{}: this build cannot read URLs (the feature `remote` is off)", url.display())
}

#[cfg(feature = "query")]
pub(crate) fn has_store(url: &Path) -> Result<bool> {
    open(url).map(|_| false)
}

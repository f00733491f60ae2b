//! Inputs that are URLs, in a program that reads none.

use super::expand::FileMessages;
use super::{InputFile, Progress, Reading, Refusal};
use crate::base::error::Error;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// A file that is read at any offset.
pub(super) type AnyFile = File;

/// How inputs are read that are URLs: not at all, without the feature `remote`.
#[derive(Clone, Debug, Default)]
pub struct Remotes(());

/// There are none.
#[derive(Clone, Debug)]
pub(super) enum RemoteFile {}

impl RemoteFile {
    pub(super) fn reader(&self) -> io::Empty {
        match *self {}
    }

    #[cfg(feature = "cluster")]
    pub(super) fn version(&self) -> String {
        match *self {}
    }

    pub(super) fn any(&self) -> AnyFile {
        match *self {}
    }

    pub(super) fn any_part(&self) -> AnyFile {
        match *self {}
    }
}

const NOT_READ: &str = "this build cannot read URLs (the feature `remote` is off)";

pub(super) fn one(_: &Path, _: &Reading, _: &Arc<Progress>) -> Result<InputFile, Refusal> {
    Err(Refusal::Unreadable(NOT_READ.to_owned()))
}

#[expect(clippy::unnecessary_wraps, reason = "as with the feature")]
pub(super) fn open(
    url: &str,
    _: &Reading,
    _: &Arc<Progress>,
    said: &mut FileMessages,
) -> Result<Vec<InputFile>, Error> {
    said.unreadable(format!("{url}: {NOT_READ}"));
    Ok(Vec::new())
}

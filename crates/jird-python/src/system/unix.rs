//! What the module needs of Unix.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

/// Standard input is a socket, in both directions.
pub(crate) type ParentStream = UnixStream;

#[expect(clippy::unnecessary_wraps, reason = "on Windows there are bytes of no path")]
pub(super) fn path_of(bytes: Vec<u8>) -> Option<PathBuf> {
    Some(OsString::from_vec(bytes).into())
}

pub(super) fn without_end(path: &Path, end: &str) -> Option<PathBuf> {
    let kept = path.as_os_str().as_bytes().strip_suffix(end.as_bytes())?;
    Some(OsStr::from_bytes(kept).into())
}

pub(super) fn parent() -> io::Result<(ParentStream, ParentStream)> {
    let socket = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    Ok((socket.try_clone()?, socket))
}

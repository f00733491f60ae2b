//! What the module needs of Windows.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::windows::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// There is none: a process cannot be started with a socket as its standard input, so `jird.Sqlite` is refused here.
pub(crate) type ParentStream = File;

/// `os.fsencode` makes UTF-8 of a path on Windows (PEP 529), and of half a surrogate pair bytes that are not UTF-8.
pub(super) fn path_of(bytes: Vec<u8>) -> Option<PathBuf> {
    String::from_utf8(bytes).ok().map(PathBuf::from)
}

pub(super) fn without_end(path: &Path, end: &str) -> Option<PathBuf> {
    let (path, end): (Vec<u16>, Vec<u16>) = (path.as_os_str().encode_wide().collect(), end.encode_utf16().collect());
    path.strip_suffix(&*end).map(|kept| OsString::from_wide(kept).into())
}

pub(super) fn parent() -> io::Result<(ParentStream, ParentStream)> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "databases are written by a process of its own only on Unix"))
}

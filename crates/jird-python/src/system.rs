//! What the operating systems do in different ways, for the module: paths that are not text, and how a process reaches the one
//! that has started it.

#[cfg_attr(unix, path = "system/unix.rs")]
#[cfg_attr(windows, path = "system/windows.rs")]
mod on;

#[cfg(not(any(unix, windows)))]
compile_error!("the Python module needs Unix or Windows");

pub(crate) use on::ParentStream;
use std::io;
use std::path::{Path, PathBuf};

/// The path of which `os.fsencode` makes these bytes; `None` if there is none.
pub(crate) fn path_of(bytes: Vec<u8>) -> Option<PathBuf> {
    on::path_of(bytes)
}

/// The path without `end`, which is ASCII; `None` if it does not end with that.
pub(crate) fn without_end(path: &Path, end: &str) -> Option<PathBuf> {
    on::without_end(path, end)
}

/// What the process that has started this one sends, and where it hears the answers. Only on Unix.
pub(crate) fn parent() -> io::Result<(ParentStream, ParentStream)> {
    on::parent()
}

//! What the module needs of Windows.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::windows::ffi::{OsStrExt, OsStringExt};
use std::os::windows::io::AsHandle;
use std::path::{Path, PathBuf};

/// Standard input and output, which are pipes: a process cannot be started with a socket as one of them.
pub(crate) type ParentStream = File;

/// The bytes are UTF-8 there. A path with half a surrogate pair has none that Rust reads.
pub(super) fn path_of(bytes: Vec<u8>) -> Option<PathBuf> {
    String::from_utf8(bytes).ok().map(PathBuf::from)
}

pub(super) fn without_end(path: &Path, end: &str) -> Option<PathBuf> {
    let (path, end): (Vec<u16>, Vec<u16>) = (path.as_os_str().encode_wide().collect(), end.encode_utf16().collect());
    path.strip_suffix(&*end).map(|kept| OsString::from_wide(kept).into())
}

pub(super) fn parent() -> io::Result<(ParentStream, ParentStream)> {
    let (input, output) = (io::stdin(), io::stdout());
    Ok((input.as_handle().try_clone_to_owned()?.into(), output.as_handle().try_clone_to_owned()?.into()))
}

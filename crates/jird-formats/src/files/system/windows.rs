//! What files need of Windows.

use super::FileId;
use std::fs::{File, Metadata};
use std::io::{self, IsTerminal};
use std::os::windows::io::AsHandle;
pub use std::os::windows::io::AsHandle as Handle;
use std::path::Path;
use winapi_util::file::{information, typ};
use winapi_util::{AsHandleRef, HandleRef};

/// Whether a process that closes a file loses its locks on it.
pub(crate) const CLOSING_ENDS_LOCKS: bool = false;

/// Windows tells it only of files that are open.
pub(crate) fn id_of(_: &Metadata) -> Option<FileId> {
    None
}

/// The file is opened for it, which ends no locks here.
pub(crate) fn id_of_file(path: &Path) -> Option<FileId> {
    path.metadata().ok().filter(Metadata::is_file)?;
    id_of_handle(HandleRef::from_file(&File::open(path).ok()?))
}

/// A second reader of a named pipe is refused by Windows.
pub(crate) fn id_of_pipe(_: &Path) -> Option<FileId> {
    None
}

pub(crate) fn id_of_stdin() -> Option<FileId> {
    id_of_handle(HandleRef::stdin())
}

pub(crate) fn id_of_stdout() -> Option<FileId> {
    id_of_handle(HandleRef::stdout())
}

fn id_of_handle(handle: impl AsHandleRef) -> Option<FileId> {
    information(handle).ok().map(|data| FileId(data.volume_serial_number(), data.file_index()))
}

/// Not of a console: the standard library decodes what is typed there.
pub(crate) fn stdin_file() -> Option<File> {
    let stdin = io::stdin();
    if stdin.is_terminal() { None } else { stdin.as_handle().try_clone_to_owned().map(File::from).ok() }
}

/// Such as `NUL`, of which Windows tells nothing but its kind.
pub(crate) fn is_device(path: &Path) -> bool {
    match path.metadata() {
        Ok(data) => !data.is_file() && !data.is_dir(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => false,
        Err(_) => File::options()
            .write(true)
            .open(path)
            .is_ok_and(|file| typ(HandleRef::from_file(&file)).is_ok_and(|kind| !kind.is_disk())),
    }
}

/// The room of a pipe is fixed when it is made.
pub(crate) fn widen(_: impl AsHandle) {}

#[expect(clippy::unnecessary_wraps, reason = "on Linux it may fail")]
pub(crate) fn splice(_: &File, _: &File, _: u64, _: usize) -> io::Result<Option<usize>> {
    Ok(None)
}

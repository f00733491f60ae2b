//! What files need of Unix.

use super::FileId;
use std::fs::{File, Metadata};
use std::io;
use std::os::fd::AsFd;
pub use std::os::fd::AsFd as Handle;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

/// Whether a process that closes a file loses its locks on it.
pub(crate) const CLOSING_ENDS_LOCKS: bool = true;

/// The room that a pipe gets: the most that Linux gives to any user.
#[cfg(target_os = "linux")]
const PIPE_BYTES: usize = 1 << 20;

#[expect(clippy::unnecessary_wraps, reason = "on Windows there is none")]
pub(crate) fn id_of(data: &Metadata) -> Option<FileId> {
    Some(FileId(data.dev(), data.ino()))
}

pub(crate) fn id_of_file(path: &Path) -> Option<FileId> {
    path.metadata().ok().filter(Metadata::is_file).and_then(|data| id_of(&data))
}

pub(crate) fn id_of_pipe(path: &Path) -> Option<FileId> {
    let data = path.metadata().ok()?;
    let is_pipe = data.file_type().is_fifo() || data.file_type().is_socket();
    if is_pipe { id_of(&data) } else { None }
}

pub(crate) fn id_of_stdin() -> Option<FileId> {
    id_of_handle(io::stdin())
}

pub(crate) fn id_of_stdout() -> Option<FileId> {
    id_of_handle(io::stdout())
}

#[allow(clippy::unnecessary_cast, reason = "some systems have other types")]
fn id_of_handle(handle: impl AsFd) -> Option<FileId> {
    rustix::fs::fstat(handle).ok().map(|data| FileId(data.st_dev as u64, data.st_ino as u64))
}

pub(crate) fn stdin_file() -> Option<File> {
    io::stdin().as_fd().try_clone_to_owned().map(File::from).ok()
}

pub(crate) fn is_device(path: &Path) -> bool {
    path.metadata().is_ok_and(|data| !data.is_file() && !data.is_dir())
}

/// Gives a pipe more room, where the system can.
pub(crate) fn widen(file: impl AsFd) {
    // It fails for files that are not pipes, and for users with too many pipes; neither matters.
    #[cfg(target_os = "linux")]
    let _ = rustix::pipe::fcntl_setpipe_size(&file, PIPE_BYTES);
    drop(file);
}

/// Moves up to `most` bytes of a pipe to an offset of a file, within the system. `None` if the system cannot do it.
#[cfg(target_os = "linux")]
pub(crate) fn splice(pipe: &File, file: &File, mut at: u64, most: usize) -> io::Result<Option<usize>> {
    use rustix::io::Errno;
    use rustix::pipe::{SpliceFlags, splice};
    loop {
        return match splice(pipe, None, file, Some(&mut at), most, SpliceFlags::empty()) {
            Ok(copied) => Ok(Some(copied)),
            Err(Errno::INTR) => continue,
            Err(Errno::INVAL | Errno::NOSYS) => Ok(None),
            Err(error) => Err(error.into()),
        };
    }
}

#[cfg(not(target_os = "linux"))]
#[expect(clippy::unnecessary_wraps, reason = "on Linux it may fail")]
pub(crate) fn splice(_: &File, _: &File, _: u64, _: usize) -> io::Result<Option<usize>> {
    Ok(None)
}

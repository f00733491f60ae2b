//! What the files of a store need of systems other than Unix, such as Windows. New files have the rights that their
//! folder hands down.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::path::Path;
use std::thread;
use std::time::Duration;

/// Makes folders.
pub(super) fn private_folder() -> DirBuilder {
    DirBuilder::new()
}

/// Options for files.
pub(super) fn private() -> OpenOptions {
    OpenOptions::new()
}

/// A new file belongs where it is.
pub(super) fn belong(_file: &File, _path: &Path) {}

/// The standard library does not know how many bytes can still be written to a folder.
pub(super) fn room(_path: &Path) -> io::Result<u64> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Gives a file another name, and replaces a file that has it. Windows may refuse that while the other file is open, which
/// readers close soon.
pub(super) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    for _ in 0..TRIES {
        match fs::rename(from, to) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => thread::sleep(PAUSE),
            done => return done,
        }
    }
    fs::rename(from, to)
}

/// How often, and after which time, a file is renamed again.
const TRIES: u32 = 100;
const PAUSE: Duration = Duration::from_millis(10);

/// A folder cannot be opened and synced as a file is: Windows keeps the changes of names in its journal.
pub(super) fn sync_dir(path: &Path) -> io::Result<()> {
    path.metadata().map(drop)
}

/// Opens a file to sync what is in it, which Windows does only for a file that may be written.
pub(super) fn open_to_sync(path: &Path) -> io::Result<File> {
    File::options().write(true).open(path)
}

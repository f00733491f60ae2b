//! What the files of a store need of systems other than Unix, such as Windows. New files have the rights that their
//! folder hands down.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::path::Path;

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

/// A folder cannot be opened and synced as a file is: Windows keeps the changes of names in its journal.
pub(super) fn sync_dir(path: &Path) -> io::Result<()> {
    path.metadata().map(drop)
}

/// Opens a file to sync what is in it, which Windows does only for a file that may be written.
pub(super) fn open_to_sync(path: &Path) -> io::Result<File> {
    File::options().write(true).open(path)
}

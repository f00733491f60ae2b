//! What the files of a store need of Unix.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::Path;

/// Makes folders that only their owner may open.
pub(super) fn private_folder() -> DirBuilder {
    let mut builder = DirBuilder::new();
    builder.mode(0o700);
    builder
}

/// Options for files that only their owner may open.
pub(super) fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.mode(0o600);
    options
}

/// Gives a new file the owner, the group and the mode of its folder, as far as this process may. Some file systems
/// know none of these; what cannot be given is left as it is.
pub(super) fn belong(file: &File, path: &Path) {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let (Ok(folder), Ok(own)) = (fs::metadata(parent), file.metadata()) else { return };
    // Only root gives files away.
    if folder.uid() != own.uid() {
        let _ = fchown(file, Some(folder.uid()), None);
    }
    let mut mode = folder.mode() & 0o666;
    if folder.gid() != own.gid() && fchown(file, None, Some(folder.gid())).is_err() {
        // What the folder allows its group is not meant for another one.
        mode &= 0o606;
    }
    if mode != own.mode() & 0o777 {
        let _ = file.set_permissions(fs::Permissions::from_mode(mode));
    }
}

/// How many bytes can still be written to a folder.
pub(super) fn room(path: &Path) -> io::Result<u64> {
    let disk = rustix::fs::statvfs(path)?;
    Ok(disk.f_bavail.saturating_mul(disk.f_frsize))
}

/// Gives a file another name, and replaces a file that has it.
pub(super) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to)
}

/// Makes the names in a folder survive a loss of power.
pub(super) fn sync_dir(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// Opens a file to sync what is in it.
pub(super) fn open_to_sync(path: &Path) -> io::Result<File> {
    File::open(path)
}

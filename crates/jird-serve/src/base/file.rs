//! Which file a path leads to. The system is asked for it, and nothing is opened.

use std::path::{Path, PathBuf};

/// What tells a file from all others, and whether it is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileId {
    device: u64,
    number: u64,
    pub(crate) is_empty: bool,
}

impl FileId {
    /// The file at a path; `None` if there is none, or something else.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        let data = path.metadata().ok().filter(std::fs::Metadata::is_file)?;
        let (device, number) = numbers(&data);
        Some(Self { device, number, is_empty: data.len() == 0 })
    }

    /// What is at a path, whatever it is, and without following it.
    pub(crate) fn of_any(path: &Path) -> Option<Self> {
        let data = path.symlink_metadata().ok()?;
        let (device, number) = numbers(&data);
        Some(Self { device, number, is_empty: data.len() == 0 })
    }

    /// What tells a file or folder from all others.
    #[cfg(feature = "query")]
    pub(crate) fn number(path: &Path) -> Option<(u64, u64)> {
        path.metadata().ok().map(|data| numbers(&data))
    }

    /// Whether they are one file, empty or not.
    pub(crate) fn is_file(self, other: Self) -> bool {
        (self.device, self.number) == (other.device, other.number)
    }
}

/// The write-ahead log of a database.
pub(crate) fn log_of(path: &Path) -> PathBuf {
    let [log] = beside(path, ["-wal"]);
    log
}

/// The files beside a database whose names have more at their end.
pub(crate) fn beside<const N: usize>(path: &Path, suffixes: [&str; N]) -> [PathBuf; N] {
    suffixes.map(|suffix| {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        name.into()
    })
}

/// Bytes of room on the disk of a path, if the system says so.
#[cfg(unix)]
pub(crate) fn room(path: &Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(path).ok()?;
    Some(disk.f_bavail.saturating_mul(disk.f_frsize))
}

#[cfg(not(unix))]
pub(crate) fn room(_: &Path) -> Option<u64> {
    None
}

#[cfg(unix)]
fn numbers(data: &std::fs::Metadata) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt;
    (data.dev(), data.ino())
}

/// Elsewhere, a file that is open cannot be replaced.
#[cfg(not(unix))]
fn numbers(_: &std::fs::Metadata) -> (u64, u64) {
    (0, 0)
}

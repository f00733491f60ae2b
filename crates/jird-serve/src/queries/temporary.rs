//! The folder for the temporary files of a server's queries.

use rustix::fs::{CWD, FlockOperation, Mode, OFlags, flock, openat};
use rustix::io::Errno;
use std::fs::DirBuilder;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// How the names of all begin.
const PREFIX: &str = "jird-queries-";

/// A private folder, removed with the server. In the system's own folder, processes could read the files of other
/// programs. `None` if it could not be created.
pub(crate) struct Temporary(Option<Folder>);

/// A folder, and the lock of the server that uses it. The system lets go of the lock when the server is killed. `None` on
/// disks without locks, where folders of servers that were killed stay.
struct Folder {
    path: PathBuf,
    _lock: Option<OwnedFd>,
}

impl Temporary {
    /// Creates it, and removes what servers have left that were killed.
    pub(crate) fn new() -> Self {
        const TRIES: usize = 100;
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let parent = std::env::temp_dir();
        let folder = (0..TRIES).find_map(|_| {
            let name = format!("{PREFIX}{}-{}", std::process::id(), COUNT.fetch_add(1, Relaxed));
            Folder::create(parent.join(name))
        });
        if let Some(folder) = &folder {
            folder.remove_left(&parent);
        }
        Self(folder)
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        self.0.as_ref().map_or(Path::new("/nonexistent"), |folder| &folder.path)
    }
}

impl Folder {
    /// Creates a folder. A name that exists already may be another user's link to anywhere, and is not used.
    fn create(path: PathBuf) -> Option<Self> {
        DirBuilder::new().mode(0o700).create(&path).ok()?;
        // A server that starts at the same time may see it without its lock, and remove it.
        let lock = match lock(&path) {
            Err(Errno::WOULDBLOCK | Errno::NOENT) => return None,
            locked => locked.ok(),
        };
        path.is_dir().then_some(Self { path, _lock: lock })
    }

    /// Removes the folders beside this one that are this user's, and no server's.
    fn remove_left(&self, parent: &Path) {
        let Ok(ours) = self.path.metadata() else { return };
        for entry in parent.read_dir().into_iter().flatten().flatten() {
            let is_left = || {
                let data = entry.metadata().ok().filter(|data| data.is_dir() && data.uid() == ours.uid())?;
                (data.ino() != ours.ino()).then_some(())?;
                lock(&entry.path()).ok()
            };
            if entry.file_name().to_string_lossy().starts_with(PREFIX)
                && let Some(_lock) = is_left()
            {
                let _ = std::fs::remove_dir_all(entry.path());
            }
        }
    }
}

/// Locks a folder; anything else is an error, and so is a lock of another server.
fn lock(path: &Path) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder = openat(CWD, path, flags, Mode::empty())?;
    flock(&folder, FlockOperation::NonBlockingLockExclusive).map(|()| folder)
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

//! The files of the operating system. Files are readable and writable by their owner alone.

use super::{Files, Input, Lock, Output};
use jird::lines::ReadAt;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

/// The files of the operating system.
#[derive(Debug)]
pub(crate) struct RealFiles;

#[derive(Debug)]
struct RealFile(File);

#[derive(Debug)]
struct RealLock(File);

impl Files for RealFiles {
    fn create_dir(&self, path: &Path) -> io::Result<()> {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(path)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        fs::read_dir(path)?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
    }

    fn create(&self, path: &Path) -> io::Result<Arc<dyn Output>> {
        // A link that a foreign store has in this place would lead to a file elsewhere.
        match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let file = private().write(true).create_new(true).open(path)?;
        Ok(Arc::new(RealFile(file)))
    }

    fn add(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        match fs::symlink_metadata(path) {
            Ok(data) if !data.is_file() => Err(no_file()),
            _ => private().append(true).create(true).open(path)?.write_all(bytes),
        }
    }

    fn open(&self, path: &Path) -> io::Result<Arc<dyn Input>> {
        // Opening a pipe would wait for its writer, and a device has no end.
        if !fs::metadata(path)?.is_file() {
            return Err(no_file());
        }
        Ok(Arc::new(RealFile(File::open(path)?)))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        File::open(path)?.sync_all()
    }

    fn lock(&self, path: &Path, wait: bool) -> io::Result<Option<Box<dyn Lock>>> {
        let file = private().read(true).write(true).create(true).truncate(false).open(path)?;
        if wait {
            file.lock()?;
        } else {
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
        Ok(Some(Box::new(RealLock(file))))
    }
}

fn no_file() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")
}

/// Options for files that only their owner may open.
fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

impl Output for RealFile {
    fn append(&self, bytes: &[u8]) -> io::Result<()> {
        (&self.0).write_all(bytes)
    }

    fn truncate(&self, len: u64) -> io::Result<()> {
        self.0.set_len(len)?;
        io::Seek::seek(&mut &self.0, io::SeekFrom::Start(len)).map(drop)
    }

    fn sync(&self) -> io::Result<()> {
        self.0.sync_data()
    }
}

impl ReadAt for RealFile {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        ReadAt::read_at(&self.0, buffer, offset)
    }
}

impl Input for RealFile {
    fn len(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }
}

impl Lock for RealLock {}

impl Drop for RealLock {
    /// Closing the file is not enough: a process that another thread is just starting has it, too, until it runs.
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_ends_although_a_child_still_has_the_file() {
        let path = std::env::temp_dir().join(format!("jird-store-lock-{}", std::process::id()));
        let file = private().read(true).write(true).create(true).truncate(false).open(&path).unwrap();
        file.try_lock().unwrap();
        // What a forked process has until it runs another program.
        let _child = file.try_clone().unwrap();
        let lock = RealLock(file);
        assert!(RealFiles.lock(&path, false).unwrap().is_none());
        drop(lock);
        assert!(RealFiles.lock(&path, false).unwrap().is_some());
        fs::remove_file(path).unwrap();
    }
}

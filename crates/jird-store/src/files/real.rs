//! The files of the operating system. A new file belongs to the owner and the group of its folder, and its mode is the
//! folder's: maintenance as root locks no service out, and a user who may read the store may read its new files, too.

use super::system::{self, belong, private};
use super::{Files, Input, Lock, Output};
use jird::hooks::lines::{ReadAt, write_all_at};
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
        system::private_folder().create(path)
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
        let file = make(private().write(true), path)?;
        Ok(Arc::new(RealFile(file)))
    }

    fn add(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        match fs::symlink_metadata(path) {
            Ok(data) if !data.is_file() => Err(no_file()),
            _ => open_or_make(private().append(true), path)?.write_all(bytes),
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
        system::rename(from, to)
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        // Some systems would link a symbolic link itself, and it may lead nowhere from the other folder.
        if !fs::symlink_metadata(from)?.is_file() {
            return Err(no_file());
        }
        fs::hard_link(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        fs::remove_dir(path)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        system::sync_dir(path)
    }

    fn room(&self, path: &Path) -> io::Result<u64> {
        system::room(path)
    }

    fn sync_file(&self, path: &Path) -> io::Result<()> {
        system::open_to_sync(path)?.sync_data()
    }

    fn lock(&self, path: &Path, wait: bool) -> io::Result<Option<Box<dyn Lock>>> {
        let file = open_or_make(private().read(true).write(true), path)?;
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

/// Makes a file, which has the owner, the group and the mode of its folder before anything is in it.
fn make(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    let file = options.create_new(true).open(path)?;
    belong(&file, path);
    Ok(file)
}

/// Opens a file, and makes it first if it is not there. A link that leads nowhere is an error.
fn open_or_make(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    match options.create_new(false).open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        opened => return opened,
    }
    match make(options, path) {
        // Another process was quicker.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => options.create_new(false).open(path),
        made => made,
    }
}

impl Output for RealFile {
    fn append(&self, bytes: &[u8]) -> io::Result<()> {
        (&self.0).write_all(bytes)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        write_all_at(&self.0, bytes, offset)
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
        let file = open_or_make(private().read(true).write(true), &path).unwrap();
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

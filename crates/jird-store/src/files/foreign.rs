//! The files of a store that are kept elsewhere, and only read.

use super::{Files, Input, Lock, Output};
use jird::hooks::lines::ReadAt;
use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Where the files of a store are, if it is not a local folder: in an object store, say. They are only read.
pub trait Objects: fmt::Debug + Send + Sync {
    /// Opens a file. What is read later is of the file as it is now, or reading fails.
    ///
    /// # Errors
    /// `NotFound` if there is none, and whatever else prevents it.
    fn open(&self, path: &Path) -> io::Result<Object>;
}

/// A file of a store that is kept elsewhere.
#[derive(Clone)]
pub struct Object {
    /// Its bytes.
    pub bytes: Arc<dyn ReadAt>,
    /// How many it has.
    pub len: u64,
}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Object").field("len", &self.len).finish_non_exhaustive()
    }
}

/// Such files; they are never written.
#[derive(Debug)]
pub(crate) struct ForeignFiles(pub(crate) Arc<dyn Objects>);

fn read_only<T>() -> io::Result<T> {
    Err(io::Error::new(io::ErrorKind::ReadOnlyFilesystem, "the store is elsewhere, and is only read from here"))
}

impl Files for ForeignFiles {
    fn create_dir(&self, _: &Path) -> io::Result<()> {
        read_only()
    }

    fn list(&self, _: &Path) -> io::Result<Vec<String>> {
        read_only()
    }

    fn create(&self, _: &Path) -> io::Result<Arc<dyn Output>> {
        read_only()
    }

    fn add(&self, _: &Path, _: &[u8]) -> io::Result<()> {
        read_only()
    }

    fn open(&self, path: &Path) -> io::Result<Arc<dyn Input>> {
        Ok(Arc::new(self.0.open(path)?))
    }

    fn rename(&self, _: &Path, _: &Path) -> io::Result<()> {
        read_only()
    }

    fn link(&self, _: &Path, _: &Path) -> io::Result<()> {
        read_only()
    }

    fn remove(&self, _: &Path) -> io::Result<()> {
        read_only()
    }

    fn remove_dir(&self, _: &Path) -> io::Result<()> {
        read_only()
    }

    fn sync_dir(&self, _: &Path) -> io::Result<()> {
        read_only()
    }

    fn room(&self, _: &Path) -> io::Result<u64> {
        read_only()
    }

    fn sync_file(&self, _: &Path) -> io::Result<()> {
        read_only()
    }

    fn is_local(&self) -> bool {
        false
    }

    fn lock(&self, _: &Path, _: bool) -> io::Result<Option<Box<dyn Lock>>> {
        read_only()
    }
}

impl ReadAt for Object {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.bytes.read_at(buffer, offset)
    }
}

impl Input for Object {
    fn len(&self) -> io::Result<u64> {
        Ok(self.len)
    }
}

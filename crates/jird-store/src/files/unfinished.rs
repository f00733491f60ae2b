//! New files that do not outlive an error.

use super::{Files, Output};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A file that is being made. If this is dropped before the file has its final name, the file is removed.
#[derive(Debug)]
pub(crate) struct Unfinished {
    files: Arc<dyn Files>,
    path: PathBuf,
    is_done: bool,
}

impl Unfinished {
    /// Makes an empty file, in the place of one that is there.
    pub(crate) fn create(files: &Arc<dyn Files>, path: &Path) -> io::Result<(Arc<dyn Output>, Self)> {
        let unfinished = Self { files: Arc::clone(files), path: path.to_owned(), is_done: false };
        Ok((files.create(path)?, unfinished))
    }

    /// Gives the file its final name, in the place of a file that has it.
    pub(crate) fn rename(mut self, to: &Path) -> io::Result<()> {
        self.files.rename(&self.path, to)?;
        self.is_done = true;
        Ok(())
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if !self.is_done {
            let _ = self.files.remove(&self.path);
        }
    }
}

//! New files that no manifest names yet.

use super::Folder;
use std::path::PathBuf;

/// The files of a number that no manifest names yet. If this is dropped, they are removed, unless a manifest names them
/// all the same: an error of the disk may leave open whether a change was made.
#[derive(Debug)]
pub(crate) struct Fresh {
    folder: Folder,
    number: u64,
    is_named: bool,
}

impl Fresh {
    /// Nothing has this number.
    pub(crate) fn new(folder: &Folder, number: u64) -> Self {
        Self { folder: folder.clone(), number, is_named: false }
    }

    /// The number of the files.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// A manifest names them.
    pub(crate) fn keep(mut self) {
        self.is_named = true;
    }

    /// Whether a manifest may name them.
    fn may_be_named(&self) -> bool {
        let is_named = |manifest: super::Manifest| {
            manifest.spans.iter().any(|span| span.number == self.number)
                || manifest.logs.iter().any(|log| log.number == self.number)
        };
        self.folder.manifest().map_or(true, is_named)
    }

    fn files(&self) -> [PathBuf; 3] {
        [self.folder.log(self.number), self.folder.span(self.number), self.folder.index(self.number)]
    }
}

impl Drop for Fresh {
    fn drop(&mut self) {
        if !self.is_named && !self.may_be_named() {
            self.files().iter().for_each(|file| self.folder.discard(file));
        }
    }
}

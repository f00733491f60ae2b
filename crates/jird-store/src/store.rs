//! A store: a folder.

use crate::error::{Error, ErrorKind};
use crate::files::{Files, ForeignFiles, Objects, RealFiles, create_dirs};
use crate::manifest::Folder;
use crate::settings::{Patience, Settings, WriterOptions};
use crate::snapshot::Snapshot;
use crate::span::BLOCK_BYTES;
use crate::tail::Tail;
use crate::writer::Writer;
use std::path::Path;
use std::sync::Arc;

/// A store of events: a folder. It holds nothing open; readers take a [`Snapshot`], and the one writer a [`Writer`].
/// Any number of processes may have the same store.
#[derive(Clone, Debug)]
pub struct Store {
    pub(crate) folder: Folder,
    settings: Settings,
}

impl Store {
    /// Makes a store in a new or an empty folder, which only its owner may read.
    ///
    /// # Errors
    /// `Exists` if the folder has something in it.
    pub fn create(path: &Path, settings: &Settings) -> Result<Self, Error> {
        Self::create_on(Arc::new(RealFiles), path, settings)
    }

    /// Opens a store.
    ///
    /// # Errors
    /// `Missing` if there is none, `Version` if a later version made it, `Damaged` if its manifest is damaged.
    pub fn open(path: &Path) -> Result<Self, Error> {
        Self::open_on(Arc::new(RealFiles), path)
    }

    /// Opens a store whose files are elsewhere. It is only read: a writer, and everything else that changes a store, is
    /// refused. `path` is what the files are named by: `path/MANIFEST` and so on.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub fn open_elsewhere(objects: Arc<dyn Objects>, path: &Path) -> Result<Self, Error> {
        Self::open_on(Arc::new(ForeignFiles(objects)), path)
    }

    /// Opens a store, or makes it if there is none.
    ///
    /// # Errors
    /// `Version` if there is one with other settings; as [`Store::open`] and [`Store::create`].
    pub fn open_or_create(path: &Path, settings: &Settings) -> Result<Self, Error> {
        let store = match Self::open(path) {
            Err(error) if error.kind() == ErrorKind::Missing => match Self::create(path, settings) {
                // Another process was quicker.
                Err(error) if error.kind() == ErrorKind::Exists => Self::open(path).map_err(|_| error)?,
                result => return result,
            },
            result => result?,
        };
        if store.settings == *settings {
            return Ok(store);
        }
        let path = path.display();
        let message =
            format!("the store in {path} was made with other settings: leave them out, or make another store");
        Err(Error::new(ErrorKind::Version, message))
    }

    pub(crate) fn create_on(files: Arc<dyn Files>, path: &Path, settings: &Settings) -> Result<Self, Error> {
        create_dirs(&*files, path).map_err(|error| Error::io("make the folder", path, &error))?;
        let folder = folder_at(files, path);
        folder.refuse_used()?;
        folder.start(settings)?;
        Ok(Self { folder, settings: settings.clone() })
    }

    pub(crate) fn open_on(files: Arc<dyn Files>, path: &Path) -> Result<Self, Error> {
        let folder = folder_at(files, path);
        let settings = folder.manifest()?.settings;
        Ok(Self { folder, settings })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.folder.path
    }

    /// The settings with which it was made.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The same store, with spans written in blocks of about `bytes` bytes. What is read does not depend on it.
    #[doc(hidden)]
    #[must_use]
    pub fn with_block_bytes(mut self, bytes: usize) -> Self {
        self.folder.block_bytes = bytes.clamp(1, BLOCK_BYTES);
        self
    }

    /// The same store, whose [`writer`](Self::writer), [`compact`](Self::compact) and [`verify`](Self::verify) wait for other
    /// processes that are at work on it.
    #[must_use]
    pub fn with_patience(mut self, patience: Patience) -> Self {
        self.folder.patience = patience;
        self
    }

    /// The state of the store now: every batch that was acknowledged is in it. Reads the logs, and the tables of all
    /// spans.
    ///
    /// # Errors
    /// As [`Store::open`], and those of the operating system. What is damaged is left out.
    pub fn snapshot(&self) -> Result<Snapshot, Error> {
        Snapshot::take(&self.folder)
    }

    /// What comes from now on, in the order in which it comes; or from the event on that has this arrival number.
    /// Reads the logs.
    ///
    /// # Errors
    /// As [`Store::snapshot`].
    pub fn tail(&self, from: Option<u64>) -> Result<Tail, Error> {
        Tail::new(&self.folder, from)
    }

    /// The one writer of the store. What an earlier one left in the log is taken over.
    ///
    /// # Errors
    /// `Locked` if there is another, in any process, and it does not end while the store has
    /// [patience](Self::with_patience). `Version` if another store, with other settings, came to this place since this one
    /// was opened.
    pub fn writer(&self, options: &WriterOptions) -> Result<Writer, Error> {
        Writer::open(&self.folder, &self.settings, options)
    }
}

/// The folder of a store, which does not wait for other processes.
pub(crate) fn folder_at(files: Arc<dyn Files>, path: &Path) -> Folder {
    Folder { path: path.to_owned(), files, block_bytes: BLOCK_BYTES, patience: Patience::None }
}

/// Whether there is a store in a folder, which may have lost its manifest. Opens nothing, and believes the name of a file.
///
/// ```
/// assert!(!jird_store::is_store(std::path::Path::new("/nowhere")));
/// ```
pub fn is_store(path: &Path) -> bool {
    ["MANIFEST", "MANIFEST.copy"].iter().any(|name| path.join(name).is_file())
}

//! Inputs that are URLs: objects of remote stores, which are read as files are.

use super::detect::NO_LENIENT_STORE;
use super::expand::FileMessages;
use super::store::{Failure, StoreText};
use super::{Access, InputFile, Progress, Reading, Refusal};
use crate::base::error::Error;
use jird::hooks::lines::ReadAt;
pub(crate) use jird_formats::remote::AnyFile;
pub use jird_formats::remote::Remotes;
use jird_formats::remote::{Listed, Remote, RemoteReader};
use jird_store::{Object, Objects, Store};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// An object, which any number of threads may read.
#[derive(Clone, Debug)]
pub(super) struct RemoteFile(jird_formats::remote::RemoteFile);

impl RemoteFile {
    /// A reader of all of it.
    pub(super) fn reader(&self) -> RemoteReader {
        self.0.reader()
    }

    /// What tells this version of the object from others.
    #[cfg(feature = "cluster")]
    pub(super) fn version(&self) -> String {
        self.0.version()
    }

    /// The object, to be read in order.
    pub(super) fn any(&self) -> AnyFile {
        AnyFile::Remote(self.0.clone())
    }

    /// The object, to read parts of it.
    pub(super) fn any_part(&self) -> AnyFile {
        AnyFile::Remote(self.0.with_access(jird_formats::remote::Access::Anywhere))
    }
}

/// Opens what a URL stands for: an object, an event store, the objects of a pattern or of a folder. What cannot be read
/// is left out and reported in `said`.
pub(super) fn open(
    url: &str,
    reading: &Reading,
    progress: &Arc<Progress>,
    said: &mut FileMessages,
) -> Result<Vec<InputFile>, Error> {
    let remotes = &reading.remotes;
    let urls = match remotes.list(url) {
        Ok(Listed::One) => vec![url.to_owned()],
        Ok(Listed::Many(listing)) => {
            if listing.is_folder {
                said.of_folder(url, listing.urls.len(), &listing.passed_by);
            }
            listing.urls
        }
        Ok(Listed::Store(folder)) => {
            return InputFile::remote_store(&folder, reading, progress).map(|store| vec![store]);
        }
        Err(error) => {
            said.unreadable(format!("{url}: {error}"));
            return Ok(Vec::new());
        }
    };
    let mut files = Vec::new();
    for (url, opened) in urls.iter().zip(remotes.open_all(&urls)) {
        let file = match opened {
            // If it is not an object, it may be the folder of a store.
            Err(error) if error.kind() == io::ErrorKind::NotFound && remotes.has_store(url).is_ok_and(|is| is) => {
                files.push(InputFile::remote_store(url, reading, progress)?);
                continue;
            }
            Err(error) => Err(Refusal::Unreadable(error.to_string())),
            Ok(remote) => InputFile::remote(url, remote, reading, progress),
        };
        match file {
            Ok(file) => files.push(file),
            Err(Refusal::Unreadable(message)) => said.unreadable(format!("{url}: {message}")),
            Err(Refusal::Encoding(encoding)) => said.refused(format!("{url}: {encoding}")),
        }
    }
    Ok(files)
}

/// Opens the object of a URL.
pub(super) fn one(url: &Path, reading: &Reading, progress: &Arc<Progress>) -> Result<InputFile, Refusal> {
    let url = url.to_string_lossy();
    let opened = reading.remotes.open(&url).map_err(|error| Refusal::Unreadable(error.to_string()))?;
    InputFile::remote(&url, opened, reading, progress)
}

impl InputFile {
    /// An object that was opened. Its first bytes, which tell its layout, are there.
    fn remote(url: &str, remote: Remote, reading: &Reading, progress: &Arc<Progress>) -> Result<Self, Refusal> {
        let path = PathBuf::from(url);
        let file = match remote {
            Remote::File(file) => RemoteFile(file),
            Remote::Whole(download) => return Self::once(path, Box::new(download), None, reading, progress),
        };
        let (reader, bytes) = (Box::new(file.reader()), file.0.len());
        Self::again((&path, None), reader, (Access::Remote(file), bytes), reading, progress)
    }

    /// The event store at a URL, in its present state.
    fn remote_store(url: &str, reading: &Reading, progress: &Arc<Progress>) -> Result<Self, Error> {
        if reading.lenient.is_some() {
            return Err(Error::unread(format!("{url}: {NO_LENIENT_STORE}")));
        }
        let failure = Failure::default();
        let folder = Folder { remotes: reading.remotes.clone(), failure: failure.clone() };
        let path = Path::new(url);
        let text = Store::open_elsewhere(Arc::new(folder), path)
            .and_then(|store| StoreText::of(&store, reading.window, progress, failure.clone()));
        // What could not be read was perhaps taken for damage.
        failure.check().map_err(|error| Error::unread(format!("{url}: {error}")))?;
        Ok(Self::of_store(path, text.map_err(|error| Error::store(&error))?, progress))
    }
}

/// The files of an event store.
#[derive(Clone, Debug)]
struct Folder {
    remotes: Remotes,
    failure: Failure,
}

/// One of them.
struct StoreFile {
    file: jird_formats::remote::RemoteFile,
    name: String,
    failure: Failure,
}

impl Objects for Folder {
    fn open(&self, path: &Path) -> io::Result<Object> {
        self.failure.check()?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let opened = self.remotes.open(&path.to_string_lossy());
        let file = match opened {
            Ok(Remote::File(file)) => file.with_access(jird_formats::remote::Access::Anywhere),
            Ok(Remote::Whole(_)) => {
                let error = io::Error::other("the server sends no parts of files, of which a store is read");
                self.failure.note(&name, &error);
                return Err(error);
            }
            Err(error) => {
                // A compaction may have been quicker, which the store knows how to handle.
                if error.kind() != io::ErrorKind::NotFound {
                    self.failure.note(&name, &error);
                }
                return Err(error);
            }
        };
        let len = file.len();
        Ok(Object { bytes: Arc::new(StoreFile { file, name, failure: self.failure.clone() }), len })
    }
}

impl ReadAt for StoreFile {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.failure.check()?;
        self.file.read_at(buffer, offset).inspect_err(|error| self.failure.note(&self.name, error))
    }
}

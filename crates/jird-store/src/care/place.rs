//! The folder in which a copy of a store is made. It has no manifest until all other files are on disk, and meanwhile a
//! file that says so: whatever ends the work, the folder is a whole store or none.

use crate::clean::WRITER_LOCK;
use crate::error::{Error, ErrorKind};
use crate::files::{Lock, create_dirs};
use crate::manifest::{FileKind, Folder, UNFINISHED_NAME};

/// A new or empty folder, for a copy of a store. Another process that copies to it, or writes to it, is refused.
#[derive(Debug)]
pub(super) struct Place {
    folder: Folder,
    /// Whether the folder was not there.
    is_made: bool,
    _lock: Box<dyn Lock>,
}

impl Place {
    /// Makes the folder, if it is not there, and begins a copy in it.
    ///
    /// # Errors
    /// `Exists` if something is in the folder, or if another process copies to it. Nothing is changed then.
    pub(super) fn begin(folder: Folder) -> Result<Self, Error> {
        let made = create_dirs(&*folder.files, &folder.path);
        let is_made = made.map_err(|error| Error::io("make the folder", &folder.path, &error))?;
        let begun = Self::lock(&folder);
        if begun.is_err() && is_made {
            let _ = folder.files.remove_dir(&folder.path);
        }
        let place = Self { is_made, _lock: begun?, folder };
        match place.mark() {
            Ok(()) => Ok(place),
            Err(error) => Err(place.discard(error)),
        }
    }

    fn lock(folder: &Folder) -> Result<Box<dyn Lock>, Error> {
        refuse_within(folder)?;
        folder.refuse_used()?;
        let path = folder.file(WRITER_LOCK);
        let lock = folder.files.lock(&path, false).map_err(|error| Error::io("lock", &path, &error))?;
        let lock = lock.ok_or_else(|| {
            let path = folder.path.display();
            Error::new(ErrorKind::Exists, format!("another process works in {path}: name another folder"))
        })?;
        // Another copy may have come to its end in between.
        folder.refuse_used().map(|()| lock)
    }

    /// Says that the folder is no store yet, also after a loss of power.
    fn mark(&self) -> Result<(), Error> {
        let path = self.folder.file(UNFINISHED_NAME);
        self.folder.files.create(&path).map_err(|error| Error::io("make", &path, &error))?;
        self.folder.sync()
    }

    /// The folder.
    pub(super) fn folder(&self) -> &Folder {
        &self.folder
    }

    /// Says that the copy is whole. Its manifest is on disk.
    pub(super) fn finish(&self) -> Result<(), Error> {
        let path = self.folder.file(UNFINISHED_NAME);
        self.folder.files.remove(&path).map_err(|error| Error::io("remove", &path, &error))?;
        self.folder.sync()
    }

    /// Removes everything that was made, because of an error. Returns it, with a note if something is left.
    pub(super) fn discard(self, error: Error) -> Error {
        let Self { folder, is_made, _lock } = self;
        if remove_all(&folder, is_made) {
            return error;
        }
        let path = folder.path.display();
        let message = format!("{error}; what was written to {path} could not be removed: it is no store, remove it");
        Error::new(error.kind(), message)
    }
}

/// At most this many folders above one are looked at; above the root is the root.
const DEPTH: usize = 64;

/// Refuses a folder within that of a store, at any depth: its name could be that of a file, and it would go with the store.
fn refuse_within(folder: &Folder) -> Result<(), Error> {
    let mut above = folder.clone();
    // The system finds the folders above, whatever links the path has.
    let is_within = (0..DEPTH).any(|_| {
        above.path.push("..");
        above.has_manifest()
    });
    if !is_within {
        return Ok(());
    }
    let path = folder.path.display();
    Err(Error::new(ErrorKind::Exists, format!("{path} is in the folder of a store: name a folder elsewhere")))
}

/// Removes the files of a copy from a folder, and the folder if it was made. Whether nothing is left. Those go first that
/// would make a store of the others.
fn remove_all(folder: &Folder, is_made: bool) -> bool {
    let Ok(names) = folder.files.list(&folder.path) else { return false };
    let is_ours = |name: &String| {
        FileKind::of(name).is_some() || OURS.iter().any(|ours| name.strip_prefix(ours).is_some_and(is_end))
    };
    let (manifests, mut others): (Vec<String>, Vec<String>) =
        names.into_iter().filter(is_ours).partition(|name| name.starts_with("MANIFEST"));
    // The name that says that this is no store comes last.
    others.sort_by_key(|name| name == UNFINISHED_NAME);
    let remove = |names: Vec<String>| {
        let left = names.iter().filter(|name| folder.files.remove(&folder.file(name)).is_err()).count();
        left == 0 && folder.sync().is_ok()
    };
    let is_gone = remove(manifests) && remove(others);
    is_gone && (!is_made || folder.files.remove_dir(&folder.path).is_ok())
}

/// How the names of files begin that a copy has besides spans and logs. Others may be someone else's.
const OURS: [&str; 4] = ["MANIFEST", "TAKEN", WRITER_LOCK, UNFINISHED_NAME];

/// Whether such a name ends so.
fn is_end(end: &str) -> bool {
    matches!(end, "" | ".new" | ".copy" | ".state")
}

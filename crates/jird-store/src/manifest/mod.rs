//! The state of a store: which files belong to it. It is replaced at once, so that every reader sees one state.
//!
//! ```text
//! MANIFEST  {"format":2, …}   one line of JSON
//!           0123456789abcdef  the checksum of this line, without its line feed
//! ```

mod ballast;
mod fresh;
mod sections;
mod text;

use crate::error::{Error, ErrorKind};
use crate::event::{Clip, Key, TextOrder};
use crate::files::{Files, Unfinished, read_whole};
use crate::settings::Settings;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(crate) use fresh::Fresh;
#[cfg_attr(not(test), expect(unused_imports, reason = "the parts come with what needs them"))]
pub(crate) use sections::{Section, Sections};

const NAME: &str = "MANIFEST";
const NEW_NAME: &str = "MANIFEST.new";
const LOCK_NAME: &str = "LOCK.state";
/// No manifest is longer: 64 MB are half a million spans.
const MANIFEST_BYTES_MAX: u64 = 64 << 20;

/// The state of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Manifest {
    pub(crate) settings: Settings,
    /// How often it was changed.
    pub(crate) generation: u64,
    /// The number of the next file.
    pub(crate) next: u64,
    /// No event that comes has a lower arrival number.
    pub(crate) arrivals: u64,
    pub(crate) spans: Vec<SpanEntry>,
    pub(crate) logs: Vec<LogEntry>,
    pub(crate) needs: Needs,
    pub(crate) sections: Sections,
}

/// What a program must know to read a store, or to change it, beside the format: names of features.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Needs {
    pub(crate) read: Vec<String>,
    pub(crate) write: Vec<String>,
}

/// The features that this program knows.
const FEATURES: [&str; 0] = [];

impl Needs {
    /// Refuses a store that needs a feature that this program does not know.
    fn check(needed: &[String], what: &str, path: &Path) -> Result<(), Error> {
        let unknown = needed.iter().find(|name| !FEATURES.contains(&name.as_str()));
        unknown.map_or(Ok(()), |name| {
            let path = path.display();
            let message =
                format!("{path}: to {what} this store takes {name:?}, which this program lacks: use a later one");
            Err(Error::new(ErrorKind::Version, message))
        })
    }
}

/// A span file of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SpanEntry {
    pub(crate) number: u64,
    pub(crate) events: u64,
    /// Bytes of the events with their line feeds.
    pub(crate) text_bytes: u64,
    /// The length of the file.
    pub(crate) file_bytes: u64,
    pub(crate) first: Key,
    pub(crate) last: Key,
    pub(crate) order: TextOrder,
    /// The checksum of the table of its blocks.
    pub(crate) table_sum: u64,
    /// What retention left: events from this time on.
    pub(crate) keep_from: Option<i64>,
}

/// A log file of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LogEntry {
    pub(crate) number: u64,
    pub(crate) clips: Vec<Clip>,
}

/// The folder of a store and the operations on its files.
#[derive(Clone, Debug)]
pub(crate) struct Folder {
    pub(crate) path: PathBuf,
    pub(crate) files: Arc<dyn Files>,
    /// A block of a span that is written has no more bytes of events, unless it is one event.
    pub(crate) block_bytes: usize,
}

impl Folder {
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    pub(crate) fn span(&self, number: u64) -> PathBuf {
        self.path.join(format!("span-{number}.arrow"))
    }

    pub(crate) fn index(&self, number: u64) -> PathBuf {
        self.path.join(format!("span-{number}.index"))
    }

    pub(crate) fn log(&self, number: u64) -> PathBuf {
        self.path.join(format!("log-{number}"))
    }

    /// Whether there is a manifest.
    pub(crate) fn has_manifest(&self) -> bool {
        self.files.open(&self.file(NAME)).is_ok()
    }

    /// The state as it is now.
    pub(crate) fn manifest(&self) -> Result<Manifest, Error> {
        let path = self.file(NAME);
        let bytes = read_whole(&*self.files, &path, MANIFEST_BYTES_MAX).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => {
                Error::new(ErrorKind::Missing, format!("there is no store in {}", self.path.display()))
            }
            _ => Error::io("read", &path, &error),
        })?;
        text::read(&bytes, &path)
    }

    /// Makes the first manifest.
    pub(crate) fn start(&self, settings: &Settings) -> Result<(), Error> {
        let _lock = self.state_lock()?;
        if self.has_manifest() {
            return Err(Error::new(ErrorKind::Exists, format!("there is a store in {} already", self.path.display())));
        }
        let manifest = Manifest {
            settings: settings.clone(),
            generation: 1,
            next: 1,
            arrivals: 0,
            spans: Vec::new(),
            logs: Vec::new(),
            needs: Needs::default(),
            sections: Sections::default(),
        };
        self.write(&manifest, Need::Room)
    }

    /// Changes the state: reads it, lets `change` change it, and writes it if it is another one then. No one else
    /// changes it meanwhile.
    ///
    /// # Errors
    /// Those of `change`, and of the file system. After the latter, the change may have been made or not.
    pub(crate) fn change<T>(&self, change: impl FnOnce(&mut Manifest) -> Result<T, Error>) -> Result<T, Error> {
        self.change_with(Need::Room, change)
    }

    /// As [`change`](Self::change), for a change after which files can go. It also works on a full disk: the ballast
    /// makes room for it.
    pub(crate) fn change_to_free<T>(&self, change: impl FnOnce(&mut Manifest) -> Result<T, Error>) -> Result<T, Error> {
        self.change_with(Need::Ballast, change)
    }

    fn change_with<T>(&self, need: Need, change: impl FnOnce(&mut Manifest) -> Result<T, Error>) -> Result<T, Error> {
        let _lock = self.state_lock()?;
        let before = self.manifest()?;
        Needs::check(&before.needs.write, "change", &self.file(NAME))?;
        let mut manifest = before.clone();
        let result = change(&mut manifest)?;
        if manifest != before {
            manifest.generation += 1;
            self.write(&manifest, need)?;
        }
        Ok(result)
    }

    /// Reserves the number of a new file.
    pub(crate) fn reserve(&self) -> Result<u64, Error> {
        Ok(self.reserve_many(1)?.start)
    }

    /// Reserves numbers of new files. Those that are not used are not missed.
    pub(crate) fn reserve_many(&self, count: u64) -> Result<Range<u64>, Error> {
        self.change(|manifest| {
            manifest.next += count;
            Ok(manifest.next - count..manifest.next)
        })
    }

    pub(crate) fn sync(&self) -> Result<(), Error> {
        self.files.sync_dir(&self.path).map_err(|error| Error::io("sync the folder", &self.path, &error))
    }

    /// Removes a file that no manifest names any more. If that fails, the next writer does it.
    pub(crate) fn discard(&self, path: &Path) {
        let _ = self.files.remove(path);
    }

    /// Removes the files of a span that no manifest names any more.
    pub(crate) fn discard_span(&self, number: u64) {
        self.discard(&self.span(number));
        self.discard(&self.index(number));
    }

    /// Removes a manifest that a crash left half-written.
    pub(crate) fn discard_new_manifest(&self) -> Result<(), Error> {
        let new = self.file(NEW_NAME);
        if self.files.open(&new).is_ok() {
            let _lock = self.state_lock()?;
            self.discard(&new);
        }
        Ok(())
    }

    fn state_lock(&self) -> Result<Box<dyn crate::files::Lock>, Error> {
        let path = self.file(LOCK_NAME);
        let lock = self.files.lock(&path, true).map_err(|error| Error::io("lock", &path, &error))?;
        lock.ok_or_else(|| Error::new(ErrorKind::Locked, format!("{} is locked", path.display())))
    }

    fn write(&self, manifest: &Manifest, need: Need) -> Result<(), Error> {
        let text = text::write(manifest);
        match self.replace(text.as_bytes()) {
            Err(error) if need == Need::Ballast && error.is_full() && self.free_ballast() => {
                self.replace(text.as_bytes())
            }
            result => result,
        }
    }

    /// Puts another manifest in the place of the one that is there.
    fn replace(&self, text: &[u8]) -> Result<(), Error> {
        let (new, path) = (self.file(NEW_NAME), self.file(NAME));
        let replace = || {
            let (file, unfinished) = Unfinished::create(&self.files, &new)?;
            file.append(text)?;
            file.sync()?;
            unfinished.rename(&path)?;
            self.files.sync_dir(&self.path)
        };
        replace().map_err(|error| Error::io("write", &path, &error))
    }
}

/// Where the room for a manifest comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Need {
    /// The disk must have it.
    Room,
    /// If the disk is full, from the ballast.
    Ballast,
}

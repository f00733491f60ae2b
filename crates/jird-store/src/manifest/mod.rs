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

use crate::error::{Damage, Error, ErrorKind};
use crate::event::{Clip, Key, TextOrder};
use crate::files::{Files, Unfinished, random, read_whole};
use crate::settings::{Patience, Settings};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(crate) use fresh::Fresh;
pub(crate) use sections::{Section, Sections, SourcesLost};

const NAME: &str = "MANIFEST";
const COPY_NAME: &str = "MANIFEST.copy";
const NEW_NAME: &str = "MANIFEST.new";
const LOCK_NAME: &str = "LOCK.state";
/// A file of a folder in which a copy of a store is being made. It goes when the copy has its manifest.
pub(crate) const UNFINISHED_NAME: &str = "UNFINISHED";
/// No manifest is longer: 64 MB are half a million spans.
const MANIFEST_BYTES_MAX: u64 = 64 << 20;

/// The state of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Manifest {
    pub(crate) settings: Settings,
    /// The identity of the store, which its logs have, too; 0 if it has none yet.
    pub(crate) store: u64,
    /// How often it was changed.
    pub(crate) generation: u64,
    /// The number of the next file.
    pub(crate) next: u64,
    /// No event that comes has a lower arrival number.
    pub(crate) arrivals: u64,
    /// The events with lower arrival numbers are in no log: they were sealed, or lost. `None` if it is not known yet, in a
    /// store of the first format.
    pub(crate) sealed: Option<u64>,
    pub(crate) spans: Vec<SpanEntry>,
    pub(crate) logs: Vec<LogEntry>,
    /// What was lost from logs.
    pub(crate) lost: Vec<Loss>,
    pub(crate) needs: Needs,
    pub(crate) sections: Sections,
}

impl Manifest {
    /// That of a store without events.
    pub(crate) fn new(settings: &Settings) -> Self {
        Self {
            settings: settings.clone(),
            store: random(),
            generation: 1,
            next: 1,
            arrivals: 0,
            sealed: Some(0),
            spans: Vec::new(),
            logs: Vec::new(),
            lost: Vec::new(),
            needs: Needs::of_this(),
            sections: Sections::default(),
        }
    }

    /// Whether a file belongs to the state.
    pub(crate) fn has(&self, kind: FileKind) -> bool {
        match kind {
            FileKind::Span(number) | FileKind::Index(number) => self.spans.iter().any(|span| span.number == number),
            FileKind::Log(number) => self.logs.iter().any(|log| log.number == number),
        }
    }
}

/// What a program must know besides the format to read or to change a store: names of features.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Needs {
    pub(crate) read: Vec<String>,
    pub(crate) write: Vec<String>,
}

/// The features that this program knows. A store that it changes needs them, as a reader that lacks one would take a store
/// with times in several notations for one whose texts are in order (`dated`), not find columns (`spellings`), give new
/// spans none (`auto_columns`), or take a table with columns of decimals for a damaged one (`decimals`).
const FEATURES: [&str; 4] = ["dated", "spellings", "auto_columns", "decimals"];

impl Needs {
    /// What a store needs that this program has changed.
    fn of_this() -> Self {
        Self { read: FEATURES.map(str::to_owned).to_vec(), write: Vec::new() }
    }

    /// Refuses a store that needs a feature that this program does not know.
    pub(crate) fn check(needed: &[String], what: &str, path: &Path) -> Result<(), Error> {
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
    /// What its beginning and its batches have; `None` for a log of the first format.
    pub(crate) identity: Option<u64>,
    pub(crate) clips: Vec<Clip>,
}

/// Events that were taken and are lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Loss {
    /// The name of the file that had them.
    pub(crate) file: String,
    /// Their arrival numbers; empty if it is not known which they are.
    pub(crate) arrivals: Range<u64>,
    pub(crate) reason: String,
    /// Whether the loss was accepted by `verify --repair`.
    pub(crate) is_accepted: bool,
}

impl Loss {
    /// How it is reported.
    pub(crate) fn damage(&self, folder: &Folder) -> Damage {
        let Range { start, end } = self.arrivals;
        let which = match end.saturating_sub(start) {
            0 => String::new(),
            1 => format!("; the event with the arrival number {start} is missing"),
            _ => format!("; the events with the arrival numbers {start} to {} are missing", end - 1),
        };
        let reason = format!("{}{which}, until `jird store verify --repair` accepts the loss", self.reason);
        let events = (start < end).then_some(end.saturating_sub(start));
        Damage { file: folder.file(&self.file), block: None, events, reason }
    }
}

/// What a file of a store is, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileKind {
    Span(u64),
    /// The index of a span, perhaps half written.
    Index(u64),
    Log(u64),
}

impl FileKind {
    pub(crate) fn number(self) -> u64 {
        let (Self::Span(number) | Self::Index(number) | Self::Log(number)) = self;
        number
    }

    /// `None` if it is something else than a span, an index or a log.
    pub(crate) fn of(name: &str) -> Option<Self> {
        let number = |text: &str| {
            let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            text.parse().ok().filter(|_| is_number)
        };
        if let Some(rest) = name.strip_prefix("log-") {
            return number(rest).map(Self::Log);
        }
        let rest = name.strip_prefix("span-")?;
        let of_index = || [".index", ".index.new"].iter().find_map(|end| number(rest.strip_suffix(end)?));
        rest.strip_suffix(".arrow").and_then(number).map(Self::Span).or_else(|| of_index().map(Self::Index))
    }
}

/// The folder of a store and the operations on its files.
#[derive(Clone, Debug)]
pub(crate) struct Folder {
    pub(crate) path: PathBuf,
    pub(crate) files: Arc<dyn Files>,
    /// A block of a span that is written has no more bytes of events, unless it is one event.
    pub(crate) block_bytes: usize,
    /// How long it waits for the locks of other processes.
    pub(crate) patience: Patience,
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

    /// What tells of a manifest that cannot be used, and what to do about it.
    fn no_manifest(&self, what: &str) -> Error {
        let (file, path) = (self.file(NAME), self.path.display());
        let message = format!("{}: {what}; `jird store verify --repair {path}` makes it again", file.display());
        Error::new(ErrorKind::Damaged, message)
    }

    /// Why there is no manifest: there is no store, or there are its other files.
    fn without_manifest(&self) -> Error {
        let names = self.files.list(&self.path).unwrap_or_default();
        let has = |name: &str| names.iter().any(|other| other == name);
        if has(UNFINISHED_NAME) && !has(COPY_NAME) {
            let path = self.path.display();
            let message = format!(
                "there is no store in {path}: it is a copy that was not finished; remove the folder, and copy again"
            );
            return Error::new(ErrorKind::Missing, message);
        }
        match names.iter().find(|name| *name == COPY_NAME || FileKind::of(name).is_some()) {
            Some(name) => self.no_manifest(&format!("the manifest is gone, and {name} is there")),
            None => Error::new(ErrorKind::Missing, format!("there is no store in {}", self.path.display())),
        }
    }

    /// Whether there is a manifest.
    pub(crate) fn has_manifest(&self) -> bool {
        self.files.open(&self.file(NAME)).is_ok()
    }

    /// The state as it is now.
    pub(crate) fn manifest(&self) -> Result<Manifest, Error> {
        // The copy is written after the manifest, and read before it.
        let copied = self.copied_generation();
        let manifest = self.read_manifest()?;
        if copied <= manifest.generation {
            return Ok(manifest);
        }
        let copied = self.copy().map_or(0, |copy| copy.generation);
        let manifest = self.read_manifest()?;
        if copied <= manifest.generation {
            return Ok(manifest);
        }
        Err(self.no_manifest(&format!("it is older than {COPY_NAME}, so it was put there by hand")))
    }

    fn read_manifest(&self) -> Result<Manifest, Error> {
        let path = self.file(NAME);
        let bytes = read_whole(&*self.files, &path, MANIFEST_BYTES_MAX).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => self.without_manifest(),
            _ => Error::io("read", &path, &error),
        })?;
        text::read(&bytes, &path).map_err(|fault| fault.told(|what| self.no_manifest(what)))
    }

    /// The copy of the manifest, if it is whole.
    pub(crate) fn copy(&self) -> Option<Manifest> {
        let path = self.file(COPY_NAME);
        let bytes = read_whole(&*self.files, &path, MANIFEST_BYTES_MAX).ok()?;
        text::read(&bytes, &path).ok()
    }

    /// The generation that the copy of the manifest claims to have.
    fn copied_generation(&self) -> u64 {
        let is_local = self.files.is_local();
        let head = if is_local { self.head(COPY_NAME) } else { None };
        head.map_or(0, |head| text::generation(&head))
    }

    /// How the manifest begins: with its generation and the identity of the store, so each change of it changes this.
    /// `None` if it cannot be read, or if it is one of the first format, which has neither.
    pub(crate) fn manifest_head(&self) -> Option<Vec<u8>> {
        self.head(NAME).filter(|head| text::generation(head) > 0)
    }

    /// How a manifest begins.
    fn head(&self, name: &str) -> Option<Vec<u8>> {
        let mut head = Vec::new();
        let input = self.files.open(&self.file(name)).ok()?;
        let len = input.len().ok()?.min(text::HEAD_BYTES);
        crate::files::read_exact(&*input, 0, len, &mut head).ok()?;
        Some(head)
    }

    /// Puts a manifest in the place of one that cannot be used, which is kept aside. Nothing else changes it: the caller is
    /// the only writer.
    pub(crate) fn put_back(&self, mut manifest: Manifest) -> Result<(), Error> {
        let _lock = self.state_lock()?;
        let path = self.file(NAME);
        match self.files.rename(&path, &self.file("MANIFEST.damaged")) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(Error::io("rename", &path, &error));
            }
            _ => {}
        }
        manifest.generation += 1;
        self.write(&manifest, Need::Ballast)
    }

    /// Writes the copy again if a crash came between the manifest and it. Files that only the older one names may go then.
    pub(crate) fn settle_copy(&self) -> Result<(), Error> {
        let _lock = self.state_lock()?;
        let manifest = self.manifest()?;
        if self.copy().as_ref() != Some(&manifest) {
            self.write_copy(text::write(&manifest).as_bytes());
        }
        Ok(())
    }

    /// Refuses a folder that has something in it. One file system has a folder of its own; the other files are left by a
    /// crash, or by another process that makes this store.
    pub(crate) fn refuse_used(&self) -> Result<(), Error> {
        let names = self.files.list(&self.path).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotADirectory => {
                let what = format!("{} is not a folder: name one that is new or empty", self.path.display());
                Error::new(ErrorKind::Exists, what)
            }
            _ => Error::io("list", &self.path, &error),
        })?;
        let is_obstacle = |name: &&String| !matches!(name.as_str(), "lost+found" | "LOCK" | LOCK_NAME | NEW_NAME);
        let Some(first) = names.iter().find(is_obstacle) else { return Ok(()) };
        let path = self.path.display();
        let has = |name: &str| names.iter().any(|other| other == name);
        let what = if has(NAME) {
            format!("there is a store in {path} already")
        } else if has(UNFINISHED_NAME) {
            format!("a copy of a store in {path} was not finished: remove the folder, or name another one")
        } else {
            format!("there are other files in {path}, such as {first}: name a folder that is new or empty")
        };
        Err(Error::new(ErrorKind::Exists, what))
    }

    /// Makes the first manifest.
    pub(crate) fn start(&self, settings: &Settings) -> Result<(), Error> {
        self.start_with(&Manifest::new(settings))
    }

    /// Makes the first manifest: that of a copy.
    pub(crate) fn start_with(&self, manifest: &Manifest) -> Result<(), Error> {
        let _lock = self.state_lock()?;
        if self.has_manifest() {
            return Err(Error::new(ErrorKind::Exists, format!("there is a store in {} already", self.path.display())));
        }
        self.write(manifest, Need::Room)
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
        if manifest.store == 0 {
            manifest.store = random();
        }
        let result = change(&mut manifest)?;
        if manifest != before {
            manifest.needs.read = Needs::of_this().read;
            manifest.generation += 1;
            if manifest.logs.is_empty() {
                manifest.sealed = manifest.sealed.or(Some(manifest.arrivals));
            }
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
        replace().map_err(|error| Error::io("write", &path, &error))?;
        self.write_copy(text);
        Ok(())
    }

    /// Writes the copy of the manifest, which is used when that is damaged. It is not synced: what a loss of power leaves of
    /// it has its checksum or not. If it cannot be written, there is none.
    fn write_copy(&self, text: &[u8]) {
        let (new, path) = (self.file(NEW_NAME), self.file(COPY_NAME));
        let write = || {
            let (file, unfinished) = Unfinished::create(&self.files, &new)?;
            file.append(text)?;
            unfinished.rename(&path)
        };
        if write().is_err() {
            self.discard(&path);
        }
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

//! Copies of a store: one state of it, in another folder, while writers, compactions and retention go on.
//!
//! A span and its index never change once they have their names: another name for the same bytes is a copy of them. Logs
//! grow, so their bytes are copied. The manifest comes last.

use super::place::Place;
use crate::error::{Damage, Error, ErrorKind};
use crate::files::{Files, Input, RealFiles, read_exact};
use crate::log::{self, LogContent};
use crate::logs::{Logs, TakenFile, TakenRanges, Unreadable};
use crate::manifest::{Folder, LogEntry, Manifest, Needs};
use crate::settings::Window;
use crate::store::{Store, folder_at};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// How a store is copied.
#[derive(Clone, Debug, Default)]
pub struct BackupOptions {
    /// Files are copied although a second name for them would do, so that no later damage to the bytes of one store is
    /// damage to both.
    pub copies: bool,
    /// When this becomes true, the work ends with an error, and nothing of the copy stays.
    pub stop: Arc<AtomicBool>,
}

/// What a copy of a store has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Backup {
    /// Its spans.
    pub spans: u64,
    /// Its events.
    pub events: u64,
    /// Bytes of files that the copy shares with the store, under names of its own.
    pub linked_bytes: u64,
    /// Bytes of files that were copied.
    pub copied_bytes: u64,
    /// What the store lacks, and so its copy. Blocks of events were not looked at: [`Store::verify`] does so.
    pub damage: Vec<Damage>,
}

/// How often newer states are tried, while compactions remove files of those before.
const TRIES: usize = 100;

/// How many bytes of a file are copied at a time.
const CHUNK_BYTES: u64 = if cfg!(test) { 1000 } else { 1 << 20 };

impl Store {
    /// Makes a copy of one state of the store in a new or empty folder. The copy is a store of its own. It has every
    /// event that was acknowledged before the call, and the positions up to which sources were taken. Other processes may
    /// write to the store, compact it and remove old events meanwhile; nothing of the store is changed.
    ///
    /// Spans and indexes are linked if the folder is on the same file system: then they take no room, until a compaction
    /// or retention replaces them in one of the two stores. Otherwise they are copied, as logs always are.
    ///
    /// To restore a copy, [verify](Store::verify) it, and make a copy of it, with [`BackupOptions::copies`].
    ///
    /// ```
    /// use jird_store::{BackupOptions, Settings, Store, WriterOptions};
    /// let folder = std::env::temp_dir().join(format!("jird-backup-{}", std::process::id()));
    /// # let _ = std::fs::remove_dir_all(&folder);
    /// let store = Store::create(&folder.join("log"), &Settings::default())?;
    /// let writer = store.writer(&WriterOptions::default())?;
    /// writer.append_event(b"1")?;
    /// let backup = store.backup(&folder.join("copy"), &BackupOptions::default())?;
    /// assert_eq!(backup.events, 1);
    /// assert_eq!(Store::open(&folder.join("copy"))?.info()?.events, 1);
    /// # writer.finish()?;
    /// # std::fs::remove_dir_all(&folder).unwrap();
    /// # Ok::<(), jird_store::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Exists` if there is something in the folder; `Version` if a later version made the store; `Io(Interrupted)` if it
    /// was told to stop; those of the operating system. What was written is removed then.
    pub fn backup(&self, target: &Path, options: &BackupOptions) -> Result<Backup, Error> {
        let from = &self.folder;
        let is_local = from.files.is_local();
        let files: Arc<dyn Files> = if is_local { Arc::clone(&from.files) } else { Arc::new(RealFiles) };
        // Before anything is made.
        let needs = from.manifest()?.needs;
        Needs::check(&needs.write, "copy", &from.path)?;
        let place = Place::begin(Folder { block_bytes: from.block_bytes, ..folder_at(files, target) })?;
        let options = BackupOptions { copies: options.copies || !is_local, stop: Arc::clone(&options.stop) };
        let to = place.folder().clone();
        let (parts, lost) = (BTreeMap::new(), BTreeSet::new());
        let copying = Copying { from, to: &to, options, parts, lost, backup: Backup::default() };
        match copying.run().and_then(|backup| place.finish().map(|()| backup)) {
            Ok(backup) => Ok(backup),
            Err(error) => Err(place.discard(error)),
        }
    }
}

/// A copy that is being made.
struct Copying<'f> {
    from: &'f Folder,
    to: &'f Folder,
    options: BackupOptions,
    /// The files of spans that are secured, by their names.
    parts: BTreeMap<String, Part>,
    /// The files that the store lacks.
    lost: BTreeSet<String>,
    backup: Backup,
}

/// A file that can no longer disappear.
enum Part {
    /// It has its name in the copy, and this many bytes.
    Linked(u64),
    /// It is open, to be copied.
    Open(Arc<dyn Input>),
}

/// The logs of a state, open, the newest first.
type OpenLogs<'m> = Vec<(&'m LogEntry, Arc<dyn Input>)>;

impl Copying<'_> {
    fn run(mut self) -> Result<Backup, Error> {
        // Before the manifest: then its files have all that this says.
        let taken = TakenRanges::read(self.from);
        let manifest = self.secure()?;
        self.copy_parts()?;
        self.to.sync()?;
        let logs = Logs::read(self.to, &manifest, &taken, Unreadable::Tell)?;
        let arrivals = manifest.arrivals.max(logs.arrivals);
        drop(logs);
        if taken.knows(manifest.store) {
            TakenFile::create(self.to, manifest.store, arrivals)?;
        }
        // Damage to the logs of the copy is known as such from now on.
        self.to.start_with(&Manifest { arrivals, ..manifest })?;
        let snapshot = Store::open_on(Arc::clone(&self.to.files), &self.to.path)?.snapshot()?;
        self.backup.spans = snapshot.spans().len() as u64;
        self.backup.events = snapshot.text(Window::ALL)?.events();
        self.backup.damage = snapshot.damage();
        Ok(self.backup)
    }

    /// Links or opens all spans of a state, and copies its logs. Returns its manifest.
    fn secure(&mut self) -> Result<Manifest, Error> {
        let mut manifest = self.from.manifest()?;
        for _ in 0..TRIES {
            let missing = match self.secure_state(&manifest)? {
                Ok(logs) => {
                    self.copy_logs(logs)?;
                    return Ok(manifest);
                }
                Err(missing) => missing,
            };
            manifest = self.from.manifest()?;
            // No file gets its name after the manifest has it: one that is still named is lost, and no compaction was
            // quicker.
            if names(&manifest).any(|name| name == missing) {
                self.lost.insert(missing);
            }
            self.drop_others(&manifest)?;
        }
        let path = self.from.path.display();
        let message = format!("the store in {path} changes too quickly to be copied: try again");
        Err(Error::new(ErrorKind::Io(io::ErrorKind::NotFound), message))
    }

    /// Links or opens all files of a state, but for those that are lost; or tells which one is missing.
    fn secure_state<'m>(&mut self, state: &'m Manifest) -> Result<Result<OpenLogs<'m>, String>, Error> {
        for name in span_names(state) {
            self.go_on()?;
            if !self.secure_part(&name)? && !self.lost.contains(&name) {
                return Ok(Err(name));
            }
        }
        let mut logs = Vec::new();
        for entry in state.logs.iter().rev() {
            let name = log_name(entry);
            match self.open(&name)? {
                Some(input) => logs.push((entry, input)),
                None if self.lost.contains(&name) => {}
                None => return Ok(Err(name)),
            }
        }
        Ok(Ok(logs))
    }

    /// Links or opens a file of a span. Whether it is there.
    fn secure_part(&mut self, name: &str) -> Result<bool, Error> {
        if self.parts.contains_key(name) {
            return Ok(true);
        }
        let (from, to) = (self.from.file(name), self.to.file(name));
        // Whatever the reason is, the file can be copied, or copying says why it cannot.
        if !self.options.copies && self.to.files.link(&from, &to).is_ok() {
            let len = self.to.files.open(&to).and_then(|file| file.len());
            let len = len.map_err(|error| Error::io("open", &to, &error))?;
            self.parts.insert(name.to_owned(), Part::Linked(len));
            return Ok(true);
        }
        let Some(input) = self.open(name)? else { return Ok(false) };
        self.parts.insert(name.to_owned(), Part::Open(input));
        Ok(true)
    }

    /// Opens a file of the store. `None` if it is missing, or no file.
    fn open(&self, name: &str) -> Result<Option<Arc<dyn Input>>, Error> {
        let path = self.from.file(name);
        match self.from.files.open(&path) {
            Ok(input) => Ok(Some(input)),
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::InvalidInput) => Ok(None),
            Err(error) => Err(Error::io("open", &path, &error)),
        }
    }

    /// Gives up the files that a newer state no longer has.
    fn drop_others(&mut self, state: &Manifest) -> Result<(), Error> {
        let wanted: BTreeSet<String> = span_names(state).collect();
        for (name, part) in self.parts.extract_if(.., |name, _| !wanted.contains(name)) {
            let path = self.to.file(&name);
            if let Part::Linked(_) = part {
                self.to.files.remove(&path).map_err(|error| Error::io("remove", &path, &error))?;
            }
        }
        Ok(())
    }

    /// Copies what is open of spans.
    fn copy_parts(&mut self) -> Result<(), Error> {
        for (name, part) in std::mem::take(&mut self.parts) {
            match part {
                Part::Linked(len) => self.backup.linked_bytes += len,
                Part::Open(input) => {
                    let path = self.from.file(&name);
                    let len = input.len().map_err(|error| Error::io("read", &path, &error))?;
                    self.copy(&name, &*input, len)?;
                }
            }
        }
        Ok(())
    }

    /// Copies the whole batches of logs. The newest log is the first: what it has was written when the older ones were
    /// complete.
    fn copy_logs(&mut self, logs: OpenLogs<'_>) -> Result<(), Error> {
        for (entry, input) in logs {
            let name = log_name(entry);
            let path = self.from.file(&name);
            let content = settled(&*input, entry.identity).map_err(|error| Error::io("read", &path, &error))?;
            self.copy(&name, &*input, content.len - content.torn_bytes)?;
        }
        Ok(())
    }

    /// Copies the first bytes of a file.
    fn copy(&mut self, name: &str, input: &dyn Input, len: u64) -> Result<(), Error> {
        let (from, to) = (self.from.file(name), self.to.file(name));
        let output = self.to.files.create(&to).map_err(|error| Error::io("make", &to, &error))?;
        let (mut at, mut chunk) = (0, Vec::new());
        while at < len {
            self.go_on()?;
            let bytes = CHUNK_BYTES.min(len - at);
            read_exact(input, at, bytes, &mut chunk).map_err(|error| Error::io("read", &from, &error))?;
            output.append(&chunk).map_err(|error| Error::io("write", &to, &error))?;
            at += bytes;
        }
        self.backup.copied_bytes += len;
        output.sync().map_err(|error| Error::io("sync", &to, &error))
    }

    /// An error if it is time to stop.
    fn go_on(&self) -> Result<(), Error> {
        if !self.options.stop.load(Ordering::Relaxed) {
            return Ok(());
        }
        let message = format!("the copy to {} was stopped", self.to.path.display());
        Err(Error::new(ErrorKind::Io(io::ErrorKind::Interrupted), message))
    }
}

/// The names of the files of all spans, each before that of its index.
fn span_names(state: &Manifest) -> impl Iterator<Item = String> {
    let names = |number: u64| [format!("span-{number}.arrow"), format!("span-{number}.index")];
    state.spans.iter().flat_map(move |span| names(span.number))
}

fn log_name(entry: &LogEntry) -> String {
    format!("log-{}", entry.number)
}

/// The names of all files of a state.
fn names(state: &Manifest) -> impl Iterator<Item = String> {
    span_names(state).chain(state.logs.iter().map(log_name))
}

/// What is in a log that a writer may be appending to. A writer that cuts off what it could not write, as on a full disk,
/// may have the reader see two batches in one; so what is damaged is read again.
fn settled(input: &dyn Input, identity: Option<u64>) -> io::Result<LogContent> {
    /// How often it is read at most.
    const READS: usize = 3;
    for _ in 1..READS {
        match log::read(input, identity) {
            Ok(content) if content.damage.is_empty() => return Ok(content),
            _ => {}
        }
    }
    log::read(input, identity)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Sync;
    use crate::files::simulated::Disk;
    use crate::settings::{Settings, WriterOptions};
    use jird::hooks::lines::ReadAt;
    use std::fmt;
    use std::sync::Mutex;

    type Hook = Arc<Mutex<Option<Box<dyn FnOnce() + Send>>>>;

    /// A log. When the first of all is read, something happens to the store before the next one is.
    struct Hooked(Arc<dyn Input>, Hook);

    impl fmt::Debug for Hooked {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("Hooked")
        }
    }

    impl ReadAt for Hooked {
        fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
            self.0.read_at(buffer, offset)
        }
    }

    impl Input for Hooked {
        fn len(&self) -> io::Result<u64> {
            let len = self.0.len();
            let hook = self.1.lock().unwrap().take();
            hook.into_iter().for_each(|hook| hook());
            len
        }
    }

    #[test]
    fn logs_that_grow_while_they_are_copied_have_no_gap() {
        let files: Arc<dyn Files> = Arc::new(Disk::default());
        let store = Store::create_on(Arc::clone(&files), Path::new("/store"), &Settings::default()).unwrap();
        let writer = Arc::new(store.writer(&WriterOptions { sync: Sync::None, seal_bytes: 100 }).unwrap());
        let append = |writer: &crate::Writer, count: u64| {
            for _ in 0..count {
                writer.append_event(b"\"an event\"").unwrap();
            }
        };
        // Sealed once, so that the next log is there when this one is full.
        append(&writer, 20);
        writer.seal().unwrap();
        append(&writer, 2);
        let manifest = store.folder.manifest().unwrap();
        assert!(manifest.logs.len() > 1, "{:?}", manifest.logs);
        let to = folder_at(files, Path::new("/copy"));
        let (parts, lost, backup) = (BTreeMap::new(), BTreeSet::new(), Backup::default());
        let mut copying =
            Copying { from: &store.folder, to: &to, options: BackupOptions::default(), parts, lost, backup };
        let logs = copying.secure_state(&manifest).unwrap().unwrap();
        let more = Arc::clone(&writer);
        let hook: Hook = Arc::new(Mutex::new(Some(Box::new(move || append(&more, 15)))));
        let hooked = |(entry, input)| (entry, Arc::new(Hooked(input, Arc::clone(&hook))) as Arc<dyn Input>);
        copying.copy_logs(logs.into_iter().map(hooked).collect()).unwrap();
        assert!(hook.lock().unwrap().is_none());
        let read = Logs::read(&to, &manifest, &TakenRanges::default(), Unreadable::Tell).unwrap();
        assert_eq!((read.losses, read.damage), (vec![], vec![]));
        assert!(read.arrivals >= 22, "{}", read.arrivals);
    }

    #[test]
    fn what_a_newer_state_no_longer_has_is_given_up() {
        let disk = Disk::default();
        let files: Arc<dyn Files> = Arc::new(disk.clone());
        let store = Store::create_on(Arc::clone(&files), Path::new("/store"), &Settings::default()).unwrap();
        for _ in 0..3 {
            let writer = store.writer(&WriterOptions::default()).unwrap();
            writer.append_event(b"1").unwrap();
            writer.seal().unwrap();
            writer.finish().unwrap();
        }
        let to = folder_at(files, Path::new("/copy"));
        let (parts, lost, backup) = (BTreeMap::new(), BTreeSet::new(), Backup::default());
        let options = BackupOptions::default();
        let mut copying = Copying { from: &store.folder, to: &to, options, parts, lost, backup };
        let copied = || disk.files().into_iter().filter(|(path, _)| path.starts_with("/copy")).count();
        for spans in [3, 1] {
            let state = store.folder.manifest().unwrap();
            assert_eq!(state.spans.len(), spans);
            copying.drop_others(&state).unwrap();
            assert!(copying.secure_state(&state).unwrap().is_ok());
            assert_eq!((copied(), copying.parts.len()), (2 * spans, 2 * spans));
            store.compact(crate::Extent::Full).unwrap();
        }
    }
}

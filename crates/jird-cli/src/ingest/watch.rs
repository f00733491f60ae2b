//! `--watch`: takes what programs append to files, until a signal ends the command.
//!
//! Files are looked at by their names, and followed by what they are: each is open as long as a name leads to it, and for a
//! while after that. So a file that has several names, or gets another one, is taken once, and what a program still
//! writes to it after log rotation has renamed it is taken, too.

use super::checkpoints::{Id, renamed};
use super::take::{File, Start, Take};
use crate::input::{Counter, Input};
use crate::outcome::{Outcome, report as say, words};
use anyhow::{Context, Result, bail};
use jird_formats::encoding::blank_mark;
use jird_formats::files::{Compression, FileId, Text, open};
use jird_store::{Compacted, Error, Upkeep, Writer, is_store};
use std::cell::Cell;
use std::fs;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime};

/// How often files are looked at: a look at one takes a few microseconds.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// How long a file is followed to which no name leads, after it was last written to: until its writer has opened another.
const GRACE: Duration = Duration::from_secs(10);
/// A last line that is longer is not read again before it ends.
const OPEN_LINE_BYTES: u64 = 1 << 16;

/// Files that are taken as they grow.
pub(super) struct Watch<'r> {
    names: Vec<Name>,
    files: Vec<OpenFile>,
    store: PathBuf,
    tidy: Tidy,
    read: &'r Counter,
}

/// A name, and the file to which it led when it was last looked at. An empty file counts as none.
struct Name {
    path: PathBuf,
    file: Option<FileId>,
}

/// A file that is followed.
struct OpenFile {
    id: FileId,
    path: PathBuf,
    /// The watched name by which it is known to later runs.
    name: PathBuf,
    handle: fs::File,
    /// Where it is begun, if nothing was taken of it yet.
    start: Start,
    file: Option<File>,
    is_compressed: bool,
    /// Its length and time when it was last looked at.
    seen: (u64, Option<SystemTime>),
    /// Since when no name leads to it, and it was not written to.
    unnamed: Option<Instant>,
}

/// # Errors
/// If an input cannot be watched: standard input, a pipe, a folder, a URL.
pub(super) fn check(input: &Input) -> Result<()> {
    match input {
        Input::File(path) if path.is_file() || !path.exists() => Ok(()),
        _ => bail!("{}: --watch needs the names of files, not pipes, folders or URLs", input.name()),
    }
}

impl<'r> Watch<'r> {
    pub(super) fn new(inputs: &[Input], path: &Path, upkeep: Upkeep, read: &'r Counter) -> Self {
        let name = |input: &Input| Name { path: input.path().map_or_else(PathBuf::new, Path::to_owned), file: None };
        let names = inputs.iter().map(name).collect();
        Self { names, files: Vec::new(), store: path.to_owned(), tidy: Tidy::new(upkeep), read }
    }

    /// Takes all files as they are, and then what is appended to them, without end.
    ///
    /// # Errors
    /// The first thing that goes wrong: a line that is not an event, a store that takes no more.
    pub(super) fn run(mut self, take: &mut Take<'_>, caught_up: impl FnOnce()) -> Result<Outcome> {
        self.take_renamed(take)?;
        self.look(take, Start::Watched)?;
        caught_up();
        if !take.is_quiet {
            self.tell();
        }
        loop {
            thread::sleep(LOOK_EVERY);
            self.look(take, Start::Appeared)?;
            if !is_store(&self.store) {
                bail!("{}: the store is gone, and with it what was taken last", self.store.display());
            }
            self.tidy.look(take.writer);
        }
    }

    /// Takes the rest of files that were renamed since an earlier run took them.
    fn take_renamed(&mut self, take: &mut Take<'_>) -> Result<()> {
        for name in 0..self.names.len() {
            let path = &self.names[name].path;
            for path in renamed(&Id::at(path, FileId::of_file(path)), &take.writer.sources()) {
                if let Some(mut file) = OpenFile::new(&path, Start::Appeared)?.filter(|file| !self.has(file.id)) {
                    file.name.clone_from(&self.names[name].path);
                    self.files.push(file);
                }
            }
        }
        Ok(())
    }

    fn look(&mut self, take: &mut Take<'_>, start: Start) -> Result<()> {
        let before = self.files.len();
        for name in 0..self.names.len() {
            let path = &self.names[name].path;
            let id = FileId::of_file(path);
            if id == self.names[name].file {
                continue;
            }
            // All are opened before any of the new ones is taken, which may take long.
            self.names[name].file = match id {
                Some(id) if !self.has(id) => {
                    let file = OpenFile::new(path, start)?;
                    let id = file.as_ref().map(|file| file.id);
                    self.files.extend(file);
                    id
                }
                id => id,
            };
        }
        // The new ones first: one may be a copy of a file that was emptied since, and is known by what was taken of that.
        let (others, new) = self.files.split_at_mut(before);
        for file in new.iter_mut().chain(others) {
            file.follow(take, self.read)?;
        }
        let is_named = |id: FileId| self.names.iter().any(|name| name.file == Some(id));
        for file in &mut self.files {
            file.unnamed = if is_named(file.id) { None } else { file.unnamed.or_else(|| Some(Instant::now())) };
        }
        let is_over = |file: &mut OpenFile| file.unnamed.is_some_and(|since| since.elapsed() >= GRACE);
        for mut file in self.files.extract_if(.., is_over) {
            // Nothing ends its last line any more.
            file.append(take)?;
        }
        Ok(())
    }

    /// Whether a file is followed.
    fn has(&self, id: FileId) -> bool {
        self.files.iter().any(|file| file.id == id)
    }

    /// Says what is watched.
    fn tell(&self) {
        let missing = self.names.iter().filter(|name| !name.path.exists()).count();
        let (count, files) = (self.names.len(), if self.names.len() == 1 { "file" } else { "files" });
        let missing = if missing > 0 { format!(", {missing} not there yet") } else { String::new() };
        say(&format!("watching {count} {files}{missing}; a signal such as Ctrl-C ends the command"));
    }
}

impl OpenFile {
    /// The file to which a name leads. `None` if there is none, if it is empty, or if it is just being replaced: then it is
    /// looked at again.
    fn new(path: &Path, start: Start) -> Result<Option<Self>> {
        let id = FileId::of_file(path);
        // SQLite may be about to make a database of an empty file, or one of a byte, so it is not opened.
        let (Some(id), true) = (id, path.metadata().is_ok_and(|data| data.len() > 1)) else { return Ok(None) };
        let handle = match open(path).and_then(jird_formats::files::Local::file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            // Some programs permit others to read a new file when they have made it.
            Err(error)
                if error.kind() == io::ErrorKind::PermissionDenied && start == Start::Appeared && is_new(path) =>
            {
                return Ok(None);
            }
            handle => handle.with_context(|| path.display().to_string())?,
        };
        let (file, is_compressed, seen) = (None, false, (0, None));
        let opened = Self {
            id,
            path: path.to_owned(),
            name: path.to_owned(),
            handle,
            start,
            file,
            is_compressed,
            seen,
            unnamed: None,
        };
        Ok((FileId::of_file(path) == Some(id)).then_some(opened))
    }

    /// Takes what is new in it.
    fn follow(&mut self, take: &mut Take<'_>, read: &Counter) -> Result<()> {
        let name = self.path.display().to_string();
        let data = self.handle.metadata().with_context(|| name.clone())?;
        let (before, seen) = (self.seen, (data.len(), data.modified().ok()));
        if seen == before {
            return Ok(());
        }
        self.seen = seen;
        self.unnamed = self.unnamed.map(|_| Instant::now());
        if let Some(file) = self.file.as_ref().filter(|_| !self.is_compressed) {
            let bytes = file.bytes();
            if !has_still(&mut self.handle, file)? {
                say(&format!("note: {name}: was emptied or overwritten, and is taken from its beginning"));
                (self.start, self.file) = (Start::Whole, None);
            } else if self.only_grows_a_line(bytes, before.0)? {
                return Ok(());
            } else if bytes > 0 {
                return self.append(take);
            }
        }
        if seen.0 == 0 {
            if self.file.take().is_some() {
                self.start = Start::Whole;
            }
            return Ok(());
        }
        let compression = Cell::new(Compression::None);
        let text = || -> Result<Text> {
            let mut handle = self.handle.try_clone()?;
            handle.seek(SeekFrom::Start(0))?;
            let text = Text::open(Box::new(read.count(handle)), Some(&self.path)).with_context(|| name.clone())?;
            compression.set(text.compression);
            Ok(text)
        };
        let number = self.file.as_ref().map(File::number);
        let id = Id::at(&self.name, Some(self.id));
        let begun = take.begin(name.clone(), Some(id), self.start, &text, number);
        self.is_compressed = compression.get() != Compression::None;
        let taken = begun.and_then(|(mut file, reader)| {
            take.note_place(&file)?;
            let taken = take.rest(&mut file, reader, false);
            // From now on, it is known by what it is, if something of it is known.
            self.start = if file.bytes() > 0 { Start::Appeared } else { Start::Whole };
            self.file = Some(file);
            taken
        });
        match taken {
            // It may be just being written.
            Err(error) if self.is_compressed && is_cut(&error) && is_new(&self.path) => {
                self.seen = before;
                Ok(())
            }
            taken => taken,
        }
    }

    /// Takes what was appended.
    fn append(&mut self, take: &mut Take<'_>) -> Result<()> {
        let Some(file) = self.file.as_mut().filter(|_| !self.is_compressed) else { return Ok(()) };
        self.handle.seek(SeekFrom::Start(file.bytes()))?;
        take.appended(file, Box::new(self.handle.try_clone()?))
    }

    /// Whether a long last line has only become longer: it is not read again and again.
    fn only_grows_a_line(&mut self, taken: u64, before: u64) -> Result<bool> {
        if self.seen.0.saturating_sub(taken) < OPEN_LINE_BYTES || before < taken || self.seen.0 < before {
            return Ok(false);
        }
        self.handle.seek(SeekFrom::Start(before))?;
        let (mut buffer, mut rest) = (vec![0; 1 << 18], self.handle.try_clone()?);
        loop {
            match rest.read(&mut buffer)? {
                0 => return Ok(true),
                read if memchr::memchr(b'\n', &buffer[..read]).is_some() => return Ok(false),
                _ => {}
            }
        }
    }
}

/// Whether a file was written to a moment ago.
fn is_new(path: &Path) -> bool {
    let age = |time: SystemTime| time.elapsed().unwrap_or_default();
    path.metadata().and_then(|data| data.modified()).is_ok_and(|time| age(time) < GRACE)
}

/// Whether the end of a compressed text is missing.
fn is_cut(error: &anyhow::Error) -> bool {
    let of_io = error.chain().filter_map(|cause| cause.downcast_ref::<io::Error>());
    of_io.map(io::Error::kind).any(|kind| kind == io::ErrorKind::UnexpectedEof)
}

/// Whether a file still has what was last taken of it, in the same place. That is what was read then, and not what stands
/// in the file by now: it may have been overwritten a moment after.
fn has_still(handle: &mut fs::File, file: &File) -> io::Result<bool> {
    let last = file.last_bytes();
    let start = file.bytes() - last.len() as u64;
    handle.seek(SeekFrom::Start(start))?;
    let mut found = Vec::new();
    handle.take(last.len() as u64).read_to_end(&mut found)?;
    if start == 0 {
        // As it was read.
        blank_mark(&mut found);
    }
    Ok(found == last)
}

/// Keeps the store in good order: what is too old goes, and small spans are merged, in a thread of its own.
struct Tidy {
    upkeep: Arc<Mutex<Upkeep>>,
    next: Instant,
    work: Option<JoinHandle<Result<Compacted, Error>>>,
    /// Removing old events failed the last time.
    has_failed: bool,
}

impl Tidy {
    fn new(upkeep: Upkeep) -> Self {
        Self { upkeep: Arc::new(Mutex::new(upkeep)), next: Instant::now(), work: None, has_failed: false }
    }

    fn look(&mut self, writer: &Writer) {
        if Instant::now() < self.next {
            return;
        }
        self.next = Instant::now() + Upkeep::EVERY;
        match self.work.take() {
            Some(work) if !work.is_finished() => return self.work = Some(work),
            Some(work) => {
                // Damage was told when the store was opened. A panic was reported where it happened.
                if let Ok(Err(error)) = work.join() {
                    tell("small spans stay as they are for an hour", error);
                }
            }
            None => (),
        }
        let mut upkeep = self.upkeep.lock().unwrap_or_else(PoisonError::into_inner);
        let mut removed = upkeep.retain().map(drop);
        if removed.is_ok() && upkeep.is_deletion_due() {
            // Events in logs are deleted by not going into spans.
            removed = writer.seal();
        }
        let had_failed = std::mem::replace(&mut self.has_failed, removed.is_err());
        // What fails each minute is told once.
        if let Err(error) = removed
            && !had_failed
        {
            tell("old events stay for now", error);
        }
        drop(upkeep);
        let upkeep = Arc::clone(&self.upkeep);
        let compact = move || upkeep.lock().unwrap_or_else(PoisonError::into_inner).compact();
        self.work = Some(thread::spawn(compact));
    }
}

fn tell(what: &str, error: Error) {
    say(&format!("warning: {what}: {}", words(&error.into())));
}

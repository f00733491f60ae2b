//! `--watch`: takes what programs append to files, until a signal ends the command.
//!
//! A file is looked at by its name. The one that had the name stays open: what a program still writes to it after it was
//! renamed, as log rotation does, is taken before its successor is.

use super::take::{File, Take};
use crate::input::{Counter, Input};
use crate::outcome::{Outcome, report as say, words};
use anyhow::{Context, Result, bail};
use jird_formats::files::{Compression, FileId, Reader, open};
use jird_store::{Compacted, Error, Extent, Store};
use std::fs;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How often files are looked at: a look at one takes a few microseconds.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// How long a program may still write to a file after another one has its name: until it opens that one.
const GRACE: Duration = Duration::from_secs(10);
/// By this many bytes it is told whether a file still has what was taken of it.
const TAIL_BYTES: u64 = 256;
/// How often the store is looked at.
const TIDY_EVERY: Duration = Duration::from_mins(1);
/// This many spans more than after the last compaction are worth another one.
const SPANS: u64 = 3;
/// How long a compaction rests that has failed: for lack of room, mostly.
const REST: Duration = Duration::from_hours(1);

/// Files that are taken as they grow.
pub(super) struct Watch {
    files: Vec<Watcher>,
    tidy: Tidy,
}

/// A name, and the file that had it when it was last looked at.
struct Watcher {
    input: Input,
    path: PathBuf,
    current: Option<OpenFile>,
    /// The file that had it before, until its writer has surely opened the new one.
    previous: Option<(OpenFile, Instant)>,
}

/// A file that was taken up to some byte.
struct OpenFile {
    file: File,
    id: FileId,
    /// `None` if it is compressed: then it is read from its beginning again if it grows.
    open: Option<fs::File>,
    /// Its length when it was last looked at.
    len: u64,
    /// The last bytes that were taken.
    tail: Vec<u8>,
    /// Whether it was begun from the start, whatever earlier runs took of it.
    is_from_start: bool,
}

/// # Errors
/// If an input cannot be watched: standard input, a pipe, a folder, a URL.
pub(super) fn check(input: &Input) -> Result<()> {
    match input {
        Input::File(path) if path.is_file() || !path.exists() => Ok(()),
        _ => bail!("{}: --watch needs the names of files, not pipes, folders or URLs", input.name()),
    }
}

impl Watch {
    pub(super) fn new(inputs: &[Input], store: Store) -> Self {
        let watcher = |input: &Input| {
            let path = input.path().map_or_else(PathBuf::new, Path::to_owned);
            Watcher { input: input.clone(), path, current: None, previous: None }
        };
        Self { files: inputs.iter().map(watcher).collect(), tidy: Tidy::new(store) }
    }

    /// Takes all files as they are, and then what is appended to them, without end.
    ///
    /// # Errors
    /// The first thing that goes wrong: a line that is not an event, a store that takes no more.
    pub(super) fn run(mut self, take: &mut Take<'_>, read: &Counter, caught_up: impl FnOnce()) -> Result<Outcome> {
        self.look(take, read)?;
        caught_up();
        if !take.is_quiet {
            self.tell();
        }
        loop {
            thread::sleep(LOOK_EVERY);
            self.look(take, read)?;
            self.tidy.look();
        }
    }

    fn look(&mut self, take: &mut Take<'_>, read: &Counter) -> Result<()> {
        self.files.iter_mut().try_for_each(|file| file.look(take, read))
    }

    /// Says what is watched.
    fn tell(&self) {
        let missing = self.files.iter().filter(|file| file.current.is_none()).count();
        let (count, files) = (self.files.len(), if self.files.len() == 1 { "file" } else { "files" });
        let missing = if missing > 0 { format!(", {missing} not there yet") } else { String::new() };
        say(&format!("watching {count} {files}{missing}; a signal such as Ctrl-C ends the command"));
    }
}

impl Watcher {
    fn look(&mut self, take: &mut Take<'_>, read: &Counter) -> Result<()> {
        let id = FileId::of_file(&self.path);
        if let Some((previous, since)) = &mut self.previous {
            previous.follow(take)?;
            if since.elapsed() > GRACE {
                self.previous = None;
            }
        }
        let Some(current) = &mut self.current else { return self.begin(id, true, take, read) };
        if current.open.is_none() {
            let len = self.path.metadata().map_or(current.len, |data| data.len());
            if id == Some(current.id) && len == current.len {
                return Ok(());
            }
            // It is recognised by what it holds.
            let resumes = id != Some(current.id) || !current.is_from_start;
            return self.begin(id, resumes, take, read);
        }
        if current.follow(take)? {
            say(&format!("note: {}: was emptied or overwritten, and is taken from its beginning", self.input.name()));
            self.current = None;
            return self.begin(id, false, take, read);
        }
        if id.is_some() && id != Some(current.id) {
            self.previous = self.current.take().map(|current| (current, Instant::now()));
            return self.begin(id, true, take, read);
        }
        Ok(())
    }

    /// Takes the file that has the name now, if there is one; from where an earlier run ended, or all of it.
    fn begin(&mut self, id: Option<FileId>, resumes: bool, take: &mut Take<'_>, read: &Counter) -> Result<()> {
        let Some(id) = id else { return Ok(()) };
        let len = self.path.metadata().map_or(0, |data| data.len());
        let (mut file, reader) = match take.begin(&self.input, resumes, read) {
            Ok(begun) => begun,
            // It may have got another name since.
            Err(_) if !self.path.exists() => return Ok(()),
            Err(error) => return Err(error),
        };
        take.rest(&mut file, reader, false)?;
        let mut open = plain(&self.path).with_context(|| self.input.name())?;
        let tail = open.as_mut().map_or(Ok(Vec::new()), |open| tail(open, file.bytes()));
        let tail = tail.with_context(|| self.input.name())?;
        let is_same = FileId::of_file(&self.path) == Some(id);
        self.current = is_same.then_some(OpenFile { file, id, open, len, tail, is_from_start: !resumes });
        Ok(())
    }
}

impl OpenFile {
    /// Takes what was appended. Returns whether the file no longer has what was taken of it.
    fn follow(&mut self, take: &mut Take<'_>) -> Result<bool> {
        let Some(open) = &mut self.open else { return Ok(false) };
        let len = open.metadata()?.len();
        if len == self.len {
            return Ok(false);
        }
        // This also leaves the file at the byte after them.
        if tail(open, self.file.bytes())? != self.tail {
            return Ok(true);
        }
        let reader: Reader = Box::new(open.try_clone()?);
        take.appended(&mut self.file, reader)?;
        (self.len, self.tail) = (len, tail(open, self.file.bytes())?);
        Ok(false)
    }
}

/// The last bytes of a file up to one, or fewer if it ends before.
fn tail(file: &mut fs::File, end: u64) -> io::Result<Vec<u8>> {
    let start = end.saturating_sub(TAIL_BYTES);
    file.seek(SeekFrom::Start(start))?;
    let mut tail = Vec::new();
    file.take(end - start).read_to_end(&mut tail)?;
    Ok(tail)
}

/// A file that holds its text as it stands.
fn plain(path: &Path) -> Result<Option<fs::File>> {
    let mut file = open(path)?.file()?;
    let mut start = Vec::new();
    file.by_ref().take(16).read_to_end(&mut start)?;
    Ok((!start.is_empty() && Compression::of_bytes(&start) == Compression::None).then_some(file))
}

/// Merges the small spans that a long run makes, in a thread of its own.
struct Tidy {
    store: Store,
    next: Instant,
    /// The least number of spans since the last compaction.
    spans: u64,
    work: Option<JoinHandle<Result<Compacted, Error>>>,
}

impl Tidy {
    fn new(store: Store) -> Self {
        Self { store, next: Instant::now() + TIDY_EVERY, spans: 0, work: None }
    }

    fn look(&mut self) {
        if Instant::now() < self.next {
            return;
        }
        self.next = Instant::now() + TIDY_EVERY;
        match self.work.take() {
            Some(work) if !work.is_finished() => self.work = Some(work),
            Some(work) => {
                self.spans = self.store.size().map_or(self.spans, |size| size.spans);
                // A panic was reported where it happened.
                if let Ok(Err(error)) = work.join() {
                    say(&format!("warning: small spans stay as they are for an hour: {}", words(&error.into())));
                    self.next = Instant::now() + REST;
                }
            }
            None => {
                let Ok(size) = self.store.size() else { return };
                self.spans = self.spans.min(size.spans);
                if size.spans >= self.spans + SPANS {
                    let store = self.store.clone();
                    self.work = Some(thread::spawn(move || store.compact(Extent::Equals)));
                }
            }
        }
    }
}

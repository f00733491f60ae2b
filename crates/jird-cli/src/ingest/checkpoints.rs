//! The checkpoint of a file. A file is known by what it holds, and not by its name alone: files are renamed, compressed,
//! copied, replaced, cut and edited.

use crate::input::{Counter, Input};
use crate::outcome::report as say;
use anyhow::{Result, bail};
use jird_formats::files::{FileId, Reader};
use jird_store::{Checkpoint, Prefix, Sources};
use std::fs;
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What identifies a file, besides its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Id {
    /// An absolute path, or a URL.
    pub(super) name: String,
    /// The numbers of the device and of the file on it.
    pub(super) file: Option<(u64, u64)>,
}

impl Id {
    /// That of an input; `None` for standard input and pipes, which cannot be read twice.
    pub(super) fn of(input: &Input) -> Option<Self> {
        let path = input.path().filter(|_| !input.is_live())?;
        if let Input::Url { .. } = input {
            return Some(Self { name: path.display().to_string(), file: None });
        }
        Some(Self::at(path, FileId::of_file(path)))
    }

    /// That of a file of this machine.
    pub(super) fn at(path: &Path, file: Option<FileId>) -> Self {
        let name = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        Self { name: name.display().to_string(), file: file.map(|FileId(device, file)| (device, file)) }
    }

    fn is_file_of(&self, known: &Checkpoint) -> bool {
        self.file.is_some() && self.file == known.file
    }
}

/// The numbers of the device and of the file on it.
fn number_of(path: &Path) -> Option<(u64, u64)> {
    FileId::of_file(path).map(|FileId(device, file)| (device, file))
}

/// The checkpoints that a file may have, and how far it was read to find them.
pub(super) struct Checkpoints {
    /// Those whose text it begins with.
    matches: Vec<(Checkpoint, Prefix)>,
    /// The last one that has its name, and those that have its number, if they have another text.
    changed: Vec<(Checkpoint, Change)>,
    reader: Option<Reader>,
    read: u64,
}

/// How a file differs from what was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    /// It begins in the same way, and is shorter.
    Cut,
    /// It begins in the same way, or is the same before the checkpoint, and differs elsewhere.
    Edited,
    /// It is another text.
    Replaced,
}

/// Bytes that are looked at first: no first line that a checkpoint knows has more.
const START_BYTES: u64 = 4096;

impl Checkpoints {
    /// Reads a file as far as a checkpoint goes that may be its own.
    pub(super) fn search(open: &dyn Fn() -> Result<Reader>, id: &Id, sources: &Sources) -> Result<Self> {
        let (mut reader, mut start) = (open()?, Vec::new());
        reader.by_ref().take(START_BYTES).read_to_end(&mut start)?;
        let begins = |known: &Checkpoint| known.prefix.has_head_of(&start);
        let is_near = |known: &&Checkpoint| begins(known) || known.name == id.name || id.is_file_of(known);
        let mut near: Vec<&Checkpoint> = sources.checkpoints().iter().filter(is_near).collect();
        near.sort_by_key(|known| known.prefix.bytes);
        let mut reader: Reader = Box::new(Cursor::new(start.clone()).chain(reader));
        let (mut prefix, mut matches, mut changed) = (Prefix::default(), Vec::new(), Vec::new());
        for known in near {
            let wanted = known.prefix.bytes - prefix.sums().bytes;
            add(&mut prefix, &mut (&mut reader).take(wanted))?;
            let sums = prefix.sums();
            let change = if sums == known.prefix {
                matches.push((known.clone(), prefix.clone()));
                continue;
            } else if sums.bytes < known.prefix.bytes {
                if begins(known) { Change::Cut } else { Change::Replaced }
            } else if begins(known) || known.prefix.has_tail_of(&sums) {
                Change::Edited
            } else {
                Change::Replaced
            };
            changed.push((known.clone(), change));
        }
        // Files that had the name before the last one do not count, nor does an empty one.
        let named = sources.checkpoints().iter().rfind(|known| known.name == id.name).map(|known| known.source);
        let counts = |known: &Checkpoint| Some(known.source) == named || id.is_file_of(known);
        changed.retain(|(known, _)| !start.is_empty() && counts(known));
        Ok(Self { matches, changed, reader: Some(reader), read: prefix.sums().bytes })
    }

    /// The checkpoint that is the file's own, the furthest if there are several.
    pub(super) fn take_best(&mut self, id: &Id, others: &[Id]) -> Option<(Checkpoint, Prefix)> {
        let last = |is_own: &dyn Fn(&Checkpoint) -> bool| self.matches.iter().rposition(|(known, _)| is_own(known));
        let best = last(&|known| id.is_file_of(known))
            .or_else(|| last(&|known| known.name == id.name && !is_elsewhere(known, id, others)))
            .or_else(|| last(&|known| known.name != id.name && !is_elsewhere(known, id, others) && is_gone(known, id)));
        best.map(|best| self.matches.swap_remove(best))
    }

    /// The furthest checkpoint of this very file.
    pub(super) fn take_own(&mut self, id: &Id) -> Option<(Checkpoint, Prefix)> {
        let own = self.matches.iter().rposition(|(known, _)| id.is_file_of(known))?;
        Some(self.matches.swap_remove(own))
    }

    /// The last checkpoint of another file that this one may be a copy of: either its name begins with the other's, as that
    /// of `log.1` does, or the other no longer has the text.
    pub(super) fn take_other(&mut self, id: &Id) -> Option<(Checkpoint, Prefix)> {
        let may_be = |known: &Checkpoint| id.name.starts_with(&known.name) || is_gone(known, id);
        let other = self.matches.iter().rposition(|(known, _)| known.name != id.name && may_be(known))?;
        Some(self.matches.swap_remove(other))
    }

    /// Refuses a file that is not what was taken under its name or number, unless it is clearly another one, or is to be
    /// taken whole all the same.
    pub(super) fn refuse_changed(&self, id: &Id, takes_changed: bool, sources: &Sources) -> Result<()> {
        for (known, change) in &self.changed {
            let (bytes, events) = (known.prefix.bytes, known.events);
            let what = match change {
                Change::Cut => "it is shorter now",
                Change::Edited => "these bytes are others now",
                Change::Replaced if known.name == id.name => {
                    say(&format!("note: {}: is another file than the one that was taken, and is taken whole", id.name));
                    continue;
                }
                Change::Replaced => continue,
            };
            if takes_changed {
                say(&format!("note: {}: is not what was taken of it before ({what}), and is taken whole", id.name));
                continue;
            }
            bail!(
                "{bytes} bytes with {events} events were taken from it before, and {what}: jird cannot tell which of its events are new; leave out --resume to take all of them"
            );
        }
        if sources.are_lost() {
            bail!(
                "the store's checkpoints were lost when its manifest was rebuilt: jird cannot tell which events are new; leave out --resume to take all of them"
            );
        }
        if sources.forgotten() > 0 {
            let forgotten = sources.forgotten();
            say(&format!("note: {}: no checkpoint is known; those of {forgotten} files are no longer kept", id.name));
        }
        if let Some((known, _)) = self.matches.last() {
            say(&format!("note: {}: begins like {}, and is taken as another file", id.name, known.name));
        }
        Ok(())
    }

    /// The text after this many bytes.
    pub(super) fn after(mut self, bytes: u64, open: &dyn Fn() -> Result<Reader>) -> Result<Reader> {
        if let Some(reader) = self.reader.take().filter(|_| self.read == bytes) {
            return Ok(reader);
        }
        let mut reader = open()?;
        let skipped = io::copy(&mut (&mut reader).take(bytes), &mut io::sink())?;
        if skipped < bytes {
            bail!("it became shorter while it was read");
        }
        Ok(reader)
    }
}

/// Adds all of a reader.
fn add(prefix: &mut Prefix, reader: &mut dyn Read) -> Result<()> {
    let mut buffer = vec![0; 1 << 18];
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(read) => prefix.add(&buffer[..read]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Whether the file of a checkpoint has moved to another name than this one, in its folder or among those that this run
/// takes.
fn is_elsewhere(known: &Checkpoint, id: &Id, others: &[Id]) -> bool {
    let Some(file) = known.file.filter(|file| Some(*file) != id.file) else { return false };
    let own = Path::new(&known.name);
    let is_moved = |path: &Path| path != own && number_of(path) == Some(file) && begins_like(path, known);
    let entries = || own.parent().and_then(|folder| fs::read_dir(folder).ok()).into_iter().flatten().flatten();
    others.iter().any(|other| is_moved(Path::new(&other.name))) || entries().any(|entry| is_moved(&entry.path()))
}

/// A file that was written to this long ago may be written to again.
const RECENT: Duration = Duration::from_mins(1);

/// The files in the same folder that had this name when they were taken, have another one now, and have grown since or may
/// be about to. Reads what was taken of them.
pub(super) fn renamed(id: &Id, sources: &Sources) -> Vec<PathBuf> {
    let had_name = |known: &&Checkpoint| known.name == id.name && known.file.is_some() && known.file != id.file;
    let known: Vec<&Checkpoint> = sources.checkpoints().iter().filter(had_name).collect();
    let folder = Path::new(&id.name).parent().filter(|_| !known.is_empty());
    let entries = folder.and_then(|folder| fs::read_dir(folder).ok()).into_iter().flatten().flatten();
    let is_one = |path: &PathBuf| {
        let Ok(data) = path.metadata() else { return false };
        let is_recent = data.modified().is_ok_and(|time| time.elapsed().unwrap_or_default() < RECENT);
        let file = number_of(path);
        let is_it = |known: &&Checkpoint| known.file == file && (is_recent || known.prefix.bytes < data.len());
        known.iter().any(|known| is_it(known) && has_text_of(&Input::new(path), known).unwrap_or(false))
    };
    entries.map(|entry| entry.path()).filter(is_one).collect()
}

/// Whether a file has the first line of a checkpoint's. The number of a file that is gone may be that of another.
fn begins_like(path: &Path, known: &Checkpoint) -> bool {
    let read = || -> Result<Vec<u8>> {
        let mut start = Vec::new();
        let text = Input::new(path).open(&Counter::default())?.blank_mark().into_reader();
        text.take(START_BYTES).read_to_end(&mut start)?;
        Ok(start)
    };
    path.is_file() && read().is_ok_and(|start| known.prefix.has_head_of(&start))
}

/// Whether the file of a checkpoint no longer holds what was taken of it, so that another name may.
fn is_gone(known: &Checkpoint, id: &Id) -> bool {
    let input = Input::new(Path::new(&known.name));
    if known.name == id.name || input.is_live() {
        return true;
    }
    !has_text_of(&input, known).unwrap_or(false)
}

/// Whether a file begins with all that a checkpoint's file had.
fn has_text_of(input: &Input, known: &Checkpoint) -> Result<bool> {
    let text = input.open(&Counter::default())?.blank_mark().into_reader();
    let mut prefix = Prefix::default();
    add(&mut prefix, &mut text.take(known.prefix.bytes))?;
    Ok(prefix.sums() == known.prefix)
}

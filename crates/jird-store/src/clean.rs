//! The lock for maintenance of a store, and removing what a crash left behind.

use crate::error::{Damage, Error, ErrorKind};
use crate::files::Lock;
use crate::log::{self, START_BYTES};
use crate::logs::{Logs, TakenRanges, Unreadable, seal_request};
use crate::manifest::{FileKind, Folder, Loss, Manifest, UNFINISHED_NAME};
use crate::span;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

/// The lock of the writer.
pub(crate) const WRITER_LOCK: &str = "LOCK";

/// The lock for writing span files: a compaction holds it while its files are in no manifest yet.
const CARE_LOCK: &str = "LOCK.care";

/// Takes the lock of the writer.
pub(crate) fn writer_lock(folder: &Folder) -> Result<Box<dyn Lock>, Error> {
    work_lock(folder, WRITER_LOCK, "writes to")
}

/// Takes the lock for writing span files next to a writer.
pub(crate) fn care_lock(folder: &Folder) -> Result<Box<dyn Lock>, Error> {
    let lock = work_lock(folder, CARE_LOCK, "compacts, repairs or deletes from")?;
    // Of a deletion that was killed: who makes one has this lock.
    seal_request::discard(folder);
    Ok(lock)
}

/// How often it is asked whether a lock is free.
const ASK_EVERY: Duration = Duration::from_millis(50);

/// Takes a lock that is held for as long as the work takes. Waits for it as long as the folder has patience.
fn work_lock(folder: &Folder, name: &str, work: &str) -> Result<Box<dyn Lock>, Error> {
    let (path, begun) = (folder.file(name), Instant::now());
    loop {
        // Opened each time: a store that was removed, or exchanged, is not waited for.
        let lock = folder.files.lock(&path, false).map_err(|error| Error::io("lock", &path, &error))?;
        if let Some(lock) = lock {
            return Ok(lock);
        }
        let Some(rest) = folder.patience.rest(begun.elapsed()) else { break };
        thread::sleep(rest.min(ASK_EVERY));
    }
    let path = folder.path.display();
    Err(Error::new(ErrorKind::Locked, format!("another process {work} the store in {path}: wait until it ends")))
}

/// What became of files that no manifest names.
#[derive(Debug, Default)]
pub(crate) struct Orphans {
    /// How many were removed.
    pub(crate) removed: usize,
    /// Those that are kept aside.
    pub(crate) kept: Vec<Damage>,
}

/// Removes span and log files that no manifest names, as a crash leaves them. What may have events that no other file has is
/// kept aside: it was copied here by hand, or an older manifest was put in the place of a newer one. The caller has the
/// lock of the writer; if a compaction is at work, nothing is removed.
pub(crate) fn orphans(folder: &Folder) -> Result<Orphans, Error> {
    let mut orphans = Orphans::default();
    let path = folder.file(CARE_LOCK);
    let lock = folder.files.lock(&path, false).map_err(|error| Error::io("lock", &path, &error))?;
    if lock.is_none() {
        return Ok(orphans);
    }
    // The loss of power that the last change of the manifest does not survive would bring the one before back, and with it
    // the names of what goes here.
    folder.sync()?;
    folder.discard_new_manifest()?;
    let names = folder.files.list(&folder.path).map_err(|error| Error::io("list", &folder.path, &error))?;
    let is_half = |name: &&String| matches!(name.as_str(), "ASKED.new" | "SAVED.new" | "TAKEN.new" | UNFINISHED_NAME);
    names.iter().filter(is_half).for_each(|name| folder.discard(&folder.file(name)));
    let unknown = unknown(folder)?;
    if !unknown.is_empty() {
        folder.settle_copy()?;
    }
    for Unknown { name, aside } in unknown {
        let path = folder.file(&name);
        let Some(end) = aside else {
            folder.discard(&path);
            orphans.removed += 1;
            continue;
        };
        let file = folder.file(&format!("{name}.{end}"));
        folder.files.rename(&path, &file).map_err(|error| Error::io("rename", &path, &error))?;
        folder.sync()?;
        // A damaged log has been told.
        if end == UNKNOWN {
            let reason = format!("the manifest does not know {name}, which was kept aside under this name");
            orphans.kept.push(Damage { file, block: None, events: Some(0), reason });
        }
    }
    Ok(orphans)
}

/// A span, index or log that no manifest names.
pub(crate) struct Unknown {
    pub(crate) name: String,
    /// What its name gets at its end when it is kept aside; `None` if it has no event that is not elsewhere.
    pub(crate) aside: Option<&'static str>,
}

/// How the names of files end that were copied to a store, or that an older manifest does not know.
pub(crate) const UNKNOWN: &str = "unknown";

/// The files that no manifest names. A writer may be at work: what it has made is named before it has events, and what it
/// removes, it no longer names. If the manifest changed in between, files and manifest are read once more.
pub(crate) fn unknown(folder: &Folder) -> Result<Vec<Unknown>, Error> {
    loop {
        let names = folder.files.list(&folder.path).map_err(|error| Error::io("list", &folder.path, &error))?;
        let manifest = folder.manifest()?;
        let unknown = unnamed(folder, names, &manifest)?;
        if unknown.is_empty() || folder.manifest()?.generation == manifest.generation {
            return Ok(unknown);
        }
    }
}

/// The files that no manifest names and whose events are elsewhere, or removed. No writer is at work, and no compaction.
pub(crate) fn superfluous(folder: &Folder) -> Result<Vec<PathBuf>, Error> {
    let unknown = unknown(folder)?.into_iter().filter(|file| file.aside.is_none());
    Ok(unknown.map(|file| folder.file(&file.name)).collect())
}

/// The logs that no manifest names and whose events are all sealed. A writer may be at work.
pub(crate) fn sealed_logs(folder: &Folder) -> Result<Vec<PathBuf>, Error> {
    let names = folder.files.list(&folder.path).map_err(|error| Error::io("list", &folder.path, &error))?;
    // A log that has events was named by a manifest before, so what the next one does not name is sealed.
    let has_events = |number: u64| {
        let len = folder.files.open(&folder.log(number)).and_then(|input| input.len());
        len.is_ok_and(|len| len > START_BYTES as u64)
    };
    let numbers = names.iter().filter_map(|name| match FileKind::of(name) {
        Some(FileKind::Log(number)) if has_events(number) => Some(number),
        _ => None,
    });
    let numbers: Vec<u64> = numbers.collect();
    let manifest = folder.manifest()?;
    let is_sealed =
        |number: &u64| !manifest.has(FileKind::Log(*number)) && log_aside(folder, *number, &manifest).is_none();
    Ok(numbers.into_iter().filter(is_sealed).map(|number| folder.log(number)).collect())
}

/// Those of the files of these names that this manifest does not name.
fn unnamed(folder: &Folder, names: Vec<String>, manifest: &Manifest) -> Result<Vec<Unknown>, Error> {
    let kinds = names.into_iter().filter_map(|name| FileKind::of(&name).map(|kind| (name, kind)));
    let kinds: Vec<_> = kinds.filter(|(_, kind)| !manifest.has(*kind)).collect();
    if kinds.is_empty() {
        return Ok(Vec::new());
    }
    let logs = Logs::read(folder, manifest, &TakenRanges::default(), Unreadable::Tell)?;
    let unknown = |(name, kind)| {
        let aside = match kind {
            FileKind::Index(_) => None,
            FileKind::Span(number) => keeps_span(folder, number, manifest, &logs).then_some(UNKNOWN),
            FileKind::Log(number) => log_aside(folder, number, manifest),
        };
        Unknown { name, aside }
    };
    Ok(kinds.into_iter().map(unknown).collect())
}

/// Whether a span that no manifest names may have events that no other file has. Those of one that a crash left are in the
/// logs, or in the spans that it was made from.
fn keeps_span(folder: &Folder, number: u64, manifest: &Manifest, logs: &Logs) -> bool {
    let input = folder.files.open(&folder.span(number)).ok();
    let Some(summary) = input.and_then(|input| span::summary(&*input)) else {
        return number >= manifest.next;
    };
    let (first, last) = (summary.table.base, summary.table.arrival_last);
    let is_missing = |loss: &Loss| first < loss.arrivals.end && loss.arrivals.start <= last;
    number >= manifest.next || last >= logs.arrivals || logs.losses.iter().any(is_missing)
}

/// How the name of a log that no manifest names ends when it is kept aside; `None` if all of its events are sealed.
fn log_aside(folder: &Folder, number: u64, manifest: &Manifest) -> Option<&'static str> {
    if manifest.lost.iter().any(|loss| loss.file == format!("log-{number}.damaged")) {
        return Some("damaged");
    }
    let input = folder.files.open(&folder.log(number)).ok()?;
    if input.len().is_ok_and(|len| len <= START_BYTES as u64) {
        return None;
    }
    let Ok((start, content)) = log::read_unknown(&*input) else { return Some(UNKNOWN) };
    let sealed = manifest.sealed.unwrap_or(manifest.arrivals);
    let is_own = start.is_none_or(|start| start.store == manifest.store);
    let is_sealed = is_own && content.damage.is_empty() && content.batches.iter().all(|batch| batch.end() <= sealed);
    (!is_sealed).then_some(UNKNOWN)
}

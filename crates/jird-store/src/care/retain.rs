//! Retention: events that are older than a time go.

use crate::clean::{WRITER_LOCK, orphans};
use crate::error::Error;
use crate::event::Clip;
use crate::log;
use crate::manifest::{Folder, Manifest, SpanEntry};
use crate::store::Store;
use std::path::Path;

/// What may stay in a store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Events from this time on, in nanoseconds since 1970.
    pub before: Option<i64>,
    /// As many spans as fit into these bytes on disk.
    pub bytes_max: Option<u64>,
}

/// What retention did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retained {
    /// Span files that were removed because all of their events were older.
    pub spans_removed: u64,
    /// Their events.
    pub events_removed: u64,
    /// Span files and logs that have newer events, too. The older ones are hidden; the next compaction deletes them.
    pub cut: u64,
}

impl Store {
    /// Removes the events before a time, in nanoseconds since 1970: no snapshot that is taken from now on has them.
    /// Events that come later with such a time are kept. A writer, readers and a compaction go on meanwhile. It works on
    /// a full disk, too, and makes room there.
    ///
    /// # Errors
    /// Those of the operating system; then nothing was removed, or all.
    pub fn retain(&self, before: i64) -> Result<Retained, Error> {
        self.retain_within(Limits { before: Some(before), bytes_max: None })
    }

    /// The same within both limits: events before the time go, and then whole spans, those that end first before others,
    /// until the files of the store take no more than the size. The newest span stays, and so do logs, which count, too.
    ///
    /// # Errors
    /// As [`retain`](Self::retain).
    pub fn retain_within(&self, limits: Limits) -> Result<Retained, Error> {
        let (retained, gone) = match self.cut(limits, Vec::new()) {
            Err(error) if error.is_full() => match make_room(&self.folder, limits) {
                Some(gone) => self.cut(limits, gone),
                None => Err(error),
            },
            cut => cut,
        }?;
        gone.into_iter().for_each(|number| self.folder.discard_span(number));
        // What was to go does not come back with a loss of power, not even as a file that is not read.
        let _ = self.folder.sync();
        self.folder.keep_ballast();
        Ok(retained)
    }

    /// What [`retain_within`](Self::retain_within) would do now. Changes nothing.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn would_retain(&self, limits: Limits) -> Result<Retained, Error> {
        cut(&self.folder, &mut self.folder.manifest()?, limits, Vec::new()).map(|(retained, _)| retained)
    }

    /// Removes events from the manifest. Also returns the numbers of the spans that can go.
    fn cut(&self, limits: Limits, gone: Vec<u64>) -> Result<(Retained, Vec<u64>), Error> {
        self.folder.change_to_free(|manifest| cut(&self.folder, manifest, limits, gone))
    }
}

/// Removes the events beyond the limits from a manifest, and the spans that are `gone` already. Also returns the numbers of the spans that can go.
fn cut(
    folder: &Folder,
    manifest: &mut Manifest,
    limits: Limits,
    mut gone: Vec<u64>,
) -> Result<(Retained, Vec<u64>), Error> {
    let mut retained = Retained::default();
    if let Some(before) = limits.before {
        gone.extend(manifest.spans.iter().filter(|span| is_older(span, before)).map(|span| span.number));
        for span in manifest.spans.iter_mut().filter(|span| !is_older(span, before) && span.first.time < before) {
            span.keep_from = span.keep_from.max(Some(before));
            retained.cut += 1;
        }
        cut_logs(folder, manifest, before, &mut retained)?;
    }
    if let Some(bytes_max) = limits.bytes_max {
        let length = |path: &Path| folder.files.open(path).and_then(|file| file.len()).unwrap_or_default();
        let size = |span: &SpanEntry| span.file_bytes + length(&folder.index(span.number));
        let spans = manifest.spans.iter().filter(|span| !gone.contains(&span.number));
        let mut spans: Vec<_> = spans.map(|span| (span.last, span.number, size(span))).collect();
        spans.sort_unstable();
        let logs = manifest.logs.iter().map(|log| length(&folder.log(log.number)));
        let mut bytes = spans.iter().map(|(.., bytes)| *bytes).chain(logs).fold(0, u64::saturating_add);
        // Not the newest.
        spans.pop();
        for (_, number, size) in spans {
            if bytes <= bytes_max {
                break;
            }
            bytes -= size;
            gone.push(number);
        }
    }
    manifest.spans.retain(|span| {
        let stays = !gone.contains(&span.number);
        if !stays {
            retained.spans_removed += 1;
            retained.events_removed += span.events;
        }
        stays
    });
    Ok((retained, gone))
}

/// Whether all events of a span are before a time.
fn is_older(span: &SpanEntry, before: i64) -> bool {
    span.last.time < before
}

/// Makes room for a manifest on a disk that is full although the ballast is gone: what a crash left goes, and then the
/// indexes of spans that are about to go themselves. Readers do without an index. If something went: the numbers of these
/// spans, which have to go now.
fn make_room(folder: &Folder, limits: Limits) -> Option<Vec<u64>> {
    let (_, gone) = cut(folder, &mut folder.manifest().ok()?, limits, Vec::new()).ok()?;
    let orphans = discard_orphans(folder);
    let indexes = gone.iter().filter(|number| folder.files.remove(&folder.index(**number)).is_ok()).count();
    (orphans + indexes > 0 && folder.sync().is_ok()).then_some(gone)
}

/// Removes what no manifest names, unless a writer is at work, whose new files are among it. How many files went.
fn discard_orphans(folder: &Folder) -> usize {
    let lock = folder.files.lock(&folder.file(WRITER_LOCK), false);
    lock.ok().flatten().map_or(0, |_lock| orphans(folder).unwrap_or_default().removed)
}

/// Cuts off the older events of logs that are there already.
fn cut_logs(folder: &Folder, manifest: &mut Manifest, before: i64, retained: &mut Retained) -> Result<(), Error> {
    for entry in &mut manifest.logs {
        let path = folder.log(entry.number);
        let content = match folder.files.open(&path).and_then(|input| log::read(&*input, entry.identity)) {
            Ok(content) => content,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => return Err(Error::io("read", &path, &error)),
        };
        let has_older = content.batches.iter().any(|batch| batch.times.iter().any(|time| *time < before));
        let arrivals = content.batches.iter().map(|batch| batch.arrival + batch.times.len() as u64);
        if let Some(arrivals_below) = arrivals.max().filter(|_| has_older) {
            let clip = Clip { before, arrivals_below };
            entry.clips.retain(|old| old.before > before || old.arrivals_below > arrivals_below);
            entry.clips.push(clip);
            retained.cut += 1;
        }
    }
    Ok(())
}

//! Deletion of the events that match a condition. The spans that have some are written again without them, and their files
//! are removed: nothing is only hidden.

use super::deletions::{Deletion, Deletions, kept};
use super::merge::{Failed, Merge, Opened, RowSet, has_room, open_all};
use super::pace::Pace;
use crate::clean::{UNKNOWN, WRITER_LOCK, care_lock, sealed_logs, superfluous};
use crate::error::{Damage, Error, ErrorKind};
use crate::index::{Answer, Condition, Times};
use crate::logs::seal_request::{self, SealRequest};
use crate::manifest::{FileKind, Folder, Fresh, SpanEntry};
use crate::settings::{Patience, Settings, Window, WriterOptions};
use crate::snapshot::sum_up;
use crate::span::{BlockRows, Fault, SpanFile};
use crate::store::Store;
use std::io;
use std::path::{Path, PathBuf};
use std::slice;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// How long a deletion waits for another process to seal its logs, unless the store has more patience.
const PATIENCE: Duration = Duration::from_millis(if cfg!(test) { 40 } else { 30_000 });

/// Where a deletion looks for events, and what is noted of it.
#[derive(Clone, Copy, Debug, Default)]
pub struct DeleteScope<'s> {
    /// Only events of this time go.
    pub window: Window,
    /// What holds for all events that match. Blocks are not read if an index rules it out for them.
    pub condition: Option<&'s Condition>,
    /// A text for the [record](Deletion) of the deletion; of a longer one, the first 1000 bytes.
    pub note: Option<&'s str>,
}

/// What a deletion did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Deleted {
    /// The events that were deleted.
    pub events: u64,
    /// The spans that had them; also those that had such events which retention had hidden, and which are gone now.
    pub spans: u64,
    /// How many of the events are in logs, if nothing was deleted yet.
    pub in_logs: u64,
    /// What is damaged. Nothing was deleted from a span that is damaged.
    pub damage: Vec<Damage>,
    /// Files in the folder of the store that do not belong to it, and may have such events.
    pub aside: Vec<PathBuf>,
}

impl Store {
    /// Deletes the events that `matches`, which gets an event without its line feed and has to say the same each time:
    /// all of those that were acknowledged before. Spans are written again without them, one after the other; spans
    /// without such events stay as they are. Readers and a writer go on meanwhile; a writer that has such events in its
    /// log seals it first. Memory: a few blocks, and a bit for each event of a span.
    ///
    /// After a crash, each of the events is deleted or is there as before.
    ///
    /// ```
    /// use jird_store::{DeleteScope, Settings, Store, WriterOptions};
    /// let folder = std::env::temp_dir().join(format!("jird-delete-{}", std::process::id()));
    /// # let _ = std::fs::remove_dir_all(&folder);
    /// let store = Store::create(&folder, &Settings::default())?;
    /// let writer = store.writer(&WriterOptions::default())?;
    /// for event in [&b"{\"user\":\"ann\"}"[..], b"{\"user\":\"bob\"}"] {
    ///     writer.append_event(event)?;
    /// }
    /// writer.finish()?;
    /// let deleted = store.delete(&DeleteScope::default(), &mut |event| event == b"{\"user\":\"ann\"}")?;
    /// assert_eq!((deleted.events, deleted.spans), (1, 1));
    /// assert_eq!(store.info()?.events, 1);
    /// # std::fs::remove_dir_all(&folder).unwrap();
    /// # Ok::<(), jird_store::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Locked` if another compaction or deletion is at work, or if a writer has such events in its log and does not seal
    /// it within 30 seconds; nothing was deleted then. Those of the operating system: what was deleted before that is
    /// gone. If the disk lacks the room to write a span again, that is an error in the end.
    pub fn delete(&self, scope: &DeleteScope<'_>, matches: &mut dyn FnMut(&[u8]) -> bool) -> Result<Deleted, Error> {
        // Before the lock, as a writer removes what a crash has left only if it can have it, too.
        let unsealed = self.seal_logs()?;
        let _lock = care_lock(&self.folder)?;
        if let Some(why) = unsealed {
            self.have_sealed(scope, matches, why)?;
        }
        let manifest = self.folder.manifest()?;
        let mut work = Work::new(self, scope, matches);
        work.unremoved = manifest.sections.get::<Deletions>()?.unwrap_or_default().unremoved;
        // A manifest that was rebuilt may name them again: then they have events that no other file has.
        work.unremoved.retain(|number| !manifest.has(FileKind::Span(*number)));
        let done = manifest.spans.iter().try_for_each(|span| work.span(span.clone()));
        let ended = done.and_then(|()| work.end()).and_then(|()| sweep(&self.folder));
        self.folder.keep_ballast();
        let manifest = self.folder.manifest()?;
        sum_up(&self.folder, |number| manifest.spans.iter().any(|span| span.number == number));
        let Work { mut deleted, record, .. } = work;
        ended.map_err(|error| {
            let Deletion { events, spans, .. } = record;
            let message = format!("{error}; {events} events of {spans} spans were deleted before that");
            if spans > 0 { Error::new(error.kind(), message) } else { error }
        })?;
        // What logs lack is told, too.
        for damage in self.snapshot()?.damage() {
            if !deleted.damage.contains(&damage) {
                deleted.damage.push(damage);
            }
        }
        deleted.aside = aside(&self.folder)?;
        Ok(deleted)
    }

    /// What [`delete`](Self::delete) would delete now, in logs, too. Changes nothing.
    ///
    /// # Errors
    /// As [`Store::snapshot`].
    pub fn would_delete(
        &self,
        scope: &DeleteScope<'_>,
        matches: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Result<Deleted, Error> {
        let snapshot = self.snapshot()?;
        let in_logs = snapshot.recent_events().filter(|(time, event)| scope.window.has(*time) && matches(event));
        let in_logs = in_logs.count() as u64;
        let mut deleted = Deleted { events: in_logs, in_logs, ..Deleted::default() };
        for span in snapshot.spans().iter().filter(|span| may_match(snapshot.settings(), scope, span.entry())) {
            match find(&self.folder, snapshot.settings(), span, scope, matches) {
                Ok(found) => {
                    deleted.events += found.events;
                    deleted.spans += u64::from(!found.rows.is_empty());
                }
                Err(damage) => deleted.damage.push(damage),
            }
        }
        for damage in snapshot.damage() {
            if !deleted.damage.contains(&damage) {
                deleted.damage.push(damage);
            }
        }
        deleted.aside = aside(&self.folder)?;
        Ok(deleted)
    }

    /// Puts what is in the logs into spans. Returns why that could not be: another writer is at work, or the disk is full.
    fn seal_logs(&self) -> Result<Option<Error>, Error> {
        let may_be = |error: Error| {
            if error.kind() == ErrorKind::Locked || error.is_full() { Ok(Some(error)) } else { Err(error) }
        };
        // A writer is asked to seal, and not waited for.
        let hasty = self.clone().with_patience(Patience::None);
        let writer = match hasty.writer(&WriterOptions::default()) {
            Ok(writer) => writer,
            Err(error) => return may_be(error),
        };
        let sealed = writer.seal();
        // Also after an error: the writer leaves no empty log behind.
        writer.finish()?;
        sealed.map_or_else(may_be, |()| Ok(None))
    }

    /// Has the writer of another process seal its logs if events that match are there, and refuses the deletion if they
    /// stay there.
    fn have_sealed(
        &self,
        scope: &DeleteScope<'_>,
        matches: &mut dyn FnMut(&[u8]) -> bool,
        why: Error,
    ) -> Result<(), Error> {
        let snapshot = self.snapshot()?;
        let found = snapshot.recent_events().filter(|(time, event)| scope.window.has(*time) && matches(event)).count();
        let why = match why.kind() {
            _ if found == 0 => return Ok(()),
            ErrorKind::Locked => self.wait_for_seal(snapshot.arrivals())?,
            _ => Some(why),
        };
        let Some(why) = why else { return Ok(()) };
        let path = self.folder.path.display();
        let events =
            if found == 1 { "1 event that matches is".to_owned() } else { format!("{found} events that match are") };
        let message = if why.kind() == ErrorKind::Locked {
            format!(
                "{events} in the log of a process that writes to the store in {path}, and it does not seal it: end that process (`jird serve` or `jird ingest`), and try again; nothing was deleted"
            )
        } else {
            format!("{events} in the log of the store, which could not be sealed; nothing was deleted: {why}")
        };
        Err(Error::new(why.kind(), message))
    }

    /// Waits until another process has sealed all events below an arrival number, or has ended, so that they can be sealed
    /// here. Returns why they are not.
    fn wait_for_seal(&self, arrivals: u64) -> Result<Option<Error>, Error> {
        let _request = SealRequest::make(&self.folder, self.folder.manifest()?.store, arrivals)?;
        let begun = Instant::now();
        let waits = || begun.elapsed() < PATIENCE || self.folder.patience.rest(begun.elapsed()).is_some();
        loop {
            thread::sleep(seal_request::EVERY);
            if self.folder.manifest()?.sealed >= Some(arrivals) {
                return Ok(None);
            }
            match self.seal_logs()? {
                Some(error) if error.kind() == ErrorKind::Locked && waits() => {}
                ended => return Ok(ended),
            }
        }
    }
}

/// A deletion that is going on.
struct Work<'w, 's> {
    folder: &'w Folder,
    settings: &'w Settings,
    scope: &'w DeleteScope<'s>,
    matches: &'w mut dyn FnMut(&[u8]) -> bool,
    deleted: Deleted,
    record: Deletion,
    /// The numbers of spans whose files are not surely removed; also of those that an earlier deletion left.
    unremoved: Vec<u64>,
    /// Why spans stay as they are, or their files.
    failure: Option<Error>,
}

/// What became of a span that was written again.
enum Outcome {
    Done,
    /// Retention removed it meanwhile.
    Gone,
    /// Retention cut it meanwhile.
    Cut(SpanEntry),
}

impl<'w, 's> Work<'w, 's> {
    fn new(store: &'w Store, scope: &'w DeleteScope<'s>, matches: &'w mut dyn FnMut(&[u8]) -> bool) -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let time = i64::try_from(now.as_nanos()).unwrap_or(i64::MAX);
        let record = Deletion { time, window: scope.window, note: scope.note.map(kept), ..Deletion::default() };
        let (folder, settings, deleted) = (&store.folder, store.settings(), Deleted::default());
        Self { folder, settings, scope, matches, deleted, record, unremoved: Vec::new(), failure: None }
    }

    /// Deletes the events of a span.
    fn span(&mut self, mut entry: SpanEntry) -> Result<(), Error> {
        if !may_match(self.settings, self.scope, &entry) {
            return Ok(());
        }
        loop {
            let spans = match open_all(self.folder, slice::from_ref(&entry))? {
                Opened::Whole(spans) => spans,
                Opened::Damaged(damage) => {
                    self.deleted.damage.extend(damage);
                    return Ok(());
                }
                Opened::Gone => return Ok(()),
            };
            let [span] = &spans[..] else { return Ok(()) };
            let found = match find(self.folder, self.settings, span, self.scope, self.matches) {
                Ok(found) if found.rows.is_empty() => return Ok(()),
                Ok(found) => found,
                Err(damage) => {
                    self.deleted.damage.push(damage);
                    return Ok(());
                }
            };
            match self.rewrite(&entry, &spans, &found)? {
                Some(Outcome::Cut(now)) => entry = now,
                Some(Outcome::Done | Outcome::Gone) | None => return Ok(()),
            }
        }
    }

    /// Writes a span again, and puts what comes of it in its place. `None` if it stays as it is.
    fn rewrite(&mut self, entry: &SpanEntry, spans: &[SpanFile], found: &Matches) -> Result<Option<Outcome>, Error> {
        let task = format!("delete events from {}: writing a span again", self.folder.path.display());
        // If nothing of it stays, that takes no room.
        let room =
            if found.all == entry.events { Ok(()) } else { has_room(self.folder, &task, slice::from_ref(entry)) };
        if let Err(error) = room {
            // Others may be smaller, and make room.
            self.failure = Some(error);
            return Ok(None);
        }
        let Some(mut merge) = Merge::new(self.folder, self.settings, spans, &found.rows) else {
            let (file, reason) = (self.folder.span(entry.number), "its arrival numbers cannot be".to_owned());
            self.deleted.damage.push(Damage { file, block: None, events: Some(entry.events), reason });
            return Ok(None);
        };
        match merge.run(Pace::Full) {
            Ok(()) => {}
            Err(Failed::Damage(damage)) => {
                self.deleted.damage.push(damage);
                return Ok(None);
            }
            Err(Failed::Error(error)) => return Err(error),
        }
        let (entries, fresh): (Vec<SpanEntry>, Vec<Fresh>) = merge.made.into_iter().unzip();
        self.folder.sync()?;
        let (events, spans) = (self.record.events + found.events, self.record.spans + 1);
        let record = Deletion { events, spans, ..self.record.clone() };
        let is_new = self.record.spans == 0;
        let unremoved = [&self.unremoved[..], &[entry.number]].concat();
        let outcome = self.folder.change_to_free(|manifest| {
            match manifest.spans.iter().find(|span| span.number == entry.number) {
                None => return Ok(Outcome::Gone),
                Some(now) if now != entry => return Ok(Outcome::Cut(now.clone())),
                Some(_) => {}
            }
            manifest.spans.retain(|span| span != entry);
            manifest.spans.extend(entries);
            Deletions::record(manifest, &record, is_new, &unremoved)?;
            Ok(Outcome::Done)
        })?;
        if matches!(outcome, Outcome::Done) {
            fresh.into_iter().for_each(Fresh::keep);
            (self.deleted.events, self.deleted.spans) = (events, spans);
            (self.record, self.unremoved) = (record, unremoved);
            self.remove();
        }
        Ok(Some(outcome))
    }

    /// Removes the files of spans that no manifest names any more. Other than after a compaction, it matters if they stay.
    fn remove(&mut self) {
        let (folder, failure) = (self.folder, &mut self.failure);
        self.unremoved.retain(|number| {
            let removed =
                [folder.span(*number), folder.index(*number)].iter().try_for_each(|path| remove(folder, path));
            let removed = removed.and_then(|()| folder.sync());
            let is_there = removed.is_err();
            *failure = removed.err().or(failure.take());
            is_there
        });
    }

    /// Notes that it came to its end, if it did.
    fn end(&mut self) -> Result<(), Error> {
        // An earlier deletion may have left files, and nothing else to delete.
        let had_unremoved = !self.unremoved.is_empty();
        self.remove();
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        self.record.is_complete = self.record.spans > 0 && self.deleted.damage.is_empty();
        if self.record.is_complete {
            self.folder.change_to_free(|manifest| Deletions::record(manifest, &self.record, false, &[]))
        } else if had_unremoved || self.record.spans > 0 {
            self.folder.change_to_free(Deletions::removed)
        } else {
            Ok(())
        }
    }
}

/// Removes a file that belongs to the store no more.
fn remove(folder: &Folder, path: &Path) -> Result<(), Error> {
    match folder.files.remove(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            let error = Error::io("remove", path, &error);
            let message =
                format!("{error}; the store does without it, but it may have events that were deleted: remove it");
            Err(Error::new(error.kind(), message))
        }
        _ => Ok(()),
    }
}

/// Removes the files that have events of others: logs that were sealed, and, if no writer is at work, which makes such
/// files, spans that a compaction has merged. Who made them superfluous has tried it, and did not say if it failed.
fn sweep(folder: &Folder) -> Result<(), Error> {
    let lock = folder.file(WRITER_LOCK);
    let lock = folder.files.lock(&lock, false).map_err(|error| Error::io("lock", &lock, &error))?;
    let leftovers = if lock.is_some() { superfluous(folder)? } else { sealed_logs(folder)? };
    leftovers.iter().try_for_each(|path| remove(folder, path))?;
    if leftovers.is_empty() { Ok(()) } else { folder.sync() }
}

/// The events of a span that go.
struct Matches {
    rows: RowSet,
    /// How many they are, those included that retention has hidden.
    all: u64,
    /// How many of them can be seen.
    events: u64,
}

/// Whether a span may have an event that matches, by its times.
fn may_match(settings: &Settings, scope: &DeleteScope<'_>, entry: &SpanEntry) -> bool {
    let bounds = (entry.first.time, entry.last.time);
    scope.window.cuts(bounds) && may_hold_at(settings, scope, entry, bounds)
}

fn may_hold_at(settings: &Settings, scope: &DeleteScope<'_>, entry: &SpanEntry, bounds: (i64, i64)) -> bool {
    let times = Times { bounds, order: entry.order };
    scope.condition.is_none_or(|condition| condition.may_hold_at(&settings.time_field, &times))
}

/// Finds the events of a span that go. The damage is that of a block that cannot be read.
fn find(
    folder: &Folder,
    settings: &Settings,
    span: &SpanFile,
    scope: &DeleteScope<'_>,
    matches: &mut dyn FnMut(&[u8]) -> bool,
) -> Result<Matches, Damage> {
    let (entry, blocks) = (span.entry(), &span.table().blocks);
    let answers = scope.condition.map(|condition| span.answers(condition)).unwrap_or_default();
    // An index of other blocks says nothing of these.
    let may = |block: usize| answers.len() != blocks.len() || answers[block] == Answer::May;
    let mut found = Matches { rows: RowSet::default(), all: 0, events: 0 };
    let (mut start, mut text) = (0, Vec::new());
    for (number, block) in blocks.iter().enumerate() {
        let bounds = (block.first.time, block.last.time);
        if may(number) && scope.window.cuts(bounds) && may_hold_at(settings, scope, entry, bounds) {
            find_in_block(span, number, start, scope, matches, &mut text, &mut found).map_err(|fault| {
                let (events, reason) = (Some(block.events), fault.to_string());
                Damage { file: folder.span(span.number()), block: Some(number), events, reason }
            })?;
        }
        start += block.events as usize;
    }
    Ok(found)
}

/// The same of a block, whose first event has the number `start` in its span.
fn find_in_block(
    span: &SpanFile,
    number: usize,
    start: usize,
    scope: &DeleteScope<'_>,
    matches: &mut dyn FnMut(&[u8]) -> bool,
    text: &mut Vec<u8>,
    found: &mut Matches,
) -> Result<(), Fault> {
    let block = &span.table().blocks[number];
    let (first, last) = (block.first.time, block.last.time);
    let keep_from = span.entry().keep_from.unwrap_or(i64::MIN);
    let is_cut = first < keep_from || !scope.window.has(first) || !scope.window.has(last);
    let rows = if is_cut { span.read_rows(number)? } else { BlockRows::default() };
    span.read_documents(number, text)?;
    let lines = text.split_inclusive(|byte| *byte == b'\n').enumerate();
    let mut count = 0;
    for (line, event) in lines {
        count += 1;
        let time = rows.keys.get(line).map_or(first, |key| key.time);
        if scope.window.has(time) && matches(event.strip_suffix(b"\n").unwrap_or(event)) {
            found.rows.add(start + line);
            found.all += 1;
            found.events += u64::from(time >= keep_from);
        }
    }
    if count == block.events { Ok(()) } else { Err(Fault::Wrong("its lines are damaged")) }
}

/// The files that are kept aside in the folder of a store.
fn aside(folder: &Folder) -> Result<Vec<PathBuf>, Error> {
    if !folder.files.is_local() {
        return Ok(Vec::new());
    }
    let names = folder.files.list(&folder.path).map_err(|error| Error::io("list", &folder.path, &error))?;
    let is_aside = |name: &String| {
        let stem = name.strip_suffix(".damaged").or_else(|| name.strip_suffix(UNKNOWN)?.strip_suffix('.'));
        stem.is_some_and(|stem| FileKind::of(stem).is_some()) || name == "refused.ndjson"
    };
    Ok(names.into_iter().filter(is_aside).map(|name| folder.file(&name)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::simulated::Disk;
    use std::sync::Arc;

    #[test]
    fn a_span_that_is_to_be_removed_stays_if_the_manifest_names_it_again() {
        let disk = Disk::default();
        let store = Store::create_on(Arc::new(disk), Path::new("/store"), &Settings::default()).unwrap();
        let writer = store.writer(&WriterOptions::default()).unwrap();
        writer.append_event(b"1").unwrap();
        writer.seal().unwrap();
        writer.finish().unwrap();
        let number = store.folder.manifest().unwrap().spans[0].number;
        let record = |manifest: &mut _| Deletions::record(manifest, &Deletion::default(), true, &[number, 77]);
        store.folder.change(record).unwrap();
        store.delete(&DeleteScope::default(), &mut |_| false).unwrap();
        assert_eq!((store.info().unwrap().events, store.verify(false).unwrap().damage), (1, Vec::new()));
        let deletions: Deletions = store.folder.manifest().unwrap().sections.get().unwrap().unwrap();
        assert_eq!((deletions.unremoved, deletions.list.len()), (Vec::new(), 1));
    }
}

//! Making a manifest again that is damaged, gone or old: from its copy, or from what spans and logs say of themselves.

use super::deletions::Deletions;
use crate::clean::{care_lock, writer_lock};
use crate::column::ColumnType;
use crate::error::{Error, ErrorKind};
use crate::event::{Batch, LoggedBatch, TextOrder};
#[cfg(test)]
use crate::files::Files;
use crate::files::RealFiles;
use crate::log;
use crate::manifest::{FileKind, Folder, LogEntry, Manifest, Sections, SourcesLost, SpanEntry};
use crate::settings::{ColumnChoice, Compression, Patience, Settings};
use crate::span::{self, SpanFile};
use crate::store::{Store, folder_at};
use jird::Path as FieldPath;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// How a manifest was rebuilt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Restored {
    /// Whether it is its copy, and nothing that it said is lost.
    pub is_copy: bool,
    /// What could not be known, and what was left out.
    pub notes: Vec<String>,
}

impl Store {
    /// Makes the manifest of a store again, if it is damaged, gone, or older than the other files. `None` if it is sound.
    ///
    /// Its copy is put in its place. If there is none, or the copy is not the state of the files that are there, the
    /// manifest is made of what spans and logs say of themselves. Then it is not known which events
    /// [`retain`](Self::retain) had hidden and compaction had not yet removed: they are there again.
    ///
    /// # Errors
    /// `Missing` if there is no store, `Locked` if a writer or a compaction is at work, and those of the operating system.
    pub fn restore(path: &Path) -> Result<Option<Restored>, Error> {
        Self::restore_patiently(path, Patience::None)
    }

    /// As [`restore`](Self::restore), but waits for a writer or a compaction.
    ///
    /// # Errors
    /// As [`restore`](Self::restore).
    pub fn restore_patiently(path: &Path, patience: Patience) -> Result<Option<Restored>, Error> {
        Self::restore_in(&Folder { patience, ..folder_at(Arc::new(RealFiles), path) })
    }

    #[cfg(test)]
    pub(crate) fn restore_on(files: Arc<dyn Files>, path: &Path) -> Result<Option<Restored>, Error> {
        Self::restore_in(&folder_at(files, path))
    }

    pub(crate) fn restore_in(folder: &Folder) -> Result<Option<Restored>, Error> {
        if is_sound(folder)?.is_ok() {
            return Ok(None);
        }
        let _writer = writer_lock(folder)?;
        let _care = care_lock(folder)?;
        // Another process may have made it again before it gave the locks back.
        let Err(manifest) = is_sound(folder)? else { return Ok(None) };
        let copy = folder.copy();
        let (made, restored) = match copy.as_ref().map(|copy| is_whole(folder, copy)) {
            Some(Ok(true)) => (copy, Restored { is_copy: true, notes: Vec::new() }),
            Some(Err(error)) => return Err(error),
            _ => {
                let known = [manifest, copy].into_iter().flatten().max_by_key(|manifest| manifest.generation);
                let mut rebuilding = Rebuilding::new(folder, known.as_ref())?;
                let made = rebuilding.manifest()?;
                (Some(made), Restored { is_copy: false, notes: rebuilding.notes })
            }
        };
        made.map_or(Ok(()), |made| folder.put_back(made))?;
        Ok(Some(restored))
    }
}

/// Whether a manifest can be used and is the newest; if not, the manifest, if it can be read.
fn is_sound(folder: &Folder) -> Result<Result<(), Option<Manifest>>, Error> {
    match folder.manifest() {
        Ok(manifest) if is_newest(folder, &manifest).unwrap_or(true) => Ok(Ok(())),
        Ok(manifest) => Ok(Err(Some(manifest))),
        Err(error) if error.kind() == ErrorKind::Damaged => Ok(Err(None)),
        Err(error) => Err(error),
    }
}

/// Whether all files have numbers that a manifest has given.
fn is_newest(folder: &Folder, manifest: &Manifest) -> Result<bool, Error> {
    let names = folder.files.list(&folder.path).map_err(|error| Error::io("list", &folder.path, &error))?;
    Ok(names.iter().filter_map(|name| FileKind::of(name)).all(|kind| kind.number() < manifest.next))
}

/// Whether a manifest is the state of the files that are there.
fn is_whole(folder: &Folder, manifest: &Manifest) -> Result<bool, Error> {
    let spans = manifest.spans.iter().map(|span| folder.span(span.number));
    let logs = manifest.logs.iter().map(|log| folder.log(log.number));
    let has_all = spans.chain(logs).all(|file| folder.files.open(&file).is_ok());
    Ok(has_all && is_newest(folder, manifest)?)
}

/// What spans and logs say of themselves.
struct Rebuilding<'f> {
    folder: &'f Folder,
    /// An older manifest, if there is one.
    known: Option<&'f Manifest>,
    spans: Vec<Span>,
    logs: Vec<Log>,
    /// All numbers of files are below it.
    next: u64,
    notes: Vec<String>,
}

struct Span {
    entry: SpanEntry,
    columns: ColumnChoice,
    compression: Compression,
    /// The arrival numbers of its events are among these.
    arrivals: Range<u64>,
}

struct Log {
    entry: LogEntry,
    store: Option<u64>,
    batches: Vec<Arc<LoggedBatch>>,
}

impl<'f> Rebuilding<'f> {
    fn new(folder: &'f Folder, known: Option<&'f Manifest>) -> Result<Self, Error> {
        let names = folder.files.list(&folder.path).map_err(|error| Error::io("list", &folder.path, &error))?;
        let mut kinds: Vec<FileKind> = names.iter().filter_map(|name| FileKind::of(name)).collect();
        kinds.sort_unstable_by_key(|kind| kind.number());
        let next = kinds.iter().map(|kind| kind.number() + 1).max().unwrap_or(1);
        let next = known.map_or(next, |known| known.next.max(next));
        let mut rebuilding = Self { folder, known, spans: Vec::new(), logs: Vec::new(), next, notes: Vec::new() };
        for kind in kinds {
            match kind {
                FileKind::Span(number) => rebuilding.add_span(number)?,
                FileKind::Log(number) => rebuilding.add_log(number)?,
                FileKind::Index(_) => {}
            }
        }
        Ok(rebuilding)
    }

    fn manifest(&mut self) -> Result<Manifest, Error> {
        self.drop_merged()?;
        let highest = self.spans.iter().map(|span| span.arrivals.end).max().unwrap_or_default();
        self.drop_sealed_and_foreign(highest);
        let batches = || self.logs.iter().flat_map(|log| &log.batches);
        let first = batches().map(|batch| batch.arrival).min();
        let known_sealed = self.known.and_then(|known| known.sealed).unwrap_or_default();
        let sealed = first.unwrap_or(highest).max(if first.is_none() { known_sealed } else { 0 });
        let arrivals = batches().map(|batch| batch.end()).max().unwrap_or_default().max(sealed);
        let mut manifest = match self.known {
            Some(known) => known.clone(),
            None => Manifest::new(&self.settings()?),
        };
        if let Some(store) = self.logs.iter().rev().find_map(|log| log.store) {
            manifest.store = store;
        }
        // What was acknowledged and cannot be found is then reported as lost.
        manifest.arrivals = manifest.arrivals.max(arrivals);
        manifest.sealed = Some(sealed);
        manifest.next = self.next;
        manifest.sections = self.known.map_or_else(Sections::default, |known| known.sections.only::<Deletions>());
        manifest.sections.set(&SourcesLost);
        manifest.spans = self.spans.drain(..).map(|span| span.entry).collect();
        manifest.logs = self.logs.drain(..).map(|log| log.entry).collect();
        let hidden = "events that `jird store retain` had hidden, and compaction had not removed, are there again";
        self.notes.push(hidden.into());
        Ok(manifest)
    }

    fn add_span(&mut self, number: u64) -> Result<(), Error> {
        let path = self.folder.span(number);
        let input = self.folder.files.open(&path).map_err(|error| Error::io("open", &path, &error))?;
        let Some(summary) = span::summary(&*input) else {
            self.notes.push(format!("{} is not whole, and was left out", path.display()));
            return Ok(());
        };
        let (table, table_sum) = (summary.table, summary.table_sum);
        let known = self.known.and_then(|known| known.spans.iter().find(|span| span.table_sum == table_sum));
        let (Some(first), Some(last)) = (table.blocks.first(), table.blocks.last()) else { return Ok(()) };
        let entry = SpanEntry {
            number,
            events: table.events(),
            text_bytes: table.text_bytes(),
            file_bytes: summary.file_bytes,
            first: first.first,
            last: last.last,
            order: known.map_or(TextOrder::Unknown, |known| known.order),
            table_sum,
            keep_from: known.and_then(|known| known.keep_from),
        };
        let paths = table.columns.into_iter().filter(|(_, kind)| *kind != ColumnType::Spellings);
        let columns = if table.has_auto_columns {
            ColumnChoice::Auto
        } else {
            ColumnChoice::Fields(paths.map(|(path, _)| path).collect())
        };
        let arrivals = table.base..table.arrival_last.saturating_add(1);
        self.spans.push(Span { entry, columns, compression: table.compression, arrivals });
        Ok(())
    }

    fn add_log(&mut self, number: u64) -> Result<(), Error> {
        let path = self.folder.log(number);
        let read = self.folder.files.open(&path).and_then(|input| log::read_unknown(&*input));
        let (start, content) = read.map_err(|error| Error::io("read", &path, &error))?;
        if start.is_some_and(|start| start.number != number) {
            self.notes.push(format!("{} is a copy of another log, and was left out", path.display()));
            return Ok(());
        }
        let known = self.known.and_then(|known| known.logs.iter().find(|log| log.number == number));
        let identity = start.map(|start| start.identity).or_else(|| known.and_then(|known| known.identity));
        let identity = identity.or(content.identity);
        let clips = known.map(|known| known.clips.clone()).unwrap_or_default();
        let entry = LogEntry { number, identity, clips };
        self.logs.push(Log { entry, store: start.map(|start| start.store), batches: content.batches });
        Ok(())
    }

    /// Leaves out spans whose events are in others: a compaction was at work, or could not remove what it had merged.
    fn drop_merged(&mut self) -> Result<(), Error> {
        let mut owners = self.shared_arrivals()?;
        owners.sort_unstable();
        let of: Vec<Vec<u64>> = (0..self.spans.len())
            .map(|span| owners.iter().filter(|(_, owner)| *owner == span).map(|(arrival, _)| *arrival).collect())
            .collect();
        let mut dropped = BTreeSet::new();
        let is_shared = |arrival: u64, dropped: &BTreeSet<usize>| {
            let from = owners.partition_point(|(other, _)| *other < arrival);
            let same = owners[from..].iter().take_while(|(other, _)| *other == arrival);
            same.filter(|(_, owner)| !dropped.contains(owner)).count() > 1
        };
        // One that has nothing of its own, first the newest, which may be one of several that were not finished.
        for span in (0..self.spans.len()).rev().filter(|span| !of[*span].is_empty()) {
            let is_whole = of[span].len() as u64 == self.spans[span].entry.events;
            if is_whole && of[span].iter().all(|arrival| is_shared(*arrival, &dropped)) {
                dropped.insert(span);
            }
        }
        // What a newer one shares with it was merged into that one, and retention had removed the rest.
        for (span, arrivals) in of.iter().enumerate() {
            if !dropped.contains(&span) && arrivals.iter().any(|arrival| is_shared(*arrival, &dropped)) {
                dropped.insert(span);
            }
        }
        for span in &dropped {
            let path = self.folder.span(self.spans[*span].entry.number);
            self.notes.push(format!("{} has events of other spans, and was left out", path.display()));
        }
        let mut number = 0..;
        self.spans.retain(|_| number.next().is_some_and(|span| !dropped.contains(&span)));
        Ok(())
    }

    /// The arrival numbers of the events of all spans whose numbers are among those of another one, and whose they are.
    fn shared_arrivals(&self) -> Result<Vec<(u64, usize)>, Error> {
        let mut owners = Vec::new();
        for (number, span) in self.spans.iter().enumerate() {
            let overlaps =
                |other: &Span| other.arrivals.start < span.arrivals.end && span.arrivals.start < other.arrivals.end;
            if self.spans.iter().filter(|other| overlaps(other)).count() < 2 {
                continue;
            }
            let Some(file) = SpanFile::open(self.folder, &span.entry, true, &Arc::default())? else { continue };
            for block in 0..file.table().blocks.len() {
                if let Ok(rows) = file.read_rows(block) {
                    owners.extend(rows.keys.iter().map(|key| (key.arrival, number)));
                }
            }
        }
        Ok(owners)
    }

    /// Leaves out logs whose events are in spans, and those of other stores.
    fn drop_sealed_and_foreign(&mut self, sealed: u64) {
        let mut stores: BTreeMap<u64, usize> = BTreeMap::new();
        self.logs.iter().filter_map(|log| log.store).for_each(|store| *stores.entry(store).or_default() += 1);
        let most = stores.into_iter().max_by_key(|(_, logs)| *logs).map(|(store, _)| store);
        let own = self.known.map(|known| known.store).filter(|store| *store != 0).or(most);
        let (folder, notes) = (self.folder, &mut self.notes);
        self.logs.retain(|log| {
            if log.store.is_some() && log.store != own {
                notes.push(format!("{} is of another store, and was left out", folder.log(log.entry.number).display()));
                return false;
            }
            log.batches.is_empty() || log.batches.iter().any(|batch| batch.end() > sealed)
        });
    }

    /// The settings, as far as files tell them.
    fn settings(&mut self) -> Result<Settings, Error> {
        let (columns, compression) =
            self.spans.first().map_or_else(Default::default, |span| (span.columns.clone(), span.compression));
        let mut settings = Settings { columns, compression, ..Settings::default() };
        let Some((event, time)) = self.example()? else { return Ok(settings) };
        let document = jird::parse(&event).ok();
        let keys = document.iter().flat_map(|document| document.root().entries()).filter_map(|(key, _)| key.as_str());
        let fields = std::iter::once(settings.time_field.clone()).chain(keys.map(|key| FieldPath::root().key(&*key)));
        let is_time = |field: &FieldPath| {
            let settings = Settings { time_field: field.clone(), ..Settings::default() };
            let batch = Batch::prepare_at(&event, &settings, 0, &mut |_, _, _| {});
            batch.undated() == 0 && batch.times() == [time]
        };
        match fields.into_iter().find(is_time) {
            Some(field) => settings.time_field = field,
            None => self.notes.push("it is not known where events have their time: taken is `/@t`".into()),
        }
        Ok(settings)
    }

    /// An event and its time.
    fn example(&self) -> Result<Option<(Vec<u8>, i64)>, Error> {
        let of_batch = |batch: &Arc<LoggedBatch>| {
            let end = memchr::memchr(b'\n', &batch.text)?;
            Some((batch.text[..end].to_vec(), *batch.times.first()?))
        };
        if let Some(example) = self.logs.iter().flat_map(|log| &log.batches).find_map(of_batch) {
            return Ok(Some(example));
        }
        let Some(span) = self.spans.first() else { return Ok(None) };
        let file = SpanFile::open(self.folder, &span.entry, true, &Arc::default())?;
        let mut text = Vec::new();
        let is_read = file.is_some_and(|file| file.read_documents(0, &mut text).is_ok());
        let end = memchr::memchr(b'\n', &text).filter(|_| is_read);
        Ok(end.map(|end| (text[..end].to_vec(), span.entry.first.time)))
    }
}

//! What a person wants to know of a store.

use super::deletions::{Deletion, Deletions};
use crate::error::{Damage, Error};
use crate::settings::{ColumnChoice, Settings, Window};
use crate::snapshot::{Saved, saved};
use crate::store::Store;
use jird::Path;

/// What is in a store.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Info {
    /// The settings with which it was made.
    pub settings: Settings,
    /// The events: those that retention removed are not counted.
    pub events: u64,
    /// Their bytes, with line feeds.
    pub text_bytes: u64,
    /// Its spans, by the times of their first events.
    pub spans: Vec<SpanInfo>,
    /// Its logs, oldest first.
    pub logs: Vec<LogInfo>,
    /// The events in the logs.
    pub log_events: u64,
    /// Their bytes.
    pub log_bytes: u64,
    /// The last deletions of events, oldest first: 100 at most.
    pub deletions: Vec<Deletion>,
    /// How many deletions there were before those.
    pub deletions_forgotten: u64,
    /// What is damaged as far as that is seen without reading the blocks.
    pub damage: Vec<Damage>,
}

/// A span.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SpanInfo {
    /// The number in its file's name.
    pub number: u64,
    /// Its events, those that retention removed included until it is compacted.
    pub events: u64,
    /// Bytes of its events with line feeds.
    pub text_bytes: u64,
    /// Bytes of its file.
    pub file_bytes: u64,
    /// Bytes of its index; `None` if it has none that can be read.
    pub index_bytes: Option<u64>,
    /// Its blocks.
    pub blocks: u64,
    /// Its blocks that the index knows nothing about, so that they are always read.
    pub unknown_blocks: u64,
    /// The times of its first and its last event, in nanoseconds since 1970.
    pub times: (i64, i64),
    /// The lowest time that retention left.
    pub keep_from: Option<i64>,
    /// The fields that are stored as columns, too.
    pub columns: Vec<Path>,
    /// The fields that are indexed.
    pub indexed: Vec<Path>,
    /// What its indexes saved in all queries so far, as far as that could be noted.
    pub saved: Saved,
    /// Whether the texts of the time field have the order of the events.
    pub is_ordered: bool,
}

/// A log.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LogInfo {
    /// The number in its file's name.
    pub number: u64,
    /// Bytes of its file.
    pub file_bytes: u64,
}

/// What the manifest of a store says, which is quick to ask for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Size {
    /// Its spans.
    pub spans: u64,
    /// Those of them that have events which retention removed, until a compaction.
    pub cut_spans: u64,
    /// The events in spans, those that retention removed included until a compaction.
    pub span_events: u64,
    /// Bytes of its spans' files, without their indexes.
    pub span_bytes: u64,
    /// Bytes of its logs, whose events are in no span yet.
    pub log_bytes: u64,
}

impl Info {
    /// The fields that are stored as columns, those of all spans.
    pub fn columns(&self) -> Vec<Path> {
        let chosen = match &self.settings.columns {
            ColumnChoice::Fields(paths) => &paths[..],
            ColumnChoice::Auto => &[],
        };
        let mut columns = chosen.to_vec();
        for path in self.spans.iter().flat_map(|span| &span.columns) {
            if !columns.contains(path) {
                columns.push(path.clone());
            }
        }
        columns
    }
}

impl Store {
    /// How large the store is. Reads its manifest, and asks the system for the lengths of its logs.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub fn size(&self) -> Result<Size, Error> {
        let manifest = self.folder.manifest()?;
        let length = |number| self.folder.files.open(&self.folder.log(number)).and_then(|file| file.len());
        let mut size = Size { spans: manifest.spans.len() as u64, ..Size::default() };
        for span in &manifest.spans {
            size.cut_spans += u64::from(span.keep_from.is_some());
            size.span_events += span.events;
            size.span_bytes += span.file_bytes;
        }
        size.log_bytes = manifest.logs.iter().map(|log| length(log.number).unwrap_or_default()).sum();
        Ok(size)
    }

    /// What is in the store. Reads logs and tables, and of blocks only the times of those that retention cuts.
    ///
    /// # Errors
    /// As [`Store::snapshot`].
    pub fn info(&self) -> Result<Info, Error> {
        let snapshot = self.snapshot()?;
        let noted = saved(&self.folder);
        let mut spans: Vec<SpanInfo> = snapshot
            .spans()
            .iter()
            .map(|span| {
                let entry = span.entry();
                SpanInfo {
                    number: entry.number,
                    events: entry.events,
                    text_bytes: entry.text_bytes,
                    file_bytes: entry.file_bytes,
                    index_bytes: span.index().map(|_| span.index_bytes()),
                    blocks: span.table().blocks.len() as u64,
                    unknown_blocks: span.index().map_or(span.table().blocks.len(), |index| index.unknown().0) as u64,
                    times: (entry.first.time, entry.last.time),
                    keep_from: entry.keep_from,
                    columns: span.column_paths(),
                    indexed: span.index().map(crate::index::SpanIndex::paths).unwrap_or_default(),
                    saved: noted.get(&entry.number).copied().unwrap_or_default(),
                    is_ordered: entry.order.is_of_texts(),
                }
            })
            .collect();
        spans.sort_by_key(|span| span.times);
        let manifest = self.folder.manifest()?;
        let size = |number| self.folder.files.open(&self.folder.log(number)).and_then(|file| file.len());
        let logs = manifest.logs.iter();
        let logs = logs.map(|log| LogInfo { number: log.number, file_bytes: size(log.number).unwrap_or_default() });
        let (log_events, log_bytes) = snapshot.recent_size();
        let text = snapshot.text(Window::ALL)?;
        let Deletions { list: deletions, forgotten: deletions_forgotten, .. } =
            manifest.sections.get().ok().flatten().unwrap_or_default();
        Ok(Info {
            settings: snapshot.settings().clone(),
            events: text.events(),
            text_bytes: text.bytes(),
            spans,
            logs: logs.collect(),
            log_events,
            log_bytes,
            deletions,
            deletions_forgotten,
            damage: snapshot.damage(),
        })
    }
}

//! A consistent state of a store.

mod extremes;
mod merge;
mod recent;
mod saved;
mod select;
mod text;

use crate::error::{Damage, Damages, Error};
use crate::event::{Clip, Key, TextOrder};
use crate::logs::{Logs, TakenRanges, Unreadable};
use crate::manifest::{Folder, Manifest};
use crate::settings::{ColumnChoice, Settings, Window};
use crate::span::{SpanFile, note_asked};
use recent::Recent;
use std::sync::Arc;

pub use extremes::Extreme;
pub use saved::Saved;
pub(crate) use saved::{saved, sum_up};
pub use select::{Selected, Skipped};
pub use text::{BlockFacts, BlockId, Text};

/// How often a snapshot is tried while compactions remove the files that it is about to open.
const TRIES: usize = 100;

/// One state of a store, whatever happens to it later: events that come, are compacted or removed. Clones are the same
/// state. Files that a compaction removes stay on disk as long as a snapshot has them open.
#[derive(Clone, Debug)]
pub struct Snapshot(Arc<State>);

#[derive(Debug)]
struct State {
    folder: Folder,
    settings: Settings,
    /// Each with the lowest time that retention left.
    spans: Vec<SpanFile>,
    recent: Recent,
    /// No event that came later has a lower arrival number.
    arrivals: u64,
    damages: Arc<Damages>,
}

impl Snapshot {
    /// The state of a store now.
    pub(crate) fn take(folder: &Folder) -> Result<Self, Error> {
        let taken = TakenRanges::read(folder);
        let mut manifest = folder.manifest()?;
        for _ in 0..TRIES {
            let error = match Self::of(folder, &manifest, &taken, Unreadable::Retry) {
                Err(error) if error.is_missing_file() => error,
                result => return result,
            };
            let now = folder.manifest()?;
            if now == manifest {
                // No compaction was quicker: the file is lost.
                drop(error);
                return Self::of(folder, &manifest, &taken, Unreadable::Tell);
            }
            manifest = now;
        }
        Self::of(folder, &manifest, &taken, Unreadable::Tell)
    }

    /// Opens all files that a manifest names, and reads the logs.
    fn of(folder: &Folder, manifest: &Manifest, taken: &TakenRanges, unreadable: Unreadable) -> Result<Self, Error> {
        let lenient = unreadable != Unreadable::Retry;
        let (mut spans, damages) = (Vec::new(), Arc::new(Damages::default()));
        for entry in &manifest.spans {
            match SpanFile::open(folder, entry, lenient, &damages) {
                Ok(span) => spans.extend(span.map(|span| span.with_time_field(&manifest.settings.time_field))),
                Err(error) if lenient && error.is_missing_file() => damages.note(Damage {
                    file: folder.span(entry.number),
                    block: None,
                    events: Some(entry.events),
                    reason: "the file is missing".into(),
                }),
                Err(error) => return Err(error),
            }
        }
        let logs = Logs::read(folder, manifest, taken, unreadable)?;
        logs.damage.iter().for_each(|damage| damages.add(damage.clone()));
        let noted = manifest.lost.iter().filter(|loss| !loss.is_accepted);
        noted.chain(&logs.losses).for_each(|loss| damages.add(loss.damage(folder)));
        let (settings, arrivals) = (manifest.settings.clone(), logs.arrivals);
        let clips: Vec<Clip> = manifest.logs.iter().flat_map(|log| log.clips.iter().copied()).collect();
        let recent = Recent::new(logs, &clips);
        Ok(Self(Arc::new(State { folder: folder.clone(), settings, spans, recent, arrivals, damages })))
    }

    /// The settings of the store.
    pub fn settings(&self) -> &Settings {
        &self.0.settings
    }

    /// The events with `since <= time < until`, in order of time, then arrival. Reads only of spans that the window
    /// cuts: their tables, and the times of the blocks that it cuts.
    ///
    /// # Errors
    /// None so far; damaged blocks are left out.
    pub fn text(&self, window: Window) -> Result<Text, Error> {
        Ok(Text::new(self.clone(), window, None))
    }

    /// As [`text`](Self::text), but only the events before this one, in the order of the text.
    ///
    /// # Errors
    /// As [`text`](Self::text).
    pub fn text_before(&self, window: Window, before: Key) -> Result<Text, Error> {
        Ok(Text::new(self.clone(), window, Some(before)))
    }

    /// The arrival number from which on events are not in this state: a [`Tail`](crate::Tail) from there has those that
    /// come next, and none twice.
    pub fn arrivals(&self) -> u64 {
        self.0.arrivals
    }

    /// What was found damaged so far, and left out. It grows as tables, indexes and blocks are read.
    pub fn damage(&self) -> Vec<Damage> {
        self.0.damages.list()
    }

    /// Adds to the store's notes what indexes saved, by the numbers of spans, for [`Store::info`](crate::Store::info).
    /// If they cannot be written, as on a disk that is read-only, nothing is noted.
    pub fn note_saved(&self, saved: &[(u64, Saved)]) {
        saved::note(&self.0.folder, saved);
    }

    /// Notes that a query had to read documents because these fields have no column. Fields that are often asked for have one
    /// in the spans that are written from then on, if the store chooses its columns itself and their texts are short. If it
    /// cannot be noted, as on a disk that is read-only, it is not.
    pub fn note_asked(&self, fields: &[jird::Path]) {
        if self.0.settings.columns == ColumnChoice::Auto {
            note_asked(&self.0.folder, fields);
        }
    }

    pub(crate) fn spans(&self) -> &[SpanFile] {
        &self.0.spans
    }

    /// The events in the logs, each with its time and without its line feed.
    pub(crate) fn recent_events(&self) -> impl Iterator<Item = (i64, &[u8])> {
        self.0.recent.events()
    }

    /// The events in the logs: how many, their bytes.
    pub(crate) fn recent_size(&self) -> (u64, u64) {
        self.0.recent.size()
    }
}

impl State {
    fn order(&self) -> TextOrder {
        self.spans.iter().fold(self.recent.order(), |order, span| order.and(span.entry().order))
    }
}

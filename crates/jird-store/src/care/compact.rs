//! Compaction: spans that overlap in time, or are small, become few that do neither.

use super::merge::{Failed, Merge, Opened, RowSet, has_room, open_all};
use super::pace::Pace;
use super::tiers::Extent;
use crate::clean::care_lock;
use crate::error::{Damage, Error};
use crate::manifest::{Folder, Fresh, SpanEntry};
use crate::settings::Settings;
use crate::snapshot::sum_up;
use crate::span::sum_up_asked;
use crate::store::Store;

/// At most as many spans are merged at a time: of each, a block is in memory.
pub(super) const MERGED_MAX: usize = 128;

/// What a compaction did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Compacted {
    /// The spans that were merged, and those that they became.
    pub merged: u64,
    /// The spans that came of it.
    pub made: u64,
    /// The bytes of their events.
    pub bytes: u64,
    /// Spans that stayed as they are because they are damaged; nothing of them was removed.
    pub damage: Vec<Damage>,
}

impl Store {
    /// Merges spans into spans of up to 256 MB, and drops what retention removed of them. A writer and readers go on
    /// meanwhile. Memory: two blocks for each span that is merged, 128 at most.
    ///
    /// # Errors
    /// `Locked` if another compaction is at work. What was merged before an error stays so; of the rest, nothing is left.
    /// Spans are not merged, and that is an error in the end, if the disk lacks the room for the new one and some more,
    /// which a writer may need meanwhile.
    pub fn compact(&self, extent: Extent) -> Result<Compacted, Error> {
        self.compact_at(extent, Pace::Full)
    }

    /// The same at another pace.
    ///
    /// # Errors
    /// As [`compact`](Self::compact).
    pub fn compact_at(&self, extent: Extent, pace: Pace) -> Result<Compacted, Error> {
        let _lock = care_lock(&self.folder)?;
        let mut compacted = Compacted::default();
        let mut lack = Ok(());
        loop {
            let manifest = self.folder.manifest()?;
            let before = compacted.merged;
            for group in extent.groups(&manifest.spans) {
                let task = format!("compact {}: merging {} spans", self.folder.path.display(), group.len());
                match has_room(&self.folder, &task, &group) {
                    Ok(()) => compact_group(&self.folder, &manifest.settings, &group, pace, &mut compacted)?,
                    // Others may be smaller, and make room.
                    Err(error) => lack = Err(error),
                }
            }
            // What was made may be one of several of its size.
            if extent == Extent::Full || compacted.merged == before {
                break;
            }
        }
        self.folder.keep_ballast();
        // Each round reports the same damage. A compaction reports what the logs lack, too.
        for damage in std::mem::take(&mut compacted.damage).into_iter().chain(self.snapshot()?.damage()) {
            if !compacted.damage.contains(&damage) {
                compacted.damage.push(damage);
            }
        }
        let manifest = self.folder.manifest()?;
        sum_up_asked(&self.folder);
        sum_up(&self.folder, |number| manifest.spans.iter().any(|span| span.number == number));
        lack.map(|()| compacted)
    }
}

fn compact_group(
    folder: &Folder,
    settings: &Settings,
    group: &[SpanEntry],
    pace: Pace,
    compacted: &mut Compacted,
) -> Result<(), Error> {
    let spans = match open_all(folder, group)? {
        Opened::Whole(spans) => spans,
        Opened::Damaged(damage) => {
            compacted.damage.extend(damage);
            return Ok(());
        }
        // Retention was quicker.
        Opened::Gone => return Ok(()),
    };
    let none = RowSet::default();
    let Some(mut merge) = Merge::new(folder, settings, &spans, &none) else { return Ok(()) };
    match merge.run(pace) {
        Ok(()) => {}
        Err(Failed::Damage(damage)) => {
            compacted.damage.push(damage);
            return Ok(());
        }
        Err(Failed::Error(error)) => return Err(error),
    }
    let (entries, fresh): (Vec<SpanEntry>, Vec<Fresh>) = merge.made.into_iter().unzip();
    folder.sync()?;
    let bytes: u64 = entries.iter().map(|span| span.text_bytes).sum();
    let is_done = folder.change_to_free(|manifest| {
        // Retention may have removed or cut some meanwhile.
        if !group.iter().all(|span| manifest.spans.contains(span)) {
            return Ok(false);
        }
        manifest.spans.retain(|span| !group.contains(span));
        manifest.spans.extend(entries);
        Ok(true)
    })?;
    if is_done {
        group.iter().for_each(|span| folder.discard_span(span.number));
        let _ = folder.sync();
        compacted.merged += group.len() as u64;
        compacted.made += fresh.len() as u64;
        compacted.bytes += bytes;
        fresh.into_iter().for_each(Fresh::keep);
    }
    Ok(())
}

//! All logs of a state of a store, and which of their events are missing.
//!
//! Arrival numbers have no gaps. The manifest says from which number on events are in logs, and how many there are; the
//! writer notes how many it has acknowledged. So what is missing is known whichever file is damaged, cut, exchanged or
//! gone, and also which of the files is to blame.

pub(crate) mod seal_request;
mod taken_ranges;

use crate::error::{Damage, Error};
use crate::event::LoggedBatch;
use crate::log::{LogContent, read};
use crate::manifest::{Folder, LogEntry, Loss, Manifest};
use std::io;
use std::ops::Range;
use std::sync::Arc;

pub(crate) use taken_ranges::{TakenFile, TakenRanges};

/// The events in the logs of a state.
#[derive(Debug, Default)]
pub(crate) struct Logs {
    /// In the order of arrival, none twice.
    pub(crate) batches: Vec<Arc<LoggedBatch>>,
    /// The arrival number of the next event.
    pub(crate) arrivals: u64,
    /// What is missing, but for what the manifest has noted.
    pub(crate) losses: Vec<Loss>,
    /// What is wrong with files although no event is missing.
    pub(crate) damage: Vec<Damage>,
    /// The numbers of the logs that are damaged.
    pub(crate) damaged: Vec<u64>,
}

/// What to do if a log cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unreadable {
    /// A log that is missing is an error, because it may have been sealed meanwhile.
    Retry,
    /// All that cannot be read is damage.
    Tell,
    /// A log that is missing is damage; all other errors may pass.
    TellMissing,
}

/// A log that was read.
struct Log<'m> {
    entry: &'m LogEntry,
    batches: Vec<Arc<LoggedBatch>>,
    faults: Vec<String>,
    has_bad_end: bool,
}

impl Logs {
    /// Reads the logs of a state up to their last whole batches, the newest first. A writer goes on meanwhile, and what is
    /// in a log was written when the older ones were complete: read in the other order, the end of one log could be
    /// missing although the next one has newer events.
    pub(crate) fn read(
        folder: &Folder,
        manifest: &Manifest,
        taken: &TakenRanges,
        unreadable: Unreadable,
    ) -> Result<Self, Error> {
        let mut logs: Vec<Log<'_>> =
            manifest.logs.iter().rev().map(|entry| open(folder, entry, unreadable)).collect::<Result<_, _>>()?;
        logs.reverse();
        let first = logs.iter().flat_map(|log| &log.batches).map(|batch| batch.arrival).min();
        let from = manifest.sealed.or(first).unwrap_or(manifest.arrivals);
        let mut gaps = Gaps { next: from, found: Vec::new() };
        let batches = in_order(&mut logs, from, &mut gaps);
        gaps.skip_to(manifest.arrivals.max(taken.of(manifest.store)));
        let missing = manifest.lost.iter().fold(gaps.found, |gaps, loss| without(gaps, &loss.arrivals));
        let mut read = Self { batches, arrivals: gaps.next, ..Self::default() };
        read.tell(folder, &logs, missing, from, taken.knows(manifest.store));
        Ok(read)
    }

    /// Says which log lacks which events, and what else is wrong. `is_certain` if it is noted what was acknowledged.
    fn tell(&mut self, folder: &Folder, logs: &[Log<'_>], missing: Vec<Range<u64>>, from: u64, is_certain: bool) {
        let mut is_told = vec![false; logs.len()];
        for gap in missing {
            let place = blamed(logs, &gap, from);
            place.iter().for_each(|log| is_told[*log] = true);
            let log = place.map(|log| &logs[log]);
            let file = log.map_or_else(|| "MANIFEST".to_owned(), |log| format!("log-{}", log.entry.number));
            let reason = match log.map(|log| log.faults.join("; ")) {
                Some(faults) if !faults.is_empty() => faults,
                Some(_) => "it is not as it was written".to_owned(),
                None => "it is not the newest".to_owned(),
            };
            self.damaged.extend(log.map(|log| log.entry.number));
            self.losses.push(Loss { file, arrivals: gap, reason, is_accepted: false });
        }
        for (log, _) in logs.iter().zip(is_told).filter(|(log, is_told)| !log.faults.is_empty() && !is_told) {
            self.damaged.push(log.entry.number);
            let (file, reason) = (format!("log-{}", log.entry.number), log.faults.join("; "));
            if log.has_bad_end || !is_certain {
                // It may have been acknowledged: after a loss of power, what is noted may be older.
                let next = log.batches.last().map_or(from, |batch| batch.end());
                self.losses.push(Loss { file, arrivals: next..next, reason, is_accepted: false });
            } else {
                self.damage.push(Damage { file: folder.file(&file), block: None, events: Some(0), reason });
            }
        }
    }
}

fn open<'m>(folder: &Folder, entry: &'m LogEntry, unreadable: Unreadable) -> Result<Log<'m>, Error> {
    let path = folder.log(entry.number);
    let fault = match folder.files.open(&path).and_then(|input| read(&*input, entry.identity)) {
        Ok(LogContent { batches, damage, has_bad_end, .. }) => {
            let fault =
                |(at, bytes, what): &(u64, u64, &str)| format!("a stretch of {bytes} bytes from byte {at} on {what}");
            let faults = damage.iter().map(fault).collect();
            return Ok(Log { entry, batches, faults, has_bad_end });
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => match unreadable {
            Unreadable::Retry => return Err(Error::io("open", &path, &error)),
            Unreadable::Tell | Unreadable::TellMissing => "the file is missing".to_owned(),
        },
        Err(error) if unreadable == Unreadable::TellMissing => return Err(Error::io("read", &path, &error)),
        Err(error) => error.to_string(),
    };
    Ok(Log { entry, batches: Vec::new(), faults: vec![fault], has_bad_end: false })
}

/// All batches in the order of arrival. A log whose batches have another order, or are there already, is damaged.
fn in_order(logs: &mut [Log<'_>], from: u64, gaps: &mut Gaps) -> Vec<Arc<LoggedBatch>> {
    let mut all: Vec<(usize, Arc<LoggedBatch>)> = Vec::new();
    for (number, log) in logs.iter_mut().enumerate() {
        if !log.batches.is_sorted_by_key(|batch| batch.arrival) {
            log.faults.push("its batches are not in their order".into());
        }
        all.extend(log.batches.iter().map(|batch| (number, Arc::clone(batch))));
    }
    all.sort_by_key(|(_, batch)| (batch.arrival, batch.end()));
    let mut kept: Vec<Arc<LoggedBatch>> = Vec::with_capacity(all.len());
    for (number, batch) in all {
        // A batch that only has a mark is there twice if it is followed by itself.
        let is_same = |other: &Arc<LoggedBatch>| other.arrival == batch.arrival && other.mark == batch.mark;
        let is_again = batch.arrival < gaps.next || batch.arrival == batch.end() && kept.last().is_some_and(is_same);
        if is_again || batch.arrival < from {
            logs[number].faults.push(format!("it has events again, from the arrival number {} on", batch.arrival));
            continue;
        }
        gaps.skip_to(batch.arrival);
        gaps.next = batch.end();
        kept.push(batch);
    }
    kept
}

/// The ranges of arrival numbers that are not there.
struct Gaps {
    next: u64,
    found: Vec<Range<u64>>,
}

impl Gaps {
    fn skip_to(&mut self, arrival: u64) {
        if arrival > self.next {
            self.found.push(self.next..arrival);
            self.next = arrival;
        }
    }
}

/// The log that should have some events: one that is damaged, and whose neighbours have no events on the wrong side.
fn blamed(logs: &[Log<'_>], gap: &Range<u64>, from: u64) -> Option<usize> {
    let ends = logs.iter().scan(from, |end, log| {
        let before = *end;
        *end = log.batches.iter().map(|batch| batch.end()).fold(before, u64::max);
        Some(before)
    });
    let mut starts: Vec<u64> = logs
        .iter()
        .rev()
        .scan(u64::MAX, |start, log| {
            let after = *start;
            *start = log.batches.iter().map(|batch| batch.arrival).fold(after, u64::min);
            Some(after)
        })
        .collect();
    starts.reverse();
    let can_be = ends.zip(starts).map(|(before, after)| before <= gap.start && gap.end <= after);
    let possible: Vec<usize> = can_be.enumerate().filter_map(|(log, can_be)| can_be.then_some(log)).collect();
    let damaged = possible.iter().find(|log| !logs[**log].faults.is_empty());
    // A log that was made ahead has no events; the one before lost its end.
    let written = possible.iter().rfind(|log| !logs[**log].batches.is_empty());
    damaged.or(written).or(possible.first()).copied()
}

/// Ranges without those numbers that another one has.
fn without(ranges: Vec<Range<u64>>, other: &Range<u64>) -> Vec<Range<u64>> {
    let parts = |range: Range<u64>| [range.start..range.end.min(other.start), range.start.max(other.end)..range.end];
    if other.is_empty() { ranges } else { ranges.into_iter().flat_map(parts).filter(|part| !part.is_empty()).collect() }
}

//! Sealing: what is in full logs becomes a span.

use super::open::marked;
use super::{Pending, State, WriterState};
use crate::column::spread;
use crate::error::Error;
use crate::event::{Clip, TextOrder, sorted_rows};
use crate::logs::seal_request;
use crate::manifest::{Fresh, Manifest};
use crate::source::{LastArrival, Sources};
use crate::span::{Effort, SpanWriter};
use std::time::Instant;

impl WriterState {
    /// Seals what there is to seal until the writer ends.
    pub(super) fn seal_all(&self) {
        let mut look = Instant::now();
        loop {
            let mut state = self.state();
            let job = loop {
                let is_told = state.seal_error.is_some();
                match &state.sealing {
                    Some(job) if !is_told => break job.clone(),
                    _ if state.is_closing => return,
                    None if look <= Instant::now() => {
                        drop(state);
                        let wanted = seal_request::read(&self.folder, self.store);
                        look = Instant::now() + seal_request::EVERY;
                        state = self.state();
                        self.seal_if_wanted(&mut state, wanted);
                    }
                    None => state = self.wait_until(state, look),
                    Some(_) => state = self.wait(state),
                }
            };
            let has_spare = state.spare.is_some();
            drop(state);
            if !has_spare {
                // If it cannot be made, the code that needs it tries again and reports the error.
                let spare = self.begin_log().ok();
                self.state().spare = spare;
            }
            let result = self.seal(&job);
            let mut state = self.state();
            match result {
                Ok(spans) => {
                    state.sealing = None;
                    // The span is on disk, so there is no need to wait for its logs.
                    Self::note_synced(&mut state, job.last);
                    state.totals.spans += spans;
                }
                Err(error) => state.seal_error = Some(error),
            }
            drop(state);
            self.changed.notify_all();
        }
    }

    /// Hands on what is in the logs if another process wants events sealed that are there.
    fn seal_if_wanted(&self, state: &mut State, wanted: Option<u64>) {
        let first = state.pending.batches.iter().map(|batch| batch.arrival).min();
        let is_wanted = first.zip(wanted).is_some_and(|(first, wanted)| first < wanted);
        if is_wanted && state.sealing.is_none() && !state.is_closing && state.failed.is_none() {
            // If there is no room for a new log, the other process does without.
            let _ = self.rotate(state);
        }
    }

    /// Makes a span of some events and puts it in the place of their logs. The number of spans made.
    fn seal(&self, job: &Pending) -> Result<u64, Error> {
        loop {
            let clips = clips(&self.folder.manifest()?, job);
            let rows = sorted_rows(&job.batches, &clips);
            let order = job.batches.iter().fold(TextOrder::Empty, |order, batch| order.and(batch.order));
            let base = rows.iter().map(|row| row.key.arrival).min();
            let mut span = None;
            if let Some(base) = base {
                let fresh = Fresh::new(&self.folder, self.reserve()?);
                let mut sample = Vec::new();
                for number in spread(rows.len(), SAMPLE_EVENTS) {
                    if sample.len() < SAMPLE_BYTES {
                        sample.extend_from_slice(rows[number].text(&job.batches));
                    }
                }
                let writer = SpanWriter::new(&self.folder, fresh, &self.settings, base, Effort::Seal)?;
                let mut writer = writer.with_sample(sample);
                rows.iter().try_for_each(|row| writer.push(row.key, row.text(&job.batches)))?;
                span = Some(writer.finish(order)?);
                self.folder.sync()?;
            }
            let (entry, fresh) = span.unzip();
            let outcome = self.folder.change_to_free(|manifest| {
                if !manifest.logs.iter().any(|log| job.has(log.number)) {
                    // An earlier try succeeded, although it reported an error.
                    return Ok(Outcome::Old);
                }
                if self::clips(manifest, job) != clips {
                    return Ok(Outcome::Clipped);
                }
                manifest.logs.retain(|log| !job.has(log.number));
                manifest.spans.extend(entry);
                manifest.arrivals = manifest.arrivals.max(job.end);
                manifest.sealed = manifest.sealed.max(Some(job.end));
                for loss in &mut manifest.lost {
                    let is_kept =
                        |(number, is_damaged): &(u64, bool)| *is_damaged && loss.file == format!("log-{number}");
                    if job.logs.iter().any(is_kept) {
                        loss.file.push_str(".damaged");
                    }
                }
                let (sources, last_arrival) = marked(manifest, &job.batches)?;
                if sources != Sources::default() {
                    manifest.sections.set(&sources);
                }
                if last_arrival > i64::MIN {
                    manifest.sections.set(&LastArrival(last_arrival));
                }
                Ok(Outcome::Done)
            })?;
            let mut spans = 0;
            if let Some(fresh) = fresh.filter(|_| outcome == Outcome::Done) {
                fresh.keep();
                spans = 1;
            }
            if outcome != Outcome::Clipped {
                self.remove_logs(job);
                return Ok(spans);
            }
        }
    }

    /// Removes logs that no manifest names any more; damaged ones are kept aside.
    fn remove_logs(&self, job: &Pending) {
        for &(number, is_damaged) in &job.logs {
            let path = self.folder.log(number);
            if is_damaged {
                let _ = self.folder.files.rename(&path, &self.folder.file(&format!("log-{number}.damaged")));
                // Under its old name, the next writer would remove it.
                let _ = self.folder.sync();
            } else {
                self.folder.discard(&path);
            }
        }
    }
}

/// The columns of a span are chosen by about this many events, which have about this many bytes at most.
const SAMPLE_EVENTS: usize = 1024;
const SAMPLE_BYTES: usize = 1 << 20;

/// What became of a new span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Done,
    /// It was there already.
    Old,
    /// Retention removed some of its events meanwhile.
    Clipped,
}

impl Pending {
    pub(super) fn has_damaged_log(&self) -> bool {
        self.logs.iter().any(|(_, is_damaged)| *is_damaged)
    }

    fn has(&self, number: u64) -> bool {
        self.logs.iter().any(|(log, _)| *log == number)
    }
}

/// What retention removed from the logs of a job.
fn clips(manifest: &Manifest, job: &Pending) -> Vec<Clip> {
    manifest.logs.iter().filter(|log| job.has(log.number)).flat_map(|log| log.clips.iter().copied()).collect()
}

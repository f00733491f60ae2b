//! Checking everything that is on disk.

use crate::clean::{UNKNOWN, Unknown, care_lock, unknown};
use crate::error::{Damage, Error, ErrorKind};
use crate::manifest::Loss;
use crate::settings::{Patience, WriterOptions};
use crate::span::{SpanFile, rebuild_index, without_columns};
use crate::store::Store;
use jird::lines;
use jird::record::Projection;
use std::ops::ControlFlow;

/// What a check found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// Span files that were read.
    pub spans: u64,
    /// Their blocks.
    pub blocks: u64,
    /// The events in spans and logs that are whole.
    pub events: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Index files that were rebuilt.
    pub repaired: u64,
    /// How many losses of events were accepted: nothing tells them any more.
    pub accepted: u64,
    /// What is damaged.
    pub damage: Vec<Damage>,
}

impl Store {
    /// Reads and checks everything: checksums, columns, every event, indexes, logs. With `repair`, index files that are
    /// missing or damaged are rebuilt from their spans, and damaged logs are kept aside, as a writer does it. What logs
    /// lack is reported once more and accepted: neither queries nor checks report it from then on. Damaged blocks of
    /// spans stay where they are, and are reported again.
    ///
    /// # Errors
    /// The store cannot be opened, or an index cannot be written. With `repair`, `Locked` if a compaction is at work.
    pub fn verify(&self, repair: bool) -> Result<Verified, Error> {
        let unknown = if repair { self.settle()? } else { self.strangers()? };
        let _lock = if repair { Some(care_lock(&self.folder)?) } else { None };
        // Not before the lock is there: a loss that is accepted is reported only now.
        let accepted = if repair { self.accept()? } else { Vec::new() };
        let snapshot = self.snapshot()?;
        let (recent_events, recent_bytes) = snapshot.recent_size();
        let spans = snapshot.spans();
        for span in spans {
            // What is damaged of them is known then.
            span.table();
            span.index();
        }
        let mut damage = snapshot.damage();
        damage.extend(unknown);
        damage.extend(accepted.iter().map(|loss| loss.damage(&self.folder)));
        let accepted = accepted.len() as u64;
        let mut verified =
            Verified { damage, accepted, events: recent_events, bytes: recent_bytes, ..Verified::default() };
        for span in spans {
            let is_whole = self.check_span(span, &mut verified);
            if repair && !is_whole {
                match rebuild_index(&self.folder, span) {
                    Ok(()) => {
                        let path = self.folder.index(span.number());
                        verified.damage.retain(|damage| damage.file != path);
                        verified.repaired += 1;
                    }
                    Err(error) if error.kind() == ErrorKind::Damaged => {}
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(verified)
    }

    /// Has a writer note what logs lack, and keep damaged and unknown files aside. If one is at work, it did so when it began.
    fn settle(&self) -> Result<Vec<Damage>, Error> {
        let damage = self.snapshot()?.damage();
        if damage.is_empty() && self.strangers()?.is_empty() {
            return Ok(Vec::new());
        }
        match self.clone().with_patience(Patience::None).writer(&WriterOptions::default()) {
            Ok(writer) => {
                let unknown = writer.damage().iter().filter(|damage| damage.events == Some(0)).cloned().collect();
                // What is damaged is sealed at once.
                writer.seal()?;
                writer.finish()?;
                Ok(unknown)
            }
            Err(error) if error.kind() == ErrorKind::Locked => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    /// Accepts the losses that the manifest has noted.
    fn accept(&self) -> Result<Vec<Loss>, Error> {
        self.folder.settle_copy()?;
        self.folder.change(|manifest| {
            let losses = manifest.lost.iter_mut().filter(|loss| !loss.is_accepted);
            let told = |loss: &mut Loss| {
                let told = loss.clone();
                loss.is_accepted = true;
                told
            };
            Ok(losses.map(told).collect())
        })
    }

    /// Files that may have events, and that the manifest does not know.
    fn strangers(&self) -> Result<Vec<Damage>, Error> {
        if !self.folder.files.is_local() {
            return Ok(Vec::new());
        }
        let strangers = unknown(&self.folder)?.into_iter().filter(|file| file.aside == Some(UNKNOWN));
        let damage = |Unknown { name, .. }| {
            let reason = "the manifest does not know it; the next writer keeps it aside".to_owned();
            Damage { file: self.folder.file(&name), block: None, events: Some(0), reason }
        };
        Ok(strangers.map(damage).collect())
    }

    /// Checks a span; whether its index is whole.
    fn check_span(&self, span: &SpanFile, verified: &mut Verified) -> bool {
        let (file, index_file) = (self.folder.span(span.number()), self.folder.index(span.number()));
        verified.spans += 1;
        let mut text = Vec::new();
        for (block, entry) in span.table().blocks.iter().enumerate() {
            verified.blocks += 1;
            let checked = span.check_block(block, &mut text).map_err(|fault| fault.to_string());
            match checked.and_then(|()| all_json(&text)) {
                Ok(()) => {
                    verified.events += entry.events;
                    verified.bytes += entry.text_bytes;
                    // No event is lost with its columns.
                    if let Err(fault) = span.check_columns(block) {
                        let (block, reason) = (Some(block), without_columns(&fault));
                        verified.damage.push(Damage { file: file.clone(), block, events: Some(0), reason });
                    }
                }
                Err(reason) => {
                    let (block, events) = (Some(block), Some(entry.events));
                    verified.damage.push(Damage { file: file.clone(), block, events, reason });
                }
            }
        }
        if let Err(reason) = span.check_footer() {
            verified.damage.push(Damage { file, block: None, events: Some(0), reason });
        }
        match span.check_index() {
            None => {}
            Some(Ok(())) => return true,
            Some(Err(reason)) => {
                verified.damage.push(Damage { file: index_file, block: None, events: Some(0), reason });
            }
        }
        false
    }
}

/// Whether all lines are JSON.
fn all_json(text: &[u8]) -> Result<(), String> {
    let mut scanner = lines::Scanner::new(lines::Options::default());
    let scanned = scanner.scan(text, &Projection::new(&[]), None, |_| ControlFlow::Continue(()));
    scanned.map(drop).map_err(|error| format!("it has an event that is no JSON: {error}"))
}

//! Checking everything that is on disk.

use crate::clean::care_lock;
use crate::error::{Damage, Error};
use crate::span::{SpanFile, rebuild_index};
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
    /// Index files that were made anew.
    pub repaired: u64,
    /// What is damaged.
    pub damage: Vec<Damage>,
}

impl Store {
    /// Reads and checks everything: checksums, columns, every event, indexes, logs. With `repair`, index files that are
    /// missing or damaged are made anew from their spans. Events that are damaged cannot be restored; they are told, and
    /// stay where they are.
    ///
    /// # Errors
    /// The store cannot be opened, or an index cannot be written.
    pub fn verify(&self, repair: bool) -> Result<Verified, Error> {
        let _lock = if repair { Some(care_lock(&self.folder)?) } else { None };
        let snapshot = self.snapshot()?;
        let (recent_events, recent_bytes) = snapshot.recent_size();
        let spans = snapshot.spans();
        for span in spans {
            // What is damaged of them is known then.
            span.table();
            span.index();
        }
        let mut verified =
            Verified { damage: snapshot.damage(), events: recent_events, bytes: recent_bytes, ..Verified::default() };
        for span in spans {
            let is_whole = self.check_span(span, &mut verified);
            if repair && !is_whole {
                match rebuild_index(&self.folder, span) {
                    Ok(()) => {
                        let path = self.folder.index(span.number());
                        verified.damage.retain(|damage| damage.file != path);
                        verified.repaired += 1;
                    }
                    Err(error) if error.kind() == crate::error::ErrorKind::Damaged => {}
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(verified)
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

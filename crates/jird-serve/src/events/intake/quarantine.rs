//! Invalid events: kept in a file, in the form in which all commands set bad records aside.

use jird::event::Place;
use jird_formats::files::{BadRecord, BadRecords, OnError};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// The most bytes of the file. Any further ones are reported to the client and counted, but not kept: otherwise a
/// client could fill the disk with invalid events.
const BYTES_MAX: u64 = 64 << 20;

/// An event that was refused.
#[derive(Debug)]
pub(crate) struct RefusedEvent<'b> {
    /// How many came before it in its body.
    pub(crate) index: u64,
    /// Its line, from one; zero in a body without lines.
    pub(crate) line: u64,
    /// The offset in the body of its first byte.
    pub(crate) offset: u64,
    /// What came.
    pub(crate) raw: &'b [u8],
    /// The broken rule, in one word and in a sentence.
    pub(crate) kind: &'static str,
    pub(crate) message: String,
    /// The column in the line, from one; or the byte in a body without lines.
    pub(crate) column: u64,
}

/// The file, which is made when the first event is refused.
pub(crate) struct Quarantine {
    path: PathBuf,
    records: Mutex<Option<BadRecords>>,
    refused: AtomicU64,
    lost: AtomicU64,
}

impl Quarantine {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path, records: Mutex::new(None), refused: AtomicU64::new(0), lost: AtomicU64::new(0) }
    }

    /// Events that were refused.
    pub(super) fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    /// Those of them that could not be kept.
    pub(super) fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    /// Sets aside events that came through the endpoint `endpoint`. There may have been `more` that are only counted.
    pub(crate) fn take(&self, endpoint: &str, refused: &[RefusedEvent<'_>], more: u64) {
        let mut records = self.records.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = refused.iter().filter(|refused| self.keep(&mut records, endpoint, refused)).count() as u64;
        let count = refused.len() as u64 + more;
        self.refused.fetch_add(count, Ordering::Relaxed);
        self.lost.fetch_add(count - kept, Ordering::Relaxed);
    }

    fn keep(&self, records: &mut Option<BadRecords>, endpoint: &str, refused: &RefusedEvent<'_>) -> bool {
        let len = self.path.metadata().map_or(0, |metadata| metadata.len());
        if len.saturating_add(refused.raw.len() as u64) > BYTES_MAX {
            return false;
        }
        if records.is_none() {
            // The next one tries again.
            *records = BadRecords::new(&OnError::QuarantineMore(self.path.clone())).ok();
        }
        let Some(records) = records else { return false };
        let place = Place { line: refused.line, offset: refused.offset, record: refused.index };
        let bad = BadRecord { file: endpoint, place, kind: refused.kind, message: &refused.message, raw: refused.raw };
        records.note(&bad).is_ok()
    }
}

//! What a server does for its store from time to time: events that are too old or too many go, and small spans become
//! large ones.

use crate::events::intake::Intake;
use jird_store::{Compacted, Error, Store, UpkeepLimits};
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How often the store is looked at.
pub(crate) const EVERY: Duration = jird_store::Upkeep::EVERY;

/// The upkeep of a store.
pub(crate) struct Upkeep {
    store: Mutex<jird_store::Upkeep>,
    intake: Arc<Intake>,
    removed: AtomicU64,
    merged: AtomicU64,
    failed: AtomicU64,
}

impl Upkeep {
    pub(crate) fn new(store: Store, intake: Arc<Intake>, limits: UpkeepLimits) -> Self {
        let [removed, merged, failed] = [(); 3].map(|()| AtomicU64::new(0));
        Self { store: Mutex::new(jird_store::Upkeep::new(store, limits)), intake, removed, merged, failed }
    }

    /// Does what is due. What fails is counted, and done later.
    pub(crate) fn look(&self) {
        let mut store = self.store.lock().unwrap_or_else(PoisonError::into_inner);
        match store.retain() {
            Ok(retained) => self.removed.fetch_add(retained.events_removed, Relaxed),
            Err(_) => self.failed.fetch_add(1, Relaxed),
        };
        match self.compact(&mut store) {
            Ok(compacted) if compacted.damage.is_empty() => self.merged.fetch_add(compacted.merged, Relaxed),
            _ => self.failed.fetch_add(1, Relaxed),
        };
    }

    fn compact(&self, store: &mut jird_store::Upkeep) -> Result<Compacted, Error> {
        if store.is_deletion_due() {
            // Those in logs are deleted by not going into spans.
            self.intake.seal()?;
        }
        store.compact()
    }

    /// Appends the sums in Prometheus's text format.
    pub(crate) fn metrics(&self, text: &mut String) {
        for (name, help, value) in [
            (
                "store_events_removed_total",
                "Events that were removed because of their age or the size of the store, in whole spans.",
                &self.removed,
            ),
            ("store_spans_merged_total", "Spans that compactions merged.", &self.merged),
            ("store_upkeep_failed_total", "Times that retention or compaction failed.", &self.failed),
        ] {
            let value = value.load(Relaxed);
            writeln!(text, "# HELP jird_{name} {help}\n# TYPE jird_{name} counter\njird_{name} {value}")
                .expect("a `String` takes everything");
        }
    }
}
